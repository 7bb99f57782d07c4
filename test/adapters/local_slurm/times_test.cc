#include "adapters/local/slurm/times.h"

#include <cstdlib>
#include <ctime>

#include "gtest/gtest.h"

namespace muster::local::slurm {
namespace {

TEST(SlurmTimesTest, SpansAreThoseOfSqueueAndSacct) {
  EXPECT_EQ(SpanText(7), "0:07");
  EXPECT_EQ(SpanText(3'599), "59:59");
  EXPECT_EQ(SpanText(3'723), "1:02:03");
  EXPECT_EQ(SpanText(2 * 86'400 + 3'723), "2-01:02:03");
  EXPECT_EQ(SpanText(-5), "0:00");
  EXPECT_EQ(LongSpanText(7), "00:00:07");
  EXPECT_EQ(LongSpanText(86'400), "1-00:00:00");
}

TEST(SlurmTimesTest, MomentsAreReadAsTheyAreWritten) {
  const int64_t now = 1'770'000'000;
  for (const int64_t at : {now, now - 86'400 * 200}) {
    EXPECT_EQ(ReadMoment(MomentText(static_cast<double>(at)), now).value(), at);
  }
  EXPECT_EQ(ReadMoment("now", now).value(), now);
  EXPECT_EQ(ReadMoment("now-2hours", now).value(), now - 7'200);
  EXPECT_EQ(ReadMoment("now+30", now).value(), now + 30);
  const int64_t today = ReadMoment("today", now).value();
  EXPECT_LE(today, now);
  EXPECT_GT(today, now - 90'000);
  EXPECT_EQ(ReadMoment("12:00", now).value(), today + 12 * 3'600);
  EXPECT_EQ(ReadMoment("noon", now).value(), today + 12 * 3'600);
}

TEST(SlurmTimesTest, WhatIsNoMomentIsTold) {
  for (const char* text : {"", "yesterdays", "now-", "now-2fortnights",
                           "2026-13-01", "now-99999999999hours"}) {
    EXPECT_FALSE(ReadMoment(text, 0).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::local::slurm
