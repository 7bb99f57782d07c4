#include "lib/solver/uniform_reason.h"

#include <algorithm>
#include <span>

#include "lib/base/step_cost.h"
#include "lib/solver/reasons.h"

namespace muster::solver {
namespace {

using Table = index::CapacityTable;

// The most that one domain of the level has.
uint32_t MostOf(const index::ShapeSlots& slots, int level, int levels) {
  if (level == levels) return slots.most_inside();
  const std::span<const uint32_t> sums = slots.sums(level);
  return sums.empty() ? 0 : std::ranges::max(sums);
}

}  // namespace

// Whether no alternative could ever have all tasks.
bool UniformReason::Never(const Cluster& cluster,
                          const PlacementRequest& request,
                          const UniformRule& rule, Reason* reason) {
  const uint32_t needed = request.gang->gang.roles[0].min_tasks;
  const int level =
      rule.named || rule.required >= 0 ? rule.required : Table::kAnywhere;
  uint64_t most = 0;
  bool admitted = false;
  for (const ShapeId shape : request.gang->shapes[0]) {
    const uint64_t ever =
        capacity_.Get(cluster, rule.topology, level, shape, needed).most;
    if (ever >= needed) return false;
    most = std::max(most, ever);
    admitted = admitted || capacity_.Admitted(cluster, shape);
  }
  *reason =
      OfRole(admitted ? ReasonCode::kNeverFits : ReasonCode::kNoNodeAdmits, 0,
             needed, static_cast<int64_t>(most));
  return true;
}

// Too little in all.
Reason UniformReason::ShortageOf(const Cluster& cluster, ShapeId shape,
                                 Ledger ledger, uint32_t needed,
                                 uint64_t slots) {
  if (!capacity_.Admitted(cluster, shape)) {
    return OfRole(ReasonCode::kNoNodeAdmits, 0, needed, 0);
  }
  const std::vector<int64_t>& free = free_.Get(cluster, shape, ledger);
  return Shortage(cluster, shape, 0, needed, static_cast<int64_t>(slots),
                  [&](ResourceKind k) { return free[k]; });
}

bool UniformReason::Explain(const Cluster& cluster,
                            const PlacementRequest& request,
                            const UniformRule& rule, PlacementResult* result) {
  const std::vector<ShapeId>& shapes = request.gang->shapes[0];
  const uint32_t needed = request.gang->gang.roles[0].min_tasks;
  const uint64_t nodes = shapes.size() * cluster.node_count();
  if (Never(cluster, request, rule, &result->reason)) {
    result->fit = Fit::kNever;
    result->steps += nodes * kNeverNs;
    return true;
  }
  result->fit = Fit::kNotNow;
  result->steps += nodes * kCapacityNs;
  const auto slots_of = [&](ShapeId shape) -> const index::ShapeSlots& {
    return index_.Get(cluster, rule.topology, shape, request.ledger);
  };
  const auto all = [&](ShapeId shape) {
    return slots_of(shape).totals().all();
  };
  // An alternative that has room, but whose quota has none; of a single task
  // the quota is asked first.
  for (const ShapeId shape : shapes) {
    if (needed > 1 && all(shape) < needed) continue;
    const std::optional<Reason> over =
        OverHeadroom(request.headroom, cluster.demand(shape), needed);
    if (!over) continue;
    result->reason = *over;
    return true;
  }
  // The alternative with the most room.
  const ShapeId best = *std::ranges::max_element(shapes, {}, all);
  if (const uint64_t slots = all(best); slots < needed) {
    result->steps += cluster.node_count() * kFreeNs;
    result->reason = ShortageOf(cluster, best, request.ledger, needed, slots);
    return true;
  }
  if (rule.required < 0) return false;
  // Room in all, but not in one domain.
  const index::ShapeSlots& most =
      slots_of(best);  // layout() is of this one then.
  result->reason =
      OfLevel(ReasonCode::kNoDomain, rule.required, needed,
              MostOf(most, rule.required, index_.layout().levels()));
  return true;
}

}  // namespace muster::solver
