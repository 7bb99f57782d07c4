#include "test/adapters/kubernetes_api/pod_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "absl/time/time.h"

namespace muster::kubernetes::api {
namespace {

using Json = nlohmann::json;

const Json& At(const Json& json, std::initializer_list<const char*> path) {
  static const Json kNone;
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return kNone;
    at = &(*at)[key];
  }
  return *at;
}

std::string Str(const Json& json, const char* key) {
  return json.is_object() ? json.value(key, "") : "";
}

UnixMillis Time(const std::string& text) {
  absl::Time time;
  absl::ParseTime(absl::RFC3339_full, text, &time, nullptr);
  return absl::ToUnixMillis(time);
}

std::optional<UnixMillis> OptionalTime(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return std::nullopt;
  return Time(json[key]);
}

StringMap Map(const Json& json) {
  return json.is_object() ? json.get<StringMap>() : StringMap{};
}

// Long doubles are exact for the amounts in RandomPod.
int64_t Milli(const std::string& text) {
  size_t length = 0;
  long double value = std::stold(text, &length) * 1000;
  const std::string suffix = text.substr(length);
  if (suffix == "m") value /= 1000;
  if (suffix == "u") value /= 1000000;
  if (suffix == "k") value *= 1000;
  const std::string binary = "KMGTPE";
  if (suffix.size() == 2) {
    value *= powl(1024, static_cast<int>(binary.find(suffix[0])) + 1);
  }
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (value >= static_cast<long double>(kMax)) return kMax;
  // What is a whole number in decimal need not be one here.
  return static_cast<int64_t>(ceill(value - 1e-9L));
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

// One resource of a list; none counts as 0.
int64_t In(const Json& list, const std::string& resource) {
  return list.is_object() && list.contains(resource) ? Milli(list[resource])
                                                     : 0;
}

bool Infeasible(const Json& pod) {
  for (const Json& condition : At(pod, {"status", "conditions"})) {
    if (Str(condition, "type") == "PodResizePending") {
      return Str(condition, "reason") == "Infeasible";
    }
  }
  return false;
}

const Json& StatusOf(const Json& pod, const std::string& container) {
  static const Json kNone;
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    for (const Json& status : At(pod, {"status", list})) {
      if (Str(status, "name") == container) return status;
    }
  }
  return kNone;
}

// What a container needs by the spec (0), by what was allocated (1), by what is
// in force (2).
int64_t Needs(const Json& pod, const Json& container,
              const std::string& resource, int by) {
  const Json& spec = At(container, {"resources", "requests"});
  if (by == 0) return In(spec, resource);
  const Json& status = StatusOf(pod, Str(container, "name"));
  const Json& actual = At(status, {"resources", "requests"});
  const Json& allocated = At(status, {"allocatedResources"});
  if (by == 2 && actual.is_object()) return In(actual, resource);
  if (allocated.is_object()) return In(allocated, resource);
  return Infeasible(pod) ? 0 : In(spec, resource);
}

int64_t Containers(const Json& pod, const std::string& resource, int by) {
  int64_t running = 0, sidecars = 0, most = 0;
  for (const Json& container : At(pod, {"spec", "containers"})) {
    running = Plus(running, Needs(pod, container, resource, by));
  }
  for (const Json& container : At(pod, {"spec", "initContainers"})) {
    const int64_t needs = Needs(pod, container, resource, by);
    most = std::max(most, Plus(sidecars, needs));
    if (Str(container, "restartPolicy") == "Always") {
      sidecars = Plus(sidecars, needs);
    }
  }
  return std::max(most, Plus(running, sidecars));
}

// Every name that is in a list of requests anywhere.
std::set<std::string> Resources(const Json& pod) {
  std::set<std::string> names;
  const auto add = [&](const Json& list) {
    if (!list.is_object()) return;
    for (const auto& [name, amount] : list.items()) names.insert(name);
  };
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : At(pod, {"spec", list})) {
      add(At(container, {"resources", "requests"}));
    }
  }
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    for (const Json& status : At(pod, {"status", list})) {
      add(At(status, {"resources", "requests"}));
      add(At(status, {"allocatedResources"}));
    }
  }
  add(At(pod, {"spec", "resources", "requests"}));
  add(At(pod, {"spec", "overhead"}));
  add(At(pod, {"status", "allocatedResources"}));
  add(At(pod, {"status", "resources", "requests"}));
  return names;
}

