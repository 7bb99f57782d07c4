// What claims of volumes say of their pods' nodes, case by case.
#include "adapters/kubernetes/model/volumes.h"

#include <string>
#include <vector>

#include "adapters/kubernetes/model/translate_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHost[] = "kubernetes.io/hostname";

api::NodeSelectorTerm Term(const std::string& key,
                           std::vector<std::string> values) {
  return {.match_expressions = {{key, "In", std::move(values)}}};
}

SelectorTerm In(const std::string& key, std::vector<std::string> values) {
  return {.all_of = {{key, SelectorOp::kIn, std::move(values)}}};
}

api::PersistentVolume VolumeOn(const std::string& name,
                               std::vector<std::string> hosts) {
  api::PersistentVolume volume;
  volume.meta.name = name;
  volume.phase = "Available";
  volume.storage_class_name = "c";
  volume.capacity = 10;
  volume.access_modes = {"ReadWriteOnce"};
  volume.has_node_affinity = true;
  volume.node_affinity = {Term(kHost, std::move(hosts))};
  return volume;
}

// A claim "data" of class "c" in namespace "ns", with what belongs to it.
class ClaimTest : public ::testing::Test {
 protected:
  ClaimTest() {
    claim_.meta = {.name = "data", .namespace_name = "ns", .uid = "u"};
    claim_.storage_class_name = "c";
    claim_.request = 5;
    claim_.access_modes = {"ReadWriteOnce"};
    claim_.phase = "Pending";
    class_.meta.name = "c";
    class_.provisioner = "p";
    class_.volume_binding_mode = "WaitForFirstConsumer";
    objects_ = {.claim = &claim_, .storage_class = &class_};
  }

  void Bind(api::PersistentVolume volume) {
    volume_ = std::move(volume);
    volume_.claim_namespace = "ns";
    volume_.claim_name = "data";
    volume_.claim_uid = "u";
    volume_.phase = "Bound";
    claim_.volume_name = volume_.meta.name;
    claim_.phase = "Bound";
    objects_.volume = &volume_;
  }

  ClaimVerdict Verdict(bool ephemeral = false) {
    return Judge({"data", ephemeral}, "pod-uid", objects_);
  }

  void ExpectWaits(const std::string& why, bool ephemeral = false) {
    const ClaimVerdict verdict = Verdict(ephemeral);
    EXPECT_EQ(verdict.stage, ClaimStage::kWaits);
    EXPECT_THAT(verdict.why_not, HasSubstr("claim 'data' " + why));
  }

  api::PersistentVolumeClaim claim_;
  api::PersistentVolume volume_;
  api::StorageClass class_;
  ClaimObjects objects_;
};

TEST_F(ClaimTest, ABoundClaimLeavesTheNodesOfItsVolume) {
  Bind(VolumeOn("v", {"n1", "n2"}));
  EXPECT_EQ(Verdict().stage, ClaimStage::kBound);
  EXPECT_THAT(Verdict().nodes.any_of, ElementsAre(In(kHost, {"n1", "n2"})));
}

TEST_F(ClaimTest, AVolumeWithoutAffinityLeavesEveryNode) {
  Bind(VolumeOn("v", {}));
  volume_.has_node_affinity = false;
  volume_.node_affinity.clear();
  EXPECT_EQ(Verdict().stage, ClaimStage::kBound);
  EXPECT_TRUE(Verdict().nodes.any_of.empty());
}

TEST_F(ClaimTest, AnAffinityWithoutTermsLeavesNoNode) {
  Bind(VolumeOn("v", {}));
  volume_.node_affinity.clear();
  EXPECT_EQ(Verdict().stage, ClaimStage::kBound);
  EXPECT_FALSE(Matches(Verdict().nodes, {{kNodeNameLabel, "n1"}}));
}

TEST_F(ClaimTest, AVolumeThatIsNotThereOrAnothersIsWaitedFor) {
  Bind(VolumeOn("v", {"n1"}));
  volume_.claim_uid = "another";
  ExpectWaits("is of volume 'v', which is another claim's");
  objects_.volume = nullptr;
  ExpectWaits("is of volume 'v', which is not there");
}

