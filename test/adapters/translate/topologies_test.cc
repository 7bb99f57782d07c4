#include "adapters/translate/topologies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::translate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

using Nodes = std::vector<std::string>;

Topologies Make(const TopologySpec& spec, const Nodes& nodes) {
  auto topologies = Topologies::Create({&spec, 1}, nodes);
  EXPECT_TRUE(topologies.ok()) << topologies.status();
  return *std::move(topologies);
}

TopologySpec Racks() {
  return {.name = "net",
          .levels = {"zone", "rack"},
          .aliases = {{"shelf", "rack"}}};
}

// Four nodes in two domains of tier 1, in one of tier 2.
TopologySpec Tiers() {
  return {
      .name = "net",
      .domains = {{.name = "s0", .tier = 1, .nodes = {"a", "b"}},
                  {.name = "s1", .tier = 1, .nodes = {"c", "d"}},
                  {.name = "all", .tier = 2, .nodes = {"a", "b", "c", "d"}}}};
}

TEST(TopologiesTest, LevelsInNodeLabelsKeepTheirNames) {
  const Topologies t = Make(Racks(), {"a"});
  ASSERT_EQ(t.topologies().size(), 1u);
  EXPECT_THAT(t.topologies()[0].levels, ElementsAre("zone", "rack"));
  EXPECT_THAT(t.LabelsOf("a"), IsEmpty());
}

TEST(TopologiesTest, ListsOfDomainsBecomeLabelsWidestFirst) {
  const Topologies t = Make(Tiers(), {"a", "b", "c", "d", "e"});
  ASSERT_EQ(t.topologies().size(), 1u);
  EXPECT_THAT(t.topologies()[0].levels,
              ElementsAre("net/tier-2", "net/tier-1"));
  EXPECT_THAT(t.LabelsOf("c"), UnorderedElementsAre(Pair("net/tier-1", "s1"),
                                                    Pair("net/tier-2", "all")));
  EXPECT_THAT(t.LabelsOf("e"), IsEmpty());
}

TEST(TopologiesTest, ANodeInANarrowDomainOnlyIsItsOwnWideOne) {
  TopologySpec spec{.name = "net",
                    .levels = {"tier-2", "tier-1"},
                    .domains = {{.name = "small", .tier = 1, .nodes = {"a"}}}};
  const Topologies t = Make(spec, {"a", "b"});
  EXPECT_EQ(t.LabelsOf("a").at("net/tier-2"), "small");
  EXPECT_THAT(t.LabelsOf("b"), IsEmpty());
  spec.domains[0].tier = 2;
  EXPECT_FALSE(Topologies::Create({&spec, 1}, Nodes{"a", "b"}).ok());
}

TEST(TopologiesTest, TwoDomainsOfOneLevelCannotShareANode) {
  TopologySpec spec = Tiers();
  spec.domains[1].nodes.push_back("a");
  EXPECT_FALSE(Topologies::Create({&spec, 1}, Nodes{"a"}).ok());
}

TEST(TopologiesTest, ALevelIsFoundByWhatItIsCalled) {
  const struct {
    TopologySpec spec;
    TopologyRequest request;
    TopologyConstraint constraint;
    bool unknown;
  } cases[] = {{Racks(), {}, {}, false},
               {Racks(),
                {.required = "rack"},
                {.topology = "net", .required = "rack"},
                false},
               {Racks(),
                {.required = "shelf", .preferred = "rack"},
                {.topology = "net", .required = "rack", .preferred = "rack"},
                false},
               {Racks(),
                {.required = "room"},
                {.topology = "net", .required = "room"},
                true},
               {Racks(),
                {.topology = "no", .required = "rack"},
                {.topology = "no", .required = "rack"},
                true},
               {Tiers(),
                {.topology = "net", .required = "tier-1"},
                {.topology = "net", .required = "net/tier-1"},
                false},
               // At most this tier: wider than all is anywhere.
               {Tiers(), {.required = "tier-7"}, {.topology = "net"}, false},
               {Tiers(),
                {.preferred = "tier-0"},
                {.topology = "net", .preferred = kHostLevel},
                false}};
  for (const auto& c : cases) {
    const auto translated =
        Make(c.spec, {"a", "b", "c", "d"}).Translate(c.request);
    ASSERT_TRUE(translated.ok()) << translated.status();
    EXPECT_EQ(translated->constraint, c.constraint)
        << c.request.required << c.request.preferred;
    EXPECT_EQ(translated->unknown, c.unknown)
        << c.request.required << c.request.preferred;
  }
}

TEST(TopologiesTest, ATierThatNobodyTellsHasNoWord) {
  const Topologies t = Make(Tiers(), {"a"});
  EXPECT_FALSE(t.Translate({.required = "tier-0"}).ok());
  EXPECT_FALSE(t.Translate({.required = "room"}).ok());
}

TEST(TopologiesTest, SlicesNeedALevelASizeAndAPlaceInside) {
  const Topologies t = Make(Racks(), {});
  const auto sliced = [&](TopologyRequest request,
                          std::vector<SliceSpec> slices) {
    request.slices = std::move(slices);
    return t.Translate(request);
  };
  const auto good = sliced({.required = "zone"}, {{"rack", 4}});
  ASSERT_TRUE(good.ok());
  EXPECT_FALSE(good->unknown);
  EXPECT_THAT(good->constraint.slices, ElementsAre(Slice{"rack", 4}));
  EXPECT_TRUE(sliced({}, {{"rack", std::nullopt}})->unknown);
  EXPECT_TRUE(sliced({.required = "rack"}, {{"zone", 4}})->unknown);
  EXPECT_FALSE(sliced({}, {{"", 4}}).ok());
  EXPECT_THAT(sliced({}, {{"", 1}})->constraint.slices, IsEmpty());
}

TEST(TopologiesTest, LevelsOfAnUnnamedTopologyAreThoseOfTheFirst) {
  const Topologies t = Make(Racks(), {});
  ASSERT_NE(t.LevelsOf(""), nullptr);
  EXPECT_EQ(t.LevelsOf(""), t.LevelsOf("net"));
  EXPECT_EQ(t.LevelsOf("no"), nullptr);
}

}  // namespace
}  // namespace muster::translate
