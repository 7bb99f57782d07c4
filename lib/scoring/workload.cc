#include "lib/scoring/workload.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include "lib/cluster/device_choice.h"
#include "lib/cluster/needs.h"
#include "lib/cluster/selector.h"

namespace muster::scoring {
namespace {

// More kinds of nodes are forgotten and made anew.
constexpr size_t kMaxKinds = 64;
constexpr int kRatioBits = 40;

int64_t FreeOf(const FreeAmounts& state, ResourceKind kind) {
  return kind < state.free.size() ? state.free[kind] : 0;
}

}  // namespace

Workload::Workload(const PlacementOptions& options) : supply_(options.supply) {
  for (const TypicalTask& typical : options.workload) AddTask(typical);
  AddRatios();
  offers_.resize(needs_.size());
}

void Workload::AddTask(const TypicalTask& typical) {
  const TaskShape& shape = typical.shape;
  const int64_t weight =
      std::clamp<int64_t>(typical.weight, 1, TypicalTask::kMaxWeight);
  Task& task = tasks_.emplace_back();
  task.weight = weight;
  task.count = shape.devices.count;
  if (task.count > 0) task.need = FindNeed(shape.devices);
  task.selector = shape.selector;
  for (const SelectorTerm& term : shape.selector.any_of) {
    for (const Requirement& r : term.all_of) {
      if (std::ranges::find(label_keys_, r.key) == label_keys_.end()) {
        label_keys_.push_back(r.key);
      }
    }
  }
  for (ResourceKind k = 0; k < shape.resources.size(); ++k) {
    if (shape.resources[k] <= 0) continue;
    if (task.lead.amount == 0) {
      task.lead = {k, shape.resources[k]};
    } else {
      task.others.push_back({k, shape.resources[k]});
    }
  }
  total_weight_ += weight;
}

uint32_t Workload::FindNeed(const DeviceRequest& request) {
  Need need{request.milli, 0, request.models};
  if (request.memory_bytes > 0)
    need = {0, request.memory_bytes, request.models};
  std::ranges::sort(need.models);
  const auto found = std::ranges::find(needs_, need) - needs_.begin();
  if (found == std::ssize(needs_)) needs_.push_back(std::move(need));
  return static_cast<uint32_t>(found);
}

// What share of a device a piece of memory is differs from device to device:
// such tasks are left out.
int64_t Workload::Demand(const Task& task) const {
  return task.count == 0 ? 0
                         : task.weight * task.count * needs_[task.need].milli;
}

void Workload::AddRatios() {
  __int128 devices = 0;
  std::vector<__int128> sums;
  for (const Task& task : tasks_) {
    const int64_t demand = Demand(task);
    if (demand == 0) continue;
    devices += demand;
    const auto add = [&](const Amount& a) {
      if (a.kind >= sums.size()) sums.resize(a.kind + 1, 0);
      sums[a.kind] += static_cast<__int128>(task.weight) * a.amount;
    };
    add(task.lead);
    std::ranges::for_each(task.others, add);
  }
  for (ResourceKind k = 0; k < sums.size(); ++k) {
    if (sums[k] == 0) continue;
    // Beyond 2^62 a node is never short of the kind.
    const __int128 ratio = std::min<__int128>((devices << kRatioBits) / sums[k],
                                              __int128{1} << 62);
    ratios_.push_back({k, static_cast<uint64_t>(ratio)});
  }
}

const NodeKind& Workload::KindOf(const Cluster& cluster, NodeIndex node) {
  if (node >= kind_of_.size()) kind_of_.resize(cluster.node_limit(), 0);
  const Node& described = cluster.node(node);
  uint32_t& kind = kind_of_[node];
  if (kind < kinds_.size() && Matches(kinds_[kind], described)) {
    return kinds_[kind];
  }
  for (kind = 0; kind < kinds_.size(); ++kind) {
    if (Matches(kinds_[kind], described)) return kinds_[kind];
  }
  if (kinds_.size() == kMaxKinds) kinds_.clear();
  kind = static_cast<uint32_t>(kinds_.size());
  kinds_.push_back(MakeKind(described));
  kinds_.back().serial = ++last_serial_;
  return kinds_.back();
}

bool Workload::Matches(const NodeKind& kind, const Node& node) const {
  return kind.devices == node.devices &&
         std::ranges::all_of(label_keys_, [&](const std::string& key) {
           return AgreeIn(key, kind.labels, node.labels);
         });
}

NodeKind Workload::MakeKind(const Node& node) const {
  NodeKind kind;
  kind.devices = node.devices;
  for (const std::string& key : label_keys_) {
    const std::string* value = FindLabel(node.labels, key);
    if (value != nullptr) kind.labels.push_back({key, *value});
  }
  for (const Need& need : needs_) {
    DeviceSet& usable = kind.usable.emplace_back();
    for (uint32_t d = 0; d < node.devices.size(); ++d) {
      const Device& device = node.devices[d];
      if (need.memory > 0 && device.memory_bytes <= 0) continue;
      if (need.models.empty() ||
          std::ranges::binary_search(need.models, device.model)) {
        usable.Insert(d);
      }
    }
  }
  AddTasks(node, &kind);
  kind.wanted = WantedShare(kind);
  return kind;
}

void Workload::AddTasks(const Node& node, NodeKind* kind) const {
  for (uint32_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    if (task.count == 0 || !Holds(task.selector, node.labels) ||
        kind->usable[task.need].size() < task.count) {
      continue;
    }
    kind->tasks.push_back(t);
    kind->weight += task.weight;
  }
  const auto key = [&](uint32_t t) {
    const Task& task = tasks_[t];
    return std::tuple(task.need, task.lead.kind, task.lead.amount, t);
  };
  std::ranges::sort(kind->tasks, {}, key);
  for (uint32_t i = 0; i < kind->tasks.size(); ++i) {
    const Task& task = tasks_[kind->tasks[i]];
    if (i == 0 || kind->groups.back().need != task.need ||
        kind->groups.back().kind != task.lead.kind) {
      kind->groups.push_back({task.need, task.lead.kind, i, i});
    }
    kind->groups.back().last = i + 1;
  }
}

int64_t Workload::Supply(const std::vector<std::string>& models) const {
  int64_t devices = 0;
  for (const ModelSupply& s : supply_) {
    if (models.empty() || std::ranges::binary_search(models, s.model)) {
      devices += s.devices;
    }
  }
  return devices;
}

// Demand for each device of a task's models, over that for each device at all:
// what share of these devices is taken by such tasks when all are taken. A
// quarter more is kept, for demand fluctuates.
uint64_t Workload::WantedShare(const NodeKind& kind) const {
  constexpr uint64_t kAll = uint64_t{1} << 32;
  const int64_t all_devices = Supply({});
  __int128 all_demand = 0;
  for (const Task& task : tasks_) all_demand += Demand(task);
  if (all_devices == 0 || all_demand == 0) return 0;
  __int128 share = 0;
  for (const uint32_t t : kind.tasks) {
    const Need& need = needs_[tasks_[t].need];
    if (need.models.empty()) continue;
    const int64_t devices = Supply(need.models);
    if (devices == 0) return kAll;
    const __int128 demand = __int128{Demand(tasks_[t])} * kAll;
    share += demand / devices * all_devices / all_demand;
  }
  return static_cast<uint64_t>(std::min<__int128>(share * 5 / 4, kAll));
}

int64_t Workload::Useful(const FreeAmounts& state, const NodeKind& kind) {
  for (size_t n = 0; n < needs_.size(); ++n) {
    const Need& need = needs_[n];
    Offer offer;
    for (const uint32_t d : kind.usable[n]) {
      const int64_t total = kind.devices[d].memory_bytes;
      const int32_t least =
          need.memory > 0 ? MilliOf(need.memory, total) : need.milli;
      if (state.milli[d] < std::max(1, least)) continue;
      if (need.memory > 0 && state.memory[d] < need.memory) continue;
      ++offer.devices;
      offer.milli += state.milli[d];
    }
    offers_[n] = offer;
  }
  const auto has_free = [&](const Amount& a) {
    return a.amount <= FreeOf(state, a.kind);
  };
  int64_t useful = 0;
  for (const NodeKind::Group& group : kind.groups) {
    const Offer& offer = offers_[group.need];
    if (offer.devices == 0) continue;
    const int64_t free = FreeOf(state, group.kind);
    for (uint32_t i = group.first; i < group.last; ++i) {
      const Task& task = tasks_[kind.tasks[i]];
      if (task.lead.amount > free) break;
      if (task.count <= offer.devices &&
          std::ranges::all_of(task.others, has_free)) {
        useful += task.weight * offer.milli;
      }
    }
  }
  return useful;
}

int64_t Workload::Supplied(const FreeAmounts& state) const {
  constexpr int64_t kPlenty = int64_t{1} << 32;
  int64_t least = kPlenty;
  for (const Ratio& r : ratios_) {
    const int64_t free = FreeOf(state, r.kind);
    if (free <= 0) return 0;
    const __int128 milli = static_cast<__int128>(free) * r.milli >> kRatioBits;
    least = static_cast<int64_t>(std::min<__int128>(least, milli));
  }
  return least;
}

}  // namespace muster::scoring

namespace muster {

std::vector<ModelSupply> SupplyOf(std::span<const Node> nodes) {
  std::map<std::string_view, int64_t> devices;
  for (const Node& node : nodes) {
    for (const Device& d : node.devices) ++devices[d.model];
  }
  std::vector<ModelSupply> supply;
  for (const auto& [model, count] : devices) {
    supply.push_back({std::string(model), count});
  }
  return supply;
}

}  // namespace muster