TEST_F(ClaimTest, AnAffinityThatIsNotUnderstoodIsNamed) {
  Bind(VolumeOn("v", {"n1"}));
  volume_.node_affinity[0].match_fields = {{"metadata.uid", "In", {"x"}}};
  ExpectWaits("is of volume 'v': nodeAffinity: matchFields: 'metadata.uid'");
}

TEST_F(ClaimTest, WhatIsNoClaimToUseIsNamed) {
  claim_.phase = "Lost";
  claim_.volume_name = "v";
  ExpectWaits("has lost its volume 'v'");
  claim_.meta.deletion = 7;
  ExpectWaits("is being deleted");
  objects_.claim = nullptr;
  ExpectWaits("is not there");
}

TEST_F(ClaimTest, AnEphemeralClaimIsThePodsOwn) {
  ExpectWaits("was not made for this pod", true);
  claim_.meta.owners = {{"v1", "Pod", "p", "pod-uid", false}};
  ExpectWaits("was not made for this pod", true);
  claim_.meta.owners = {{"v1", "Pod", "p", "other-uid", true}};
  ExpectWaits("was not made for this pod", true);
  claim_.meta.owners = {{"v1", "Pod", "p", "pod-uid", true}};
  EXPECT_EQ(Verdict(true).stage, ClaimStage::kProvision);
}

TEST_F(ClaimTest, AnUnboundClaimThatIsBoundAtOnceIsWaitedFor) {
  class_.volume_binding_mode = "Immediate";
  ExpectWaits("is not bound yet");
  class_.volume_binding_mode = "";
  ExpectWaits("is not bound yet");
  claim_.volume_name = "v";
  ExpectWaits("is not bound to volume 'v' yet");
}

TEST_F(ClaimTest, AClassThatIsNotThereIsNamed) {
  objects_.storage_class = nullptr;
  ExpectWaits("is of class 'c', which is not there");
  claim_.storage_class_name = "";
  ExpectWaits("has no storage class");
  claim_.storage_class_name = std::nullopt;
  ExpectWaits("has no storage class");
}

TEST_F(ClaimTest, AVolumeThatIsToBeMadeLeavesTheTopologiesOfItsClass) {
  EXPECT_EQ(Verdict().stage, ClaimStage::kProvision);
  EXPECT_TRUE(Verdict().nodes.any_of.empty());
  class_.allowed_topologies = {Term("zone", {"a", "b"}), Term("zone", {"c"})};
  const ClaimVerdict verdict = Verdict();
  for (const char* zone : {"a", "b", "c"}) {
    EXPECT_TRUE(Matches(verdict.nodes, {{"zone", zone}})) << zone;
  }
  EXPECT_FALSE(Matches(verdict.nodes, {{"zone", "d"}}));
}

TEST_F(ClaimTest, LocalVolumesLeaveTheNodesThatHaveOne) {
  class_.provisioner = "kubernetes.io/no-provisioner";
  ExpectWaits("finds no volume of class 'c'");
  const api::PersistentVolume a = VolumeOn("a", {"n2"});
  const api::PersistentVolume b = VolumeOn("b", {"n1"});
  objects_.candidates = {&a, &b};
  EXPECT_EQ(Verdict().stage, ClaimStage::kChoose);
  EXPECT_THAT(Verdict().nodes.any_of, ElementsAre(In(kHost, {"n1", "n2"})));
}

TEST_F(ClaimTest, ALocalVolumeThatEveryNodeReachesLeavesEveryNode) {
  class_.provisioner = "kubernetes.io/no-provisioner";
  const api::PersistentVolume a = VolumeOn("a", {"n2"});
  api::PersistentVolume b = VolumeOn("b", {});
  b.has_node_affinity = false;
  objects_.candidates = {&a, &b};
  EXPECT_TRUE(Verdict().nodes.any_of.empty());
}

