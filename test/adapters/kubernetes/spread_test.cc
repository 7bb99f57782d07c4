// topologySpreadConstraints within a group.
#include "adapters/kubernetes/model/spread.h"

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kHost[] = "kubernetes.io/hostname";

api::SpreadConstraint Over(const std::string& key, api::StringMap labels) {
  return {.max_skew = 1,
          .topology_key = key,
          .when_unsatisfiable = "DoNotSchedule",
          .selector = api::LabelSelector{.match_labels = std::move(labels)}};
}

api::SpreadConstraint OverZones(api::StringMap labels) {
  return Over(kZone, std::move(labels));
}

api::Pod PodWith(api::SpreadConstraint constraint) {
  api::Pod pod;
  pod.meta.labels = {{"app", "train"}, {"hash", "1"}};
  pod.spread = {std::move(constraint)};
  return pod;
}

TEST(SpreadTest, TheLibrarysTerms) {
  api::SpreadConstraint constraint = OverZones({{"app", "train"}});
  constraint.max_skew = 2;
  constraint.min_domains = 3;
  constraint.match_label_keys = {"hash", "absent"};
  const auto spreads = SpreadsOf(PodWith(constraint));
  ASSERT_TRUE(spreads.ok()) << spreads.status();
  ASSERT_EQ(spreads->size(), 1u);
  EXPECT_EQ((*spreads)[0].topology,
            (TopologyConstraint{
                .topology = kZone,
                .spread = {.level = kZone, .max_skew = 2, .min_domains = 3}}));
  ASSERT_EQ((*spreads)[0].selector.match_expressions.size(), 1u);
  EXPECT_EQ((*spreads)[0].selector.match_expressions[0].key, "hash");
}

TEST(SpreadTest, AWishAsksNothing) {
  api::SpreadConstraint wish = OverZones({{"app", "other"}});
  wish.when_unsatisfiable = "ScheduleAnyway";
  const auto spreads = SpreadsOf(PodWith(wish));
  ASSERT_TRUE(spreads.ok()) << spreads.status();
  EXPECT_THAT(*spreads, IsEmpty());
}

TEST(SpreadTest, SeveralConstraintsKeepTheirOrderAndWishesAreLeftOut) {
  api::Pod pod = PodWith(Over(kHost, {{"app", "train"}}));
  pod.spread.push_back(OverZones({{"app", "train"}}));
  pod.spread.push_back(Over("rack", {{"app", "train"}}));
  pod.spread[1].when_unsatisfiable = "ScheduleAnyway";
  const auto spreads = SpreadsOf(pod);
  ASSERT_TRUE(spreads.ok()) << spreads.status();
  ASSERT_EQ(spreads->size(), 2u);
  EXPECT_EQ((*spreads)[0].topology.topology, kHost);
  EXPECT_EQ((*spreads)[1].topology.topology, "rack");
}

TEST(SpreadTest, WhatIsNotUnderstoodIsRefusedByName) {
  const auto refused = [](const api::Pod& pod, const std::string& text) {
    const auto spreads = SpreadsOf(pod);
    EXPECT_FALSE(spreads.ok()) << text;
    EXPECT_THAT(std::string(spreads.status().message()),
                HasSubstr("spec.topologySpreadConstraints"));
    EXPECT_THAT(std::string(spreads.status().message()), HasSubstr(text));
  };
  refused(PodWith(OverZones({{"app", "other"}})), "labelSelector");
  // Without a selector; "" is the API server's default, DoNotSchedule.
  refused(PodWith({.max_skew = 1, .when_unsatisfiable = "DoNotSchedule"}),
          "labelSelector");
  refused(PodWith({.max_skew = 1, .when_unsatisfiable = ""}), "labelSelector");
  api::SpreadConstraint constraint = OverZones({{"app", "train"}});
  api::Pod many = PodWith(constraint);
  many.spread.resize(kMaxSpreads, constraint);
  EXPECT_TRUE(SpreadsOf(many).ok());
  many.spread.push_back(constraint);
  refused(many, "more than 8");
  constraint.node_affinity_policy = "Ignore";
  refused(PodWith(constraint), "nodeAffinityPolicy");
  constraint = OverZones({{"app", "train"}});
  constraint.selector.reset();
  refused(PodWith(constraint), "labelSelector");
  constraint = OverZones({{"app", "train"}});
  constraint.max_skew = 0;
  refused(PodWith(constraint), "maxSkew");
}

