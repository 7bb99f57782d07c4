#include "lib/solver/uniform_reason.h"

#include <algorithm>

#include "lib/base/step_cost.h"
#include "lib/solver/reasons.h"

namespace muster::solver {

using Table = index::CapacityTable;

// The alternative that could have the most tasks tells why it is not enough.
std::optional<Reason> UniformReason::Never() {
  std::optional<Reason> never;
  uint64_t most = 0;
  const int level = rule_->required >= 0 ? rule_->required
                    : rule_->named       ? Table::kInside
                                         : Table::kAnywhere;
  for (const ShapeId shape : shapes_) {
    const Table::Capacity capacity =
        capacity_.Get(*cluster_, rule_->topology, level, shape, needed_);
    const uint64_t ever = capacity.most;
    if (ever >= needed_) return std::nullopt;
    if (!never || ever > most ||
        (never->code == ReasonCode::kNoNodeAdmits && capacity.admitted)) {
      never = OfRole(capacity.admitted ? ReasonCode::kNeverFits
                                       : ReasonCode::kNoNodeAdmits,
                     0, needed_, static_cast<int64_t>(ever));
    }
    most = std::max(most, ever);
  }
  return never;
}

// Too little in all.
Reason UniformReason::ShortageOf(ShapeId shape, int64_t slots) {
  if (!capacity_.Get(*cluster_, -1, Table::kAnywhere, shape, 1).admitted) {
    return OfRole(ReasonCode::kNoNodeAdmits, 0, needed_, 0);
  }
  const std::vector<int64_t>& free =
      free_.Get(*cluster_, shape, request_->ledger);
  return Shortage(*cluster_, shape, 0, needed_, slots,
                  [&](ResourceKind k) { return free[k]; });
}

// An alternative that has room, but whose quota has none.
std::optional<Reason> UniformReason::OverHeadroom() const {
  if (request_->headroom == nullptr) return std::nullopt;
  for (const ShapeId shape : shapes_) {
    // Of a single task the quota is asked first.
    if (needed_ > 1 && ColumnOf(shape).totals().all() < needed_) continue;
    const std::optional<Reason> over = solver::OverHeadroom(
        request_->headroom, cluster_->demand(shape), needed_);
    if (over) return over;
  }
  return std::nullopt;
}

// Room in all, but not in one domain.
Reason UniformReason::NoDomain(const index::Column& column) const {
  uint32_t most = 0;
  if (rule_->required == index_.layout().levels()) {
    most = column.most_inside();
  } else {
    const std::span<const uint32_t> sums = column.sums(rule_->required);
    if (!sums.empty()) most = *std::ranges::max_element(sums);
  }
  return OfLevel(ReasonCode::kNoDomain, rule_->required, needed_, most);
}

bool UniformReason::Explain(const Cluster& cluster,
                            const PlacementRequest& request,
                            const UniformRule& rule, PlacementResult* result) {
  cluster_ = &cluster;
  request_ = &request;
  rule_ = &rule;
  shapes_ = request.gang->shapes[0];
  needed_ = request.gang->gang.roles[0].min_tasks;
  result->fit = Fit::kNever;
  const uint64_t nodes = shapes_.size() * cluster.nodes().size();
  result->steps += nodes * kNeverNs;
  if (const auto never = Never()) {
    result->reason = *never;
    return true;
  }
  result->steps += nodes * kCapacityNs - nodes * kNeverNs;
  result->fit = Fit::kNotNow;
  if (const auto over = OverHeadroom()) {
    result->reason = *over;
    return true;
  }
  // The alternative with the most room.
  const auto all = [&](ShapeId shape) {
    return ColumnOf(shape).totals().all();
  };
  const ShapeId best = *std::ranges::max_element(shapes_, {}, all);
  const uint64_t slots = all(best);
  if (slots < needed_) {
    result->steps += cluster.nodes().size() * kFreeNs;
    result->reason = ShortageOf(best, static_cast<int64_t>(slots));
    return true;
  }
  if (rule.required < 0) return false;
  result->reason = NoDomain(ColumnOf(best));
  return true;
}

}  // namespace muster::solver
