#include "lib/solver/exact_search.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace muster::solver {
namespace {

// Whether as much is free of the two devices.
bool SameUse(const Cluster& cluster, Ledger ledger, NodeIndex a, uint32_t d,
             NodeIndex b, uint32_t e) {
  return cluster.free_milli(a, d, ledger) == cluster.free_milli(b, e, ledger) &&
         cluster.free_memory(a, d, ledger) ==
             cluster.free_memory(b, e, ledger) &&
         cluster.busy_slices(a, d, ledger) == cluster.busy_slices(b, e, ledger);
}

}  // namespace

// Roles by how few slots there are for each of their tasks.
void ExactSearch::OrderTasks() {
  tasks_.clear();
  moves_.clear();
  for (const uint32_t r : problem_->Active()) {
    const uint64_t slots =
        placement_->table().Sum(problem_->column(r), domain_);
    moves_.push_back(
        {static_cast<int64_t>(slots * 1024 / problem_->add(r)), r});
  }
  std::ranges::sort(moves_);
  for (const Move& m : moves_) {
    for (const uint32_t i : problem_->NewIndices(m.node)) {
      tasks_.push_back({m.node, i});
    }
  }
  moves_.clear();
}

void ExactSearch::FindNodes() {
  nodes_.clear();
  placement_->table().ForEachNodeOfAny(domain_, [&](NodeIndex n) {
    for (uint32_t c = 0; c < need_.size(); ++c) {
      if (need_[c] == 0 || placement_->table().slots(c, n) == 0) continue;
      nodes_.push_back(n);
      break;
    }
  });
}

// Whether exchanging the two nodes changes nothing for the gang.
bool ExactSearch::Alike(NodeIndex a, NodeIndex b) const {
  const Cluster& cluster = placement_->cluster();
  const Ledger ledger = problem_->ledger();
  for (const Tree& tree : problem_->trees()) {
    if (tree.Contains(a) != tree.Contains(b)) return false;
    if (tree.Contains(a) && tree.SharedLevel(a, b) < tree.hosts - 1) {
      return false;
    }
  }
  for (uint32_t c = 0; c < need_.size(); ++c) {
    if (placement_->table().slots(c, a) != placement_->table().slots(c, b)) {
      return false;
    }
  }
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    if (cluster.free(a, k, ledger) != cluster.free(b, k, ledger)) return false;
  }
  const Node& x = cluster.node(a);
  const Node& y = cluster.node(b);
  if (x.devices != y.devices) return false;
  for (uint32_t d = 0; d < x.devices.size(); ++d) {
    if (!SameUse(cluster, ledger, a, d, b, d)) return false;
  }
  return true;
}

// Looks back a few nodes only: alike nodes tend to be neighbours.
void ExactSearch::FindTwins() {
  constexpr uint32_t kLookBack = 8;
  twin_.resize(nodes_.size());
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    twin_[i] = i;
    if (placement_->Touched(nodes_[i])) continue;
    for (uint32_t j = i; j > 0 && i - j < kLookBack; --j) {
      if (placement_->Touched(nodes_[j - 1])) continue;
      if (!Alike(nodes_[i], nodes_[j - 1])) continue;
      twin_[i] = twin_[j - 1];
      break;
    }
  }
  problem_->Charge(nodes_.size(), kLookNs);
  tried_.assign(nodes_.size(), 0);
  visit_ = 0;
}

// Whether it matters which devices a task gets: when tasks of different
// shapes can want the same device and not all take it whole.
bool ExactSearch::NeedsDeviceChoice() const {
  size_t columns = 0;
  bool partial = false;
  for (uint32_t c = 0; c < need_.size(); ++c) {
    if (need_[c] == 0) continue;
    const DeviceRequest& request =
        placement_->cluster().device_request(problem_->columns()[c].shape);
    if (request.count == 0) continue;
    ++columns;
    partial = partial || request.milli != kWholeDevice ||
              request.memory_bytes > 0 || !request.models.empty() ||
              !request.partition.empty();
  }
  return columns > 1 && partial;
}

void ExactSearch::Start(PartialPlacement& placement, const DomainRef& domain,
                        uint64_t deadline) {
  placement_ = &placement;
  problem_ = &placement.problem();
  domain_ = domain;
  deadline_ = deadline;
  out_of_steps_ = false;
  skipped_some_ = false;
  sets_.clear();
  OrderTasks();
  used_.resize(tasks_.size());
  placement.table().FindNeeds(&need_, &kind_need_);
  placement.table().Watch(domain);
  FindNodes();
  FindTwins();
  placement.spreads().Confine(nodes_);
  device_choice_ = NeedsDeviceChoice();
}

