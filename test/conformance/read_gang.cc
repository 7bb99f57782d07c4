#include <utility>

#include "test/conformance/scenario_reader.h"

namespace muster::conformance {
namespace {

void ReadSlice(JsonFields& f, SliceSpec* slice) {
  f.Read("required", &slice->required);
  f.Read("size", &slice->size);
}

void ReadTopologyRequest(JsonFields& f, TopologyRequestSpec* topology) {
  f.Read("topology", &topology->topology);
  f.Read("required", &topology->required);
  f.Read("preferred", &topology->preferred);
  f.Read("unconstrained", &topology->unconstrained);
  f.Read("colocateGroup", &topology->colocate_group);
  f.Object("slice", [&](JsonFields& s) {
    ReadSlice(s, &topology->slices.emplace_back());
  });
  f.Each("slices", [&](JsonFields& s) {
    ReadSlice(s, &topology->slices.emplace_back());
  });
}

void ReadTree(JsonFields& f, TreeSpec* tree) {
  f.Read("name", &tree->name);
  f.Read("minMember", &tree->min_member);
  f.Read("minChildren", &tree->min_children);
  f.Object("topology",
           [&](JsonFields& t) { ReadTopologyRequest(t, &tree->topology); });
  f.Each("children",
         [&](JsonFields& c) { ReadTree(c, &tree->children.emplace_back()); });
}

void ReadSubgroupPolicy(JsonFields& f, SubgroupPolicySpec* policy) {
  f.Read("name", &policy->name);
  f.Require("matchLabelKeys", &policy->match_label_keys);
  f.Read("size", &policy->size);
  f.Read("minSubgroups", &policy->min_subgroups);
  f.Object("topology",
           [&](JsonFields& t) { ReadTopologyRequest(t, &policy->topology); });
}

// Node affinity only; what it says of other pods stays unread.
void ReadAffinity(JsonFields& f, PodSpec* pod) {
  f.Object("nodeAffinity", [&](JsonFields& node) {
    node.Object("requiredDuringSchedulingIgnoredDuringExecution",
                [&](JsonFields& required) {
                  required.Each("nodeSelectorTerms", [&](JsonFields& term) {
                    ReadRequirements(term, "matchExpressions",
                                     &pod->affinity_any.emplace_back().all_of);
                  });
                });
    node.Each("preferredDuringSchedulingIgnoredDuringExecution",
              [&](JsonFields& preferred) {
                Preference& p = pod->preferences.emplace_back();
                int64_t weight = 1;
                preferred.Read("weight", &weight);
                p.weight = static_cast<int32_t>(weight);
                preferred.Object("preference", [&](JsonFields& term) {
                  ReadRequirements(term, "matchExpressions", &p.term.all_of);
                });
              });
  });
}

void ReadSelectors(JsonFields& f, PodSpec* pod) {
  StringMap equal;
  f.Read("nodeSelector", &equal);
  pod->selector = translate::ToRequirements(equal);
  std::map<std::string, std::vector<std::string>> in;
  f.Read("nodeSelectorIn", &in);
  for (const auto& [key, values] : in) {
    pod->selector.push_back({key, SelectorOp::kIn, values});
  }
  f.Object("affinity", [&](JsonFields& a) { ReadAffinity(a, pod); });
  ReadTolerations(f, &pod->tolerations);
}

void ReadPod(JsonFields& f, PodSpec* pod) {
  f.Require("name", &pod->name);
  f.Read("group", &pod->group);
  f.Read("count", &pod->count);
  f.Read("minCount", &pod->min_count);
  f.Read("requests", &pod->requests);
  f.Object("gpuShare", [&](JsonFields& s) {
    GpuShareSpec& share = pod->gpu_share.emplace();
    s.Read("fraction", &share.fraction);
    s.Read("memoryMiB", &share.memory_mib);
    s.Read("devices", &share.devices);
  });
  f.Read("mig", &pod->mig);
  f.Read("state", &pod->state);
  f.Read("node", &pod->node);
  f.Read("gpuDevices", &pod->gpu_devices);
  f.Read("order", &pod->order);
  f.Read("priority", &pod->priority);
  f.Read("preemptible", &pod->preemptible);
  f.Read("preemptionPolicy", &pod->preemption_policy);
  f.Read("labels", &pod->labels);
  ReadSelectors(f, pod);
  f.Read("deviceClaims", &pod->device_claims);
  f.Object("topology",
           [&](JsonFields& t) { ReadTopologyRequest(t, &pod->topology); });
  f.Read("flavors", &pod->flavors);
  for (const auto& [name, assignment] :
       {std::pair("assignment", &pod->assignment),
        std::pair("currentAssignment", &pod->current_assignment),
        std::pair("previousAssignment", &pod->previous_assignment)}) {
    if (const Json* v = f.Raw(name)) {
      *assignment = ReadAssignment(*v, f.Path(name), f.log());
    }
  }
  f.Read("admittedCount", &pod->admitted_count);
  // totalUsage = count x requests; the class's value stands beside its name.
  f.Ignore({"totalUsage", "priorityClass", "createdAt"});
}

}  // namespace

void ReadGang(JsonFields& f, GangSpec* gang) {
  f.Require("name", &gang->name);
  f.Read("queue", &gang->queue);
  f.Read("priority", &gang->priority);
  f.Read("priorityClass", &gang->priority_class);
  f.Read("preemptible", &gang->preemptible);
  f.Read("order", &gang->order);
  f.Read("createdAt", &gang->created_at);
  f.Read("admittedAt", &gang->admitted_at);
  gang->has_min_member = f.Has("minMember");
  f.Read("minMember", &gang->min_member);
  f.Read("roleMinMember", &gang->role_min_member);
  f.Object("tree", [&](JsonFields& t) { ReadTree(t, &gang->tree.emplace()); });
  f.Object("topology",
           [&](JsonFields& t) { ReadTopologyRequest(t, &gang->topology); });
  f.Each("subgroupPolicies", [&](JsonFields& s) {
    ReadSubgroupPolicy(s, &gang->subgroup_policies.emplace_back());
  });
  f.Each("pods",
         [&](JsonFields& p) { ReadPod(p, &gang->pods.emplace_back()); });
  f.Read("state", &gang->state);
  f.Read("active", &gang->active);
  f.Read("evictedPodsStayTerminating", &gang->evicted_pods_stay_terminating);
  f.Read("phase", &gang->phase);
  ReadIfNeutral(f, "staleForSeconds");
  ReadIfNeutral(f, "stalenessGraceSeconds");
  ReadIfNeutral(f, "preemptionDelaySeconds");
  f.Read("unhealthyNodes", &gang->unhealthy_nodes);
  ReadIfNeutral(f, "reclaimablePods");
  ReadIfNeutral(f, "admissionChecks");
  ReadIfNeutral(f, "requeueState");
  // Names and marks of the peer, or told by other fields (a best-effort gang
  // asks for nothing; a gang's domain is where its pods run).
  f.Ignore({"localQueue", "uid", "bestEffort", "allocatedDomain",
            "evictedReason", "labels", "ownerKinds"});
}

}  // namespace muster::conformance
