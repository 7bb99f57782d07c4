#include "adapters/translate/gang_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace muster::translate {
namespace {

using testing::ElementsAre;

Role Asks(int64_t cpu) { return {.shape = {.resources = Resources({cpu})}}; }

TEST(GangBuilderTest, LikePodsOfASetAreTasksOfOneRole) {
  Gang gang;
  GangBuilder builder(&gang);
  const uint32_t root = builder.AddGroup("", 0);
  std::vector<uint32_t> roles;
  EXPECT_EQ(builder.AddTask(Asks(1), root, &roles), (TaskId{0, 0}));
  EXPECT_EQ(builder.AddTask(Asks(2), root, &roles), (TaskId{1, 0}));
  EXPECT_EQ(builder.AddTask(Asks(1), root, &roles), (TaskId{0, 1}));
  EXPECT_THAT(roles, ElementsAre(0, 1));
  // Another set, though its pods are like those.
  std::vector<uint32_t> others;
  const uint32_t group = builder.AddGroup("others", root);
  EXPECT_EQ(builder.AddTask(Asks(1), group, &others), (TaskId{2, 0}));
  EXPECT_THAT(others, ElementsAre(2));

  ASSERT_EQ(gang.roles.size(), 3u);
  EXPECT_EQ(gang.roles[0].name, "role0");
  EXPECT_EQ(gang.roles[0].desired_tasks, 2u);
  EXPECT_EQ(gang.roles[0].min_tasks, 0u);
  EXPECT_EQ(gang.roles[1].shape.resources, Resources({2}));
  EXPECT_EQ(gang.roles[2].group, group);
  EXPECT_EQ(gang.groups[group].name, "others");
  EXPECT_EQ(gang.groups[group].parent, root);
}

// What is written into a role afterwards does not make its pods unlike.
TEST(GangBuilderTest, ARoleIsKnownByItsModel) {
  Gang gang;
  GangBuilder builder(&gang);
  const uint32_t root = builder.AddGroup("", 0);
  std::vector<uint32_t> roles;
  builder.AddTask(Asks(1), root, &roles);
  gang.roles[0].name = "worker";
  gang.roles[0].topology.required = "rack";
  EXPECT_EQ(builder.AddTask(Asks(1), root, &roles), (TaskId{0, 1}));
}

TEST(GangBuilderTest, AMinimumIsTheRolesOrTheGroups) {
  const struct {
    std::vector<int64_t> pods;  // What each asks for.
    int64_t minimum;
    bool enough;
    std::vector<uint32_t> of_roles;
    uint32_t of_group;
  } cases[] = {
      {{1, 1, 1}, 3, true, {3}, 0},     {{1, 1, 1}, 2, true, {2}, 0},
      {{1, 1, 1}, 0, true, {0}, 0},     {{1, 1, 1}, 4, false, {3}, 4},
      {{1, 2, 1}, 3, true, {2, 1}, 0},  {{1, 2, 1}, 2, true, {0, 0}, 2},
      {{1, 2, 1}, 5, false, {2, 1}, 5}, {{}, 1, false, {}, 1}};
  for (const auto& c : cases) {
    Gang gang;
    GangBuilder builder(&gang);
    const uint32_t root = builder.AddGroup("", 0);
    std::vector<uint32_t> roles;
    for (const int64_t cpu : c.pods) builder.AddTask(Asks(cpu), root, &roles);
    EXPECT_EQ(builder.RequireTasks(roles, c.minimum, root), c.enough);
    std::vector<uint32_t> of_roles;
    for (const Role& role : gang.roles) of_roles.push_back(role.min_tasks);
    EXPECT_EQ(of_roles, c.of_roles) << c.minimum << " of " << c.pods.size();
    EXPECT_EQ(gang.groups[root].min_tasks, c.of_group)
        << c.minimum << " of " << c.pods.size();
  }
}

TEST(GangBuilderTest, AGangWithoutAMinimumNeedsOneTask) {
  for (const int64_t minimum : {0, 1, 2}) {
    Gang gang;
    GangBuilder builder(&gang);
    const uint32_t root = builder.AddGroup("", 0);
    std::vector<uint32_t> roles;
    builder.AddTask(Asks(1), root, &roles);
    builder.AddTask(Asks(1), root, &roles);
    builder.RequireTasks(roles, minimum, root);
    builder.RequireAnyTask();
    EXPECT_EQ(gang.roles[0].min_tasks, minimum);
    EXPECT_EQ(gang.groups[root].min_tasks, minimum == 0 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace muster::translate
