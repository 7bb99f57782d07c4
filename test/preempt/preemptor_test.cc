#include <gtest/gtest.h>

#include <string>

#include "lib/preempt/victim_search.h"
#include "test/preempt/preempt_world.h"

namespace muster {
namespace {

// One question, with everything it needs kept alive.
class Case {
 public:
  Case(const ClusterSpec& spec, const Gang& gang)
      : world(spec), prepared(world.Prepare(gang)) {
    request.placement.gang = &prepared;
    request.placement.ledger = Ledger::kLater;
    request.candidates = world.candidates();
  }

  // The victims' keys, in a transaction that stays open; or why there are none.
  std::string Choose() {
    world.cluster().Begin();
    NewVictimSearch()->Choose(world.cluster(), *NewGangSolver(), request,
                              &result);
    return result.fit == Fit::kFits ? world.Told(result.victims)
                                    : std::string(Name(result.fit));
  }

  World world;
  PreparedGang prepared;
  PreemptionRequest request;
  PreemptionResult result;
};

// Every GPU of the rack's nodes is held by a gang of one task of `gpus` GPUs:
// keys r0/n0/0, r0/n0/1, ...
void Fill(ClusterSpec* spec, uint32_t rack, uint32_t gpus, int64_t cost) {
  for (uint32_t n = 0; n < spec->nodes_per_rack; ++n) {
    for (uint32_t i = 0; i < spec->gpus_per_node / gpus; ++i) {
      spec->running.push_back(
          {.key = NodeKey(rack, n) + "/" + std::to_string(i),
           .cost = cost,
           .tasks = {{NodeKey(rack, n), gpus}}});
    }
  }
}

TEST(PreemptorTest, NobodyIsDisturbedWhereThereIsRoom) {
  ClusterSpec spec{.racks = 2, .nodes_per_rack = 2, .gpus_per_node = 4};
  Fill(&spec, 0, 1, 5);
  Case c(spec, MakeGang(8, 1, "rack"));
  EXPECT_EQ(c.Choose(), "");
  EXPECT_EQ(c.result.fit, Fit::kFits);
  EXPECT_EQ(c.result.tasks.size(), 8u);
  EXPECT_TRUE(c.result.optimal);
}

TEST(PreemptorTest, TheCheapestRackIsClearedAndNobodyElseIsTouched) {
  ClusterSpec spec{.racks = 4, .nodes_per_rack = 8, .gpus_per_node = 8};
  for (uint32_t rack = 0; rack < 4; ++rack) {
    Fill(&spec, rack, 8, rack == 2 ? 90 : 100);
  }
  Case c(spec, MakeGang(8, 8, "rack"));
  EXPECT_EQ(c.Choose(),
            "r2/n0/0 r2/n1/0 r2/n2/0 r2/n3/0 r2/n4/0 r2/n5/0 r2/n6/0 r2/n7/0");
  EXPECT_EQ(c.result.cost, 8 * 90);
  EXPECT_TRUE(c.result.optimal);
  for (const Assignment& a : c.result.tasks) {
    EXPECT_EQ(c.world.cluster().node(a.at.node).labels[0].value, "r2");
  }
}

TEST(PreemptorTest, SmallJobsInEveryRack) {
  // 64 GPUs in one rack while 1-GPU jobs hold pieces of all racks.
  ClusterSpec spec{.racks = 3, .nodes_per_rack = 8, .gpus_per_node = 8};
  for (uint32_t rack = 0; rack < 3; ++rack) {
    for (uint32_t n = 0; n < 8; n += rack == 1 ? 4 : 2) {
      const std::string node = NodeKey(rack, n);
      spec.running.push_back(
          {.key = node + "/a", .cost = 7, .tasks = {{node}}});
      spec.running.push_back(
          {.key = node + "/b", .cost = 9, .tasks = {{node}}});
    }
  }
  Case c(spec, MakeGang(8, 8, "rack"));
  EXPECT_EQ(c.Choose(), "r1/n0/a r1/n0/b r1/n4/a r1/n4/b");
  EXPECT_TRUE(c.result.optimal);
}

TEST(PreemptorTest, FreeAndReleasedRoomCountTogether) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 4};
  spec.running = {
      {.key = "a", .cost = 3, .tasks = {{NodeKey(0, 0), 2}}},
      {.key = "b", .cost = 2, .tasks = {{NodeKey(0, 1), 1}}},
  };
  // Five GPUs are free; the sixth task needs b's place, the others no gang's.
  Case c(spec, MakeGang(6, 1, "rack"));
  EXPECT_EQ(c.Choose(), "b");
}

