// Stories of one gang that looks for its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

Gang Of(std::vector<Role> roles) {
  Gang gang;
  gang.roles = std::move(roles);
  return gang;
}

TopologyConstraint Required(std::string level) {
  return {.required = std::move(level)};
}
TopologyConstraint Preferred(std::string level) {
  return {.preferred = std::move(level)};
}
TopologyConstraint Sliced(std::vector<Slice> slices,
                          std::string required = "") {
  TopologyConstraint c;
  c.required = std::move(required);
  c.slices = std::move(slices);
  return c;
}

TEST(LoneTask, TakesTheNodeWithTheLeastFree) {
  World w;
  w.AddMany("z/b/r/n", 3, 8);
  w.Use("n1", 5);
  w.Use("n2", 7);
  ASSERT_EQ(w.Place(Of({MakeRole("w", 1, 2)})).fit, Fit::kFits);
  EXPECT_EQ(w.NodeOf(0, 0), "n1");
}

TEST(LoneTask, TiesGoToTheLowestKey) {
  World w;
  w.Add({.path = "z/b/r/nb", .gpus = 4}).Add({.path = "z/b/r/na", .gpus = 4});
  w.Place(Of({MakeRole("w", 1, 2)}));
  EXPECT_EQ(w.NodeOf(0, 0), "na");
}

TEST(LoneTask, AShareGoesToADeviceInUse) {
  World w;
  w.AddMany("z/b/r/n", 2, 4);
  w.Use("n1", 3);  // Less is free there, but its last device is whole.
  Role half = MakeRole("w", 1, 1);
  half.shape.devices.milli = 400;
  const ShapeId shape = w.cluster.Intern(half, 0);
  Allocation at;
  ASSERT_TRUE(
      w.cluster.Take(w.cluster.Find("n0").index, shape, Ledger::kBoth, &at));
  w.Place(Of({half}));
  EXPECT_EQ(w.NodeOf(0, 0), "n0");
  EXPECT_EQ(w.placed[0].at.devices, at.devices);
}

TEST(LoneTask, PreferenceBeforeTightness) {
  World w;
  w.Add({.path = "z/b/r/n0", .gpus = 2});
  w.Add({.path = "z/b/r/n1", .gpus = 8, .labels = {{"disk", "fast"}}});
  Role role = MakeRole("w", 1, 1);
  role.preferences = {{10, {{{"disk", SelectorOp::kIn, {"fast"}}}}}};
  w.Place(Of({role}));
  EXPECT_EQ(w.NodeOf(0, 0), "n1");
}

TEST(LoneTask, ReluctantNodesAreUsedLast) {
  World w;
  w.Add({.path = "z/b/r/n0",
         .gpus = 2,
         .taints = {{"spot", "", TaintEffect::kPreferNoSchedule}}});
  w.Add({.path = "z/b/r/n1", .gpus = 8});
  w.Place(Of({MakeRole("w", 1, 2)}));
  EXPECT_EQ(w.NodeOf(0, 0), "n1");
}

TEST(IdenticalTasks, OneNodeBeforeTheTighterRack) {
  World w;
  w.AddMany("z/b/r1/a", 2, 2).AddMany("z/b/r2/b", 2, 8);
  w.Place(Of({MakeRole("w", 4, 1)}));
  EXPECT_THAT(w.NodesOf(0), Each("b0"));
}

TEST(IdenticalTasks, TheTightestRackThatHoldsThemAll) {
  World w;
  w.AddMany("z/b/r1/a", 6, 8)
      .AddMany("z/b/r2/b", 4, 8)
      .AddMany("z/b/r3/c", 3, 8);
  w.Place(Of({MakeRole("w", 4, 8)}));
  EXPECT_EQ(w.Where(0, "rack"), "r2 r2 r2 r2");
}

TEST(IdenticalTasks, TheFewestRacksOfOneBlock) {
  World w;
  w.AddMany("z/b1/r1/a", 2, 8).AddMany("z/b1/r2/b", 3, 8);
  w.AddMany("z/b1/r3/c", 1, 8).AddMany("z/b2/r1/d", 2, 8);
  w.Place(Of({MakeRole("w", 4, 8)}));
  EXPECT_EQ(w.Where(0, "block"), "b1 b1 b1 b1");
  EXPECT_EQ(w.Where(0, "rack"), "r2 r2 r2 r3");
}