class SpreadStories : public testing::Test {
 protected:
  void AddNodes(int64_t in_a, int64_t in_b) {
    api_.AddNode("a", in_a, {{kZone, "a"}, {"rack", "r"}});
    api_.AddNode("b", in_b, {{kZone, "b"}, {"rack", "r"}});
  }
  using Constraints = std::vector<api::SpreadConstraint>;

  void AddPod(const std::string& name, const Constraints& constraints,
              int64_t gpus = 1) {
    api_.AddPod({.name = name,
                 .gpus = gpus,
                 .group = "g",
                 .labels = {{"app", "train"}}});
    api_.EditPod(name, [&](api::Pod& pod) { pod.spread = constraints; });
  }
  // Of a group of four.
  void AddPods(const Constraints& constraints = {
                   OverZones({{"app", "train"}})}) {
    for (int i = 0; i < 4; ++i) AddPod(absl::StrCat("w", i), constraints);
  }
  // So many pods by node.
  std::map<std::string, int> Count() const {
    std::map<std::string, int> count;
    for (const std::string& name : api_.Names()) ++count[api_.NodeOf(name)];
    return count;
  }

  FakeApi api_;
};

TEST_F(SpreadStories, AGroupSpreadsOverZones) {
  AddNodes(4, 4);
  api_.AddGroup("g", 4);
  AddPods();
  api_.Settle();
  EXPECT_EQ(Count(), (std::map<std::string, int>{{"a", 2}, {"b", 2}}));
}

TEST_F(SpreadStories, WithoutTheConstraintItDoesNot) {
  AddNodes(4, 4);
  api_.AddGang("g", {"w0", "w1", "w2", "w3"});
  api_.Settle();
  EXPECT_EQ(Count().size(), 1u);
}

TEST_F(SpreadStories, ItWaitsWhereItWouldNotBeEven) {
  AddNodes(4, 1);
  api_.AddGroup("g", 4);
  AddPods();
  api_.Pass(5 * kSecond);
  EXPECT_EQ(Count(), (std::map<std::string, int>{{"", 4}}));
  EXPECT_THAT(ToldTo(api_, "w0"), HasSubstr("needs 4 tasks, 3 available"));
  api_.AddNode("b2", 1, {{kZone, "b"}});
  api_.Pass(30 * kSecond);
  EXPECT_EQ(Count(),
            (std::map<std::string, int>{{"a", 2}, {"b", 1}, {"b2", 1}}));
}

TEST_F(SpreadStories, WithinTheDomainThatItsGroupRequires) {
  AddNodes(4, 4);
  api_.AddNode("c", 8, {{kZone, "a"}, {"rack", "other"}});
  api_.AddNode("d", 1, {{kZone, "b"}, {"rack", "other"}});
  api_.AddGroup("g", 4, "rack");
  AddPods();
  api_.Settle();
  EXPECT_EQ(Count(), (std::map<std::string, int>{{"a", 2}, {"b", 2}}));
}

TEST_F(SpreadStories, APodByItselfHasNobodyToSpreadWith) {
  AddNodes(4, 4);
  api_.AddPod({.name = "w", .gpus = 1, .labels = {{"app", "train"}}});
  api_.EditPod(
      "w", [](api::Pod& pod) { pod.spread = {OverZones({{"app", "train"}})}; });
  api_.Pass(kSecond);
  EXPECT_EQ(api_.NodeOf("w"), "");
  EXPECT_THAT(ToldTo(api_, "w"), HasSubstr("topologySpreadConstraints"));
}

