// Gangs on networks that are no tree, told as stories.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/fabric/fabric.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A torus of 2 x 2 x 4 hosts "h00".."h15", four devices each, and a dragonfly
// of two groups of two routers with two of these hosts each.
class FabricStories : public ::testing::Test {
 protected:
  FabricStories() {
    s.HasQueue("q");
    s.HasClasses();
    for (int h = 0; h < 16; ++h) s.HasNode(Host(h), 4);
  }
  static std::string Host(int h) {
    return (h < 10 ? "h0" : "h") + std::to_string(h);
  }
  static SchedulerConfig Config() {
    std::string torus = "torus 2 2 4 1\n";
    std::string fly = "dragonfly 2 2 2 1 1 1 1\n";
    for (int h = 0; h < 16; ++h) torus += "node " + Host(h) + "\n";
    for (int h = 0; h < 8; ++h) fly += "node " + Host(h) + "\n";
    SchedulerConfig config;
    config.topologies = {{"net", {"rack"}}};
    config.fabrics = {{"torus", torus}, {"fly", fly}};
    return config;
  }
  static Gang On(Gang gang, const std::string& fabric,
                 const std::string& required = "") {
    gang.roles[0].topology.topology = fabric;
    gang.roles[0].topology.required = required;
    return gang;
  }

  Story s{Config()};
};

TEST_F(FabricStories, AGangGetsABoxOfTheTorusInRingOrder) {
  s.Submit(On(Job("a", 8, 4), "torus", "box"));
  ASSERT_THAT(s.Pass(), SizeIs(1));
  // 2 x 2 x 2 has the widest bisection; each rank is one hop from the next.
  const absl::StatusOr<Fabric> torus =
      Fabric::FromText(Config().fabrics[0].text);
  ASSERT_TRUE(torus.ok());
  std::vector<uint32_t> ranks;
  for (const TaskState& task : s.Of("a").tasks) {
    ranks.push_back(torus->Find(task.node));
  }
  ASSERT_THAT(ranks, SizeIs(8));
  EXPECT_EQ(torus->RingHops(ranks), 8);
  EXPECT_EQ(torus->Cost(ranks)->diameter, 3u);
}

TEST_F(FabricStories, FreeHostsThatAreNoBoxAreNotEnough) {
  // Every other host of each ring is taken.
  for (int h = 0; h < 16; h += 2) {
    Gang gang = Job("x" + std::to_string(h), 1, 4);
    gang.roles[0].shape.selector.any_of = {
        {{{"host", SelectorOp::kIn, {Host(h)}}}}};
    Node node = Machine(Host(h), 4);
    node.labels = {{"host", Host(h)}};
    s.Happens(NodeChanged{node});
    s.Submit(gang);
  }
  ASSERT_THAT(s.Pass(), SizeIs(8));
  s.AllDone();
  s.Submit(On(Job("box", 8, 4), "torus", "box"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("box"), HasSubstr("constraint"));
  // Near each other is enough for this one: its hosts are no box.
  s.Submit(On(Job("near", 8, 4), "torus"));
  EXPECT_THAT(s.Pass(), SizeIs(1));
}

TEST_F(FabricStories, TasksShareHostsAsFewAsHoldThem) {
  s.Submit(On(Job("a", 8, 1), "torus", "box"));
  ASSERT_THAT(s.Pass(), SizeIs(1));
  const std::string where = s.Where("a");
  const std::string host = where.substr(0, 3);
  EXPECT_THAT(where, HasSubstr(host + " " + host + " " + host + " " + host));
}

TEST_F(FabricStories, AGroupOfADragonflyIsNotCrossed) {
  s.Submit(On(Job("a", 3, 4), "fly", "group"));
  EXPECT_THAT(s.Pass(), ElementsAre("start a: h00 h01 h02"));
  s.Submit(On(Job("b", 2, 4), "fly", "router"));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: h04 h05"));
  s.Submit(On(Job("c", 3, 4), "fly", "group"));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "one is free in the first group, two in "
                                      "the second";
  s.Submit(On(Job("d", 3, 4), "fly"));
  EXPECT_THAT(s.Pass(), ElementsAre("start d: h03 h06 h07"));
}

TEST_F(FabricStories, AHighClassGangPreemptsForItsBox) {
  for (int i = 0; i < 4; ++i) {
    s.Submit(On(Job("low" + std::to_string(i), 4, 4, "low"), "torus", "box"));
  }
  ASSERT_THAT(s.Pass(), SizeIs(4));
  s.AllDone();
  s.Submit(On(Job("high", 8, 4, "high"), "torus", "box"));
  const std::vector<std::string> decided = s.Pass();
  EXPECT_THAT(decided, SizeIs(3)) << "two victims and a nomination";
  s.AllDone();
  s.Pass();
  s.AllDone();
  EXPECT_EQ(s.Phase("high"), "running");
}

TEST_F(FabricStories, AnElasticGangGrowsToALargerBox) {
  s.Submit(On(Job("other", 8, 4), "torus", "box"));
  ASSERT_THAT(s.Pass(), SizeIs(1));
  s.AllDone();
  Gang gang = On(Elastic("e", 4, 16), "torus", "box");
  gang.roles[0].shape.devices.count = 4;
  s.Submit(gang);
  s.Pass();
  s.AllDone();
  EXPECT_THAT(s.Of("e").tasks, SizeIs(8)) << "all that is left is a box";
}

TEST_F(FabricStories, WhatCanNeverBeABoxIsRefusedAtOnce) {
  s.Submit(On(Job("a", 7, 4), "torus", "box"));  // 7 x 1 x 1 is too long.
  s.Pass();
  EXPECT_THAT(s.Why("a"), HasSubstr("never-fits"));
}

TEST(FabricValidation, NamesTheFieldAndWhatIsAllowed) {
  SchedulerConfig config;
  config.fabrics = {{"t", "torus 2 1 1 1\nnode a\n"}};
  EXPECT_THAT(std::string(Scheduler::Create(config).status().message()),
              HasSubstr("config.fabrics[0].text: "));
  config.fabrics[0].text += "node b\n";
  config.topologies = {{"t", {"rack"}}};
  EXPECT_THAT(std::string(Scheduler::Create(config).status().message()),
              HasSubstr("config.fabrics[0].key: 't' twice"));
  config.topologies.clear();
  Story s(config);
  s.HasQueue("q");
  const auto refused = [&](const char* expected, auto change) {
    Gang gang = Job("g", 2);
    gang.roles[0].topology.topology = "t";
    change(gang);
    const absl::Status status = s.Try(GangSubmitted{gang});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(expected));
  };
  refused(
      "roles[0].topology.required: 'unit' is no level of fabric 't', which "
      "has box, host",
      [](Gang& g) { g.roles[0].topology.required = "unit"; });
  refused("roles[0].topology.preferred: cannot be used on a fabric, 't'",
          [](Gang& g) { g.roles[0].topology.preferred = "box"; });
  refused("'g'.roles: has 2 roles; a gang on a fabric has one", [](Gang& g) {
    g.roles.push_back(g.roles[0]);
    g.roles[1].name = "second";
  });
  refused("'g'.groups[0].topology: a gang on a fabric has one constraint",
          [](Gang& g) {
            g.groups.resize(1);
            g.groups[0].topology.topology = "t";
          });
}

}  // namespace
}  // namespace muster
