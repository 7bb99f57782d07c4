#include "lib/solver/uniform_reason.h"

#include <algorithm>

#include "lib/base/step_cost.h"
#include "lib/solver/headroom.h"

namespace muster::solver {
namespace {

using Table = index::CapacityTable;

Reason OfRole(ReasonCode code, int64_t needed, int64_t available) {
  return {.code = code,
          .object_kind = ReasonObject::kRole,
          .object = 0,
          .needed = needed,
          .available = available};
}

}  // namespace

// The alternative that could have the most tasks tells why it is not enough.
bool UniformReason::Never(const Cluster& cluster,
                          const PlacementRequest& request,
                          const UniformRule& rule, Reason* reason) {
  const uint64_t needed = request.gang->gang.roles[0].min_tasks;
  uint64_t most = 0;
  bool first = true;
  const int level = rule.required >= 0 ? rule.required
                    : rule.named       ? Table::kInside
                                       : Table::kAnywhere;
  for (const ShapeId shape : request.gang->shapes[0]) {
    const Table::Capacity capacity =
        capacity_.Get(cluster, rule.topology, level, shape, needed);
    const uint64_t ever = capacity.most;
    if (ever >= needed) return false;
    if (first || ever > most ||
        (reason->code == ReasonCode::kNoNodeAdmits && capacity.admitted)) {
      *reason =
          OfRole(capacity.admitted ? ReasonCode::kNeverFits
                                   : ReasonCode::kNoNodeAdmits,
                 static_cast<int64_t>(needed), static_cast<int64_t>(ever));
    }
    first = false;
    most = std::max(most, ever);
  }
  return true;
}

// Too little in all: of which kind; the device kind first, for that is what
// gangs wait for.
Reason UniformReason::Shortage(const Cluster& cluster,
                               const PlacementRequest& request, ShapeId shape,
                               int64_t slots) {
  const int64_t needed = request.gang->gang.roles[0].min_tasks;
  if (!capacity_.Get(cluster, -1, Table::kAnywhere, shape, 1).admitted) {
    return OfRole(ReasonCode::kNoNodeAdmits, needed, 0);
  }
  const Resources& demand = cluster.demand(shape);
  const std::vector<int64_t>& free = free_.Get(cluster, shape, request.ledger);
  const ResourceKind kinds = cluster.resource_count();
  for (ResourceKind i = 0; i <= kinds; ++i) {
    const ResourceKind k = i == 0 ? cluster.device_kind() : i - 1;
    if (k >= kinds || demand[k] <= 0) continue;
    if (free[k] >= needed * demand[k]) continue;
    Reason reason =
        OfRole(ReasonCode::kInsufficient, needed * demand[k], free[k]);
    reason.resource = k;
    return reason;
  }
  // Enough in all, but in pieces too small.
  const bool devices = cluster.device_request(shape).count > 0;
  return OfRole(devices && slots == 0 ? ReasonCode::kNoMatchingDevice
                                      : ReasonCode::kInsufficient,
                needed, slots);
}

// An alternative that has room, but whose quota has none.
bool UniformReason::OverHeadroom(const Cluster& cluster,
                                 const PlacementRequest& request,
                                 const UniformRule& rule,
                                 index::PlacementIndex* index, Reason* reason) {
  if (request.headroom == nullptr) return false;
  const uint32_t needed = request.gang->gang.roles[0].min_tasks;
  for (const ShapeId shape : request.gang->shapes[0]) {
    const index::Column& column =
        index->Get(cluster, rule.topology, shape, request.ledger);
    // Of a single task the quota is asked first.
    if (needed > 1 && column.inside() + column.outside() < needed) continue;
    if (!WithinHeadroom(request.headroom, cluster.demand(shape), needed,
                        reason)) {
      return true;
    }
  }
  return false;
}

// Room in all, but not in one domain.
Reason UniformReason::NoDomain(const index::Layout& layout,
                               const index::Column& column,
                               const UniformRule& rule, uint32_t needed) {
  uint32_t most = 0;
  if (rule.required == layout.levels()) {
    most = column.most_inside();
  } else {
    const std::span<const uint32_t> sums = column.sums(rule.required);
    if (!sums.empty()) most = *std::ranges::max_element(sums);
  }
  return {.code = ReasonCode::kNoDomain,
          .object_kind = ReasonObject::kLevel,
          .object = static_cast<uint32_t>(rule.required),
          .needed = needed,
          .available = most};
}

bool UniformReason::Explain(const Cluster& cluster,
                            const PlacementRequest& request,
                            const UniformRule& rule,
                            index::PlacementIndex* index,
                            PlacementResult* result) {
  result->fit = Fit::kNever;
  const uint64_t nodes =
      request.gang->shapes[0].size() * cluster.nodes().size();
  result->steps += nodes * kNeverNs;
  if (Never(cluster, request, rule, &result->reason)) return true;
  result->steps += nodes * kCapacityNs - nodes * kNeverNs;
  result->fit = Fit::kNotNow;
  if (OverHeadroom(cluster, request, rule, index, &result->reason)) return true;
  // The alternative with the most room.
  const uint32_t needed = request.gang->gang.roles[0].min_tasks;
  ShapeId best = request.gang->shapes[0][0];
  uint64_t slots = 0;
  for (const ShapeId shape : request.gang->shapes[0]) {
    const index::Column& column =
        index->Get(cluster, rule.topology, shape, request.ledger);
    const uint64_t all = column.inside() + column.outside();
    if (all > slots) best = shape;
    slots = std::max(slots, all);
  }
  if (slots < needed) {
    result->steps += cluster.nodes().size() * kFreeNs;
    result->reason =
        Shortage(cluster, request, best, static_cast<int64_t>(slots));
    return true;
  }
  if (rule.required < 0) return false;
  const index::Column& column =
      index->Get(cluster, rule.topology, best, request.ledger);
  result->reason = NoDomain(index->layout(), column, rule, needed);
  return true;
}

}  // namespace muster::solver
