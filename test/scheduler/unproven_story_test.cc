// A no that is not proven is not the last word.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Whose gangs, of two GPUs, are on the twelve nodes: tenants "a" to "l". A
// tenant may lose one gang. Only n0, n8 and n9 can be emptied together.
constexpr const char* kDeal[] = {"abdl", "dfhl", "aehj", "cefg",
                                 "abil", "bdjl", "efgk", "cgjk",
                                 "chik", "efgj", "cdhi", "abik"};

class UnprovenStories : public ::testing::Test {
 protected:
  static SchedulerConfig Config(uint64_t victim_steps, uint32_t most_effort) {
    SchedulerConfig config;
    config.preemption = true;
    config.search.victim_steps = victim_steps;
    config.search.most_effort = most_effort;
    return config;
  }

  // Everything is full, and the queue "owed" is guaranteed all of it.
  static void Fill(Story& s) {
    s.HasQueue("owed", {GpuQuota(96, std::nullopt)});
    for (char t = 'a'; t <= 'l'; ++t) {
      s.HasQueue(std::string(1, t), {GpuQuota(6, std::nullopt)});
    }
    for (uint32_t n = 0; n < std::size(kDeal); ++n) {
      const std::string node = "n" + std::to_string(n);
      s.HasNode(node, 8);
      for (const char tenant : std::string(kDeal[n])) {
        Gang gang = Job(std::string(1, tenant) + node, 1, 2);
        gang.queue = std::string(1, tenant);
        s.Submit(gang);
      }
      s.Pass();
      s.AllDone();
    }
    s.Pass();
  }
  // How many passes are made at once until there is nothing to ask any more,
  // and one class at the most is in each.
  static int PassesToRest(Story& s) {
    int passes = 0;
    for (; s.NextWakeup() == s.now && passes < 100; ++passes) {
      s.Pass();
      EXPECT_LE(s.plan().class_results.size(), 1u);
    }
    return passes;
  }
  static void Asks(Story& s, uint32_t nodes, const std::string& key = "asks") {
    Gang gang = Job(key, nodes, 8);
    gang.queue = "owed";
    s.Submit(gang);
  }
};