TEST(IdenticalTasks, NeverHalfAGang) {
  World w;
  w.AddMany("z/b/r/n", 1, 4);
  ASSERT_EQ(w.Place(Of({MakeRole("w", 2, 1)})).fit, Fit::kFits);
  const uint64_t before = w.cluster.Hash();
  EXPECT_EQ(w.Place(Of({MakeRole("w", 4, 1)})).fit, Fit::kNotNow);
  EXPECT_TRUE(w.placed.empty());
  EXPECT_EQ(w.cluster.Hash(), before);
  EXPECT_EQ(w.result.reason.code, ReasonCode::kInsufficient);
  EXPECT_EQ(w.result.reason.resource, kGpu);
  EXPECT_EQ(w.result.reason.needed, 4000);
  EXPECT_EQ(w.result.reason.available, 2000);
}

TEST(IdenticalTasks, NodesOutsideTheTopologyServeOnlyThoseWhoDoNotNameIt) {
  World w;
  w.Add({.path = "n0", .gpus = 8});
  ASSERT_EQ(w.Place(Of({MakeRole("w", 2, 1)})).fit, Fit::kFits);
  Role named = MakeRole("w", 2, 1);
  named.topology = Preferred("rack");
  EXPECT_NE(w.Place(Of({named})).fit, Fit::kFits);
}

TEST(IdenticalTasks, WorkWithoutAnyTopology) {
  World w(std::vector<Topology>{});
  w.Add({.path = "n0", .gpus = 2}).Add({.path = "n1", .gpus = 3});
  ASSERT_EQ(w.Place(Of({MakeRole("w", 4, 1)})).fit, Fit::kFits);
  EXPECT_THAT(w.NodesOf(0), ElementsAre("n0", "n1", "n1", "n1"));
}

TEST(IdenticalTasks, PreferTheRackWithTheNodesTheyLike) {
  World w;
  w.AddMany("z/b/r1/a", 2, 8);
  for (int i = 0; i < 3; ++i) {
    w.Add({.path = "z/b/r2/b" + std::to_string(i),
           .gpus = 8,
           .labels = {{"disk", i == 1 ? "slow" : "fast"}}});
  }
  Role role = MakeRole("w", 2, 8);
  role.preferences = {{10, {{{"disk", SelectorOp::kIn, {"fast"}}}}}};
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  EXPECT_THAT(w.NodesOf(0), ElementsAre("b0", "b2"));
}

TEST(IdenticalTasks, FewerNodesBeforeLikedOnes) {
  World w;
  w.Add({.path = "z/b/r/n0", .gpus = 4});
  for (int i = 1; i < 5; ++i) {
    w.Add({.path = "z/b/r/n" + std::to_string(i),
           .gpus = 1,
           .labels = {{"disk", "fast"}}});
  }
  Role role = MakeRole("w", 4, 1);
  role.preferences = {{10, {{{"disk", SelectorOp::kIn, {"fast"}}}}}};
  w.Place(Of({role}));
  EXPECT_THAT(w.NodesOf(0), Each("n0"));
}

TEST(IdenticalTasks, ReluctantNodesServeOnlyTheRest) {
  World w;
  for (int i = 0; i < 4; ++i) {
    NodeSpec node{.path = "z/b/r/n" + std::to_string(i), .gpus = 8};
    if (i % 2 == 0) {
      node.taints = {{"spot", "", TaintEffect::kPreferNoSchedule}};
    }
    w.Add(node);
  }
  w.Place(Of({MakeRole("w", 3, 8)}));
  EXPECT_THAT(w.NodesOf(0), ElementsAre("n0", "n1", "n3"));
}

TEST(Constraint, RequiredRackOrNothing) {
  World w;
  w.AddMany("z/b/r1/a", 3, 8).AddMany("z/b/r2/b", 3, 8);
  Role role = MakeRole("w", 4, 8);
  role.topology = Required("rack");
  EXPECT_EQ(w.Place(Of({role})).fit, Fit::kNever);
  w.AddMany("z/b/r1/x", 1, 8);
  w.Use("x0", 1);
  EXPECT_EQ(w.Place(Of({role})).fit, Fit::kNotNow);
  EXPECT_EQ(w.result.reason.code, ReasonCode::kNoDomain);
  EXPECT_EQ(w.result.reason.object, 2u);
  EXPECT_EQ(w.result.reason.needed, 4);
  EXPECT_EQ(w.result.reason.available, 3);
}