TEST_F(ClaimTest, WhichVolumesSuitAClaim) {
  const auto suits = [this](auto edit) {
    api::PersistentVolume volume = VolumeOn("v", {"n1"});
    edit(&volume);
    return Suits(volume, claim_);
  };
  EXPECT_TRUE(suits([](auto*) {}));
  EXPECT_TRUE(suits([](auto* v) { v->volume_mode = "Filesystem"; }));
  EXPECT_FALSE(suits([](auto* v) { v->volume_mode = "Block"; }));
  EXPECT_TRUE(suits([](auto* v) { v->capacity = 5; }));
  EXPECT_FALSE(suits([](auto* v) { v->capacity = 4; }));
  EXPECT_FALSE(suits([](auto* v) { v->access_modes = {"ReadOnlyMany"}; }));
  EXPECT_FALSE(suits([](auto* v) { v->storage_class_name = "d"; }));
  EXPECT_FALSE(suits([](auto* v) { v->phase = "Released"; }));
  EXPECT_FALSE(suits([](auto* v) { v->meta.deletion = 1; }));
  EXPECT_FALSE(suits([](auto* v) { v->claim_name = "other"; }));
  const auto give = [](api::PersistentVolume* v) {
    v->claim_namespace = "ns";
    v->claim_name = "data";
  };
  EXPECT_TRUE(suits(give));  // Before the claim is there, without its UID.
  EXPECT_FALSE(suits([&](auto* v) {
    give(v);
    v->claim_uid = "former";
  }));
  claim_.selector.emplace().match_labels = {{"disk", "ssd"}};
  EXPECT_FALSE(suits([](auto*) {}));
  EXPECT_TRUE(suits([](auto* v) { v->meta.labels = {{"disk", "ssd"}}; }));
}

TEST(BothTest, TermsAreMultipliedOut) {
  const NodeSelector a{{In("zone", {"a"}), In("disk", {"ssd"})}};
  const NodeSelector b{{In("rack", {"r"})}};
  const NodeSelector both = Both(a, b);
  EXPECT_TRUE(Matches(both, {{"rack", "r"}, {"zone", "a"}}));
  EXPECT_TRUE(Matches(both, {{"disk", "ssd"}, {"rack", "r"}}));
  EXPECT_FALSE(Matches(both, {{"rack", "r"}}));
  EXPECT_FALSE(Matches(both, {{"zone", "a"}}));
}

TEST(BothTest, WhatSelectsEveryNodeAddsNothing) {
  const NodeSelector a{{In("zone", {"a"})}};
  EXPECT_EQ(Both(a, {}), a);
  EXPECT_EQ(Both({}, a), a);
  EXPECT_EQ(Both({}, {}), NodeSelector());
  EXPECT_EQ(Both(a, a), a);
}

TEST(BothTest, ManyAlternativesAreCutAndNeverBecomeEveryNode) {
  NodeSelector a, b;
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    a.any_of.push_back({{{"a", SelectorOp::kNotIn, {n}}}});
    b.any_of.push_back({{{"b", SelectorOp::kNotIn, {n}}}});
  }
  const NodeSelector both = Both(a, b);
  EXPECT_EQ(both.any_of.size(), kMaxVolumeTerms);
  for (const SelectorTerm& term : both.any_of) {
    EXPECT_EQ(term.all_of.size(), 2u);
  }
}

TEST(ClaimsOfTest, AreNamedAsKubernetesNamesThem) {
  api::Pod pod;
  pod.meta.name = "p";
  pod.volumes = {{"a", "persistentVolumeClaim", "data"},
                 {"b", "configMap", ""},
                 {"c", "ephemeral", ""},
                 {"d", "persistentVolumeClaim", "data"}};
  EXPECT_THAT(ClaimsOf(pod),
              ElementsAre(PodClaim{"data", false}, PodClaim{"p-c", true}));
}

}  // namespace
}  // namespace muster::kubernetes
