// Tables of what nodes and pods become.
#include <string>
#include <vector>

#include "adapters/kubernetes/model/label_selector.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "adapters/kubernetes/model/translate_node.h"
#include "adapters/kubernetes/model/translate_pod.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/device_set.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGpu[] = "nvidia.com/gpu";

// Labels of a node by key.
api::StringMap LabelsOf(const Node& node) {
  api::StringMap labels;
  for (const Label& label : node.labels) labels[label.key] = label.value;
  return labels;
}

bool Admits(const Role& role, const Node& node) {
  return Matches(role.shape.selector, node.labels);
}

class TranslateTest : public testing::Test {
 protected:
  Node NodeWith(api::StringMap labels, const std::string& name = "n") {
    api::Node node;
    node.meta.name = name;
    node.meta.labels = std::move(labels);
    auto translated = ToNode(node, kinds_, "model");
    EXPECT_TRUE(translated.ok()) << translated.status();
    return *std::move(translated);
  }
  Role RoleOf(const api::Pod& pod) {
    auto role = ToRole(pod, kinds_);
    EXPECT_TRUE(role.ok()) << role.status();
    return role.ok() ? *std::move(role) : Role();
  }
  void ExpectError(const api::Pod& pod, absl::StatusCode code,
                   const std::string& text) {
    const auto role = ToRole(pod, kinds_);
    EXPECT_EQ(role.status().code(), code) << role.status();
    EXPECT_THAT(std::string(role.status().message()), HasSubstr(text));
  }

  ResourceKinds kinds_{kGpu};
};

// --- Resources ---------------------------------------------------------------

TEST_F(TranslateTest, KindsKeepTheirPositions) {
  EXPECT_THAT(kinds_.names(),
              ElementsAre("cpu", "memory", "ephemeral-storage", "pods", kGpu));
  EXPECT_FALSE(kinds_.Learn({{"cpu", 1}, {kGpu, 1}}));
  EXPECT_TRUE(kinds_.Learn({{"hugepages-2Mi", 0}, {"a/b", 1}}));
  EXPECT_FALSE(kinds_.Learn({{"a/b", 2}}));
  EXPECT_EQ(kinds_.KindOf("a/b"), 5u);
  EXPECT_EQ(kinds_.KindOf("hugepages-2Mi"), 6u);
  EXPECT_EQ(kinds_.KindOf("x/y"), kinds_.names().size());
}

TEST_F(TranslateTest, ExtendedResourcesGoByTheirNames) {
  const char* const names[] = {
      "nvidia.com/mig-1g.10gb",      // A MIG profile, by NVIDIA's plug-in.
      "nvidia.com/mig-3g.40gb",      // Another one of the same devices.
      "google.com/tpu",              // TPU chips.
      "amd.com/gpu",                 // Beside the device resource.
      "rdma/hca_shared_devices_a",   // A shared RDMA device.
      "vpc.amazonaws.com/efa",       // An elastic fabric adapter.
      "example.com/nic-with.dots_1"  // Anything else.
  };
  api::Node node;
  node.meta.name = "n";
  api::Pod pod;
  int64_t amount = 1;
  for (const char* name : names) {
    node.allocatable[name] = 2 * amount * 1000;
    pod.requests[name] = amount * 1000;
    ++amount;
  }
  kinds_.Learn(node.allocatable);
  const auto translated = ToNode(node, kinds_, "model");
  ASSERT_TRUE(translated.ok()) << translated.status();
  const Role role = RoleOf(pod);
  amount = 1;
  for (const char* name : names) {
    const ResourceKind kind = kinds_.KindOf(name);
    ASSERT_LT(kind, kinds_.names().size()) << name;
    EXPECT_EQ(translated->capacity[kind], 2 * amount) << name;
    EXPECT_EQ(role.shape.resources[kind], amount) << name;
    ++amount;
  }
  EXPECT_THAT(translated->devices, IsEmpty());
  EXPECT_EQ(role.shape.devices.count, 0u);
}

