// A conformance scenario as its file says it: plain values, nothing decided.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adapters/translate/selectors.h"
#include "adapters/translate/topologies.h"
#include "muster/selector.h"

namespace muster::conformance {

using Amounts = std::map<std::string, double>;
using StringMap = translate::LabelMap;

// --- The cluster -------------------------------------------------------------

struct NodeSpec {
  std::string name{};
  StringMap labels{};
  Amounts capacity{};
  int64_t gpu_memory_mib = 0;
  std::vector<Taint> taints{};
  bool unschedulable = false;
  bool ready = true;
};

using DomainSpec = translate::DomainSpec;
using TopologySpec = translate::TopologySpec;

struct FlavorSpec {
  std::string name{};
  StringMap node_labels{};
  std::vector<Taint> taints{};
  std::vector<Toleration> tolerations{};
  std::string topology{};
};

struct ForeignPodSpec {
  std::string name{};
  std::string node{};
  std::string phase{};
  Amounts requests{};
};

struct DomainUsageSpec {
  std::vector<std::string> domain{};
  Amounts per_pod{};
  int64_t count = 0;
  std::string by{};
};

struct DeviceSliceSpec {
  std::string name{};
  std::string device_class{};
  std::string node{};
  int64_t count = 0;
};

struct DeviceClaimSpec {
  std::string name{};
  std::string device_class{};
  double count = 0;  // Of any size: suites try what overflows.
  bool allocated = false;
};

struct ClusterSpec {
  std::vector<NodeSpec> nodes{};
  std::vector<TopologySpec> topologies{};
  std::vector<FlavorSpec> flavors{};
  StringMap node_filter{};
  std::map<std::string, StringMap> namespaces{};
  std::vector<ForeignPodSpec> foreign_pods{};
  std::vector<DomainUsageSpec> domain_usage{};
  std::vector<DeviceSliceSpec> device_slices{};
  std::vector<DeviceClaimSpec> device_claims{};
};

// --- Tenants -----------------------------------------------------------------

struct PriorityClassSpec {
  std::string name{};
  int64_t value = 0;
  std::string preemption_policy{};
};

struct QuotaSpec {
  std::string resource{};
  std::string flavor{};
  int64_t group = 0;
  int64_t flavor_order = 0;
  std::optional<double> quota{}, limit{}, guarantee{}, weight{};
  std::optional<double> borrow_limit{}, lend_limit{};
};

struct PreemptionSpec {
  std::string within_queue{};
  std::string reclaim{};
  std::string borrow_policy{};
  std::optional<int64_t> borrow_threshold{};
};

struct QueueSpec {
  std::string name{};
  std::string kind = "queue";
  std::string parent{};
  int64_t order = 0;
  int64_t priority = 0;
  std::optional<double> weight{};
  std::vector<QuotaSpec> quotas{};
  bool reclaimable = true;
  std::string state{};
  PreemptionSpec preemption{};
  std::string ordering{};
  std::vector<Requirement> namespace_selector{};
  std::string when_can_borrow{}, when_can_preempt{}, flavor_preference{};
};

// --- Gangs -------------------------------------------------------------------

using SliceSpec = translate::SliceSpec;

struct TopologyRequestSpec : translate::TopologyRequest {
  bool unconstrained = false;
  std::string colocate_group{};
};

struct DomainCountSpec {
  std::vector<std::string> values{};
  int64_t count = 0;
  friend auto operator<=>(const DomainCountSpec&,
                          const DomainCountSpec&) = default;
};

struct AssignmentSpec {
  std::vector<std::string> levels{};
  std::vector<DomainCountSpec> domains{};
};

struct GpuShareSpec {
  std::optional<double> fraction{};
  std::optional<int64_t> memory_mib{};
  int64_t devices = 1;
};

// `count` identical pods (one, unless it is a pod set).
struct PodSpec {
  std::string name{};
  std::string group{};
  int64_t count = 1;
  std::optional<int64_t> min_count{};
  Amounts requests{};
  std::optional<GpuShareSpec> gpu_share{};
  std::map<std::string, int64_t> mig{};
  std::string state = "pending";
  std::string node{};
  std::vector<std::string> gpu_devices{};
  int64_t order = 0;
  std::optional<int64_t> priority{};
  std::optional<bool> preemptible{};
  std::string preemption_policy{};
  StringMap labels{};
  std::vector<Requirement> selector{};       // All of nodeSelector, ...In.
  std::vector<SelectorTerm> affinity_any{};  // Required node affinity.
  std::vector<Preference> preferences{};
  std::vector<Toleration> tolerations{};
  std::vector<std::string> device_claims{};
  TopologyRequestSpec topology{};
  StringMap flavors{};  // resource -> flavor, when running.
  std::optional<AssignmentSpec> assignment{};
  // Of pods that run and of which some are to be placed again; of pods that
  // ran when the gang had another size.
  std::optional<AssignmentSpec> current_assignment{}, previous_assignment{};
  std::optional<int64_t> admitted_count{};  // Of a gang that runs.
};

struct TreeSpec {
  std::string name{};
  int64_t min_member = 0;
  std::optional<int64_t> min_children{};
  TopologyRequestSpec topology{};
  std::vector<TreeSpec> children{};
};

struct SubgroupPolicySpec {
  std::string name{};
  std::vector<std::string> match_label_keys{};
  int64_t size = 1;
  int64_t min_subgroups = 0;
  TopologyRequestSpec topology{};
};

struct GangSpec {
  std::string name{};
  std::string queue{};
  int64_t priority = 0;
  std::string priority_class{};
  bool preemptible = true;
  int64_t order = 0;
  std::string created_at{};
  std::string admitted_at{};
  int64_t min_member = 0;
  bool has_min_member = false;
  std::map<std::string, int64_t> role_min_member{};
  std::optional<TreeSpec> tree{};
  TopologyRequestSpec topology{};
  std::vector<SubgroupPolicySpec> subgroup_policies{};
  std::vector<PodSpec> pods{};
  std::string state{};
  std::string phase{};
  bool active = true;
  bool evicted_pods_stay_terminating = false;
  std::vector<std::string> unhealthy_nodes{};  // Its pods there are lost.
};

// --- Questions and answers ---------------------------------------------------

struct NeedSpec {
  std::string pod_set{};
  std::string resource{};
  std::string flavor{};
  std::string mode{};
};

struct UsageSpec {
  std::string queue{};
  std::string flavor{};
  std::string resource{};
  double used = 0;
};

struct PodExpectation {
  std::string state{};
  std::string node{};  // Empty: not asserted.
};

struct NodeExpectation {
  std::optional<double> idle_gpus{}, releasing_gpus{};
};

struct PodSetExpectation {
  std::string name{};
  std::optional<int64_t> count{};
  StringMap flavors{};
  std::optional<AssignmentSpec> assignment{};
};

struct AdmittedExpectation {
  std::string queue{};
  std::vector<PodSetExpectation> pod_sets{};
};

struct FlavorExpectation {
  std::string pod_set{}, resource{}, flavor{}, mode{};
  int64_t borrow = 0;
};

struct Expectation {
  std::map<std::string, PodExpectation> pods{};
  bool placed_exact = false;
  std::optional<int64_t> placed_count{};
  std::optional<std::vector<int64_t>> placed_per_domain_counts{};
  bool evicted_exact = false;
  std::map<std::string, std::vector<std::string>> nominated_gangs{};
  std::vector<std::vector<std::string>> interchangeable{};
  std::map<std::string, NodeExpectation> nodes{};
  std::map<std::string, AssignmentSpec> assignments{};
  StringMap infeasible{};
  std::map<std::string, std::map<std::string, int64_t>> domain_counts{};
  StringMap victims{};
  bool victims_exact = false;
  std::map<std::string, AdmittedExpectation> admitted{};
  std::vector<std::string> still_running{}, still_queued{}, inadmissible{};
  std::string mode{};
  std::vector<FlavorExpectation> flavors{};
};

struct Scenario {
  std::string file{};
  std::string id{};
  std::string project{};
  std::string kind{};
  std::string grade{};
  std::vector<std::string> actions{};
  int64_t until_match = 1;
  int64_t stable_after = 0;
  ClusterSpec cluster{};
  std::vector<PriorityClassSpec> priority_classes{};
  std::vector<QueueSpec> queues{};
  std::vector<GangSpec> gangs{};
  std::string preemptor{};
  std::vector<NeedSpec> needs{};
  std::vector<UsageSpec> usages{};
  Expectation expect{};
  // The peer was configured to spread tasks over nodes; its default is to fill
  // nodes up.
  bool spreads = false;
  // What the file says and this structure has no place for: fields the format
  // does not define, and fields nothing in the library answers to.
  std::vector<std::string> beyond{};
};

}  // namespace muster::conformance