TEST(Constraint, PreferredRackElseTheNextWiderLevel) {
  World w;
  w.AddMany("z/b1/r1/a", 3, 8).AddMany("z/b1/r2/b", 3, 8);
  w.AddMany("z/b2/r1/c", 3, 8);
  Role role = MakeRole("w", 4, 8);
  role.topology = Preferred("rack");
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  EXPECT_EQ(w.Where(0, "block"), "b1 b1 b1 b1");
}

TEST(Constraint, OneHost) {
  World w;
  w.AddMany("z/b/r1/a", 4, 3).Add({.path = "z/b/r2/b0", .gpus = 4});
  Role role = MakeRole("w", 4, 1);
  role.topology = Required(kHostLevel);
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  EXPECT_THAT(w.NodesOf(0), Each("b0"));
}

TEST(Constraint, NewTasksJoinTheDomainOfTheFixedOnes) {
  World w;
  w.AddMany("z/b/r1/a", 2, 8).AddMany("z/b/r2/b", 4, 8);
  w.Use("b0", 8);
  w.Use("b1", 8);
  Role role = MakeRole("w", 2, 8);
  role.desired_tasks = 4;
  role.topology = Required("rack");
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  EXPECT_EQ(w.Where(0, "rack"), "r1 r1");
  EXPECT_TRUE(w.Grow().tasks.empty());
  w.AddMany("z/b/r1/x", 1, 8);
  EXPECT_EQ(w.Grow().tasks.size(), 1u);
  EXPECT_EQ(w.Where(0, "rack"), "r1 r1 r1");
}

TEST(Slices, EachReplicaInOneRackAllInOneBlock) {
  World w;
  w.AddMany("z/b1/r1/a", 5, 8).AddMany("z/b1/r2/b", 3, 8);
  w.AddMany("z/b2/r1/c", 4, 8).AddMany("z/b2/r2/d", 4, 8);
  Role role = MakeRole("w", 8, 8);
  role.topology = Sliced({{"rack", 4}}, "block");
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  EXPECT_EQ(w.Where(0, "rack"), "r1 r1 r1 r1 r2 r2 r2 r2");
  EXPECT_EQ(w.Where(0, "block"), "b2 b2 b2 b2 b2 b2 b2 b2");
}

TEST(Slices, NestedLayers) {
  World w;
  w.Add({.path = "z/b1/r1/x1", .gpus = 1})
      .Add({.path = "z/b1/r1/x2", .gpus = 4});
  w.Add({.path = "z/b1/r2/x3", .gpus = 3})
      .Add({.path = "z/b1/r2/x4", .gpus = 4});
  Role role = MakeRole("w", 8, 1);
  role.topology = Sliced({{"rack", 4}, {kHostLevel, 2}}, "block");
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  const std::vector<std::string> nodes = w.NodesOf(0);
  for (size_t i = 0; i < 8; i += 2) EXPECT_EQ(nodes[i], nodes[i + 1]);
}

TEST(Slices, AnIncompleteLastSliceStaysTogether) {
  World w;
  w.AddMany("z/b/r1/a", 3, 8).AddMany("z/b/r2/b", 2, 8);
  Role role = MakeRole("w", 5, 8);
  role.topology = Sliced({{"rack", 3}});
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  EXPECT_EQ(w.Where(0, "rack"), "r1 r1 r1 r2 r2");
}