bool ExactSearch::MayStillFit() const {
  const SlotTable& table = placement_->table();
  if (!table.HasSlots(need_, domain_)) return false;
  for (size_t k = 0; k < kind_need_.size(); ++k) {
    if (table.watched()[k] < kind_need_[k]) return false;
  }
  return placement_->spreads().MayBeMet();
}

// Tasks of one role that no slice tells apart are placed in node order.
bool ExactSearch::SameAsBefore(size_t depth) const {
  if (depth == 0) return false;
  const TaskId a = tasks_[depth - 1];
  const TaskId b = tasks_[depth];
  if (a.role != b.role) return false;
  for (const SliceRule& slice : problem_->Slices(a.role)) {
    if (a.index / slice.size != b.index / slice.size) return false;
  }
  return true;
}

bool ExactSearch::Leaf(int64_t cost) {
  if (traffic_ == nullptr) return true;
  best_cost_ = cost;
  best_.assign(placement_->placed().begin(), placement_->placed().end());
  return cost == 0;
}

// Places the tasks from `depth` on. True: stop, the placement holds the answer
// or the steps are spent.
bool ExactSearch::Search(size_t depth, int64_t cost) {
  if (depth == tasks_.size()) return Leaf(cost);
  const TaskId task = tasks_[depth];
  const uint32_t from = SameAsBefore(depth) ? used_[depth - 1] : 0;
  const size_t base = moves_.size();
  const uint64_t visit = ++visit_;
  for (uint32_t i = from; i < nodes_.size(); ++i) {
    const NodeIndex node = nodes_[i];
    if (placement_->Slots(task.role, node) == 0) continue;
    if (!placement_->Allowed(task, node)) continue;
    if (!placement_->Touched(node)) {
      if (tried_[twin_[i]] == visit) continue;
      tried_[twin_[i]] = visit;
    }
    int64_t added = 0;
    if (traffic_ != nullptr) {
      added = traffic_->CostOf(*placement_, task.role, node);
      if (cost + added >= best_cost_) continue;
    }
    moves_.push_back({added, i});
  }
  problem_->Spend(nodes_.size() / 8 + 1, kExactNs);
  if (traffic_ != nullptr) std::sort(moves_.begin() + base, moves_.end());
  const size_t last = moves_.size();
  bool stop = false;
  for (size_t m = base; m < last && !stop; ++m) {
    const Move move = moves_[m];
    if (traffic_ != nullptr && cost + move.cost >= best_cost_) break;
    stop = TryNode(depth, move.node, cost + move.cost);
  }
  moves_.resize(base);
  return stop;
}

bool ExactSearch::TryNode(size_t depth, uint32_t node, int64_t cost) {
  if (problem_->steps >= deadline_) {
    out_of_steps_ = true;
    return true;
  }
  used_[depth] = node;
  const ShapeId shape = problem_->shape(tasks_[depth].role);
  const DeviceRequest& request = placement_->cluster().device_request(shape);
  if (!device_choice_ || request.count == 0) {
    return TryHere(depth, nullptr, nodes_[node], cost);
  }
  const size_t base = sets_.size();
  if (request.partition.empty()) {
    FindSets(nodes_[node], shape);
  } else {
    FindPlaces(nodes_[node], shape);
  }
  const size_t last = sets_.size();
  bool stop = false;
  for (size_t m = base; m < last && !stop; ++m) {
    const Allocation at = sets_[m];
    stop = TryHere(depth, &at, nodes_[node], cost);
  }
  sets_.resize(base);
  return stop;
}

bool ExactSearch::TryHere(size_t depth, const Allocation* at, NodeIndex node,
                          int64_t cost) {
  const TaskId task = tasks_[depth];
  const PartialPlacement::Mark mark = placement_->Begin();
  const bool put = at != nullptr ? placement_->PutExactly(task, *at)
                                 : placement_->Put(task, node);
  if (!put) {
    placement_->Rollback(mark);
    return false;
  }
  placement_->table().AddNeed(task.role, -1, need_, kind_need_);
  const bool stop = MayStillFit() && Search(depth + 1, cost);
  placement_->table().AddNeed(task.role, 1, need_, kind_need_);
  if (stop && !out_of_steps_ && traffic_ == nullptr) {
    placement_->Commit(mark);
  } else {
    placement_->Rollback(mark);
  }
  return stop;
}

// Whether exchanging the two devices changes nothing for the gang.
bool ExactSearch::AlikeOn(NodeIndex node, uint32_t a, uint32_t b) const {
  const Cluster& cluster = placement_->cluster();
  const Ledger ledger = problem_->ledger();
  const Device& x = cluster.node(node).devices[a];
  const Device& y = cluster.node(node).devices[b];
  const DeviceSet split = cluster.split_devices(node, ledger);
  return SameUse(cluster, ledger, node, a, node, b) &&
         split.Contains(a) == split.Contains(b) &&
         x.memory_bytes == y.memory_bytes && x.model == y.model &&
         x.partition_scheme == y.partition_scheme &&
         x.partitions == y.partitions;
}