int64_t Request(const Json& pod, const std::string& resource) {
  const Json& pod_spec = At(pod, {"spec", "resources", "requests"});
  const Json& allocated = At(pod, {"status", "allocatedResources"});
  const Json& actual = At(pod, {"status", "resources", "requests"});
  const bool both = allocated.is_object() && actual.is_object();
  int64_t needs = 0;
  for (int by = Infeasible(pod) ? 1 : 0; by < 3; ++by) {
    int64_t total = Containers(pod, resource, by);
    if (both && by == 1 && allocated.contains(resource)) {
      total = In(allocated, resource);
    }
    if (both && by == 2 && actual.contains(resource)) {
      total = In(actual, resource);
    }
    needs = std::max(needs, total);
  }
  const auto pod_level = [](const std::string& name) {
    return name == "cpu" || name == "memory" ||
           name.rfind("hugepages-", 0) == 0;
  };
  bool sets_pod_level = false;
  if (pod_spec.is_object()) {
    for (const auto& [name, amount] : pod_spec.items()) {
      sets_pod_level |= pod_level(name);
    }
  }
  if (sets_pod_level && pod_level(resource)) {
    bool named = pod_spec.contains(resource);
    int64_t level = In(pod_spec, resource);
    if (actual.is_object()) {
      named = actual.contains(resource) ||
              (allocated.is_object() && allocated.contains(resource)) ||
              (named && !Infeasible(pod));
      if (Infeasible(pod)) level = 0;
      level = std::max({level, In(actual, resource), In(allocated, resource)});
    }
    if (named) needs = level;
  }
  return Plus(needs, In(At(pod, {"spec", "overhead"}), resource));
}

std::vector<SelectorRequirement> Requirements(const Json& list) {
  std::vector<SelectorRequirement> out;
  for (const Json& r : list) {
    out.push_back({Str(r, "key"), Str(r, "operator"),
                   r.value("values", std::vector<std::string>{})});
  }
  return out;
}

NodeSelectorTerm Term(const Json& term) {
  return {Requirements(At(term, {"matchExpressions"})),
          Requirements(At(term, {"matchFields"}))};
}

ObjectMeta Meta(const Json& json) {
  ObjectMeta meta{.name = Str(json, "name"),
                  .namespace_name = Str(json, "namespace"),
                  .uid = Str(json, "uid"),
                  .resource_version = Str(json, "resourceVersion"),
                  .creation = Time(json["creationTimestamp"]),
                  .deletion = OptionalTime(json, "deletionTimestamp"),
                  .labels = Map(At(json, {"labels"})),
                  .annotations = Map(At(json, {"annotations"}))};
  for (const Json& owner : At(json, {"ownerReferences"})) {
    meta.owners.push_back({Str(owner, "apiVersion"), Str(owner, "kind"),
                           Str(owner, "name"), Str(owner, "uid"),
                           owner["controller"]});
  }
  return meta;
}

void SetPlaces(const Json& spec, Pod* pod) {
  pod->node_selector = Map(At(spec, {"nodeSelector"}));
  const Json& node = At(spec, {"affinity", "nodeAffinity"});
  const Json& required =
      At(node, {"requiredDuringSchedulingIgnoredDuringExecution"});
  pod->has_required_node_affinity = !required.is_null();
  for (const Json& term : At(required, {"nodeSelectorTerms"})) {
    pod->required_node_affinity.push_back(Term(term));
  }
  for (const Json& term :
       At(node, {"preferredDuringSchedulingIgnoredDuringExecution"})) {
    pod->preferred_node_affinity.push_back(
        {term["weight"], Term(term["preference"])});
  }
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const char* field = "requiredDuringSchedulingIgnoredDuringExecution";
    const Json& terms = At(spec, {"affinity", kind, field});
    if (!terms.is_null() && !terms.empty()) {
      pod->not_understood.push_back(std::string("spec.affinity.") + kind + "." +
                                    field);
    }
  }
  if (spec.contains("resourceClaims")) {
    pod->not_understood.push_back("spec.resourceClaims");
  }
  for (const Json& t : At(spec, {"tolerations"})) {
    Toleration& toleration = pod->tolerations.emplace_back();
    toleration.key = Str(t, "key");
    toleration.op = Str(t, "operator");
    if (t.contains("tolerationSeconds")) {
      toleration.seconds = t["tolerationSeconds"];
    }
  }
}

