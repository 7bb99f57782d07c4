#include "lib/solver/fabric_placer.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "lib/base/fraction.h"
#include "lib/base/step_cost.h"
#include "lib/index/capacity_table.h"
#include "lib/solver/reasons.h"

namespace muster::solver {

FabricPlacer::FabricPlacer(const scoring::NodePolicy& policy,
                           index::PlacementIndex& index,
                           std::span<const FabricTopology> fabrics)
    : policy_(policy), index_(index), reason_(index) {
  for (const FabricTopology& f : fabrics) {
    Known& known = fabrics_.emplace_back();
    known.key = f.key;
    absl::StatusOr<Fabric> fabric = Fabric::FromText(f.text);
    if (fabric.ok()) known.fabric.push_back(*std::move(fabric));
  }
}

const TopologyConstraint* FabricPlacer::ConstraintOf(const Gang& gang) {
  if (gang.roles.size() != 1) return nullptr;
  const TopologyConstraint& role = gang.roles[0].topology;
  if (!role.topology.empty() || gang.groups.empty()) return &role;
  return &gang.groups[0].topology;
}

size_t FabricPlacer::Find(const PlacementRequest& request) const {
  if (fabrics_.empty()) return 0;
  const TopologyConstraint* c = ConstraintOf(request.gang->gang);
  if (c == nullptr || c->topology.empty()) return fabrics_.size();
  const auto it = std::ranges::find_if(
      fabrics_, [&](const Known& known) { return known.key == c->topology; });
  return static_cast<size_t>(it - fabrics_.begin());
}

bool FabricPlacer::IsMine(const PlacementRequest& request) const {
  return Find(request) < fabrics_.size();
}

// False if the fabric has no nodes.
bool FabricPlacer::Start(Cluster& cluster, const PlacementRequest& request,
                         PlacementResult* result) {
  cluster_ = &cluster;
  request_ = &request;
  result_ = result;
  Known& known = fabrics_[Find(request)];
  known_ = &known;
  fixed_nodes_.clear();
  if (known.fabric.empty()) return false;
  fabric_ = &known.fabric[0];
  const std::string& required = ConstraintOf(request.gang->gang)->required;
  const auto levels = fabric_->levels();
  const auto it = std::ranges::find(levels, required);
  box_ = required == "box";
  host_ = required == kHostLevel;
  level_ =
      box_ || it == levels.end() ? -1 : static_cast<int>(it - levels.begin());
  const uint32_t size = fabric_->nodes();
  if (known.made_from.IsNew(cluster, cluster.layout_version())) {
    known.nodes.assign(size, kNoNode);
    for (uint32_t n = 0; n < size; ++n) {
      const NodeId id = cluster.Find(fabric_->key(n));
      if (id.valid()) known.nodes[n] = id.index;
    }
  }
  allowed_.assign(request.within.empty() ? 0 : cluster.node_limit(), 0);
  for (const NodeIndex n : request.within) allowed_[n] = 1;
  has_fixed_.assign(size, 0);
  used_.assign(request.fixed.size() + 1, 0);
  for (const Assignment& a : request.fixed) {
    if (a.task.index < used_.size()) used_[a.task.index] = 1;
    const uint32_t n = fabric_->Find(cluster.node(a.at.node).key);
    if (n == Fabric::kNoNode || has_fixed_[n] != 0) continue;
    has_fixed_[n] = 1;
    fixed_nodes_.push_back(n);
  }
  return true;
}

void FabricPlacer::Place(Cluster& cluster, const PlacementRequest& request,
                         PlacementResult* result) {
  const uint32_t least = request.gang->gang.roles[0].min_tasks;
  result->fit = Fit::kNever;
  result->reason = {.code = ReasonCode::kNoNodeAdmits,
                    .object_kind = ReasonObject::kRole,
                    .needed = least};
  if (!Start(cluster, request, result)) return;
  tasks_ = Beside(least);
  if (Add()) {
    result->fit = Fit::kFits;
    result->reason = {.code = ReasonCode::kFits};
  } else {
    ExplainNo();
  }
}

// As many as there is room for; where that is bounded, the next larger number
// that has room.
void FabricPlacer::Grow(Cluster& cluster, const PlacementRequest& request,
                        PlacementResult* result) {
  result->fit = Fit::kFits;
  result->reason = {.code = ReasonCode::kFits};
  if (!Start(cluster, request, result)) return;
  const uint32_t more = Beside(request.gang->gang.roles[0].desired_tasks);
  for (uint32_t i = 0; i < more; ++i) {
    tasks_ = request.most < more ? i + 1 : more - i;
    if (Add()) break;
  }
}

bool FabricPlacer::Add() {
  return tasks_ == 0 ||
         std::ranges::any_of(request_->gang->shapes[0],
                             [&](ShapeId shape) { return TryShape(shape); });
}

bool FabricPlacer::TryShape(ShapeId shape) {
  if (OverHeadroom(request_->headroom, cluster_->demand(shape), tasks_)) {
    return false;
  }
  const index::ShapeSlots& slots =
      index_.Get(*cluster_, -1, shape, request_->ledger);
  const index::Layout& layout = index_.layout();
  result_->steps += slots.nanos();
  const bool found = FindNodes(
      [&](NodeIndex node) { return slots.slots(layout.position(node)); });
  if (found) Take(shape);
  return found;
}

// The fewest nodes first; on so many, as few tasks each as will do.
template <class SlotsOf>
bool FabricPlacer::FindNodes(const SlotsOf& slots_of) {
  const uint32_t size = fabric_->nodes();
  slots_.assign(size, 0);
  uint32_t most = 0;
  for (uint32_t n = 0; n < size; ++n) {
    const NodeIndex node = known_->nodes[n];
    if (node == kNoNode || (!allowed_.empty() && allowed_[node] == 0)) continue;
    slots_[n] = slots_of(node);
    most = std::max(most, slots_[n]);
  }
  result_->steps += size * kLookNs;
  if (most == 0) return false;
  const uint32_t bound = std::min(size, tasks_);
  uint32_t last_each = 0;
  for (uint32_t nodes = CeilDiv(tasks_, most); nodes <= bound; ++nodes) {
    const uint32_t each = CeilDiv(tasks_, nodes);
    if (each == last_each) continue;  // The same with fewer nodes.
    last_each = each;
    if (FindFor(CeilDiv(tasks_, each), each)) return true;
  }
  return false;
}

// Nodes with room for so many tasks each, into chosen_.
bool FabricPlacer::FindFor(uint32_t nodes, uint32_t tasks_each) {
  tasks_each_ = tasks_each;
  uint32_t count = 0;
  free_.assign(slots_.size(), 0);
  for (size_t n = 0; n < slots_.size(); ++n) {
    // What runs in a box keeps its nodes to itself.
    free_[n] = slots_[n] >= tasks_each && !(box_ && has_fixed_[n] != 0);
    count += free_[n];
  }
  result_->steps += slots_.size() * kLookNs;
  if (count < nodes || (host_ && nodes > 1)) return false;
  if (!fixed_nodes_.empty() && !box_) {
    return FreeInOneDomain(nodes) && Nearest(nodes);
  }
  const auto fixed = static_cast<uint32_t>(fixed_nodes_.size());
  absl::StatusOr<FabricPlacement> placed =
      box_ ? fabric_->FindBox(
                 free_, nodes + fixed,
                 fixed > 0 ? has_fixed_ : std::span<const uint8_t>())
           : fabric_->Select(free_, nodes);
  if (placed.ok()) result_->steps += placed->nanos;
  if (!placed.ok() || placed->nodes.empty()) return false;
  chosen_ = std::move(placed->nodes);
  std::erase_if(chosen_,
                [&](uint32_t n) { return box_ && has_fixed_[n] != 0; });
  return InOneDomain();
}

// Whether the nodes chosen lie in one domain of a required level.
bool FabricPlacer::InOneDomain() const {
  if (level_ < 0) return true;
  const auto level = static_cast<size_t>(level_);
  const uint32_t home = fabric_->Domain(chosen_[0], level);
  return std::ranges::all_of(
      chosen_, [&](uint32_t n) { return fabric_->Domain(n, level) == home; });
}

// Keeps of free_ what lies where the tasks that run must be.
bool FabricPlacer::FreeInOneDomain(uint32_t nodes) {
  if (host_) {
    for (size_t n = 0; n < free_.size(); ++n) free_[n] &= has_fixed_[n];
  }
  if (level_ >= 0) {
    const auto level = static_cast<size_t>(level_);
    const uint32_t home = fabric_->Domain(fixed_nodes_[0], level);
    for (uint32_t n = 0; n < free_.size(); ++n) {
      if (fabric_->Domain(n, level) != home) free_[n] = 0;
    }
  }
  return std::count(free_.begin(), free_.end(), 1) >= int64_t{nodes};
}

// One after another, each where the hops to all before it are fewest; the
// first of equals.
bool FabricPlacer::Nearest(uint32_t nodes) {
  const Fabric& fabric = *fabric_;
  hops_.assign(free_.size(), 0);
  const auto add = [&](uint32_t from) {
    for (uint32_t n = 0; n < free_.size(); ++n) {
      if (free_[n] == 0) continue;
      const uint32_t hops = fabric.Hops(from, n);
      if (hops == Fabric::kUnreachable) {
        free_[n] = 0;
      } else {
        hops_[n] += hops;
      }
    }
    result_->steps += free_.size() * kNodeNs;
  };
  for (const uint32_t n : fixed_nodes_) add(n);
  chosen_.clear();
  while (chosen_.size() < nodes) {
    uint32_t best = Fabric::kNoNode;
    for (uint32_t n = 0; n < free_.size(); ++n) {
      if (free_[n] == 0) continue;
      if (best == Fabric::kNoNode || hops_[n] < hops_[best]) best = n;
    }
    if (best == Fabric::kNoNode) return false;
    chosen_.push_back(best);
    free_[best] = 0;
    add(best);
  }
  return true;
}

void FabricPlacer::Take(ShapeId shape) {
  Cluster& cluster = *cluster_;
  const PlacementRequest& request = *request_;
  const scoring::NodeQuestion question{shape, request.KeyOfGang()};
  result_->steps += tasks_ * kTaskNs;
  const Cluster::Mark mark = request.dry_run ? cluster.Begin() : 0;
  uint32_t left = tasks_;
  uint32_t index = 0;
  for (const uint32_t n : chosen_) {
    for (uint32_t i = std::min(left, tasks_each_); i > 0; --i, --left) {
      while (index < used_.size() && used_[index] != 0) ++index;
      const Allocation at =
          policy_.Choose({cluster, known_->nodes[n], request.ledger}, question);
      cluster.Charge(at, request.ledger);
      result_->tasks.push_back({{0, index++}, at});
    }
  }
  if (request.dry_run) cluster.Rollback(mark);
}

// Whether an empty cluster would do; else what is short in all, or that what
// there is does not lie as it should.
void FabricPlacer::ExplainNo() {
  const PlacementRequest& request = *request_;
  PlacementResult* const result = result_;
  result->fit = Fit::kNotNow;
  if (!request.explain ||
      (request.fixed.empty() && request.within.empty() &&
       reason_.Explain(*cluster_, request, UniformRule(), result))) {
    return;
  }
  const uint32_t needed = request.gang->gang.roles[0].min_tasks;
  result->reason = {.code = ReasonCode::kConstraint,
                    .object_kind = ReasonObject::kRole,
                    .needed = needed};
  if (!request.fixed.empty() || !request.within.empty()) return;
  const auto& shapes = request.gang->shapes[0];
  const bool ever = std::ranges::any_of(shapes, [&](ShapeId shape) {
    return FindNodes([&](NodeIndex node) {
      return static_cast<uint32_t>(
          index::CapacitySlots(*cluster_, node, shape, needed));
    });
  });
  if (ever) return;
  result->fit = Fit::kNever;
  result->reason.code = ReasonCode::kNeverFits;
}

}  // namespace muster::solver