TEST(Slices, ALostTaskReturnsToItsSlice) {
  World w;
  w.AddMany("z/b/r1/a", 3, 8).AddMany("z/b/r2/b", 3, 8);
  Role role = MakeRole("w", 4, 8);
  role.topology = Sliced({{"rack", 2}});
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  const std::string lost = w.NodeOf(0, 2);
  const std::string rack = w.Where(0, "rack").substr(9, 2);  // Of task 3.
  for (size_t i = 0; i < w.placed.size(); ++i) {
    if (w.placed[i].task.index != 2) continue;
    w.cluster.Credit(w.placed[i].at, Ledger::kBoth);
    w.cluster.SetAvailable(w.placed[i].at.node, false);
    w.placed.erase(w.placed.begin() + static_cast<ptrdiff_t>(i));
  }
  ASSERT_EQ(w.PlaceAgain().fit, Fit::kFits);
  ASSERT_EQ(w.result.tasks.size(), 1u);
  EXPECT_EQ(w.result.tasks[0].task.index, 2u);
  EXPECT_NE(w.NodeOf(0, 2), lost);
  EXPECT_EQ(w.Where(0, "rack").substr(6, 2), rack);
}

TEST(Roles, NoLargestTaskStandsForAll) {
  World w;
  w.Add({.path = "z/b/r/n0", .gpus = 8}).Add({.path = "z/b/r/n1", .gpus = 3});
  ASSERT_EQ(w.Place(Of({MakeRole("small", 3, 1), MakeRole("big", 1, 8)})).fit,
            Fit::kFits);
  EXPECT_EQ(w.NodeOf(1, 0), "n0");
  EXPECT_THAT(w.NodesOf(0), Each("n1"));
}

TEST(Roles, TheLeaderLeavesRoomForTheWorkers) {
  World w;
  w.Add({.path = "z/b/r/h1", .cpu = 2}).Add({.path = "z/b/r/h2", .cpu = 4});
  w.Add({.path = "z/b/r/h3", .cpu = 3});
  Gang gang = Of({MakeRole("leader", 1, 0, 1), MakeRole("worker", 4, 0, 2)});
  gang.groups.emplace_back().topology = Required("rack");
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  EXPECT_EQ(w.NodeOf(0, 0), "h3");
}

TEST(Roles, AlternativesInOrderAllTasksAlike) {
  World w;
  w.Add({.path = "z/b/r1/a0", .gpus = 2, .model = "H100"});
  w.Add({.path = "z/b/r2/b0", .gpus = 4, .model = "A100"});
  Role role = MakeRole("w", 3, 1);
  role.shape.devices.models = {"H100"};
  role.alternatives.push_back(role.shape);
  role.alternatives[0].devices.models = {"A100"};
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  EXPECT_THAT(w.NodesOf(0), Each("b0"));
  role.min_tasks = role.desired_tasks = 2;
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  EXPECT_THAT(w.NodesOf(0), Each("a0"));
}

// Two jobs of one parameter server and two workers.
TEST(Traffic, EachServerEndsBesideItsOwnWorkers) {
  World w;
  for (int i = 0; i < 4; ++i) {
    w.Add({.path = "z/b/r" + std::to_string(i / 2) + "/n" + std::to_string(i),
           .gpus = 1,
           .cpu = 3});
  }
  const auto job = [] {
    Gang gang = Of({MakeRole("ps", 1, 0, 2), MakeRole("worker", 2, 1, 1)});
    gang.traffic = {{"ps", "worker", 1}};
    return gang;
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(w.Place(job()).fit, Fit::kFits);
    const std::vector<std::string> workers = w.NodesOf(1);
    EXPECT_THAT(workers, ::testing::Contains(w.NodeOf(0, 0)));
    EXPECT_EQ(w.Where(0, "rack") + " " + w.Where(0, "rack"),
              w.Where(1, "rack"));
  }
}

TEST(Groups, EachReplicaInItsOwnRack) {
  World w;
  w.AddMany("z/b/r1/a", 2, 8).AddMany("z/b/r2/b", 2, 8);
  Gang gang = Of({MakeRole("l0", 1, 8), MakeRole("w0", 1, 8),
                  MakeRole("l1", 1, 8), MakeRole("w1", 1, 8)});
  gang.groups.resize(3);
  gang.groups[1].topology = gang.groups[2].topology = Required("rack");
  gang.roles[0].group = gang.roles[1].group = 1;
  gang.roles[2].group = gang.roles[3].group = 2;
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  EXPECT_EQ(w.Where(0, "rack"), w.Where(1, "rack"));
  EXPECT_EQ(w.Where(2, "rack"), w.Where(3, "rack"));
  EXPECT_NE(w.Where(0, "rack"), w.Where(2, "rack"));
}

