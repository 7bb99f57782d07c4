// topologySpreadConstraints within a group.
#include "adapters/kubernetes/model/spread.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::HasSubstr;

constexpr char kZone[] = "topology.kubernetes.io/zone";

api::SpreadConstraint OverZones(api::StringMap labels) {
  return {.max_skew = 1,
          .topology_key = kZone,
          .when_unsatisfiable = "DoNotSchedule",
          .selector = api::LabelSelector{.match_labels = std::move(labels)}};
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
  const auto spread = SpreadOf(PodWith(constraint));
  ASSERT_TRUE(spread.ok()) << spread.status();
  ASSERT_TRUE(spread->has_value());
  EXPECT_EQ((*spread)->topology,
            (TopologyConstraint{
                .topology = kZone,
                .spread = {.level = kZone, .max_skew = 2, .min_domains = 3}}));
  ASSERT_EQ((*spread)->selector.match_expressions.size(), 1u);
  EXPECT_EQ((*spread)->selector.match_expressions[0].key, "hash");
}

TEST(SpreadTest, AWishAsksNothing) {
  api::SpreadConstraint wish = OverZones({{"app", "other"}});
  wish.when_unsatisfiable = "ScheduleAnyway";
  const auto spread = SpreadOf(PodWith(wish));
  ASSERT_TRUE(spread.ok()) << spread.status();
  EXPECT_FALSE(spread->has_value());
}

TEST(SpreadTest, WhatIsNotUnderstoodIsRefusedByName) {
  const auto refused = [](const api::Pod& pod, const std::string& text) {
    const auto spread = SpreadOf(pod);
    EXPECT_FALSE(spread.ok()) << text;
    EXPECT_THAT(std::string(spread.status().message()),
                HasSubstr("spec.topologySpreadConstraints"));
    EXPECT_THAT(std::string(spread.status().message()), HasSubstr(text));
  };
  refused(PodWith(OverZones({{"app", "other"}})), "labelSelector");
  api::SpreadConstraint constraint = OverZones({{"app", "train"}});
  api::Pod twice = PodWith(constraint);
  twice.spread.push_back(constraint);
  refused(twice, "more than one");
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
  // Of a group of four.
  void AddPods(const api::StringMap& labels = {{"app", "train"}},
               const api::StringMap& selected = {{"app", "train"}}) {
    for (int i = 0; i < 4; ++i) {
      const std::string name = absl::StrCat("w", i);
      api_.AddPod({.name = name, .gpus = 1, .group = "g", .labels = labels});
      api_.EditPod(name,
                   [&](api::Pod& pod) { pod.spread = {OverZones(selected)}; });
    }
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

TEST_F(SpreadStories, WithoutRoomForItsTopologyAPodWithClaimsWaits) {
  AddNodes(1, 4);
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
  EXPECT_THAT(ToldTo(api_, "w0"), HasSubstr("unlike pods"));
  api_.EditPod("server", [](api::Pod& pod) { pod.meta.labels.clear(); });
  api_.Pass(30 * kSecond);
  EXPECT_NE(api_.NodeOf("server"), "");
  EXPECT_NE(api_.NodeOf("w0"), "");
}

TEST_F(SpreadStories, ASelectorOfSomeOfThePodsIsRefused) {
  AddNodes(4, 4);
  api_.AddGroup("g", 4);
  AddPods();
  api_.EditPod("w3", [](api::Pod& pod) {
    pod.meta.labels = {{"app", "other"}};
    pod.spread = {OverZones({{"app", "other"}})};
  });
  api_.Pass(kSecond);
  EXPECT_EQ(api_.NodeOf("w0"), "");
  EXPECT_THAT(ToldTo(api_, "w0"), HasSubstr("only some"));
}

}  // namespace
}  // namespace muster::kubernetes
