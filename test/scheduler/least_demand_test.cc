// The least that a gang asks of a kind, beside all numbers of tasks that it may
// have.
#include "lib/scheduler/least_demand.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/scheduler/gang_spec.h"
#include "test/property/dice.h"

namespace muster {
namespace {

Role GroupedRole(uint32_t group, uint32_t min, uint32_t desired) {
  Role role;
  role.group = group;
  role.min_tasks = min;
  role.desired_tasks = desired;
  return role;
}

// A root, and up to three groups in it or in each other.
Gang GroupedGang(Dice& dice, bool may_choose) {
  Gang gang;
  gang.groups.resize(1 + dice.Below(4));
  for (uint32_t g = 1; g < gang.groups.size(); ++g) {
    gang.groups[g].parent = dice.Below(g);
  }
  const uint32_t roles = 1 + dice.Below(4);
  std::vector<uint32_t> desires(gang.groups.size());
  for (uint32_t r = 0; r < roles; ++r) {
    const uint32_t group =
        dice.Below(static_cast<uint32_t>(gang.groups.size()));
    const uint32_t desired = 1 + dice.Below(3);
    gang.roles.push_back(GroupedRole(group, dice.Below(desired + 1), desired));
    for (uint32_t g = group;; g = gang.groups[g].parent) {
      desires[g] += desired;
      if (g == 0) break;
    }
  }
  for (uint32_t g = 0; g < gang.groups.size(); ++g) {
    if (dice.OneIn(2)) gang.groups[g].min_tasks = dice.Below(desires[g] + 1);
    const auto children = static_cast<uint32_t>(
        std::ranges::count(gang.roles, g, &Role::group) + (g == 0 ? -1 : 0) +
        std::ranges::count(gang.groups, g, &Group::parent));
    if (may_choose && children > 0 && dice.OneIn(3)) {
      gang.groups[g].min_children = 1 + dice.Below(children);
    }
  }
  return gang;
}

// By trying all; the most there is if there is none.
int64_t LeastOfAll(const Gang& gang, const std::vector<int64_t>& each) {
  int64_t least = std::numeric_limits<int64_t>::max();
  std::vector<uint32_t> counts(gang.roles.size());
  for (;;) {
    if (Satisfaction(gang, counts).satisfied[0] != 0) {
      int64_t amount = 0;
      for (size_t r = 0; r < counts.size(); ++r) amount += each[r] * counts[r];
      least = std::min(least, amount);
    }
    size_t r = 0;
    while (r < counts.size() && ++counts[r] > gang.roles[r].desired_tasks) {
      counts[r++] = 0;
    }
    if (r == counts.size()) return least;
  }
}

TEST(LeastDemand, IsTheLeastWhereNoGroupChoosesElseNoMore) {
  Dice dice(17);
  int exact = 0, of_groups = 0;
  for (int i = 0; i < 20'000; ++i) {
    const bool may_choose = dice.OneIn(2);
    const Gang gang = GroupedGang(dice, may_choose);
    std::vector<int64_t> each;
    for (size_t r = 0; r < gang.roles.size(); ++r)
      each.push_back(dice.In(0, 4));
    const int64_t least = LeastOfAll(gang, each);
    if (least == std::numeric_limits<int64_t>::max()) continue;
    const int64_t found = LeastAmount(gang, each);
    if (may_choose) {
      ASSERT_LE(found, least) << i;
    } else {
      ASSERT_EQ(found, least) << i;
    }
    exact += found == least;
    int64_t of_roles = 0;
    for (size_t r = 0; r < each.size(); ++r) {
      of_roles += each[r] * gang.roles[r].min_tasks;
    }
    of_groups += found > of_roles;
  }
  EXPECT_GT(exact, 15'000);
  EXPECT_GT(of_groups, 3'000);
}

// Two roles of one task each, which both have to run: what a PodGroup with
// unlike pods is.
TEST(LeastDemand, AGroupsMinimumAsksOfRolesThatAreOptional) {
  Gang gang;
  gang.groups.emplace_back().min_tasks = 2;
  gang.roles = {GroupedRole(0, 0, 1), GroupedRole(0, 0, 1)};
  EXPECT_EQ(LeastAmount(gang, std::vector<int64_t>{3, 4}), 7);
  gang.groups[0].min_tasks = 1;
  EXPECT_EQ(LeastAmount(gang, std::vector<int64_t>{3, 4}), 3);
}

}  // namespace
}  // namespace muster