void SetSpread(const Json& spec, Pod* pod) {
  for (const Json& s : At(spec, {"topologySpreadConstraints"})) {
    SpreadConstraint& spread = pod->spread.emplace_back();
    spread.max_skew = s["maxSkew"];
    spread.topology_key = Str(s, "topologyKey");
    spread.when_unsatisfiable = Str(s, "whenUnsatisfiable");
    spread.node_taints_policy = Str(s, "nodeTaintsPolicy");
    if (s.contains("minDomains")) spread.min_domains = s["minDomains"];
    if (s.contains("matchLabelKeys")) {
      spread.match_label_keys = s["matchLabelKeys"];
    }
    if (s.contains("labelSelector")) {
      spread.selector =
          LabelSelector{Map(s["labelSelector"]["matchLabels"]),
                        Requirements(s["labelSelector"]["matchExpressions"])};
    }
  }
}

void SetPorts(const Json& spec, Pod* pod) {
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : At(spec, {list})) {
      const bool runs = std::string(list) == "containers" ||
                        Str(container, "restartPolicy") == "Always";
      for (const Json& port : At(container, {"ports"})) {
        if (!runs || !port.contains("hostPort")) continue;
        const std::string ip = Str(port, "hostIP");
        pod->host_ports.push_back(port.value("protocol", "TCP") + "/" +
                                  (ip.empty() ? "0.0.0.0" : ip) + "/" +
                                  port["hostPort"].dump());
      }
    }
  }
}

void SetStatus(const Json& status, Pod* pod) {
  pod->phase = Str(status, "phase");
  pod->nominated_node_name = Str(status, "nominatedNodeName");
  pod->start_time = OptionalTime(status, "startTime");
  for (const Json& condition : At(status, {"conditions"})) {
    const std::string type = Str(condition, "type");
    if (type == "Ready") pod->ready = Str(condition, "status") == "True";
    if (type == "PodScheduled" || type == "DisruptionTarget") {
      pod->conditions[type] =
          Str(condition, "status") + "/" + Str(condition, "reason");
    }
  }
}

}  // namespace

ResourceList OracleRequests(const Json& pod) {
  ResourceList list;
  for (const std::string& resource : Resources(pod)) {
    if (const int64_t needs = Request(pod, resource); needs > 0) {
      list[resource] = needs;
    }
  }
  return list;
}

Pod OraclePod(const Json& json) {
  const Json& spec = json["spec"];
  Pod pod;
  pod.meta = Meta(json["metadata"]);
  pod.scheduler_name = Str(spec, "schedulerName");
  pod.node_name = Str(spec, "nodeName");
  pod.requests = OracleRequests(json);
  SetPlaces(spec, &pod);
  SetSpread(spec, &pod);
  SetPorts(spec, &pod);
  pod.priority_class_name = Str(spec, "priorityClassName");
  if (spec.contains("priority")) pod.priority = spec["priority"];
  pod.preemption_policy = Str(spec, "preemptionPolicy");
  for (const Json& gate : At(spec, {"schedulingGates"})) {
    pod.scheduling_gates.push_back(gate["name"]);
  }
  pod.pod_group_name = Str(At(spec, {"schedulingGroup"}), "podGroupName");
  for (const Json& volume : At(spec, {"volumes"})) {
    PodVolume& out = pod.volumes.emplace_back();
    for (const auto& [key, value] : volume.items()) {
      if (key == "name") {
        out.name = value;
      } else {
        out.type = key;
        out.claim = Str(value, "claimName");
      }
    }
  }
  if (spec.contains("terminationGracePeriodSeconds")) {
    pod.termination_grace_seconds = spec["terminationGracePeriodSeconds"];
  }
  SetStatus(At(json, {"status"}), &pod);
  return pod;
}

}  // namespace muster::kubernetes::api