TEST(PreemptorTest, SurplusGoesBeforeAGangIsBroken) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 4};
  const std::string n0 = NodeKey(0, 0), n1 = NodeKey(0, 1);
  spec.running = {
      {.key = "elastic",
       .cost = 100,
       .tasks = {{n0}, {n0}, {n0}, {n0}},
       .surplus = 2,
       .surplus_costs = {5, 10}},
      {.key = "rigid", .cost = 20, .tasks = {{n1}, {n1}, {n1}, {n1}}},
  };
  EXPECT_EQ(Case(spec, MakeGang(1, 1, "")).Choose(), "elastic:1");
  EXPECT_EQ(Case(spec, MakeGang(2, 1, "")).Choose(), "elastic:2");
  EXPECT_EQ(Case(spec, MakeGang(3, 1, "")).Choose(), "rigid");
  // No cost is known: still no gang is broken that need not be.
  for (RunningSpec& gang : spec.running) gang.cost = 0;
  spec.running[0].surplus_costs = {0, 0};
  EXPECT_EQ(Case(spec, MakeGang(1, 2, "")).Choose(), "elastic:2");
}

TEST(PreemptorTest, SurplusOfUnlikeRolesHasItsOwnCosts) {
  ClusterSpec spec{.nodes_per_rack = 1, .gpus_per_node = 4};
  const std::string n = NodeKey(0, 0);
  // A cheap task, then an expensive one; another gang costs something in
  // between.
  spec.running = {{.key = "elastic",
                   .cost = 100,
                   .tasks = {{n}, {n}, {n}},
                   .surplus = 2,
                   .surplus_costs = {1, 50}},
                  {.key = "rigid", .cost = 20, .tasks = {{n}}}};
  EXPECT_EQ(Case(spec, MakeGang(1, 1, "")).Choose(), "elastic:1");
  EXPECT_EQ(Case(spec, MakeGang(2, 1, "")).Choose(), "elastic:1 rigid");
}

TEST(PreemptorTest, SurplusGoesOnlyFromTheBack) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 1};
  spec.running = {{.key = "e",
                   .cost = 100,
                   .tasks = {{NodeKey(0, 0)}, {NodeKey(0, 1)}},
                   .surplus = 1,
                   .surplus_costs = {1}}};
  Case c(spec, MakeGang(1, 1, ""));
  EXPECT_EQ(c.Choose(), "e:1");
  EXPECT_EQ(c.world.cluster().node(c.result.tasks[0].at.node).key,
            NodeKey(0, 1));
}

TEST(PreemptorTest, WhatGoesTogetherIsNotDivided) {
  ClusterSpec spec{.gpus_per_node = 5};
  const std::string n = NodeKey(0, 0);
  spec.running = {{.key = "e",
                   .cost = 100,
                   .tasks = {{n}, {n}, {n}, {n}, {n}},
                   .surplus = 4,
                   .surplus_costs = {1, 2, 3, 4},
                   .shrink_sizes = {1, 4}}};
  EXPECT_EQ(Case(spec, MakeGang(1, 1, "")).Choose(), "e:1");
  EXPECT_EQ(Case(spec, MakeGang(2, 1, "")).Choose(), "e:4");
}

TEST(PreemptorTest, AGangThatMayNotBeStoppedGivesWhatItCanDoWithout) {
  ClusterSpec spec{.gpus_per_node = 3};
  const std::string n = NodeKey(0, 0);
  spec.running = {{.key = "e",
                   .tasks = {{n}, {n}, {n}},
                   .surplus = 2,
                   .surplus_costs = {1, 2},
                   .stoppable = false}};
  EXPECT_EQ(Case(spec, MakeGang(2, 1, "")).Choose(), "e:2");
  EXPECT_EQ(Case(spec, MakeGang(3, 1, "")).Choose(), "not-now");
}

TEST(PreemptorTest, AnOvercommittedDeviceHidesNoFreeOne) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 2};
  spec.running = {
      {.key = "other", .tasks = {{NodeKey(0, 0)}}, .candidate = false},
      {.key = "firm", .tasks = {{NodeKey(0, 1)}}, .candidate = false},
      {.key = "v", .tasks = {{NodeKey(0, 1)}}}};
  Case c(spec, MakeGang(2, 1, ""));
  // One device of the first node is held and more, the other is free.
  const NodeIndex node = c.world.cluster().Find(NodeKey(0, 0)).index;
  c.world.cluster().SetExternalUsage(
      node, {.node = NodeKey(0, 0), .devices = {{.device = 0, .milli = 500}}});
  ASSERT_TRUE(c.world.cluster().Overcommitted(node));
  EXPECT_EQ(c.Choose(), "v");
}

