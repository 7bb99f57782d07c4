// Tasks that have a node for themselves.
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SchedulerConfig WithNodes() {
  SchedulerConfig config;
  config.resources = {"cpu", "memory", "gpu", "node"};
  config.node_kind = "node";
  return config;
}

// One task that asks for little and takes all.
Gang Alone(const std::string& key, const std::string& priority_class = "") {
  Gang gang = Job(key, 1, 1, priority_class);
  gang.roles[0].shape.whole_node = true;
  return gang;
}

class WholeNodes : public ::testing::Test {
 protected:
  WholeNodes() {
    s.HasNode("n1", 4);
    s.HasQueue("q");
    s.HasClasses();
  }
  Story s{WithNodes()};
};

TEST_F(WholeNodes, NobodyStartsBesideIt) {
  s.Submit(Alone("alone"));
  EXPECT_THAT(s.Pass(), ElementsAre("start alone: n1"));
  s.AllDone();
  s.Submit(Job("other"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Why("other"), "insufficient: needs 1 node, 0 available");
  s.Happens(GangFinished{.gang = "alone"});
  EXPECT_THAT(s.Pass(), ElementsAre("start other: n1"));
}

TEST_F(WholeNodes, ItStartsBesideNobody) {
  s.Submit(Job("other"));
  s.Pass();
  s.AllDone();
  s.Submit(Alone("alone"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n2", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("start alone: n2"));
}

TEST_F(WholeNodes, EachTaskOfAGangHasItsOwn) {
  Gang pair = Alone("pair");
  pair.roles[0].min_tasks = pair.roles[0].desired_tasks = 2;
  s.Submit(pair);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n2", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("start pair: n1 n2"));
}

TEST_F(WholeNodes, ItsOwnServerGoesElsewhere) {
  Gang gang = Alone("gang");
  gang.roles[0].name = "worker";
  gang.roles.push_back({.name = "server"});
  s.Submit(gang);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n2", 0);
  EXPECT_THAT(s.Pass(), ElementsAre("start gang: n1 n2"));
}

TEST_F(WholeNodes, AllOnItMakeRoomAtOnce) {
  s.Submit(Job("a", 1, 1, "low"));
  s.Submit(Job("b", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Alone("urgent", "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for urgent", "evict b for urgent",
                                    "nominate urgent: n1"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start urgent: n1"));
}

TEST_F(WholeNodes, MoreCapacityLetsNobodyIn) {
  s.Submit(Alone("alone"));
  s.Pass();
  s.AllDone();
  s.Happens(NodeChanged{Machine("n1", 8)});
  s.Submit(Job("other"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(WholeNodes, AnotherFormOfTheRoleMayShare) {
  s.Submit(Job("other"));
  s.Pass();
  s.AllDone();
  Gang gang = Alone("gang");
  gang.roles[0].alternatives = {Job("", 1, 2).roles[0].shape};
  s.Submit(gang);
  EXPECT_THAT(s.Pass(), ElementsAre("start gang: n1"));
}

TEST_F(WholeNodes, WhatOthersUseIsNoTask) {
  ExternalUsage daemons{.node = "n1", .amount = {1000}};
  s.Happens(ExternalUsageChanged{daemons});
  s.Submit(Alone("alone"));
  EXPECT_THAT(s.Pass(), ElementsAre("start alone: n1"));
  s.Happens(GangFinished{.gang = "alone"});
  daemons.amount.Set(3, kWholeNode);  // A job of another scheduler has it all.
  s.Happens(ExternalUsageChanged{daemons});
  s.Submit(Job("other"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(WholeNodes, AQueueMayHaveSoManyNodes) {
  s.HasNode("n2", 4);
  s.Happens(QueueChanged{
      {.key = "q", .quotas = {{.resource = "node", .limit = kWholeNode}}}});
  s.Submit(Alone("a"));
  s.Submit(Alone("b"));
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

TEST_F(WholeNodes, ARoleThatRunsKeepsItsNodes) {
  s.Submit(Alone("alone"));
  s.Pass();
  s.AllDone();
  Gang shared = Alone("alone");
  shared.roles[0].shape.whole_node = false;
  EXPECT_THAT(s.Try(GangChanged{shared}).message(), HasSubstr(".shape"));
}

TEST_F(WholeNodes, ItIsSoAfterARestart) {
  s.Submit(Alone("alone"));
  s.Pass();
  s.AllDone();
  Scheduler restored = *Scheduler::Restore(s.scheduler().State());
  EXPECT_EQ(restored.StateHash(), s.scheduler().StateHash());
  Gang other = Job("other");
  ASSERT_TRUE(restored.Apply({s.now, GangSubmitted{other}}).ok());
  Plan plan;
  restored.Schedule(s.now, &plan);
  EXPECT_THAT(plan.decisions, IsEmpty());
}

TEST(WholeNodeRules, WhatIsRefused) {
  Story plain;
  plain.HasQueue("q");
  EXPECT_THAT(plain.Try(GangSubmitted{Alone("a")}).message(),
              HasSubstr("whole_node: config.node_kind names no kind"));

  Story s{WithNodes()};
  s.HasQueue("q");
  Node node = Machine("n1", 1);
  node.capacity.Set(3, 5);
  EXPECT_THAT(s.Try(NodeChanged{node}).message(),
              HasSubstr("node: is counted by tasks and must be 0"));
  Gang gang = Job("a");
  gang.roles[0].shape.resources.Set(3, 1);
  EXPECT_THAT(s.Try(GangSubmitted{gang}).message(),
              HasSubstr("node: is counted by tasks and must be 0"));

  SchedulerConfig config = WithNodes();
  config.node_kind = "gpu";
  EXPECT_THAT(Scheduler::Create(config).status().message(),
              HasSubstr("config.node_kind: 'gpu' is .device_kind"));
  config.node_kind = "host";
  EXPECT_THAT(Scheduler::Create(config).status().message(),
              HasSubstr("config.node_kind: 'host' is not one of"));
}

TEST(WholeNodeRules, TheKindMayComeLater) {
  Story s;
  s.HasNode("n1", 1);
  s.HasQueue("q");
  s.Submit(Job("a"));
  s.Pass();
  s.AllDone();
  SchedulerConfig config;
  config.node_kind = "memory";
  EXPECT_THAT(s.Try(ConfigChanged{config}).message(),
              HasSubstr("config.node_kind: stays ''"));
  s.Happens(ConfigChanged{WithNodes()});
  s.Submit(Alone("alone"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(GangFinished{.gang = "a"});
  EXPECT_THAT(s.Pass(), ElementsAre("start alone: n1"));
}

}  // namespace
}  // namespace muster
