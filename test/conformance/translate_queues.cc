#include "test/conformance/translate_queues.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "adapters/translate/priorities.h"
#include "adapters/translate/quotas.h"
#include "test/conformance/flavors.h"

namespace muster::conformance {
namespace {

absl::Status Unsupported(const std::string& why) {
  return absl::UnimplementedError(why);
}

// The weight a queue has among its siblings; per-resource weights count by
// their GPU weight, for which the suites use them.
double WeightOf(const QueueSpec& queue) {
  if (queue.weight) return *queue.weight;
  double weight = 1;
  for (const QuotaSpec& quota : queue.quotas) {
    if (!quota.weight) continue;
    weight = *quota.weight;
    if (quota.resource == "gpu") break;
  }
  return weight;
}

// "lower-priority" is LowerPriority.
std::string CamelCase(const std::string& words) {
  std::string name;
  bool begins = true;
  for (const char c : words) {
    if (c != '-') name += begins ? absl::ascii_toupper(c) : c;
    begins = c == '-';
  }
  return name;
}

absl::StatusOr<PreemptionPolicy> PolicyOf(const PreemptionSpec& spec) {
  translate::ClusterQueuePreemption preemption{
      .within_cluster_queue = CamelCase(spec.within_queue),
      .reclaim_within_cohort = CamelCase(spec.reclaim),
      .borrow_within_cohort = CamelCase(spec.borrow_policy)};
  if (spec.borrow_threshold) {
    preemption.max_priority_threshold =
        static_cast<int32_t>(*spec.borrow_threshold);
  }
  return translate::ToPreemptionPolicy(preemption);
}

// Its quotas. Of what its gangs hold, and of what is asked about its preemptor,
// it has one, if only of nothing: no queue admits what it has no quota of.
std::vector<QuotaSpec> QuotasOf(const Scenario& s, const QueueSpec& spec) {
  std::vector<QuotaSpec> quotas = spec.quotas;
  const auto add = [&](const std::string& resource, const std::string& flavor) {
    for (const QuotaSpec& q : quotas) {
      if (q.resource == resource && q.flavor == flavor) return;
    }
    QuotaSpec quota;
    quota.resource = resource;
    quota.flavor = flavor;
    quota.quota = 0;
    quotas.push_back(quota);
  };
  for (const GangSpec& gang : s.gangs) {
    if (gang.queue != spec.name) continue;
    for (const PodSpec& pod : gang.pods) {
      for (const auto& [resource, flavor] : pod.flavors) add(resource, flavor);
    }
    if (gang.name != s.preemptor) continue;
    for (const NeedSpec& need : s.needs) add(need.resource, need.flavor);
  }
  return quotas;
}

// What a subtree's queues may always have together, of one kind.
double NominalSum(const Scenario& s, const std::string& queue,
                  const std::string& resource, const std::string& flavor) {
  double sum = 0;
  for (const QueueSpec& q : s.queues) {
    if (q.name == queue) {
      for (const QuotaSpec& quota : q.quotas) {
        if (quota.resource == resource && quota.flavor == flavor) {
          sum += quota.quota.value_or(0);
        }
      }
    } else if (q.parent == queue) {
      sum += NominalSum(s, q.name, resource, flavor);
    }
  }
  return sum;
}

class QueueTranslator {
 public:
  QueueTranslator(const Scenario& s, const Kinds& kinds,
                  const std::vector<std::string>& names)
      : s_(s), kinds_(kinds), names_(names) {}

  absl::Status Translate(const QueueSpec& spec, Queue* queue) const {
    queue->key = spec.name;
    queue->parent = spec.parent;
    queue->band = static_cast<int32_t>(spec.priority);
    if (!spec.reclaimable)
      return Unsupported("a queue nothing is reclaimed of");
    if (auto status = Weigh(spec, queue); !status.ok()) return status;
    queue->ordering = spec.ordering == "strict-fifo"
                          ? QueueOrdering::kStrictFifo
                          : QueueOrdering::kBestEffortFifo;
    if (IsQueueSystem(s_)) {
      auto policy = PolicyOf(spec.preemption);
      if (!policy.ok()) return policy.status();
      queue->preemption = *policy;
      spec.kind == "group" ? AddGroupQuotas(spec, queue)
                           : AddNominalQuotas(spec, queue);
    } else {
      AddPlainQuotas(spec, queue);
    }
    return Close(spec, queue);
  }

