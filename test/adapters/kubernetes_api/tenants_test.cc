#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/kubernetes/api/unix_time.h"
#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

using testing::ElementsAre;

TEST(TenantsTest, PriorityClassesAreRead) {
  const auto high = Must<PriorityClass>(R"({"metadata": {"name": "high"},
      "value": 1000000, "globalDefault": true, "preemptionPolicy": "Never",
      "description": "x"})");
  EXPECT_EQ(high.value, 1000000);
  EXPECT_TRUE(high.global_default);
  EXPECT_EQ(high.preemption_policy, "Never");
  EXPECT_EQ(
      Must<PriorityClass>(R"({"metadata": {"name": "l"}, "value": -5})").value,
      -5);
}

TEST(TenantsTest, DisruptionBudgetsAreRead) {
  const auto budget = Must<PodDisruptionBudget>(R"({"metadata": {"name": "b",
      "namespace": "ns"}, "spec": {"minAvailable": "50%", "selector": {
      "matchExpressions": [{"key": "a", "operator": "Exists"}]}},
      "status": {"disruptionsAllowed": 2}})");
  ASSERT_TRUE(budget.selector.has_value());
  EXPECT_THAT(budget.selector->match_expressions,
              ElementsAre(SelectorRequirement{"a", "Exists", {}}));
  EXPECT_EQ(budget.disruptions_allowed, 2);
  EXPECT_FALSE(Must<PodDisruptionBudget>(R"({"metadata": {"name": "b"},
      "spec": {"selector": null}})")
                   .selector.has_value());
}

TEST(TenantsTest, ResourceQuotasTellWhetherTheyHoldForAllPods) {
  const auto quota = Must<ResourceQuota>(R"({"metadata": {"name": "q"},
      "spec": {"hard": {"requests.nvidia.com/gpu": "8", "pods": "10"}},
      "status": {"used": {"pods": "1"}}})");
  EXPECT_EQ(quota.hard,
            (ResourceList{{"pods", 10000}, {"requests.nvidia.com/gpu", 8000}}));
  EXPECT_FALSE(quota.scoped);
  for (const char* scopes : {R"("scopes": ["Terminating"])",
                             R"("scopeSelector": {"matchExpressions": []})"}) {
    EXPECT_TRUE(
        Must<ResourceQuota>(std::string("{\"metadata\": {\"name\": \"q\"}, ") +
                            "\"spec\": {" + scopes + "}}")
            .scoped);
  }
}

TEST(TenantsTest, NamespacesAreRead) {
  EXPECT_EQ(Must<Namespace>(R"({"metadata": {"name": "ns", "labels": {
      "team": "a"}}, "spec": {"finalizers": ["kubernetes"]}})")
                .meta.labels.at("team"),
            "a");
}

TEST(VolumesTest, AVolumeTellsItsNodesAndItsClaim) {
  const auto volume = Must<PersistentVolume>(R"({"metadata": {"name": "v"},
    "spec": {"capacity": {"storage": "1Ti"}, "storageClassName": "local",
      "accessModes": ["ReadWriteOnce"], "volumeMode": "Block",
      "claimRef": {"namespace": "ns", "name": "c", "uid": "u"},
      "nodeAffinity": {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "kubernetes.io/hostname",
          "operator": "In", "values": ["n1"]}]}]}}},
    "status": {"phase": "Bound"}})");
  EXPECT_TRUE(volume.has_node_affinity);
  const SelectorRequirement host{"kubernetes.io/hostname", "In", {"n1"}};
  EXPECT_THAT(volume.node_affinity, ElementsAre(NodeSelectorTerm{{host}, {}}));
  EXPECT_EQ(volume.claim_namespace, "ns");
  EXPECT_EQ(volume.claim_name, "c");
  EXPECT_EQ(volume.claim_uid, "u");
  EXPECT_EQ(volume.storage_class_name, "local");
  EXPECT_EQ(volume.capacity, (int64_t{1} << 40) * 1000);
  EXPECT_THAT(volume.access_modes, ElementsAre("ReadWriteOnce"));
  EXPECT_EQ(volume.volume_mode, "Block");
  EXPECT_EQ(volume.phase, "Bound");
  EXPECT_FALSE(Must<PersistentVolume>(R"({"metadata": {"name": "v"}, "spec": {
      "nodeAffinity": {}}})")
                   .has_node_affinity);
}