TEST(Groups, OneOfTwoChildrenSuffices) {
  World w;
  w.AddMany("z/b/r/n", 1, 4);
  Gang gang = Of({MakeRole("big", 1, 8), MakeRole("small", 2, 1)});
  gang.groups.emplace_back().min_children = 1;
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  EXPECT_TRUE(w.NodesOf(0).empty());
  EXPECT_EQ(w.NodesOf(1).size(), 2u);
}

TEST(Groups, MinTasksDrawOnTheRolesInOrder) {
  World w;
  w.AddMany("z/b/r/n", 1, 8);
  Gang gang = Of({MakeRole("a", 1, 1), MakeRole("b", 1, 1)});
  gang.roles[0].desired_tasks = gang.roles[1].desired_tasks = 4;
  gang.roles[1].order = 1;
  gang.groups.emplace_back().min_tasks = 4;
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  EXPECT_EQ(w.NodesOf(0).size(), 1u);
  EXPECT_EQ(w.NodesOf(1).size(), 3u);
}

TEST(Groups, OptionalRolesWaitForGrowth) {
  World w;
  w.AddMany("z/b/r/n", 1, 4);
  Gang gang = Of({MakeRole("main", 1, 1), MakeRole("helper", 0, 1)});
  gang.roles[1].desired_tasks = 2;
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  EXPECT_TRUE(w.NodesOf(1).empty());
  EXPECT_EQ(w.Grow().tasks.size(), 2u);
  EXPECT_EQ(w.NodesOf(1).size(), 2u);
}

TEST(Growth, HigherOrderFirstAndAsFarAsThereIsRoom) {
  World w;
  w.AddMany("z/b/r/n", 1, 5);
  Gang gang = Of({MakeRole("a", 1, 1), MakeRole("b", 1, 1)});
  gang.roles[0].desired_tasks = gang.roles[1].desired_tasks = 3;
  gang.roles[1].order = 7;
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  EXPECT_EQ(w.placed.size(), 2u);
  w.Grow();
  EXPECT_EQ(w.NodesOf(0).size(), 2u);
  EXPECT_EQ(w.NodesOf(1).size(), 3u);
}

TEST(Growth, RolesOfOneOrderGrowInProportion) {
  World w;
  w.AddMany("z/b/r/n", 1, 8);
  Gang gang = Of({MakeRole("a", 1, 1), MakeRole("b", 1, 1)});
  gang.roles[0].desired_tasks = 7;
  gang.roles[1].desired_tasks = 4;
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  w.Grow();
  EXPECT_EQ(w.NodesOf(0).size(), 5u) << "four of six";
  EXPECT_EQ(w.NodesOf(1).size(), 3u) << "two of three";
}

TEST(Growth, EndsWithTheMostThatIsAskedFor) {
  World w;
  w.AddMany("z/b/r/n", 1, 9);
  Gang gang = Of({MakeRole("a", 1, 1), MakeRole("b", 3, 1)});
  gang.groups.resize(3);
  gang.groups[0].min_children = 1;
  gang.roles[0].group = 1;
  gang.roles[1].group = 2;
  gang.roles[0].desired_tasks = 6;
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  w.request.most = 1;
  EXPECT_EQ(w.Grow().tasks.size(), 1u);
  EXPECT_EQ(w.Grow().tasks.size(), 3u) << "a role that starts comes whole";
  w.request.most = 2;
  EXPECT_EQ(w.Grow().tasks.size(), 2u);
}

TEST(Growth, OptionalGroupsComeWhole) {
  World w;
  w.AddMany("z/b/r/n", 1, 4);
  Gang gang =
      Of({MakeRole("a", 1, 1), MakeRole("b", 2, 1), MakeRole("c", 2, 1)});
  gang.groups.resize(4);
  gang.groups[0].min_children = 1;
  for (uint32_t r = 0; r < 3; ++r) gang.roles[r].group = r + 1;
  ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
  EXPECT_EQ(w.placed.size(), 1u);
  w.Grow();
  EXPECT_EQ(w.NodesOf(1).size(), 2u);
  EXPECT_TRUE(w.NodesOf(2).empty()) << "one device is no room for two";
}