 private:
  // Weights of siblings as integers in their proportion.
  absl::Status Weigh(const QueueSpec& spec, Queue* queue) const {
    bool whole = true;
    bool zero = false;
    int siblings = 0;
    for (const QueueSpec& other : s_.queues) {
      if (other.parent != spec.parent) continue;
      ++siblings;
      const double weight = WeightOf(other);
      whole &= weight == std::floor(weight);
      zero |= weight <= 0;
    }
    if (siblings == 1) return absl::OkStatus();
    if (zero) return Unsupported("a queue of weight 0");
    queue->weight = static_cast<uint32_t>(
        std::llround(std::max(1.0, WeightOf(spec) * (whole ? 1 : 1000))));
    return absl::OkStatus();
  }

  absl::Status Close(const QueueSpec& spec, Queue* queue) const {
    if (spec.state.empty() || spec.state == "open") return absl::OkStatus();
    const bool held = spec.state == "hold" || spec.state == "held";
    const bool closed = spec.state == "closed" || spec.state == "closing";
    if (!held && !closed) return Unsupported("queue state " + spec.state);
    queue->held = true;
    queue->closed = closed;
    return absl::OkStatus();
  }

  int64_t Bounded(ResourceKind kind, double amount) const {
    return std::clamp<int64_t>(kinds_.There(kind, amount), 0,
                               Resources::kMaxQuantity);
  }

  std::optional<int64_t> Bounded(ResourceKind kind,
                                 std::optional<double> amount) const {
    if (!amount) return std::nullopt;
    return Bounded(kind, *amount);
  }

  // A share and a limit each. KAI: no share said means all of it.
  void AddPlainQuotas(const QueueSpec& spec, Queue* queue) const {
    const bool all_if_unset = s_.project != "Volcano";
    for (const QuotaSpec& from : spec.quotas) {
      const ResourceKind kind = kinds_.QuotaKind(from);
      queue->quotas.push_back(translate::ToQuota(
          names_[kind],
          translate::ShareQuota{.share = Bounded(kind, from.quota),
                                .limit = Bounded(kind, from.limit),
                                .kept = Bounded(kind, from.guarantee)},
          all_if_unset));
    }
  }

  // Nominal quota per flavour; what a queue has no quota of it does not get at
  // all.
  void AddNominalQuotas(const QueueSpec& spec, Queue* queue) const {
    std::set<ResourceKind> said;
    for (const QuotaSpec& from : QuotasOf(s_, spec)) {
      const ResourceKind kind = kinds_.QuotaKind(from);
      said.insert(kind);
      queue->quotas.push_back(translate::ToQuota(
          names_[kind],
          translate::NominalQuota{
              .nominal = Bounded(kind, from.quota.value_or(0)),
              .borrowing_limit = Bounded(kind, from.borrow_limit),
              .lending_limit = Bounded(kind, from.lend_limit)},
          !spec.parent.empty()));
    }
    for (ResourceKind kind = 0; kind < names_.size(); ++kind) {
      if (names_[kind].find('@') == std::string::npos) continue;
      if (said.contains(kind)) continue;
      queue->quotas.push_back({.resource = names_[kind], .limit = 0});
    }
  }