TEST_F(SpreadStories, WhatDecidesNothingIsToldOnce) {
  AddNodes(4, 4);
  api_.AddGroup("g", 5);  // One more than there are: they wait.
  api::SpreadConstraint wish = OverZones({{"app", "other"}});
  wish.when_unsatisfiable = "ScheduleAnyway";
  wish.node_taints_policy = "Ignore";
  api::SpreadConstraint taints = OverZones({{"app", "train"}});
  taints.node_taints_policy = "Ignore";
  AddPod("w0", {wish});
  AddPod("w1", {wish, taints});
  AddPod("w2", {taints});
  AddPod("w3", {OverZones({{"app", "train"}})});
  api_.Pass(kSecond);
  api_.EditPod("w0", [](api::Pod& pod) { pod.meta.labels["other"] = "x"; });
  api_.Pass(kSecond);
  std::map<std::string, std::string> told;
  for (const EventRequest& event : Seen<EventRequest>(api_)) {
    if (event.reason != "NotUsed") continue;
    EXPECT_TRUE(told.emplace(event.object.name, event.note).second)
        << event.object.name << " is told twice";
  }
  const std::string field = "spec.topologySpreadConstraints: ";
  const std::string anyway =
      "whenUnsatisfiable: ScheduleAnyway decides nothing";
  const std::string ignore = "nodeTaintsPolicy: Ignore is taken for Honor";
  EXPECT_EQ(told, (std::map<std::string, std::string>{
                      {"w0", field + anyway},
                      {"w1", field + anyway + "; " + ignore},
                      {"w2", field + ignore}}));
}

TEST_F(SpreadStories, WithoutRoomForItsTopologyAPodWithClaimsWaits) {
  AddNodes(1, 4);
  api::StringMap labels;
  for (int i = 0; i < 64; ++i) labels[absl::StrCat("level-", i)] = "here";
  api_.AddNode("labelled", 0, labels);
  for (int i = 0; i < 64; ++i) {
    api_.AddGroup(absl::StrCat("t", i), 1, absl::StrCat("level-", i));
  }
  api_.storage.PutClass("made", true);
  api_.storage.AddClaim("data", "made");
  api_.AddGroup("g", 1);
  api_.AddPod({.name = "w",
               .gpus = 1,
               .group = "g",
               .labels = {{"app", "train"}},
               .claims = {"data"}});
  api_.EditPod(
      "w", [](api::Pod& pod) { pod.spread = {OverZones({{"app", "train"}})}; });
  api_.Pass(kSecond);
  EXPECT_EQ(api_.NodeOf("w"), "");
  EXPECT_THAT(ToldTo(api_, "w"), HasSubstr("too many topologies"));
}

TEST_F(SpreadStories, ASelectorOfUnlikePodsIsRefused) {
  AddNodes(4, 4);
  api_.AddGroup("g", 5);
  AddPods();
  api_.AddPod({.name = "server",
               .milli_cpu = 2'000,
               .group = "g",
               .labels = {{"app", "train"}}});
  api_.Pass(kSecond);
  EXPECT_EQ(api_.NodeOf("w0"), "");
  EXPECT_THAT(ToldTo(api_, "w0"), HasSubstr("without this constraint"));
  api_.EditPod("server", [](api::Pod& pod) { pod.meta.labels.clear(); });
  api_.Pass(30 * kSecond);
  EXPECT_NE(api_.NodeOf("server"), "");
  EXPECT_NE(api_.NodeOf("w0"), "");
}

TEST_F(SpreadStories, PodsSpreadAmongThoseThatTheirSelectorSelects) {
  AddNodes(4, 4);
  api_.AddGroup("g", 4);
  AddPods();
  for (const char* name : {"w2", "w3"}) {
    api_.EditPod(name, [](api::Pod& pod) {
      pod.meta.labels = {{"app", "other"}};
      pod.spread = {OverZones({{"app", "other"}})};
    });
  }
  api_.Settle();
  EXPECT_EQ(Count(), (std::map<std::string, int>{{"a", 2}, {"b", 2}}));
  EXPECT_NE(api_.NodeOf("w0"), api_.NodeOf("w1"));
  EXPECT_NE(api_.NodeOf("w2"), api_.NodeOf("w3"));
}

// --- Several constraints -----------------------------------------------------

TEST_F(SpreadStories, EachOfTwoConstraintsHolds) {
  // By zones alone two could share a node, by nodes alone three a zone.
  for (const char* name : {"a1", "a2", "a3"}) {
    api_.AddNode(name, 4, {{kZone, "a"}, {kHost, name}});
  }
  for (const char* name : {"b1", "b2"}) {
    api_.AddNode(name, 4, {{kZone, "b"}, {kHost, name}});
  }
  api_.AddGroup("g", 4);
  AddPods({OverZones({{"app", "train"}}), Over(kHost, {{"app", "train"}})});
  api_.Settle();
  std::map<char, int> zones;
  for (const auto& [node, count] : Count()) {
    EXPECT_EQ(count, 1) << node;
    zones[node.empty() ? '-' : node[0]] += count;
  }
  EXPECT_EQ(zones, (std::map<char, int>{{'a', 2}, {'b', 2}}));
}

