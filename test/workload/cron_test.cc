#include "muster/workload/cron.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace muster::workload {
namespace {

Time TimeOf(const std::string& text) {
  absl::Time time;
  std::string why;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, &why))
      << text << ": " << why;
  return absl::ToUnixNanos(time);
}

std::string TextOf(Time time, const std::string& zone) {
  if (time == kForever) return "never";
  absl::TimeZone in;
  EXPECT_TRUE(absl::LoadTimeZone(zone, &in));
  return absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", absl::FromUnixNanos(time),
                          in);
}

CronSchedule Of(const std::string& text, const std::string& zone = "UTC") {
  auto schedule = CronSchedule::Make(text, zone);
  EXPECT_TRUE(schedule.ok()) << text << ": " << schedule.status();
  return schedule.ok() ? *schedule : *CronSchedule::Make("0 0 1 1 *", "UTC");
}

// The next times after one.
std::vector<std::string> Times(const CronSchedule& schedule,
                               const std::string& after, int count) {
  std::vector<std::string> times;
  Time time = TimeOf(after);
  for (int i = 0; i < count; ++i) {
    time = schedule.Next(time);
    times.push_back(TextOf(time, schedule.zone()));
    if (time == kForever) break;
  }
  return times;
}

TEST(CronTest, FieldsRestrictTheNextTime) {
  struct Case {
    const char* schedule;
    const char* after;
    const char* next;
  };
  const Case cases[] = {
      {"* * * * *", "2026-11-26T12:51:35Z", "2026-11-26T12:52:00+00:00"},
      {"* * * * *", "2026-11-26T12:51:00Z", "2026-11-26T12:52:00+00:00"},
      {"*/10 * * * *", "2026-11-26T12:51:35Z", "2026-11-26T13:00:00+00:00"},
      {"5/20 * * * *", "2026-11-26T12:26:00Z", "2026-11-26T12:45:00+00:00"},
      {"10-20/5 * * * *", "2026-11-26T12:15:00Z", "2026-11-26T12:20:00+00:00"},
      {"10-20/5 * * * *", "2026-11-26T12:20:00Z", "2026-11-26T13:10:00+00:00"},
      {"7,3,50 8 * * *", "2026-11-26T08:07:00Z", "2026-11-26T08:50:00+00:00"},
      {"0 3 * * *", "2026-12-31T03:00:00Z", "2027-01-01T03:00:00+00:00"},
      {"0 0 1 * *", "2026-11-26T00:00:00Z", "2026-12-01T00:00:00+00:00"},
      {"0 0 31 * *", "2026-11-01T00:00:00Z", "2026-12-31T00:00:00+00:00"},
      {"0 0 * feb *", "2026-11-01T00:00:00Z", "2027-02-01T00:00:00+00:00"},
      {"0 0 29 2 *", "2026-11-01T00:00:00Z", "2028-02-29T00:00:00+00:00"},
      {"0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00+00:00"},
      {"0 0 * 1-3,Nov *", "2026-03-31T00:00:00Z", "2026-11-01T00:00:00+00:00"},
      // A Thursday.
      {"0 9 * * MON-fri", "2026-11-26T10:00:00Z", "2026-11-27T09:00:00+00:00"},
      {"0 9 * * 1-5", "2026-11-27T09:00:00Z", "2026-11-30T09:00:00+00:00"},
      {"0 9 * * 0", "2026-11-26T00:00:00Z", "2026-11-29T09:00:00+00:00"},
      {"0 9 * * 7", "2026-11-26T00:00:00Z", "2026-11-29T09:00:00+00:00"},
      {"0 9 * * 5-7", "2026-11-29T08:00:00Z", "2026-11-29T09:00:00+00:00"},
      {"  0\t9 ? * *  ", "2026-11-26T00:00:00Z", "2026-11-26T09:00:00+00:00"},
      {"@yearly", "2026-11-26T00:00:00Z", "2027-01-01T00:00:00+00:00"},
      {"@annually", "2026-11-26T00:00:00Z", "2027-01-01T00:00:00+00:00"},
      {"@monthly", "2026-11-26T00:00:00Z", "2026-12-01T00:00:00+00:00"},
      {"@weekly", "2026-11-26T00:00:00Z", "2026-11-29T00:00:00+00:00"},
      {"@daily", "2026-11-26T00:00:00Z", "2026-11-27T00:00:00+00:00"},
      {"@midnight", "2026-11-26T00:00:00Z", "2026-11-27T00:00:00+00:00"},
      {"@hourly", "2026-11-26T00:00:00Z", "2026-11-26T01:00:00+00:00"},
      {"0 0 31 2 *", "2026-11-26T00:00:00Z", "never"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(TextOf(Of(c.schedule).Next(TimeOf(c.after)), "UTC"), c.next)
        << c.schedule << " after " << c.after;
  }
}

TEST(CronTest, OneOfTwoDaysSufficesUnlessOneIsNotRestricted) {
  // The 13th, and Fridays.
  EXPECT_THAT(Times(Of("0 0 13 * fri"), "2026-11-07T00:00:00Z", 3),
              testing::ElementsAre("2026-11-13T00:00:00+00:00",
                                   "2026-11-20T00:00:00+00:00",
                                   "2026-11-27T00:00:00+00:00"));
  EXPECT_THAT(Times(Of("0 0 13 * *"), "2026-11-07T00:00:00Z", 2),
              testing::ElementsAre("2026-11-13T00:00:00+00:00",
                                   "2026-12-13T00:00:00+00:00"));
  // A step is a restriction.
  EXPECT_THAT(Times(Of("0 0 */15 * fri"), "2026-11-07T00:00:00Z", 3),
              testing::ElementsAre("2026-11-13T00:00:00+00:00",
                                   "2026-11-16T00:00:00+00:00",
                                   "2026-11-20T00:00:00+00:00"));
}

// In 2027 clocks in Berlin are set from 2:00 to 3:00 on 28 March, and from 3:00
// to 2:00 on 31 October.
TEST(CronTest, AFixedTimeComesOnceADayWhenClocksAreSet) {
  const std::string zone = "Europe/Berlin";
  EXPECT_THAT(Times(Of("30 2 * * *", zone), "2027-03-27T12:00:00Z", 2),
              testing::ElementsAre("2027-03-28T03:00:00+02:00",
                                   "2027-03-29T02:30:00+02:00"));
  // Two that are left out are one at the moment of the change.
  EXPECT_THAT(Times(Of("0,30 2 * * *", zone), "2027-03-27T12:00:00Z", 2),
              testing::ElementsAre("2027-03-28T03:00:00+02:00",
                                   "2027-03-29T02:00:00+02:00"));
  EXPECT_THAT(Times(Of("0 2,3 * * *", zone), "2027-03-27T12:00:00Z", 2),
              testing::ElementsAre("2027-03-28T03:00:00+02:00",
                                   "2027-03-29T02:00:00+02:00"));
  EXPECT_THAT(Times(Of("30 2 * * *", zone), "2027-10-30T12:00:00Z", 2),
              testing::ElementsAre("2027-10-31T02:30:00+02:00",
                                   "2027-11-01T02:30:00+01:00"));
  // Asked in the second of the two hours.
  EXPECT_THAT(Times(Of("45 2 * * *", zone), "2027-10-31T01:10:00Z", 1),
              testing::ElementsAre("2027-11-01T02:45:00+01:00"));
}

TEST(CronTest, WhatIsNoFixedTimeGoesByTheTimeThatPasses) {
  const std::string zone = "Europe/Berlin";
  EXPECT_THAT(Times(Of("*/30 * * * *", zone), "2027-03-28T00:20:00Z", 3),
              testing::ElementsAre("2027-03-28T01:30:00+01:00",
                                   "2027-03-28T03:00:00+02:00",
                                   "2027-03-28T03:30:00+02:00"));
  EXPECT_THAT(Times(Of("15 * * * *", zone), "2027-10-30T23:20:00Z", 4),
              testing::ElementsAre(
                  "2027-10-31T02:15:00+02:00", "2027-10-31T02:15:00+01:00",
                  "2027-10-31T03:15:00+01:00", "2027-10-31T04:15:00+01:00"));
  EXPECT_THAT(Times(Of("*/20 2 * * *", zone), "2027-03-27T12:00:00Z", 1),
              testing::ElementsAre("2027-03-29T02:00:00+02:00"));
  // Half an hour, and a zone that is not whole hours from UTC.
  EXPECT_THAT(Times(Of("*/30 * * * *", "Australia/Lord_Howe"),
                    "2027-04-03T14:10:00Z", 3),
              testing::ElementsAre("2027-04-04T01:30:00+11:00",
                                   "2027-04-04T01:30:00+10:30",
                                   "2027-04-04T02:00:00+10:30"));
  EXPECT_THAT(
      Times(Of("0 * * * *", "Asia/Kathmandu"), "2027-04-03T14:10:00Z", 1),
      testing::ElementsAre("2027-04-03T20:00:00+05:45"));
}

// Every time of a year, found minute by minute.
TEST(CronTest, NextIsTheFirstMinuteThatFits) {
  absl::TimeZone zone;
  ASSERT_TRUE(absl::LoadTimeZone("America/New_York", &zone));
  const CronSchedule schedule = Of("*/7 */5 1-10 * 2,4", "America/New_York");
  const Time begin = TimeOf("2027-01-01T00:00:00Z");
  const Time end = TimeOf("2028-01-01T00:00:00Z");
  std::vector<Time> expected;
  for (Time t = begin; t < end; t += 60 * kSecond) {
    const absl::CivilSecond c =
        absl::ToCivilSecond(absl::FromUnixNanos(t), zone);
    const absl::Weekday day = absl::GetWeekday(c);
    if (c.minute() % 7 == 0 && c.hour() % 5 == 0 &&
        (c.day() <= 10 || day == absl::Weekday::tuesday ||
         day == absl::Weekday::thursday)) {
      expected.push_back(t);
    }
  }
  std::vector<Time> found;
  for (Time t = schedule.Next(begin - 1); t < end; t = schedule.Next(t)) {
    found.push_back(t);
  }
  EXPECT_EQ(found, expected);
  EXPECT_GT(found.size(), 1'000u);
}

TEST(CronTest, TheLastTimeIsTheNewestThatIsOver) {
  const CronSchedule schedule = Of("0 3 * * *");
  const Time after = TimeOf("2026-11-01T00:00:00Z");
  const auto last = [&](const std::string& until) {
    const auto time = schedule.Last(after, TimeOf(until));
    return time ? TextOf(*time, "UTC") : "none";
  };
  EXPECT_EQ(last("2026-11-01T02:59:59Z"), "none");
  EXPECT_EQ(last("2026-11-01T03:00:00Z"), "2026-11-01T03:00:00+00:00");
  EXPECT_EQ(last("2026-11-26T02:00:00Z"), "2026-11-25T03:00:00+00:00");
  EXPECT_EQ(last("2028-01-01T03:00:00Z"), "2028-01-01T03:00:00+00:00");
  EXPECT_EQ(Of("* * * * *").Last(after, after + 1'000'000 * kSecond),
            after + 999'960 * kSecond);
}

TEST(CronTest, AMistakeIsToldWithItsField) {
  struct Case {
    const char* schedule;
    const char* zone;
    const char* what;
  };
  const Case cases[] = {
      {"", "", "five fields"},
      {"* * * *", "", "five fields"},
      {"* * * * * *", "", "five fields"},
      {"@often", "", "five fields"},
      {"60 * * * *", "", "minute '60' is none of"},
      {"* 24 * * *", "", "hour '24'"},
      {"* * 0 * *", "", "day of the month '0'"},
      {"* * 32 * *", "", "1..31"},
      {"* * * 13 *", "", "month '13'"},
      {"* * * * 8", "", "day of the week '8'"},
      {"* * * * mond", "", "or names"},
      {"* jan * * *", "", "hour 'jan'"},
      {"-1 * * * *", "", "minute '-1'"},
      {"1- * * * *", "", "minute '1-'"},
      {"1-2-3 * * * *", "", "minute"},
      {"9-5 * * * *", "", "begins behind its end"},
      {"* * * * fri-mon", "", "begins behind its end"},
      {"*/0 * * * *", "", "step"},
      {"*/x * * * *", "", "step"},
      {"*/1/2 * * * *", "", "step"},
      {"? * * * *", "", "minute '?'"},
      {"1,,2 * * * *", "", "minute ''"},
      {"+1 * * * *", "", "minute '+1'"},
      {"99999999999 * * * *", "", "minute"},
      {"TZ=UTC * * * * *", "", "timeZone"},
      {"* * * * *", "Mars/Olympus", "time zone: 'Mars/Olympus'"},
      {"* * * * *", "/etc/localtime", "time zone"},
      {"* * * * *", "../zoneinfo/UTC", "time zone"},
      {"* * * * *", ":UTC", "time zone"},
  };
  for (const Case& c : cases) {
    const auto made = CronSchedule::Make(c.schedule, c.zone);
    EXPECT_TRUE(absl::IsInvalidArgument(made.status())) << c.schedule;
    const std::string what(made.status().message());
    EXPECT_TRUE(absl::StrContains(what, c.what)) << c.schedule << ": " << what;
  }
}

}  // namespace
}  // namespace muster::workload