TEST_F(UnprovenStories, NodesThatExcludeEachOtherAreFound) {
  Story s(Config(100'000, 15));
  Fill(s);
  Asks(s, 3);
  EXPECT_THAT(s.Pass(), Not(IsEmpty()));
  EXPECT_EQ(s.Phase("asks"), "nominated");
}

TEST_F(UnprovenStories, WhatWasNotFoundIsSearchedForFurther) {
  Story s(Config(20, 1023));
  Fill(s);
  Asks(s, 3);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("asks"), StartsWith("not-found"));
  int passes = 0;
  while (s.Phase("asks") == "waiting" && passes < 12) {
    EXPECT_EQ(s.NextWakeup(), s.now);  // At once.
    s.ExpectRestorable();
    s.Pass();
    ++passes;
  }
  EXPECT_EQ(s.Phase("asks"), "nominated");
  EXPECT_GT(passes, 1);
}

// With a budget that the look spends, it would end before it searched further.
TEST_F(UnprovenStories, APassThatLooksAtAPromiseSearchesNoFurther) {
  Story s(Config(20, 1023));
  Fill(s);
  Node apart = Machine("apart", 1);
  apart.taints = {{"apart", "", TaintEffect::kNoSchedule}};
  s.Happens(NodeChanged{apart});
  s.HasQueue("q");
  Gang gang = Job("goes");
  gang.roles[0].tolerations = {{"apart", TolerationOp::kExists, "", {}}};
  s.Submit(gang);
  s.Pass();
  s.AllDone();
  s.Happens(GangCancelled{"goes"});
  gang.key = "comes";
  s.Submit(gang);
  s.Pass();
  ASSERT_EQ(s.Phase("comes"), "nominated");
  Asks(s, 5);
  s.Pass();
  const auto effort = [&] {
    const SchedulerState state = s.scheduler().State();
    const auto asks =
        std::ranges::find(state.gang_classes, "asks", &GangClassState::gang);
    return asks == state.gang_classes.end() ? 0 : asks->effort;
  };
  EXPECT_EQ(effort(), 1u);
  s.Happens(GangHeld{"comes", false, "said again"});
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(effort(), 1u);
  EXPECT_EQ(s.NextWakeup(), s.now);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(effort(), 3u);
}

TEST_F(UnprovenStories, TheSearchEnds) {
  Story s(Config(20, 7));
  Fill(s);
  Asks(s, 5);
  s.Pass();
  EXPECT_EQ(PassesToRest(s), 3);  // With 2, 4 and 8 times the steps.
  EXPECT_THAT(s.Why("asks"), StartsWith("not-found"));
  s.Pass();
  EXPECT_TRUE(s.plan().waiting.empty());
  EXPECT_GT(s.NextWakeup(), s.now);
}

TEST_F(UnprovenStories, NoneIsSearchedForAgainWhereThatIsNotWanted) {
  Story s(Config(20, 0));
  Fill(s);
  Asks(s, 5);
  s.Pass();
  EXPECT_THAT(s.Why("asks"), StartsWith("not-found"));
  EXPECT_GT(s.NextWakeup(), s.now);
}

// One a pass, those that were searched for the least first.
TEST_F(UnprovenStories, OneIsSearchedForAtATime) {
  Story s(Config(20, 7));
  Fill(s);
  Asks(s, 5, "one");
  Asks(s, 4, "two");
  s.Pass();
  EXPECT_EQ(PassesToRest(s), 6);
}

// Each tenant can give two devices: twelve cannot give more than 24, and the
// last gang of each.
TEST_F(UnprovenStories, TooLittleInAllIsProven) {
  Story s(Config(20, 15));
  Fill(s);
  Asks(s, 6);
  s.Pass();
  EXPECT_THAT(s.Why("asks"), StartsWith("insufficient"));
  EXPECT_GT(s.NextWakeup(), s.now);
}

// A cluster that counts no devices knows no sums of them.
TEST(VictimsWithoutDevices, AreFoundByTheirCores) {
  SchedulerConfig config;
  config.resources = {"cpu"};
  config.device_kind = "";
  config.preemption = true;
  Story s(config);
  s.HasQueue("q");
  s.HasClasses();
  Node node;
  node.key = "n";
  node.capacity.Set(0, 4000);
  s.Happens(NodeChanged{node});
  const auto job = [](const std::string& key, const char* priority) {
    Gang gang = Job(key, 1, 0, priority);
    gang.roles[0].shape.resources = {2000};
    return gang;
  };
  s.Submit(job("a", "low"));
  s.Pass();
  s.AllDone();
  s.now += 10 * kSecond;
  s.Submit(job("b", "low"));
  s.Pass();
  s.AllDone();
  s.now += 10 * kSecond;
  s.Submit(job("c", "high"));
  EXPECT_THAT(s.Pass(),
              ::testing::ElementsAre("evict b for c", "nominate c: n"));
}

// Tenants could give devices, but none what the queue's limit lacks.
TEST_F(UnprovenStories, ALimitUnderWhichNobodyGivesRoomIsProven) {
  Story s(Config(20, 7));
  Fill(s);
  s.HasQueue("limited", {GpuQuota(std::nullopt, 24)}, "owed");
  s.HasNode("w", 2);  // Where none of the others fits.
  Gang small = Job("small", 1, 2);
  small.queue = "limited";
  s.Submit(small);
  s.Pass();
  s.AllDone();
  for (const char* node : {"x", "y", "z"}) s.HasNode(node, 8);
  Gang gang = Job("asks", 3, 8);
  gang.queue = "limited";
  s.Submit(gang);
  s.Pass();
  EXPECT_THAT(s.Why("asks"), StartsWith("queue-limit"));
  EXPECT_GT(s.NextWakeup(), s.now);
  s.now += kSecond;
  s.Happens(GangFinished{"small"});
  s.Pass();
  EXPECT_EQ(s.Phase("asks"), "starting");
}

// What makes room for no gang is proven, and told with its reason.
TEST_F(UnprovenStories, AProofIsNoLongerNotFound) {
  Story s(Config(20, 15));
  Fill(s);
  Asks(s, 5);
  s.Pass();
  EXPECT_THAT(s.Why("asks"), StartsWith("not-found"));
  // All are protected by their guarantees now.
  for (char t = 'a'; t <= 'l'; ++t) {
    s.HasQueue(std::string(1, t), {GpuQuota(8, std::nullopt)});
  }
  s.Pass();
  EXPECT_THAT(s.Why("asks"), StartsWith("insufficient"));
  EXPECT_GT(s.NextWakeup(), s.now);
}

}  // namespace
}  // namespace muster
