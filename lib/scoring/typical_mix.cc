#include "lib/scoring/typical_mix.h"

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

// With more node profiles than this, all are forgotten and made anew.
constexpr size_t kMaxProfiles = 64;
constexpr int kRatioBits = 40;

int64_t FreeOf(const FreeAmounts& free_amounts, ResourceKind kind) {
  return kind < free_amounts.free.size() ? free_amounts.free[kind] : 0;
}

}  // namespace

TypicalMix::TypicalMix(const PlacementOptions& options)
    : supply_(options.supply) {
  for (const TypicalTask& typical : options.typical_tasks) AddTask(typical);
  AddRatios();
  offers_.resize(needs_.size());
}

void TypicalMix::AddTask(const TypicalTask& typical) {
  const TaskShape& shape = typical.shape;
  const int64_t weight =
      std::clamp<int64_t>(typical.weight, 1, TypicalTask::kMaxWeight);
  MixTask& task = tasks_.emplace_back();
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

uint32_t TypicalMix::FindNeed(const DeviceRequest& request) {
  DeviceNeed need{request.milli, request.memory_bytes, request.models};
  std::ranges::sort(need.models);
  const auto found = std::ranges::find(needs_, need) - needs_.begin();
  if (found == std::ssize(needs_)) needs_.push_back(std::move(need));
  return static_cast<uint32_t>(found);
}

// What share of a device an amount of its memory is differs from device to
// device: such tasks are left out.
int64_t TypicalMix::Demand(const MixTask& task) const {
  return task.count == 0 ? 0
                         : task.weight * task.count * needs_[task.need].milli;
}

void TypicalMix::AddRatios() {
  __int128 devices = 0;
  std::vector<__int128> sums;
  for (const MixTask& task : tasks_) {
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

const NodeProfile& TypicalMix::ProfileOf(const Cluster& cluster,
                                         NodeIndex node) {
  if (node >= profile_of_.size()) profile_of_.resize(cluster.node_limit(), 0);
  const Node& described = cluster.node(node);
  uint32_t& profile = profile_of_[node];
  if (profile < profiles_.size() && Describes(profiles_[profile], described)) {
    return profiles_[profile];
  }
  for (profile = 0; profile < profiles_.size(); ++profile) {
    if (Describes(profiles_[profile], described)) return profiles_[profile];
  }
  if (profiles_.size() == kMaxProfiles) profiles_.clear();
  profile = static_cast<uint32_t>(profiles_.size());
  profiles_.push_back(MakeProfile(described));
  profiles_.back().serial = ++last_serial_;
  return profiles_.back();
}

bool TypicalMix::Describes(const NodeProfile& profile, const Node& node) const {
  return profile.devices == node.devices &&
         std::ranges::all_of(label_keys_, [&](const std::string& key) {
           return AgreeIn(key, profile.labels, node.labels);
         });
}

NodeProfile TypicalMix::MakeProfile(const Node& node) const {
  NodeProfile profile;
  profile.devices = node.devices;
  for (const std::string& key : label_keys_) {
    const std::string* value = FindLabel(node.labels, key);
    if (value != nullptr) profile.labels.push_back({key, *value});
  }
  for (const DeviceNeed& need : needs_) {
    DeviceSet& usable = profile.usable.emplace_back();
    for (uint32_t d = 0; d < node.devices.size(); ++d) {
      const Device& device = node.devices[d];
      if (need.memory > 0 && device.memory_bytes <= 0) continue;
      if (need.models.empty() ||
          std::ranges::binary_search(need.models, device.model)) {
        usable.Insert(d);
      }
    }
  }
  AddTasks(node, &profile);
  profile.wanted = WantedShare(profile);
  return profile;
}

void TypicalMix::AddTasks(const Node& node, NodeProfile* profile) const {
  for (uint32_t t = 0; t < tasks_.size(); ++t) {
    const MixTask& task = tasks_[t];
    if (task.count == 0 || !Matches(task.selector, node.labels) ||
        profile->usable[task.need].size() < task.count) {
      continue;
    }
    profile->tasks.push_back(t);
    profile->weight += task.weight;
  }
  const auto key = [&](uint32_t t) {
    const MixTask& task = tasks_[t];
    return std::tuple(task.need, task.lead.kind, task.lead.amount, t);
  };
  std::ranges::sort(profile->tasks, {}, key);
  for (uint32_t i = 0; i < profile->tasks.size(); ++i) {
    const MixTask& task = tasks_[profile->tasks[i]];
    if (i == 0 || profile->groups.back().need != task.need ||
        profile->groups.back().kind != task.lead.kind) {
      profile->groups.push_back({task.need, task.lead.kind, i, i});
    }
    profile->groups.back().last = i + 1;
  }
}

int64_t TypicalMix::Supply(const std::vector<std::string>& models) const {
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
uint64_t TypicalMix::WantedShare(const NodeProfile& profile) const {
  constexpr uint64_t kAll = uint64_t{1} << 32;
  const int64_t all_devices = Supply({});
  __int128 all_demand = 0;
  for (const MixTask& task : tasks_) all_demand += Demand(task);
  if (all_devices == 0 || all_demand == 0) return 0;
  __int128 share = 0;
  for (const uint32_t t : profile.tasks) {
    const DeviceNeed& need = needs_[tasks_[t].need];
    if (need.models.empty()) continue;
    const int64_t devices = Supply(need.models);
    if (devices == 0) return kAll;
    const __int128 demand = __int128{Demand(tasks_[t])} * kAll;
    share += demand / devices * all_devices / all_demand;
  }
  return static_cast<uint64_t>(std::min<__int128>(share * 5 / 4, kAll));
}

int64_t TypicalMix::Useful(const FreeAmounts& free_amounts,
                           const NodeProfile& profile) {
  for (size_t n = 0; n < needs_.size(); ++n) {
    const DeviceNeed& need = needs_[n];
    DeviceOffer offer;
    for (const uint32_t d : profile.usable[n]) {
      const int64_t total = profile.devices[d].memory_bytes;
      const int32_t least =
          need.milli > 0 ? need.milli : MilliOf(need.memory, total);
      if (free_amounts.milli[d] < std::max(1, least)) continue;
      if (need.memory > 0 && free_amounts.memory[d] < need.memory) continue;
      ++offer.devices;
      offer.milli += free_amounts.milli[d];
    }
    offers_[n] = offer;
  }
  const auto has_free = [&](const Amount& a) {
    return a.amount <= FreeOf(free_amounts, a.kind);
  };
  int64_t useful = 0;
  for (const NodeProfile::TaskGroup& group : profile.groups) {
    const DeviceOffer& offer = offers_[group.need];
    if (offer.devices == 0) continue;
    const int64_t free = FreeOf(free_amounts, group.kind);
    for (uint32_t i = group.first; i < group.last; ++i) {
      const MixTask& task = tasks_[profile.tasks[i]];
      if (task.lead.amount > free) break;
      if (task.count <= offer.devices &&
          std::ranges::all_of(task.others, has_free)) {
        useful += task.weight * offer.milli;
      }
    }
  }
  return useful;
}

int64_t TypicalMix::Supplied(const FreeAmounts& free_amounts) const {
  constexpr int64_t kPlenty = int64_t{1} << 32;
  int64_t least = kPlenty;
  for (const SupplyRatio& r : ratios_) {
    const int64_t free = FreeOf(free_amounts, r.kind);
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