TEST(PreemptorTest, TheLowestTopPriorityGoesBeforeTheCost) {
  ClusterSpec spec{.nodes_per_rack = 3, .gpus_per_node = 1};
  spec.running = {
      {.key = "low", .priority = 1, .cost = 900, .tasks = {{NodeKey(0, 0)}}},
      {.key = "mid", .priority = 2, .cost = 10, .tasks = {{NodeKey(0, 1)}}},
      {.key = "top", .priority = 3, .cost = 1, .tasks = {{NodeKey(0, 2)}}},
  };
  EXPECT_EQ(Case(spec, MakeGang(1, 1, "")).Choose(), "low");
  EXPECT_EQ(Case(spec, MakeGang(2, 1, "")).Choose(), "low mid");
  EXPECT_EQ(Case(spec, MakeGang(3, 1, "")).Choose(), "low mid top");
}

TEST(PreemptorTest, ProtectedGangsAreNotCandidatesAndStay) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 4};
  spec.running = {
      {.key = "old", .cost = 50, .tasks = {{NodeKey(0, 0), 4}}},
      {.key = "young",
       .cost = 1,
       .tasks = {{NodeKey(0, 1), 4}},
       .candidate = false},
  };
  EXPECT_EQ(Case(spec, MakeGang(1, 4, "")).Choose(), "old");
  Case both(spec, MakeGang(2, 4, ""));
  const uint64_t before = both.world.cluster().Hash();
  EXPECT_EQ(both.Choose(), "not-now");
  EXPECT_TRUE(both.result.optimal) << "the no is proven";
  EXPECT_TRUE(both.result.victims.empty());
  EXPECT_EQ(both.world.cluster().Hash(), before);
}

TEST(PreemptorTest, AVictimThatSpansRacksCountsWhereItHelps) {
  ClusterSpec spec{.racks = 2, .nodes_per_rack = 2, .gpus_per_node = 2};
  const auto node = [](uint32_t r, uint32_t n) { return NodeKey(r, n); };
  spec.running = {
      {.key = "wide", .cost = 10, .tasks = {{node(0, 0), 2}, {node(1, 0), 2}}},
      {.key = "in0", .cost = 9, .tasks = {{node(0, 1), 2}}},
      {.key = "in1", .cost = 8, .tasks = {{node(1, 1), 2}}},
  };
  EXPECT_EQ(Case(spec, MakeGang(2, 1, "rack")).Choose(), "in1");
  EXPECT_EQ(Case(spec, MakeGang(4, 1, "rack")).Choose(), "in1 wide");
}

TEST(PreemptorTest, AWholeNodeIsClearedOfTheCheapestTenants) {
  ClusterSpec spec{.nodes_per_rack = 3, .gpus_per_node = 8};
  const int64_t costs[] = {30, 20, 25};
  for (uint32_t n = 0; n < 3; ++n) {
    for (uint32_t i = 0; i < 8; ++i) {
      // The cheapest single tenant of all is on the most expensive node.
      spec.running.push_back({.key = NodeKey(0, n) + "/" + std::to_string(i),
                              .cost = n == 0 && i == 0 ? 1 : costs[n],
                              .tasks = {{NodeKey(0, n)}}});
    }
  }
  Case c(spec, MakeGang(1, 8, ""));
  EXPECT_EQ(c.Choose(),
            "r0/n1/0 r0/n1/1 r0/n1/2 r0/n1/3 r0/n1/4 r0/n1/5 r0/n1/6 r0/n1/7");
  EXPECT_EQ(c.result.cost, 160);
}

TEST(PreemptorTest, ABrokenGangsOtherNodesAreFree) {
  // Two whole nodes are wanted. "pair" holds half of each of two; once it is
  // broken for one, the other half-free node is the cheapest to go on with.
  ClusterSpec spec{.nodes_per_rack = 4, .gpus_per_node = 2};
  const auto node = [](uint32_t n) { return NodeKey(0, n); };
  spec.running = {
      {.key = "pair", .cost = 10, .tasks = {{node(0)}, {node(1)}}},
      {.key = "x0", .cost = 4, .tasks = {{node(0)}}},
      {.key = "x1", .cost = 4, .tasks = {{node(1)}}},
      {.key = "y2", .cost = 11, .tasks = {{node(2), 2}}},
      {.key = "y3", .cost = 11, .tasks = {{node(3), 2}}},
  };
  EXPECT_EQ(Case(spec, MakeGang(1, 2, "")).Choose(), "y2");
  EXPECT_EQ(Case(spec, MakeGang(2, 2, "")).Choose(), "pair x0 x1");
}

