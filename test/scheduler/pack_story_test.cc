// Gangs of groups that each require a rack: told no only where that is proven,
// else searched for further.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

SchedulerConfig Config(uint32_t most_effort = 15) {
  SchedulerConfig config;
  config.topologies = {{"net", {"rack"}}};
  config.search.most_effort = most_effort;
  return config;
}

// Racks of so many nodes with 8 devices.
void HasRacks(Story& s, const std::vector<uint32_t>& racks) {
  for (size_t r = 0; r < racks.size(); ++r) {
    for (uint32_t n = 0; n < racks[r]; ++n) {
      const std::string rack = "r" + std::to_string(r);
      Node node = Machine(rack + "n" + std::to_string(n), 8);
      node.labels.push_back({"rack", rack});
      s.Happens(NodeChanged{std::move(node)});
    }
  }
}

// Groups of so many whole nodes, each in one rack.
Gang Groups(const std::string& key, const std::vector<uint32_t>& sizes) {
  Gang gang = Job(key, 1, 8);
  const Role role = gang.roles[0];
  gang.roles.clear();
  for (const uint32_t size : sizes) {
    Role& group = gang.roles.emplace_back(role);
    group.name = "g" + std::to_string(gang.roles.size());
    group.min_tasks = group.desired_tasks = size;
    group.topology.required = "rack";
  }
  return gang;
}

// Sixteen racks and groups that fill them without a gap, for which the steps of
// one pass are too few.
const std::vector<uint32_t> kRacks = {26, 27, 28, 25, 26, 28, 28, 30,
                                      27, 30, 28, 29, 29, 28, 28, 25};
const std::vector<uint32_t> kSizes = {
    18, 17, 17, 16, 14, 14, 14, 13, 12, 12, 12, 12, 12, 12,
    12, 11, 11, 11, 11, 11, 11, 10, 10, 10, 10, 10, 9,  9,
    9,  9,  9,  9,  8,  8,  7,  7,  7,  7,  7,  7,  7};

TEST(PackStories, GroupsThatFillTheirRacksStart) {
  Story s(Config());
  s.HasQueue("q");
  HasRacks(s, {16, 16, 16});
  s.Submit(Groups("a", {6, 6, 5, 5, 5, 4, 4, 4, 4, 3, 2}));
  EXPECT_THAT(s.Pass(), Not(IsEmpty()));
  EXPECT_EQ(s.Phase("a"), "starting");
}

TEST(PackStories, RoomIsMadeForGroupsThatFillTheirRacks) {
  SchedulerConfig config = Config();
  config.preemption = true;
  Story s(config);
  s.HasQueue("q");
  s.HasClasses();
  HasRacks(s, {16, 16, 16});
  s.Submit(Job("low", 48, 8, "low"));
  s.Pass();
  s.AllDone();
  s.now += 10 * kSecond;
  Gang gang = Groups("a", {6, 6, 5, 5, 5, 4, 4, 4, 4, 3, 2});
  gang.priority_class = "high";
  s.Submit(gang);
  EXPECT_THAT(s.Pass(), Contains("evict low for a"));
  EXPECT_EQ(s.Phase("a"), "nominated");
}

TEST(PackStories, TooFewRacksForSoManyGroupsIsProven) {
  Story s(Config());
  s.HasQueue("q");
  HasRacks(s, {10, 10, 10, 9, 10, 10, 10, 10, 9, 10, 9, 10});
  s.Submit(Groups("a", std::vector<uint32_t>(10, 10)));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("a"), AllOf(StartsWith("no-domain"), HasSubstr("100"),
                                HasSubstr("90")));
  EXPECT_GT(s.NextWakeup(), s.now);
  EXPECT_FALSE(s.plan().budget_exhausted);
  // A node more in one of the small racks is all it takes.
  Node node = Machine("more", 8);
  node.labels.push_back({"rack", "r8"});
  s.Happens(NodeChanged{std::move(node)});
  EXPECT_THAT(s.Pass(), Not(IsEmpty()));
}

TEST(PackStories, WhatWasNotFoundIsSearchedForFurther) {
  Story s(Config());
  s.HasQueue("q");
  HasRacks(s, kRacks);
  s.Submit(Groups("a", kSizes));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("a"), StartsWith("not-found"));
  int passes = 0;
  for (; s.Phase("a") == "waiting" && passes < 5; ++passes) {
    ASSERT_EQ(s.NextWakeup(), s.now);  // At once.
    ASSERT_EQ(s.plan().class_results.size(), 1u);
    s.ExpectRestorable();
    s.Pass();
  }
  EXPECT_EQ(s.Phase("a"), "starting");
}

TEST(PackStories, NoneIsSearchedForFurtherWhereThatIsNotWanted) {
  Story s(Config(0));
  s.HasQueue("q");
  HasRacks(s, kRacks);
  s.Submit(Groups("a", kSizes));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("a"), StartsWith("not-found"));
  EXPECT_GT(s.NextWakeup(), s.now);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_TRUE(s.plan().class_results.empty());
}

}  // namespace
}  // namespace muster