TEST(Growth, KeepsSlicesWhole) {
  World w;
  w.AddMany("z/b/r1/a", 3, 1).AddMany("z/b/r2/b", 2, 1);
  Role role = MakeRole("w", 2, 1);
  role.desired_tasks = 4;
  role.topology = Sliced({{"rack", 2}});
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  ASSERT_EQ(w.Where(0, "rack"), "r2 r2");
  w.Grow();
  EXPECT_EQ(w.Where(0, "rack"), "r2 r2 r1 r1");
}

TEST(Headroom, BoundsWhatIsAdded) {
  World w;
  w.AddMany("z/b/r/n", 1, 8);
  const Resources headroom = {0, 0, 3000};
  w.request.headroom = &headroom;
  EXPECT_EQ(w.Place(Of({MakeRole("w", 4, 1)})).fit, Fit::kNotNow);
  EXPECT_EQ(w.result.reason.code, ReasonCode::kQueueLimit);
  Role role = MakeRole("w", 2, 1);
  role.desired_tasks = 8;
  const Resources small = {0, 0, 2000};
  ASSERT_EQ(w.Place(Of({role})).fit, Fit::kFits);
  w.request.headroom = &small;
  EXPECT_EQ(w.Grow().tasks.size(), 2u);
}

TEST(Within, OnlyTheseNodes) {
  World w;
  w.AddMany("z/b/r/n", 4, 1);
  const std::vector<NodeIndex> within = {w.cluster.Find("n3").index,
                                         w.cluster.Find("n2").index};
  w.request.within = within;
  ASSERT_EQ(w.Place(Of({MakeRole("w", 2, 1)})).fit, Fit::kFits);
  EXPECT_THAT(w.NodesOf(0), ElementsAre("n2", "n3"));
  EXPECT_EQ(w.Place(Of({MakeRole("w", 1, 1)})).fit, Fit::kNotNow);
}

TEST(Ledgers, NominationsUseWhatIsBeingReleased) {
  World w;
  w.AddMany("z/b/r/n", 1, 4);
  ASSERT_EQ(w.Place(Of({MakeRole("w", 4, 1)})).fit, Fit::kFits);
  for (const Assignment& a : w.placed) w.cluster.Credit(a.at, Ledger::kLater);
  EXPECT_EQ(w.Place(Of({MakeRole("v", 4, 1)})).fit, Fit::kNotNow);
  w.request.ledger = Ledger::kLater;
  EXPECT_EQ(w.Place(Of({MakeRole("v", 4, 1)})).fit, Fit::kFits);
}

// One device has been given away three times over: the others are free still.
TEST(Ledgers, AnOvercommittedDeviceHidesNoOther) {
  World w;
  w.Add({.path = "z/b/r/n", .gpus = 3, .cpu = 9});
  Role one = MakeRole("x", 1, 1);
  const ShapeId shape = w.cluster.Intern(one, 0);
  for (int i = 0; i < 3; ++i) w.cluster.Charge({0, shape, {0}}, Ledger::kBoth);
  Gang gang;
  gang.roles = {MakeRole("a", 1, 1), MakeRole("b", 1, 1, 2)};
  EXPECT_EQ(w.Place(gang).fit, Fit::kFits);
}

TEST(Never, IsSaidOnlyWhenItIsProven) {
  World w;
  w.AddMany("z/b/r/n", 2, 4);
  EXPECT_EQ(w.Place(Of({MakeRole("w", 3, 4)})).fit, Fit::kNever);
  EXPECT_EQ(w.result.reason.code, ReasonCode::kNeverFits);
  EXPECT_EQ(w.result.reason.needed, 3);
  EXPECT_EQ(w.result.reason.available, 2);
  Role role = MakeRole("w", 1, 1);
  role.shape.selector.any_of = {{{{"arch", SelectorOp::kIn, {"arm"}}}}};
  EXPECT_EQ(w.Place(Of({role})).fit, Fit::kNever);
  EXPECT_EQ(w.result.reason.code, ReasonCode::kNoNodeAdmits);
  w.Use("n0", 1);
  w.Use("n1", 1);
  EXPECT_EQ(w.Place(Of({MakeRole("w", 1, 4)})).fit, Fit::kNotNow);
  EXPECT_EQ(w.result.reason.code, ReasonCode::kNoMatchingDevice);
}

}  // namespace
}  // namespace muster::solver_test