TEST_F(TranslateTest, ALabelTellsTheDevicesModel) {
  api::Node node;
  node.meta.name = "n";
  node.meta.labels = {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"}};
  node.allocatable = {{kGpu, 2'000}};
  const auto model_by = [&](const std::string& label) {
    const auto translated = ToNode(node, kinds_, label);
    EXPECT_TRUE(translated.ok()) << translated.status();
    EXPECT_EQ(translated->devices.size(), 2u);
    return translated->devices.at(0).model;
  };
  EXPECT_EQ(model_by("nvidia.com/gpu.product"), "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(model_by("example.com/model"), "");
}

TEST_F(TranslateTest, CapacityIsRoundedDownAndRequestsUp) {
  const api::ResourceList list = {
      {"cpu", 1'001}, {"memory", 1'001}, {kGpu, 4'000}, {"unknown/r", 5'000}};
  const Resources capacity = kinds_.Capacity(list);
  const Resources request = kinds_.Request(list);
  EXPECT_EQ(capacity[kinds_.KindOf("cpu")], 1'001);
  EXPECT_EQ(request[kinds_.KindOf("cpu")], 1'001);
  EXPECT_EQ(capacity[kinds_.KindOf("memory")], 1);
  EXPECT_EQ(request[kinds_.KindOf("memory")], 2);
  EXPECT_EQ(request[kinds_.KindOf(kGpu)], 0);  // They are devices.
  EXPECT_EQ(kinds_.Devices(list), 4);
  EXPECT_EQ(kinds_.Unknown(list), "unknown/r");
  EXPECT_EQ(kinds_.Unknown({{"unknown/r", 0}}), "");
}

TEST_F(TranslateTest, AmountsStayWithinWhatTheLibraryCounts) {
  const api::ResourceList list = {
      {"cpu", std::numeric_limits<int64_t>::max()},
      {"memory", std::numeric_limits<int64_t>::max()},
      {"ephemeral-storage", -5'000},
      {kGpu, std::numeric_limits<int64_t>::max()}};
  const Resources request = kinds_.Request(list);
  EXPECT_EQ(request[0], Resources::kMaxQuantity);
  EXPECT_EQ(request[1], Resources::kMaxQuantity);
  EXPECT_EQ(request[2], 0);
  EXPECT_EQ(kinds_.Devices({{kGpu, -1'000}}), 0);
  api::Pod pod;
  pod.requests = list;
  EXPECT_GT(RoleOf(pod).shape.devices.count, DeviceSet::kCapacity);
}

TEST_F(TranslateTest, KindsEndWhereTheLibraryHasNoRoom) {
  api::ResourceList many;
  for (uint32_t i = 0; i < Resources::kMaxKinds + 5; ++i) {
    many["example.com/r" + std::to_string(1000 + i)] = 1000;
  }
  EXPECT_TRUE(kinds_.Learn(many));
  EXPECT_EQ(kinds_.names().size(), Resources::kMaxKinds);
  EXPECT_FALSE(kinds_.Learn(many));
  EXPECT_EQ(kinds_.Unknown(many), "example.com/r1059");
  api::Pod pod;
  pod.requests = {{"example.com/r1060", 1000}};
  ExpectError(pod, absl::StatusCode::kUnimplemented, "example.com/r1060");
}

// --- Nodes -------------------------------------------------------------------

TEST_F(TranslateTest, EveryFieldOfANode) {
  api::Node node;
  node.meta.name = "n1";
  node.meta.labels = {{"model", "H100"}, {"zone", "a"}};
  node.allocatable = {{"cpu", 8'000}, {kGpu, 2'000}};
  node.taints = {{"k", "v", "NoExecute", 1'700'000'000'000},
                 {"k", "", "PreferNoSchedule", std::nullopt},
                 {"c", "", "NoSchedule", std::nullopt}};
  const auto result = ToNode(node, kinds_, "model");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->key, "n1");
  EXPECT_EQ(result->capacity[0], 8'000);
  ASSERT_EQ(result->devices.size(), 2u);
  EXPECT_EQ(result->devices[1].model, "H100");
  EXPECT_FALSE(result->choose_devices);
  EXPECT_TRUE(result->schedulable);
  api::StringMap labels = LabelsOf(*result);
  EXPECT_EQ(labels.size(), result->labels.size());
  EXPECT_EQ(labels["zone"], "a");
  EXPECT_EQ(labels[kNodeNameLabel], "n1");
  EXPECT_THAT(result->taints,
              ElementsAre(Taint{"k", "v", TaintEffect::kNoExecute,
                                Time{1'700'000'000} * kSecond},
                          Taint{"k", "", TaintEffect::kPreferNoSchedule, 0},
                          Taint{"c", "", TaintEffect::kNoSchedule, 0}));
}

TEST_F(TranslateTest, ANodeTakesPodsWhenItIsReadyAndNotCordoned) {
  for (const auto& [ready, cordoned, takes] :
       std::vector<std::tuple<std::string, bool, bool>>{
           {"True", false, true},
           {"", false, true},
           {"True", true, false},
           {"False", false, false},
           {"Unknown", false, false}}) {
    api::Node node;
    node.meta.name = "n";
    node.ready = ready;
    node.unschedulable = cordoned;
    const auto result = ToNode(node, kinds_, "model");
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->schedulable, takes) << ready << cordoned;
  }
}

TEST_F(TranslateTest, ANodeHasNoMoreDevicesThanThereCanBe) {
  api::Node node;
  node.allocatable = {{kGpu, std::numeric_limits<int64_t>::max()}};
  const auto result = ToNode(node, kinds_, "model");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->devices.size(), size_t{DeviceSet::kCapacity});
  EXPECT_EQ(result->devices[0].model, "");
}

TEST_F(TranslateTest, TimesOfTaintsStayWithinTheLibrarys) {
  api::Node node;
  node.taints = {{"k", "", "NoExecute", std::numeric_limits<int64_t>::max()},
                 {"k", "", "NoExecute", std::numeric_limits<int64_t>::min()}};
  const auto result = ToNode(node, kinds_, "model");
  ASSERT_TRUE(result.ok());
  EXPECT_LE(result->taints[0].since, kMaxTime);
  EXPECT_GT(result->taints[0].since, 0);
  EXPECT_EQ(result->taints[1].since, 0);
}

TEST_F(TranslateTest, ATaintWithAnUnknownEffectIsNamed) {
  api::Node node;
  node.taints = {{"k", "v", "Never", std::nullopt}};
  const auto result = ToNode(node, kinds_, "model");
  EXPECT_TRUE(absl::IsInvalidArgument(result.status()));
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("spec.taints: effect"));
}

TEST_F(TranslateTest, ALabelCalledLikeTheNameFieldIsKept) {
  const Node node = NodeWith({{"metadata.name", "x"}});
  api::StringMap labels = LabelsOf(node);
  EXPECT_EQ(labels.size(), node.labels.size());  // None is there twice.
  EXPECT_EQ(labels["metadata.name"], "x");
  api::Pod pod;
  pod.has_required_node_affinity = true;
  pod.required_node_affinity = {
      {.match_fields = {{"metadata.name", "In", {"n"}}}}};
  EXPECT_TRUE(Admits(RoleOf(pod), node));
  pod.required_node_affinity[0].match_fields[0].values = {"x"};
  EXPECT_FALSE(Admits(RoleOf(pod), node));
}

// --- Pods --------------------------------------------------------------------

TEST_F(TranslateTest, RequestsOfAPod) {
  api::Pod pod;
  pod.requests = {{"cpu", 500}, {"memory", 1'500}, {kGpu, 3'000}};
  const Role role = RoleOf(pod);
  EXPECT_EQ(role.min_tasks, 0u);
  EXPECT_EQ(role.desired_tasks, 1u);
  EXPECT_EQ(role.shape.resources[0], 500);
  EXPECT_EQ(role.shape.resources[1], 2);
  EXPECT_EQ(role.shape.resources[kinds_.KindOf(kPods)], 1);
  EXPECT_EQ(role.shape.devices.count, 3u);
  EXPECT_EQ(role.shape.devices.milli, kWholeDevice);
  EXPECT_TRUE(role.shape.selector.any_of.empty());
}

TEST_F(TranslateTest, ASelectorAndAnyTermOfTheAffinityHold) {
  api::Pod pod;
  pod.node_selector = {{"zone", "a"}};
  pod.has_required_node_affinity = true;
  pod.required_node_affinity = {
      {.match_expressions = {{"disk", "In", {"ssd"}},
                             {"old", "DoesNotExist", {}}}},
      {.match_expressions = {{"cores", "Gt", {"64"}}}},
      {.match_expressions = {{"disk", "Exists", {}}},
       .match_fields = {{"metadata.name", "NotIn", {"n"}}}}};
  const Role role = RoleOf(pod);
  EXPECT_TRUE(Admits(role, NodeWith({{"zone", "a"}, {"disk", "ssd"}})));
  EXPECT_FALSE(Admits(role, NodeWith({{"zone", "b"}, {"disk", "ssd"}})));
  EXPECT_FALSE(
      Admits(role, NodeWith({{"zone", "a"}, {"disk", "ssd"}, {"old", ""}})));
  EXPECT_TRUE(Admits(role, NodeWith({{"zone", "a"}, {"cores", "65"}})));
  EXPECT_FALSE(Admits(role, NodeWith({{"zone", "a"}, {"cores", "64"}})));
  EXPECT_FALSE(Admits(role, NodeWith({{"zone", "a"}, {"disk", "hdd"}})));
  EXPECT_TRUE(Admits(role, NodeWith({{"zone", "a"}, {"disk", "hdd"}}, "m")));
}

TEST_F(TranslateTest, EmptyTermsHoldForNoNode) {
  api::Pod pod;
  pod.has_required_node_affinity = true;
  EXPECT_FALSE(Admits(RoleOf(pod), NodeWith({})));
  pod.required_node_affinity = {{}};
  EXPECT_FALSE(Admits(RoleOf(pod), NodeWith({})));
  pod.required_node_affinity.push_back(
      {.match_expressions = {{"zone", "In", {"a"}}}});
  EXPECT_TRUE(Admits(RoleOf(pod), NodeWith({{"zone", "a"}})));
  EXPECT_FALSE(Admits(RoleOf(pod), NodeWith({})));
}

TEST_F(TranslateTest, PreferencesKeepTheirWeightsAndEmptyOnesGo) {
  api::Pod pod;
  pod.preferred_node_affinity = {
      {7, {.match_expressions = {{"zone", "In", {"a", "b"}}}}},
      {9, {}},
      {100, {.match_fields = {{"metadata.name", "In", {"n"}}}}}};
  const Role role = RoleOf(pod);
  EXPECT_THAT(
      role.preferences,
      ElementsAre(
          Preference{7, {{{"zone", SelectorOp::kIn, {"a", "b"}}}}},
          Preference{100, {{{kNodeNameLabel, SelectorOp::kIn, {"n"}}}}}));
}

TEST_F(TranslateTest, TolerationsAndTheirSeconds) {
  api::Pod pod;
  pod.tolerations = {
      {"k", "", "v", "NoSchedule", std::nullopt},
      {"k", "Exists", "", "", 300},
      {"", "Exists", "", "NoExecute", -7},
      {"k", "Equal", "v", "NoExecute", std::numeric_limits<int64_t>::max()}};
  const Role role = RoleOf(pod);
  EXPECT_THAT(
      role.tolerations,
      ElementsAre(
          Toleration{
              "k", TolerationOp::kEqual, "v", {TaintEffect::kNoSchedule}, -1},
          Toleration{"k", TolerationOp::kExists, "", {}, 300},
          Toleration{
              "", TolerationOp::kExists, "", {TaintEffect::kNoExecute}, 0},
          Toleration{"k",
                     TolerationOp::kEqual,
                     "v",
                     {TaintEffect::kNoExecute},
                     (int64_t{1} << 31) - 1}));
}

TEST_F(TranslateTest, ThingsThatDecideNothingAreTaken) {
  api::Pod pod;
  pod.volumes = {
      {"a", "configMap", ""}, {"b", "emptyDir", ""}, {"c", "hostPath", ""}};
  EXPECT_TRUE(ToRole(pod, kinds_).ok());
}

TEST_F(TranslateTest, WhatIsNotUnderstoodIsRefusedByName) {
  const auto refused = [&](auto edit, const std::string& text) {
    api::Pod pod;
    edit(&pod);
    ExpectError(pod, absl::StatusCode::kUnimplemented, text);
  };
  refused([](auto* p) { p->not_understood = {"spec.resourceClaims"}; },
          "spec.resourceClaims is not supported");
  refused([](auto* p) { p->host_ports = {"TCP/0.0.0.0/80"}; }, "hostPort");
  refused(
      [](auto* p) {
        p->has_required_node_affinity = true;
        p->required_node_affinity = {
            {.match_fields = {{"metadata.uid", "In", {"u"}}}}};
      },
      "metadata.uid");
}

TEST_F(TranslateTest, ValuesThatAreNoneAreRefusedByField) {
  const auto refused = [&](auto edit, const std::string& text) {
    api::Pod pod;
    edit(&pod);
    ExpectError(pod, absl::StatusCode::kInvalidArgument, text);
  };
  refused([](auto* p) { p->tolerations.emplace_back().op = "Like"; },
          "spec.tolerations: operator");
  refused([](auto* p) { p->tolerations.emplace_back().effect = "No"; },
          "spec.tolerations: effect");
  for (const bool field : {true, false}) {
    refused(
        [&](auto* p) {
          p->has_required_node_affinity = true;
          auto& term = p->required_node_affinity.emplace_back();
          auto& list = field ? term.match_fields : term.match_expressions;
          auto& requirement = list.emplace_back();
          requirement.key = "metadata.name";
          requirement.op = "Near";
        },
        "operator");
  }
  refused(
      [](auto* p) {
        p->preferred_node_affinity = {
            {1, {.match_expressions = {{"k", "Near", {}}}}}};
      },
      "operator");
}

TEST_F(TranslateTest, LikePodsAreEqualRoles) {
  api::Pod pod;
  pod.requests = {{"cpu", 1'000}};
  const Role before = RoleOf(pod);
  kinds_.Learn({{"a/new-kind", 1}});
  pod.meta.name = "another";
  EXPECT_EQ(RoleOf(pod), before);
}

// --- Label selectors ---------------------------------------------------------

TEST(LabelSelectorTest, EveryRequirementHolds) {
  const api::StringMap labels = {{"app", "web"}, {"tier", "1"}};
  const auto selects = [&](api::LabelSelector selector) {
    return Selects(selector, labels);
  };
  EXPECT_TRUE(selects({}));
  EXPECT_TRUE(selects({.match_labels = {{"app", "web"}}}));
  EXPECT_FALSE(selects({.match_labels = {{"app", "db"}}}));
  EXPECT_FALSE(selects({.match_labels = {{"other", "web"}}}));
  EXPECT_TRUE(selects({.match_labels = {{"app", "web"}},
                       .match_expressions = {{"tier", "In", {"1", "2"}}}}));
  EXPECT_FALSE(selects({.match_labels = {{"app", "web"}},
                        .match_expressions = {{"tier", "NotIn", {"1"}}}}));
  EXPECT_TRUE(selects({.match_expressions = {{"none", "NotIn", {"1"}},
                                             {"none", "DoesNotExist", {}},
                                             {"app", "Exists", {}}}}));
  EXPECT_FALSE(selects({.match_expressions = {{"app", "DoesNotExist", {}}}}));
  EXPECT_FALSE(selects({.match_expressions = {{"app", "Like", {"w"}}}}));
}

}  // namespace
}  // namespace muster::kubernetes