  // A group may use what its members have together, and its own; inside
  // another group it may borrow.
  void AddGroupQuotas(const QueueSpec& spec, Queue* queue) const {
    std::set<std::pair<std::string, std::string>> all;
    for (const QueueSpec& q : s_.queues) {
      for (const QuotaSpec& quota : q.quotas) {
        all.emplace(quota.resource, quota.flavor);
      }
    }
    for (const auto& [resource, flavor] : all) {
      QuotaSpec of;
      of.resource = resource;
      of.flavor = flavor;
      const ResourceKind kind = kinds_.QuotaKind(of);
      translate::NominalQuota quota{
          .nominal =
              Bounded(kind, NominalSum(s_, spec.name, resource, flavor))};
      for (const QuotaSpec& own : spec.quotas) {
        if (own.resource != resource || own.flavor != flavor) continue;
        quota.borrowing_limit = Bounded(kind, own.borrow_limit);
        quota.lending_limit = Bounded(kind, own.lend_limit);
      }
      queue->quotas.push_back(
          translate::ToQuota(names_[kind], quota, !spec.parent.empty()));
    }
  }

  const Scenario& s_;
  const Kinds& kinds_;
  const std::vector<std::string>& names_;
};

// --- Priorities --------------------------------------------------------------

absl::StatusOr<bool> MayPreemptByClass(const Scenario& s,
                                       const GangSpec& gang) {
  std::string of_class;
  for (const PriorityClassSpec& c : s.priority_classes) {
    if (c.name == gang.priority_class) of_class = c.preemption_policy;
  }
  std::vector<std::string> of_pods;
  for (const PodSpec& pod : gang.pods) of_pods.push_back(pod.preemption_policy);
  return translate::MayPreempt(of_class, of_pods);
}

}  // namespace

const QueueSpec* FindQueue(const Scenario& s, const std::string& name) {
  for (const QueueSpec& queue : s.queues) {
    if (queue.name == name) return &queue;
  }
  return nullptr;
}

std::string RootOf(const Scenario& s, const std::string& name) {
  const QueueSpec* queue = FindQueue(s, name);
  for (size_t i = 0; queue != nullptr && i < s.queues.size(); ++i) {
    const QueueSpec* parent = FindQueue(s, queue->parent);
    if (parent == nullptr) return queue->name;
    queue = parent;
  }
  return name;
}

absl::Status TranslateQueues(const Scenario& s, const Kinds& kinds,
                             Translation* translation) {
  const QueueTranslator translator(s, kinds, translation->config.resources);
  std::set<std::string> done{""};
  while (done.size() <= s.queues.size()) {
    const size_t before = done.size();
    for (const QueueSpec& spec : s.queues) {
      if (done.contains(spec.name) || !done.contains(spec.parent)) continue;
      done.insert(spec.name);
      Queue queue;
      if (auto status = translator.Translate(spec, &queue); !status.ok()) {
        return status;
      }
      if (queue.held || queue.closed) {
        translation->closed_queues.push_back(queue);
        queue.held = queue.closed = false;
      }
      translation->queues.push_back(queue);
    }
    if (done.size() == before) {
      return Unsupported("a queue whose parent is not there, or its own heir");
    }
  }
  return absl::OkStatus();
}

absl::Status TranslatePriorities(const Scenario& s, Translation* translation) {
  std::map<std::string, PriorityClass> classes;
  for (size_t g = 0; g < s.gangs.size(); ++g) {
    const GangSpec& gang = s.gangs[g];
    // What lost its pods waits again.
    const bool waits = gang.state == "pending" || !gang.unhealthy_nodes.empty();
    const bool tries =
        waits && !translation->gangs[g].gang.held && s.kind != "flavors";
    auto may = IsQueueSystem(s) && tries
                   ? absl::StatusOr<bool>(FindQueue(s, gang.queue) != nullptr)
                   : MayPreemptByClass(s, gang);
    if (!may.ok()) return may.status();
    auto priority_class = translate::ToPriorityClass(gang.priority, *may);
    if (!priority_class.ok()) return priority_class.status();
    const std::string key = priority_class->key;
    translation->gangs[g].gang.priority_class = key;
    classes[key] = *std::move(priority_class);
  }
  for (const auto& [key, c] : classes) translation->classes.push_back(c);
  return absl::OkStatus();
}

}  // namespace muster::conformance
