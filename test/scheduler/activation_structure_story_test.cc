// What becomes active when nodes come, go or change.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Taint kKeepOut{.key = "keep-out", .effect = TaintEffect::kNoSchedule};

// --- A node has room, or could have -----------------------------------------

using NodesThatChange = Activation;

TEST_F(NodesThatChange, ANewOneHasRoom) {
  Has("n1", 1);
  Runs(Job("a"));
  Waits(Job("w"));
  Has("n2", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n2"));
}

TEST_F(NodesThatChange, OneThatIsUpAgainHasRoom) {
  Has("n1", 1);
  Has("n2", 1);
  Runs(On("n1", Job("a")));
  s.Happens(NodeDown{"n2"});
  Waits(Job("w"));
  s.Happens(NodeUp{"n2"});
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n2"));
}

TEST_F(NodesThatChange, ExternalUsageGivesRoomUp) {
  Has("n1", 1);
  s.Happens(ExternalUses("n1", 1));
  Waits(Job("w"));
  s.Happens(ExternalUses("n1", 0));
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n1"));
}

TEST_F(NodesThatChange, ALargerOneHasRoomWithAVictimGone) {
  Has("n1", 1);
  Has("n2", 2);
  Runs(On("n1", Job("l", 1, 1, "low")));
  Runs(On("n2", Job("h", 1, 2, "high")));
  Waits(Job("w", 1, 2, "high"));
  Has("n1", 2);
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for w", "nominate w: n1"));
}

TEST_F(NodesThatChange, ALargerOneCouldHoldWhatFitNowhere) {
  Has("n1", 1);
  Runs(Job("l", 1, 1, "low"));
  Waits(Job("w", 1, 2, "high"));
  EXPECT_THAT(s.Why("w"), HasSubstr("never"));
  Has("n1", 2);
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for w", "nominate w: n1"));
}

TEST_F(NodesThatChange, OneComesToAdmitWhoFits) {
  Has("n1", 1);
  Runs(Job("a"));
  Node shut = Named("n2", 1);
  shut.taints = {kKeepOut};
  s.Happens(NodeChanged{shut});
  Waits(Job("w"));
  Has("n2", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n2"));
}

TEST_F(NodesThatChange, OneComesToAdmitWhatFitNowhere) {
  Has("n1", 1, {{"colour", "red"}});
  Runs(Job("l", 1, 1, "low"));
  Gang w = Job("w", 1, 1, "high");
  w.roles[0].shape.selector.any_of = {
      {{{.key = "colour", .op = SelectorOp::kIn, .values = {"blue"}}}}};
  Waits(w);
  Has("n1", 1, {{"colour", "blue"}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for w", "nominate w: n1"));
}

// --- Node sets --------------------------------------------------------------

Gang Within(const std::string& set, Gang gang) {
  gang.roles[0].node_sets = {set};
  return gang;
}

TEST_F(NodesThatChange, ANodeOfASetHasRoom) {
  Has("n1", 1);
  Has("n2", 1);
  Runs(On("n1", Job("a")));
  s.Happens(NodeSetChanged{{.key = "set", .nodes = {"n1"}}});
  Waits(Within("set", Job("w")));
  s.Happens(NodeSetChanged{{.key = "set", .nodes = {"n1", "n2"}}});
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n2"));
}

TEST_F(NodesThatChange, ANodeOfASetCouldHoldWhatFitNowhere) {
  Has("n1", 1);
  Runs(Job("l", 1, 1, "low"));
  s.Happens(NodeSetChanged{{.key = "set"}});
  Waits(Within("set", Job("w", 1, 1, "high")));
  s.Happens(NodeSetChanged{{.key = "set", .nodes = {"n1"}}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for w", "nominate w: n1"));
}

// --- Where others are counts ------------------------------------------------

class NodesThatAreCompared : public Activation {
 protected:
  NodesThatAreCompared() {
    SchedulerConfig config;
    config.topologies = {{"net", {"zone"}}};
    Begins(config);
  }
  static Labels Zone(const std::string& zone) { return {{"zone", zone}}; }
  // Two tasks, one in each zone while both count: a1 has room, b1 has none.
  Gang Spread() {
    Has("a1", 2, Zone("a"));
    Has("b1", 2, Zone("b"));
    s.Happens(ExternalUses("b1", 2));
    Gang w = Job("w", 2);
    w.roles[0].topology.spread = {.level = "zone", .max_skew = 1};
    return w;
  }
};

TEST_F(NodesThatAreCompared, OneThatIsDownDoesNotCount) {
  Waits(Spread());
  s.Happens(NodeDown{"b1"});
  EXPECT_THAT(s.Pass(), ElementsAre("start w: a1 a1"));
}

TEST_F(NodesThatAreCompared, OneThatAdmitsNobodyDoesNotCount) {
  Waits(Spread());
  Node shut = Named("b1", 2, Zone("b"));
  shut.taints = {kKeepOut};
  s.Happens(NodeChanged{shut});
  EXPECT_THAT(s.Pass(), ElementsAre("start w: a1 a1"));
}

TEST_F(NodesThatAreCompared, OneThatIsNotInTheSetDoesNotCount) {
  const Gang w = Within("set", Spread());
  s.Happens(NodeSetChanged{{.key = "set", .nodes = {"a1", "b1"}}});
  Waits(w);
  s.Happens(NodeSetChanged{{.key = "set", .nodes = {"a1"}}});
  EXPECT_THAT(s.Pass(), ElementsAre("start w: a1 a1"));
}

TEST_F(NodesThatAreCompared, OneThatIsElsewhereTakesItsGangAlong) {
  Has("n1", 1, Zone("a"));
  Has("n2", 1, Zone("b"));
  Gang e = Elastic("e", 1, 2);
  e.roles[0].topology.required = "zone";
  Runs(e);
  ASSERT_EQ(s.Where("e"), "n1");
  Has("n1", 1, Zone("b"));
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n2"));
}

TEST_F(NodesThatAreCompared, AreBesideATaskThatIsFoundElsewhere) {
  Has("n1", 1, Zone("a"));
  Has("n2", 1, Zone("b"));
  Has("n3", 1, Zone("b"));
  s.Happens(ExternalUses("n2", 1));
  s.Happens(ExternalUses("n3", 1));
  Gang e = Elastic("e", 1, 2);
  e.roles[0].topology.required = "zone";
  Runs(e);
  ASSERT_EQ(s.Where("e"), "n1");
  s.Happens(ExternalUses("n3", 0));
  Quiet();
  s.Happens(
      Reconciled{.nodes = {Named("n1", 1, Zone("a")), Named("n2", 1, Zone("b")),
                           Named("n3", 1, Zone("b"))},
                 .external = {{.node = "n1", .unnamed_devices = 1}},
                 .tasks = {{.gang = "e", .node = "n2"}}});
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n3"));
}

TEST_F(NodesThatChange, ATaskIsFoundWhereItCanResume) {
  HasSuspended("n1");
  Has("n2", 1);
  Quiet();
  s.Happens(Reconciled{.nodes = {Named("n1", 1), Named("n2", 1)},
                       .tasks = {{.gang = "a", .node = "n2", .suspended = true},
                                 {.gang = "b", .node = "n1"}}});
  EXPECT_THAT(s.Pass(), ElementsAre("resume a: n2"));
}

// A device with that much memory.
Device Large(int64_t gigabytes) {
  return {.memory_bytes = gigabytes * (int64_t{1} << 30)};
}

// What a share of memory uses at the least is counted by the largest device
// that would do: with the limit in the way both are to be asked again.
class MemoryThatIsCounted : public Activation {
 protected:
  MemoryThatIsCounted() {
    s.HasQueue("q", {{.resource = "gpu", .limit = 700}});
    Node node = Named("n1", 2);
    node.devices = {Large(80), Large(80)};
    s.Happens(NodeChanged{node});
  }
  static Gang Shares(Gang gang) {
    gang = WithMemory(std::move(gang), Large(40).memory_bytes);
    gang.roles[0].shape.resources.Set(0, 2000);
    return gang;
  }
  bool Asks(const std::string& gang) {
    const SchedulerState state = s.scheduler().State();
    return std::ranges::any_of(
        state.gang_classes, [&](const GangClassState& c) {
          return c.gang == gang && (c.active & GangClassState::kRoom) != 0;
        });
  }
};

// The new node has too few cores.
TEST_F(MemoryThatIsCounted, ByANewDevice) {
  Runs(Shares(Job("a")));
  Waits(Shares(Job("w")));
  Node node = Named("n2", 1);
  node.devices = {Large(160)};
  node.capacity.Set(0, 1000);
  EXPECT_FALSE(Asks("w"));
  s.Happens(NodeChanged{node});
  EXPECT_TRUE(Asks("w"));
}

TEST_F(MemoryThatIsCounted, ByADeviceThatIsThereAgain) {
  Node node = Named("n2", 1);
  node.devices = {Large(160)};
  s.Happens(NodeChanged{node});
  s.Happens(NodeDown{"n2"});
  s.Happens(ExternalUses("n2", 1));
  Runs(Shares(Elastic("e", 1, 2)));
  EXPECT_FALSE(Asks("e"));
  s.Happens(NodeUp{"n2"});
  EXPECT_TRUE(Asks("e"));
}

// --- Nominated gangs --------------------------------------------------------

TEST_F(NodesThatChange, OneThatAdmitsItNoLongerIsPromisedToNobody) {
  Has("n1", 1);
  Runs(Job("l", 1, 1, "low"));
  IsPromised(On("n1", Job("w", 1, 1, "high")), "n1");
  Node renamed = Machine("n1", 1);
  s.Happens(NodeChanged{renamed});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

// It waits for the quota of its victim, which is elsewhere.
TEST_F(NodesThatChange, OneThatIsFoundDownIsPromisedToNobody) {
  s.HasQueue("q", {GpuQuota({}, 1)});
  Has("n1", 1);
  Has("n2", 1);
  Runs(On("n1", Job("l", 1, 1, "low")));
  IsPromised(On("n2", Job("w", 1, 1, "high")), "n2");
  s.Happens(
      Reconciled{.nodes = {Named("n1", 1), Named("n2", 1)},
                 .down = {"n2"},
                 .tasks = {{.gang = "l", .node = "n1", .releasing = true}}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

}  // namespace
}  // namespace muster
