// What gangs can do without, against trying every part of random ones.
#include "lib/scheduler/surplus.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/scheduler/gang_spec.h"
#include "test/property/dice.h"
#include "test/property/state_usage.h"

namespace muster {
namespace {

// Two layers of groups with some roles each.
Gang RandomGang(Dice& dice) {
  Gang gang;
  const uint32_t groups = dice.Below(5);
  gang.groups.resize(groups + 1);
  for (uint32_t g = 0; g <= groups; ++g) {
    if (g > 2) gang.groups[g].parent = 1 + dice.Below(2);
    if (dice.OneIn(3)) gang.groups[g].min_children = 1 + dice.Below(2);
    if (dice.OneIn(4)) gang.groups[g].min_tasks = dice.Below(5);
  }
  const uint32_t roles = groups + 1 + dice.Below(3);
  for (uint32_t r = 0; r < roles; ++r) {
    Role& role = gang.roles.emplace_back();
    role.name = "role" + std::to_string(r);
    role.group = r <= groups ? r : dice.Below(groups + 1);
    // No group is content with nothing.
    role.min_tasks = r <= groups ? 1 + dice.Below(3) : dice.Below(4);
    role.desired_tasks = role.min_tasks + 1 + dice.Below(4);
    role.order = static_cast<int32_t>(dice.Below(2));
    role.preemptible = !dice.OneIn(8);
  }
  return gang;
}

// Whether the gang runs on with these, and no part of it is of no use that was
// not before.
bool GoesOn(const Gang& gang, const std::vector<uint32_t>& had,
            const std::vector<uint32_t>& left) {
  if (!MeetsMinimum(gang, left)) return false;
  const std::vector<std::string> before = PartsInVain(gang, had);
  for (const std::string& part : PartsInVain(gang, left)) {
    if (std::find(before.begin(), before.end(), part) == before.end()) {
      return false;
    }
  }
  return true;
}

// Whether some role could give one task more, or all it has. What is of no use
// but kept for its number alone is left out.
bool CouldGiveMore(const Gang& gang, const std::vector<uint32_t>& left) {
  if (!PartsInVain(gang, left).empty()) return false;
  for (size_t r = 0; r < left.size(); ++r) {
    if (left[r] == 0 || !gang.roles[r].preemptible) continue;
    std::vector<uint32_t> less = left;
    for (const uint32_t count : {left[r] - 1, 0u}) {
      less[r] = count;
      if (GoesOn(gang, left, less)) return true;
    }
  }
  return false;
}

// "group 1 in 0: 2 children, 3 tasks; role 0 in 1: least 1, order 0, 3 -> 2".
std::string Told(const Gang& gang, const std::vector<uint32_t>& had,
                 const std::vector<uint32_t>& left) {
  std::string text;
  for (size_t g = 0; g < gang.groups.size(); ++g) {
    const Group& group = gang.groups[g];
    text += "group " + std::to_string(g) + " in " +
            std::to_string(group.parent) + ": " +
            std::to_string(group.min_children) + " children, " +
            std::to_string(group.min_tasks) + " tasks; ";
  }
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    const Role& role = gang.roles[r];
    text += "role " + std::to_string(r) + " in " + std::to_string(role.group) +
            ": least " + std::to_string(role.min_tasks) + ", order " +
            std::to_string(role.order) + ", " + std::to_string(had[r]) +
            " -> " + std::to_string(left[r]) + "; ";
  }
  return text;
}

TEST(SurplusTest, EveryCutLeavesAGangAndNothingIsLeftOver) {
  uint32_t gangs = 0, gave = 0, whole = 0;
  for (uint64_t seed = 1; seed <= 20'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    const Gang gang = RandomGang(dice);
    std::vector<uint32_t> counts;
    std::vector<Assignment> tasks;
    for (uint32_t r = 0; r < gang.roles.size(); ++r) {
      counts.push_back(dice.Below(gang.roles[r].desired_tasks + 1));
      for (uint32_t i = 0; i < counts[r]; ++i) tasks.push_back({{r, i}, {}});
    }
    if (!MeetsMinimum(gang, counts)) continue;
    ++gangs;
    GangSpec t;
    t.prepared.gang = gang;
    const Surplus surplus(t, counts, tasks);
    std::vector<uint32_t> left = counts;
    size_t gone = 0;
    for (const uint32_t size : surplus.shrink_sizes()) {
      whole += size > gone + 1;
      for (; gone < size; ++gone) {
        const TaskId id = surplus.tasks()[gone];
        ASSERT_TRUE(gang.roles[id.role].preemptible);
        ASSERT_EQ(id.index, --left[id.role]) << "the last one first";
      }
      ASSERT_TRUE(GoesOn(gang, counts, left)) << "after " << size;
    }
    ASSERT_EQ(gone, surplus.tasks().size());
    ASSERT_FALSE(CouldGiveMore(gang, left)) << Told(gang, counts, left);
    gave += gone > 0;
  }
  EXPECT_GT(gangs, 2000u);
  EXPECT_GT(gave, gangs / 2);
  EXPECT_GT(whole, 500u);
}

}  // namespace
}  // namespace muster