TEST(VolumesTest, AClaimTellsItsVolumeAndTheNodeItWaitsFor) {
  const auto claim = Must<PersistentVolumeClaim>(R"({"metadata": {"name": "c",
      "annotations": {"volume.kubernetes.io/selected-node": "n1"}},
      "spec": {"volumeName": "v", "storageClassName": "",
        "accessModes": ["ReadWriteOncePod"], "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": "2Gi"}},
        "selector": {"matchLabels": {"disk": "ssd"}}},
      "status": {"phase": "Pending", "capacity": {"storage": "9Gi"}}})");
  EXPECT_EQ(claim.volume_name, "v");
  EXPECT_EQ(claim.storage_class_name, "");
  EXPECT_EQ(claim.phase, "Pending");
  EXPECT_EQ(claim.selected_node, "n1");
  EXPECT_EQ(claim.request, (int64_t{2} << 30) * 1000);
  EXPECT_THAT(claim.access_modes, ElementsAre("ReadWriteOncePod"));
  EXPECT_EQ(claim.volume_mode, "Filesystem");
  ASSERT_TRUE(claim.selector.has_value());
  EXPECT_EQ(claim.selector->match_labels, (StringMap{{"disk", "ssd"}}));
  EXPECT_EQ(Must<PersistentVolumeClaim>(R"({"metadata": {"name": "c"}})")
                .storage_class_name,
            std::nullopt);
}

TEST(VolumesTest, AStorageClassTellsWhenItBindsAndWhere) {
  const auto storage = Must<StorageClass>(R"({"metadata": {"name": "s"},
      "provisioner": "p", "volumeBindingMode": "WaitForFirstConsumer",
      "allowedTopologies": [{"matchLabelExpressions": [
        {"key": "zone", "values": ["a", "b"]},
        {"key": "disk", "values": ["ssd"]}]}]})");
  const SelectorRequirement zone{"zone", "In", {"a", "b"}};
  const SelectorRequirement disk{"disk", "In", {"ssd"}};
  EXPECT_THAT(storage.allowed_topologies,
              ElementsAre(NodeSelectorTerm{{zone, disk}, {}}));
  EXPECT_EQ(storage.provisioner, "p");
  EXPECT_EQ(storage.volume_binding_mode, "WaitForFirstConsumer");
}

TEST(TimesTest, AreReadToTheMillisecond) {
  EXPECT_EQ(*ParseTime("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(*ParseTime("2026-03-01T10:20:30Z"), 1772360430000);
  EXPECT_EQ(*ParseTime("2024-02-29T23:59:59Z"), 1709251199000);
  EXPECT_EQ(*ParseTime("1969-12-31T23:59:59Z"), -1000);
  EXPECT_EQ(*ParseTime("2026-03-01T10:20:30.123456Z"), 1772360430123);
  EXPECT_EQ(*ParseTime("2026-03-01T11:20:30+01:00"), 1772360430000);
  EXPECT_EQ(*ParseTime("9999-12-31T23:59:59Z"), 253402300799000);
}

TEST(TimesTest, WhatIsNoTimeIsRefused) {
  for (const char* text :
       {"", "now", "infinite-future", "2026-03-01", "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-03-01T25:00:00Z",
        "2026-03-01T00:60:00Z", "2026-03-01 00:00:00Z", "2026-03-01T00:00:00",
        " 2026-03-01T00:00:00Z", "2026-03-01T00:00:00Zx",
        "2O26-03-01T00:00:00Z", "+026-03-01T00:00:00Z"}) {
    EXPECT_FALSE(ParseTime(text).ok()) << "'" << text << "'";
  }
}

TEST(TimesTest, AreWrittenAsTheyAreRead) {
  EXPECT_EQ(FormatTime(1772360430999), "2026-03-01T10:20:30Z");
  EXPECT_EQ(FormatMicroTime(1772360430007), "2026-03-01T10:20:30.007000Z");
  for (const UnixMillis time :
       {int64_t{0}, int64_t{1772360430123}, int64_t{253402300799999}}) {
    EXPECT_EQ(*ParseTime(FormatMicroTime(time)), time);
    EXPECT_EQ(*ParseTime(FormatTime(time)), time / 1000 * 1000);
  }
}

}  // namespace
}  // namespace muster::kubernetes::api