TEST_F(SpreadStories, ItWaitsForTheConstraintThatDoesNotHold) {
  for (const char* name : {"a1", "a2", "b1"}) {
    api_.AddNode(name, 4, {{kZone, std::string(1, name[0])}, {kHost, name}});
  }
  api_.AddGroup("g", 4);
  api::SpreadConstraint hosts = Over(kHost, {{"app", "train"}});
  hosts.min_domains = 4;
  AddPods({OverZones({{"app", "train"}}), hosts});
  api_.Pass(5 * kSecond);
  EXPECT_EQ(Count(), (std::map<std::string, int>{{"", 4}}));
  EXPECT_THAT(ToldTo(api_, "w0"), HasSubstr("constraint"));
  api_.AddNode("b2", 4, {{kZone, "b"}, {kHost, "b2"}});
  api_.Pass(30 * kSecond);
  EXPECT_EQ(Count().size(), 4u);
  EXPECT_FALSE(Count().contains(""));
}

TEST_F(SpreadStories, PodsThatComeLaterKeepBothConstraints) {
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    api_.AddNode(name, 1, {{kZone, std::string(1, name[0])}, {kHost, name}});
  }
  const Constraints both = {OverZones({{"app", "train"}}),
                            Over(kHost, {{"app", "train"}})};
  api_.AddGroup("g", 1);
  for (int i = 0; i < 4; ++i) {
    AddPod(absl::StrCat("w", i), both);
    api_.Pass(kSecond);
    std::map<char, int> zones = {{'a', 0}, {'b', 0}};
    for (const auto& [node, count] : Count()) ++zones[node.at(0)];
    EXPECT_LE(std::abs(zones['a'] - zones['b']), 1) << i;
  }
  EXPECT_EQ(Count().size(), 4u);
}

TEST_F(SpreadStories, UnlikePodsWithTheSameConstraintAreCountedTogether) {
  AddNodes(8, 8);
  api_.AddGroup("g", 4);
  const Constraints zones = {OverZones({{"app", "train"}})};
  AddPod("large", zones, 3);
  for (const char* name : {"w0", "w1", "w2"}) AddPod(name, zones);
  api_.Settle();
  EXPECT_EQ(Count(), (std::map<std::string, int>{{"a", 2}, {"b", 2}}));
}

TEST_F(SpreadStories, AConstraintOfSomePodsInsideOneOfAll) {
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    api_.AddNode(name, 8, {{kZone, std::string(1, name[0])}, {kHost, name}});
  }
  api_.AddGroup("g", 4);
  const api::SpreadConstraint zones = OverZones({{"app", "train"}});
  AddPod("large", {zones}, 3);
  AddPod("larger", {zones}, 4);
  for (const char* name : {"w0", "w1"}) {
    AddPod(name, {zones, Over(kHost, {{"kind", "worker"}})});
    api_.EditPod(name,
                 [](api::Pod& pod) { pod.meta.labels["kind"] = "worker"; });
  }
  api_.Settle();
  EXPECT_NE(api_.NodeOf("w0"), api_.NodeOf("w1"));
  std::map<char, int> count;
  for (const auto& [node, pods] : Count()) count[node.at(0)] += pods;
  EXPECT_EQ(count, (std::map<char, int>{{'a', 2}, {'b', 2}}));
}

TEST_F(SpreadStories, SelectorsThatOverlapAreRefused) {
  AddNodes(8, 8);
  api_.AddGroup("g", 3);
  const auto add = [&](const std::string& name, int64_t gpus,
                       const api::StringMap& labels) {
    api_.AddPod({.name = name, .gpus = gpus, .group = "g", .labels = labels});
    api_.EditPod(name, [&](api::Pod& pod) {
      for (const auto& label : labels) {
        pod.spread.push_back(OverZones({label}));
      }
    });
  };
  add("left", 1, {{"left", "1"}});
  add("both", 2, {{"left", "1"}, {"right", "1"}});
  add("right", 3, {{"right", "1"}});
  api_.Pass(kSecond);
  EXPECT_EQ(Count(), (std::map<std::string, int>{{"", 3}}));
  EXPECT_THAT(ToldTo(api_, "both"),
              HasSubstr("spec.topologySpreadConstraints: a labelSelector that "
                        "selects some"));
}

}  // namespace
}  // namespace muster::kubernetes