TEST(PreemptorTest, RoomIsThereButTheQueueIsAtItsLimit) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 4};
  const std::string n0 = NodeKey(0, 0);
  spec.running = {
      {.key = "mine1", .cost = 30, .tasks = {{n0}}, .queue = 0},
      {.key = "mine2", .cost = 20, .tasks = {{n0}}, .queue = 0},
      {.key = "other", .cost = 1, .tasks = {{n0}}, .queue = 1},
  };
  Case c(spec, MakeGang(1, 1, ""));
  QueuePolicy policy(c.world, {{.used = 2}, {.used = 1}});
  policy.Limit(0, 2, 1);
  c.request.rules = &policy;
  EXPECT_EQ(c.Choose(), "mine2");
  EXPECT_TRUE(c.result.optimal);
}

TEST(PreemptorTest, OneVictimServesRoomAndQuota) {
  ClusterSpec spec{.nodes_per_rack = 1, .gpus_per_node = 2};
  const std::string n0 = NodeKey(0, 0);
  spec.running = {
      {.key = "mine", .cost = 15, .tasks = {{n0}}, .queue = 0},
      {.key = "other", .cost = 10, .tasks = {{n0}}, .queue = 1},
  };
  Case c(spec, MakeGang(1, 1, ""));
  QueuePolicy policy(c.world, {{.used = 1}, {.used = 1}});
  policy.Limit(0, 1, 1);
  c.request.rules = &policy;
  EXPECT_EQ(c.Choose(), "mine");
}

TEST(PreemptorTest, AQueueIsNotPushedBelowItsFloor) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 2};
  spec.running = {
      {.key = "a1", .cost = 1, .tasks = {{NodeKey(0, 0)}}, .queue = 1},
      {.key = "a2", .cost = 2, .tasks = {{NodeKey(0, 0)}}, .queue = 1},
      {.key = "b1", .cost = 50, .tasks = {{NodeKey(0, 1)}}, .queue = 2},
      {.key = "b2", .cost = 60, .tasks = {{NodeKey(0, 1)}}, .queue = 2},
  };
  {
    Case c(spec, MakeGang(2, 1, ""));
    QueuePolicy policy(c.world, {{}, {.used = 2, .floor = 1}, {.used = 2}});
    c.request.rules = &policy;
    EXPECT_EQ(c.Choose(), "a1 b1");
    EXPECT_EQ(policy.entered(0) + policy.entered(1), 1u)
        << "the policy knows which were chosen";
  }
  Case c(spec, MakeGang(1, 2, ""));
  QueuePolicy policy(c.world,
                     {{}, {.used = 2, .floor = 1}, {.used = 2, .floor = 1}});
  c.request.rules = &policy;
  const uint64_t before = c.world.cluster().Hash();
  EXPECT_EQ(c.Choose(), "not-now");
  EXPECT_TRUE(c.result.optimal);
  EXPECT_EQ(c.world.cluster().Hash(), before);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(policy.entered(i), 0u);
}

TEST(PreemptorTest, APolicyThatLooksAtTheOrderIsAskedInAGoodOne) {
  // The queue may be pushed below its floor, but not be taken from there.
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 4};
  spec.running = {
      {.key = "a", .tasks = {{NodeKey(0, 0), 4}}, .queue = 1},
      {.key = "b", .tasks = {{NodeKey(0, 1), 1}}, .queue = 1},
      {.key = "c", .tasks = {{NodeKey(0, 1), 3}}, .candidate = false},
  };
  Case c(spec, MakeGang(5, 1, ""));
  QueuePolicy policy(c.world, {{}, {.used = 5, .floor = 2, .soft = true}});
  c.request.rules = &policy;
  EXPECT_EQ(c.Choose(), "a b");
  EXPECT_EQ(policy.entered(0), 1u);
  EXPECT_EQ(policy.entered(1), 1u);
}

TEST(PreemptorTest, WhereTheLowPrioritiesAreProtectedTheNextOnesGo) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 1};
  spec.running = {
      {.key = "a", .priority = 1, .tasks = {{NodeKey(0, 0)}}, .queue = 1},
      {.key = "b", .priority = 2, .tasks = {{NodeKey(0, 1)}}, .queue = 2},
  };
  Case c(spec, MakeGang(1, 1, ""));
  QueuePolicy policy(c.world, {{}, {.used = 1, .floor = 1}, {.used = 1}});
  c.request.rules = &policy;
  EXPECT_EQ(c.Choose(), "b");
  EXPECT_TRUE(c.result.optimal);
}

