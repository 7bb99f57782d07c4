#include "lib/scheduler/inbox.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Gang Named(const std::string& key, Time submitted = 0) {
  Gang gang;
  gang.key = key;
  gang.submitted = submitted;
  return gang;
}

void MustPush(Inbox& inbox, Gang gang) {
  EXPECT_TRUE(inbox.Push(std::move(gang)).ok());
}

// "key@time" of the whole set, as it is taken out.
std::vector<std::string> Take(Inbox& inbox) {
  while (!inbox.Sort(1000)) {
  }
  std::vector<std::string> taken;
  while (const std::unique_ptr<Gang> gang = inbox.Pop()) {
    taken.push_back(gang->key + "@" + std::to_string(gang->submitted));
  }
  return taken;
}

TEST(InboxTest, ASetIsTakenByKeyThenTime) {
  Inbox inbox;
  EXPECT_TRUE(inbox.empty());
  MustPush(inbox, Named("b", 1));
  MustPush(inbox, Named("a", 9));
  MustPush(inbox, Named("c", 0));
  MustPush(inbox, Named("a", 2));
  EXPECT_FALSE(inbox.empty());
  EXPECT_THAT(Take(inbox), ElementsAre("a@2", "a@9", "b@1", "c@0"));
  EXPECT_TRUE(inbox.empty());
  EXPECT_THAT(Take(inbox), IsEmpty());
}

// Two gangs of one key and time: what they are decides.
TEST(InboxTest, TheOrderIsNotThatOfPushing) {
  std::vector<std::string> orders[2];
  for (const bool swapped : {false, true}) {
    Inbox inbox;
    std::vector<Gang> gangs;
    for (const char* display : {"x", "y", "z"}) {
      gangs.push_back(Named("a"));
      gangs.back().display = display;
    }
    if (swapped) std::ranges::reverse(gangs);
    for (const Gang& gang : gangs) MustPush(inbox, gang);
    while (!inbox.Sort(1000)) {
    }
    while (const std::unique_ptr<Gang> gang = inbox.Pop()) {
      orders[swapped].push_back(gang->display);
    }
  }
  EXPECT_EQ(orders[0].size(), 3u);
  EXPECT_EQ(orders[0], orders[1]);
}

TEST(InboxTest, WhatComesMeanwhileIsTheNextSet) {
  Inbox inbox;
  MustPush(inbox, Named("b"));
  MustPush(inbox, Named("c"));
  while (!inbox.Sort(1000)) {
  }
  MustPush(inbox, Named("a"));
  EXPECT_EQ(inbox.Pop()->key, "b");
  EXPECT_EQ(inbox.Pop()->key, "c");
  EXPECT_EQ(inbox.Pop(), nullptr);
  EXPECT_FALSE(inbox.empty());
  EXPECT_THAT(Take(inbox), ElementsAre("a@0"));
}

TEST(InboxTest, ALargeSetIsSortedInParts) {
  Inbox inbox;
  for (int i = 0; i < 300; ++i) {
    MustPush(inbox, Named(std::to_string(1000 + i * 77 % 300)));
  }
  EXPECT_FALSE(inbox.Sort(10)) << "not in one go";
  for (int i = 0; i < 10; ++i) MustPush(inbox, Named("0", -1));
  const std::vector<std::string> taken = Take(inbox);
  EXPECT_EQ(taken.size(), 300u) << "the set was closed when it was begun";
  EXPECT_TRUE(std::ranges::is_sorted(taken));
  EXPECT_EQ(Take(inbox).size(), 10u);
}

TEST(InboxTest, NoMoreWaitThanTheLimit) {
  Inbox inbox;
  inbox.SetLimit(2);
  MustPush(inbox, Named("a"));
  MustPush(inbox, Named("b"));
  const absl::Status refused = inbox.Push(Named("c"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(inbox.Push(Named("c")).ok()) << "a refusal takes no place";
  EXPECT_THAT(Take(inbox), ElementsAre("a@0", "b@0"));
  MustPush(inbox, Named("c"));
  inbox.SetLimit(0);
  for (int i = 0; i < 100; ++i) MustPush(inbox, Named("d"));
  EXPECT_EQ(Take(inbox).size(), 101u);
}

TEST(InboxThreadsTest, ManyThreadsFillItToTheLimitAndNoFurther) {
  constexpr uint64_t kLimit = 150, kEach = 100;
  Inbox inbox;
  inbox.SetLimit(kLimit);
  std::vector<std::thread> threads;
  std::atomic<uint64_t> taken{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; ++i) {
        taken += inbox.Push(Named(std::to_string(t * kEach + i))).ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, kLimit);
  EXPECT_EQ(Take(inbox).size(), kLimit);
}

}  // namespace
}  // namespace muster
