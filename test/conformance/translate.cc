#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "adapters/translate/selectors.h"
#include "adapters/translate/topologies.h"
#include "test/conformance/flavors.h"
#include "test/conformance/gang_translator.h"
#include "test/conformance/kinds.h"
#include "test/conformance/places.h"
#include "test/conformance/role_maker.h"
#include "test/conformance/translate_nodes.h"
#include "test/conformance/translate_queues.h"
#include "test/conformance/translation.h"

namespace muster::conformance {
namespace {

// The one queue of a scenario that has none.
constexpr char kOnlyQueue[] = "queue";
constexpr int64_t kMostPods = 100'000;

bool Contains(const std::vector<std::string>& list, const char* what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

// Whether the passes may make room for one gang at the expense of another.
bool Preempts(const Scenario& s) {
  if (s.kind == "placement" || s.kind == "flavors") return false;
  if (IsQueueSystem(s)) return true;
  return Contains(s.actions, "preempt") || Contains(s.actions, "reclaim");
}

// The gang that would be looked at first of each queue: the highest priority,
// then the oldest.
std::set<size_t> HeadsOfQueues(const Scenario& s,
                               const std::vector<bool>& out_of_turn) {
  std::map<std::string, size_t> heads;
  for (size_t g = 0; g < s.gangs.size(); ++g) {
    const GangSpec& gang = s.gangs[g];
    if (gang.state != "pending" || out_of_turn[g]) continue;
    const auto [it, fresh] = heads.try_emplace(gang.queue, g);
    const GangSpec& head = s.gangs[it->second];
    if (std::tie(head.priority, gang.order) <
        std::tie(gang.priority, head.order)) {
      it->second = g;
    }
  }
  std::set<size_t> result;
  for (const auto& [queue, g] : heads) result.insert(g);
  return result;
}

// A queue may take the gangs of some namespaces only; a gang's namespace is
// the first part of its name.
bool NamespaceFits(const Scenario& s, const GangSpec& gang) {
  const QueueSpec* queue = FindQueue(s, gang.queue);
  if (queue == nullptr || queue->namespace_selector.empty()) return true;
  const auto it =
      s.cluster.namespaces.find(gang.name.substr(0, gang.name.find('/')));
  const StringMap labels =
      it == s.cluster.namespaces.end() ? StringMap{} : it->second;
  return std::all_of(
      queue->namespace_selector.begin(), queue->namespace_selector.end(),
      [&](const Requirement& r) { return translate::Matches(r, labels); });
}

// Gangs that are there and are not to be looked at in this pass.
void HoldGangs(const Scenario& s, Translation* t) {
  std::vector<bool> held(s.gangs.size(), false);
  for (size_t g = 0; g < s.gangs.size(); ++g) {
    const GangSpec& gang = s.gangs[g];
    held[g] = !gang.active || !NamespaceFits(s, gang) ||
              (gang.phase == "pending" && !Contains(s.actions, "enqueue"));
    if (s.kind == "victims") {
      held[g] =
          held[g] || (gang.state == "pending" && gang.name != s.preemptor);
    }
  }
  if (s.kind == "admission-cycle") {
    const std::set<size_t> heads = HeadsOfQueues(s, held);
    for (size_t g = 0; g < s.gangs.size(); ++g) {
      if (held[g] || s.gangs[g].state != "pending") continue;
      t->gangs[g].has_turn = heads.contains(g);
      held[g] = !t->gangs[g].has_turn;
    }
  }
  for (size_t g = 0; g < held.size(); ++g) t->gangs[g].gang.held = held[g];
}

// A second of age for each place in the order of creation.
void SetAges(const Scenario& s, Translation* t) {
  const bool told = std::any_of(
      s.gangs.begin(), s.gangs.end(),
      [](const GangSpec& gang) { return !gang.created_at.empty(); });
  std::set<std::pair<std::string, int64_t>> order;
  const auto key = [&](const GangSpec& gang) {
    // A gang without a time was created at the moment of the pass.
    const std::string at = gang.created_at.empty() ? "~" : gang.created_at;
    return std::pair(told ? at : "", gang.order);
  };
  for (const GangSpec& gang : s.gangs) order.insert(key(gang));
  for (size_t g = 0; g < s.gangs.size(); ++g) {
    const auto place = order.find(key(s.gangs[g]));
    t->gangs[g].gang.submitted =
        (1 + std::distance(order.begin(), place)) * kSecond;
  }
}

template <class T>
absl::Status CheckNames(const char* what, const std::vector<T>& list) {
  std::set<std::string> names;
  for (const T& item : list) {
    if (!names.insert(item.name).second) {
      return absl::UnimplementedError(std::string("two ") + what + " named " +
                                      item.name);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const Scenario& s) {
  absl::Status status = CheckNames("nodes", s.cluster.nodes);
  status.Update(CheckNames("topologies", s.cluster.topologies));
  status.Update(CheckNames("flavours", s.cluster.flavors));
  status.Update(CheckNames("queues", s.queues));
  status.Update(CheckNames("gangs", s.gangs));
  for (const GangSpec& gang : s.gangs) {
    status.Update(CheckNames("pods", gang.pods));
  }
  return status;
}

absl::Status CheckKnown(const Scenario& s) {
  if (!s.beyond.empty()) {
    return absl::UnimplementedError(s.beyond.front() +
                                    ": nothing answers to it");
  }
  const std::set<std::string> kinds{"cycle",   "converge",        "placement",
                                    "victims", "admission-cycle", "flavors"};
  if (!kinds.contains(s.kind)) {
    return absl::UnimplementedError("kind " + s.kind);
  }
  const std::set<std::string> grades{"generic-exact", "generic-relaxed",
                                     "policy"};
  if (!grades.contains(s.grade)) {
    return absl::UnimplementedError("grade " + s.grade);
  }
  for (const GangSpec& gang : s.gangs) {
    if (auto status = CheckPlaces(gang); !status.ok()) return status;
    for (const PodSpec& pod : gang.pods) {
      if (pod.count < 0 || pod.count > kMostPods) {
        return absl::UnimplementedError("a pod set of " +
                                        std::to_string(pod.count));
      }
    }
  }
  for (const QueueSpec& queue : s.queues) {
    const bool usual = (queue.when_can_borrow.empty() ||
                        queue.when_can_borrow == "MayStopSearch") &&
                       (queue.when_can_preempt.empty() ||
                        queue.when_can_preempt == "TryNextFlavor") &&
                       queue.flavor_preference.empty();
    std::set<std::string> flavors;
    for (const QuotaSpec& quota : queue.quotas) flavors.insert(quota.flavor);
    if (!usual && flavors.size() > 1) {
      return absl::UnimplementedError("another order of trying flavours");
    }
  }
  return absl::OkStatus();
}

// The order between queues that the project has: of Kueue its classical one, of
// KAI by what is used of the share, of Volcano the queue's priority and share.
std::vector<QueueOrderKey> OrderOf(const std::string& project) {
  using enum QueueOrderKey;
  if (project == "Kueue") return {kWithin, kPriority, kAge};
  if (project == "Volcano") return {kBand, kShare, kPriority, kAge};
  return {kBand, kWithin, kShare, kPriority, kAge};  // KAI-Scheduler.
}

absl::StatusOr<Translation> TranslateParts(const Scenario& s) {
  Translation t;
  const Kinds kinds(s);
  const Flavors flavors(s);
  std::vector<std::string> nodes;
  for (const NodeSpec& node : s.cluster.nodes) nodes.push_back(node.name);
  auto topologies = translate::Topologies::Create(s.cluster.topologies, nodes);
  if (!topologies.ok()) return topologies.status();
  kinds.WriteTo(&t.config);
  t.config.topologies = topologies->topologies();
  t.config.preemption = Preempts(s);
  t.config.queue_order = OrderOf(s.project);
  if (s.spreads) t.config.placement.policy = PlacementPolicy::kLeastAllocated;
  // Kueue stops and starts a workload as a whole.
  t.config.host.shrink = !IsQueueSystem(s);
  if (auto status = TranslateQueues(s, kinds, &t); !status.ok()) return status;
  if (s.queues.empty()) t.queues.push_back({.key = kOnlyQueue});
  const RoleMaker roles(s, kinds, flavors, *topologies);
  t.gangs.resize(s.gangs.size());
  for (size_t g = 0; g < s.gangs.size(); ++g) {
    GangTranslator translator(s, g, roles, *topologies, &t.gangs[g], &t.units);
    if (auto status = translator.Translate(); !status.ok()) return status;
    if (s.queues.empty()) t.gangs[g].gang.queue = kOnlyQueue;
    if (FindQueue(s, s.gangs[g].queue) == nullptr && !s.queues.empty()) {
      t.gangs[g].refusable = "its queue is not there";
    }
  }
  SetAges(s, &t);
  HoldGangs(s, &t);
  if (auto status = TranslatePriorities(s, &t); !status.ok()) return status;
  auto status = TranslateNodes(s, kinds, flavors, *topologies, &t);
  if (!status.ok()) return status;
  return t;
}

}  // namespace

bool HasPodSets(const Scenario& s) {
  return s.kind != "cycle" && s.kind != "converge";
}

bool IsQueueSystem(const Scenario& s) {
  return s.kind == "victims" || s.kind == "admission-cycle" ||
         s.kind == "flavors";
}

Scenario WithUsageAsGangs(Scenario s) {
  std::map<std::string, GangSpec> by_queue;
  for (const UsageSpec& usage : s.usages) {
    GangSpec& gang = by_queue[usage.queue];
    gang.name = "(usage of " + usage.queue + ")";
    gang.queue = usage.queue;
    gang.state = "running";
    PodSpec& pod = gang.pods.emplace_back();
    pod.name = usage.resource + "@" + usage.flavor;
    pod.requests[usage.resource] = usage.used;
    pod.flavors[usage.resource] = usage.flavor;
  }
  for (auto& [queue, gang] : by_queue) s.gangs.push_back(gang);
  s.usages.clear();
  return s;
}

absl::StatusOr<Translation> Translate(const Scenario& scenario) {
  if (auto status = CheckKnown(scenario); !status.ok()) return status;
  if (auto status = CheckNames(scenario); !status.ok()) return status;
  return TranslateParts(scenario);
}

}  // namespace muster::conformance