// The sets of devices a task could take, one for each way they differ in
// state.
void ExactSearch::FindSets(NodeIndex node, ShapeId shape) {
  const Cluster& cluster = placement_->cluster();
  const Ledger ledger = problem_->ledger();
  const std::vector<Device>& devices = cluster.node(node).devices;
  const size_t base = sets_.size();
  const DeviceRequest& request = cluster.device_request(shape);
  const uint32_t count = request.count;
  const auto fits = [&](uint32_t d) {
    return cluster.Fits({node, shape, {d}}, ledger) &&
           (request.models.empty() ||
            std::ranges::count(request.models, devices[d].model) > 0);
  };
  DeviceSet usable;
  std::array<DeviceSet, DeviceSet::kCapacity> like;  // By the first of them.
  std::array<uint32_t, DeviceSet::kCapacity> first{};
  for (uint32_t d = 0; d < devices.size(); ++d) {
    if (!fits(d)) continue;
    const auto twin = std::ranges::find_if(
        usable, [&](uint32_t o) { return AlikeOn(node, o, d); });
    first[d] = twin == usable.end() ? d : *twin;
    like[first[d]].Insert(d);
    usable.Insert(d);
  }
  // Depth-first over the devices; one may be left out only if no later one in
  // the same state is taken. Every way leads to a set.
  const auto choose = [&](auto& self, DeviceSet taken, DeviceSet rest) -> void {
    if (taken.size() + rest.size() < count || TooMany(base)) return;
    if (taken.size() < count) {
      const uint32_t d = rest.first();
      self(self, taken | DeviceSet{d}, rest - DeviceSet{d});
      self(self, taken, rest - like[first[d]]);
    } else {
      sets_.push_back({node, shape, taken});
    }
  };
  choose(choose, {}, usable);
  SkipSome(base);
  const auto cost = [&](const Allocation& at) {
    int64_t free = 0;
    for (const uint32_t d : at.devices) {
      free += cluster.free_milli(node, d, ledger);
    }
    return std::tuple(free, at.devices);
  };
  std::ranges::sort(sets_.begin() + base, sets_.end(), {}, cost);
}

// The places a partition could have, devices in the same state looked at once:
// those in use first.
void ExactSearch::FindPlaces(NodeIndex node, ShapeId shape) {
  const Cluster& cluster = placement_->cluster();
  const Ledger ledger = problem_->ledger();
  const size_t base = sets_.size();
  cluster.PartitionPlaces(node, shape, ledger, &sets_);
  DeviceSet seen;
  DeviceSet left_out;
  const auto is_twin = [&](const Allocation& at) {
    if (!at.devices.Intersects(seen | left_out)) {
      const bool twin = std::ranges::any_of(seen, [&](uint32_t s) {
        return AlikeOn(node, s, at.devices.first());
      });
      (twin ? left_out : seen) |= at.devices;
    }
    return at.devices.Intersects(left_out);
  };
  sets_.erase(std::remove_if(sets_.begin() + base, sets_.end(), is_twin),
              sets_.end());
  std::ranges::stable_sort(
      std::span(sets_).subspan(base), {}, [&](const Allocation& at) {
        return cluster.free_milli(node, at.devices.first(), ledger);
      });
  SkipSome(base);
}

// Of the sets from `base` on.
void ExactSearch::SkipSome(size_t base) {
  if (!TooMany(base)) return;
  sets_.resize(base + kMaxSets);
  skipped_some_ = true;
}

SearchOutcome ExactSearch::Find(PartialPlacement& placement,
                                const DomainRef& domain, uint64_t deadline) {
  traffic_ = nullptr;
  Start(placement, domain, deadline);
  const bool stop = MayStillFit() && Search(0, 0);
  if (stop && !out_of_steps_) return SearchOutcome::kFound;
  return stop || skipped_some_ ? SearchOutcome::kCutShort
                               : SearchOutcome::kNone;
}

bool ExactSearch::Improve(PartialPlacement& placement,
                          PartialPlacement::Mark* mark, const DomainRef& domain,
                          const Traffic& traffic, uint64_t deadline) {
  best_cost_ = traffic.Total(placement);
  if (best_cost_ == 0) return true;
  best_.assign(placement.placed().begin(), placement.placed().end());
  placement.Rollback(*mark);
  traffic_ = &traffic;
  Start(placement, domain, deadline);
  Search(0, 0);
  *mark = placement.Begin();
  for (const Assignment& a : best_) placement.PutExactly(a.task, a.at);
  return !out_of_steps_ && !skipped_some_;
}

}  // namespace muster::solver