TEST(PreemptorTest, AGangLargerThanTheClusterNeverFits) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 4};
  Fill(&spec, 0, 4, 1);
  Case c(spec, MakeGang(3, 4, ""));
  EXPECT_EQ(c.Choose(), "never");
  EXPECT_TRUE(c.result.optimal);
}

TEST(PreemptorTest, OnlyTheNodesAskedForAreCleared) {
  ClusterSpec spec{.nodes_per_rack = 3, .gpus_per_node = 4};
  Fill(&spec, 0, 4, 10);
  spec.running[2].cost = 90;
  Case c(spec, MakeGang(1, 4, ""));
  const NodeIndex only[] = {c.world.cluster().Find(NodeKey(0, 2)).index};
  c.request.placement.within = only;
  EXPECT_EQ(c.Choose(), "r0/n2/0");
}

TEST(PreemptorTest, AnAlternativeShapeMayBeCheaperToMakeRoomFor) {
  ClusterSpec spec{.nodes_per_rack = 2, .gpus_per_node = 4};
  spec.running = {
      {.key = "whole", .cost = 90, .tasks = {{NodeKey(0, 0), 4}}},
      {.key = "half", .cost = 10, .tasks = {{NodeKey(0, 1), 2}}},
      {.key = "other", .cost = 90, .tasks = {{NodeKey(0, 1), 2}}},
  };
  Gang gang = MakeGang(1, 4, "");
  gang.roles[0].alternatives.push_back(gang.roles[0].shape);
  gang.roles[0].alternatives[0].devices.count = 2;
  EXPECT_EQ(Case(spec, gang).Choose(), "half");
}

TEST(PreemptorTest, SeveralRolesAreMadeRoomForTogether) {
  ClusterSpec spec{.racks = 2, .nodes_per_rack = 2, .gpus_per_node = 4};
  Fill(&spec, 0, 2, 10);
  Fill(&spec, 1, 4, 15);
  Gang gang = MakeGang(1, 4, "rack");
  gang.roles[0].name = "big";
  gang.roles.push_back(MakeGang(1, 2, "").roles[0]);
  gang.roles[1].name = "small";
  // Rack 0: three of 10; rack 1: two of 15. The same cost, but fewer broken.
  EXPECT_EQ(Case(spec, gang).Choose(), "r1/n0/0 r1/n1/0");
}

// Never finds room.
class NoRoom final : public GangSolver {
 public:
  explicit NoRoom(bool proven) : proven_(proven) {}
  void Place(Cluster&, const PlacementRequest&,
             PlacementResult* result) override {
    result->Clear();
    result->cut_short = !proven_;
  }
  void Grow(Cluster&, const PlacementRequest&, PlacementResult*) override {}

 private:
  bool proven_;
};

TEST(PreemptorTest, WhatTheSolverLeavesOpenIsNotProven) {
  ClusterSpec spec{.racks = 2, .nodes_per_rack = 2, .gpus_per_node = 4};
  Fill(&spec, 0, 4, 5);
  Fill(&spec, 1, 4, 5);
  for (const bool proven : {false, true}) {
    Case c(spec, MakeGang(3, 4, "block"));
    NoRoom solver(proven);
    NewVictimSearch()->Choose(c.world.cluster(), solver, c.request, &c.result);
    EXPECT_EQ(c.result.fit, Fit::kNotNow);
    EXPECT_EQ(c.result.optimal, proven);
  }
}

TEST(PreemptorTest, ASmallBudgetIsReportedAndChangesNoRule) {
  ClusterSpec spec{.racks = 4, .nodes_per_rack = 4, .gpus_per_node = 4};
  for (uint32_t rack = 0; rack < 4; ++rack) Fill(&spec, rack, 1, 10 + rack);
  for (uint64_t steps : {0, 1, 5, 20, 100, 1000}) {
    Case c(spec, MakeGang(4, 3, "rack"));
    c.request.victim_steps = steps;
    const uint64_t before = c.world.cluster().Hash();
    const std::string told = c.Choose();
    if (c.result.fit == Fit::kFits) {
      EXPECT_EQ(c.result.victims.size(), 12u);
      EXPECT_EQ(c.result.tasks.size(), 4u);
    } else {
      EXPECT_EQ(c.world.cluster().Hash(), before);
      EXPECT_FALSE(c.result.optimal) << "a no that is not proven";
    }
  }
}

}  // namespace
}  // namespace muster
