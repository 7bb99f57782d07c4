#include "lib/preempt/region_slots.h"

#include <algorithm>

#include "lib/index/slots_cost.h"

namespace muster::preempt {

RegionSlots::RegionSlots(PreemptionProblem& problem,
                         std::vector<uint32_t>& positions)
    : problem_(problem), position_(positions) {
  const size_t nodes = problem.cluster().node_limit();
  if (position_.size() < nodes) position_.resize(nodes, kElsewhere);
  for (const RoleNeed& need : problem.needs()) {
    first_column_.push_back(shapes_.size());
    const Role& role = problem.gang().gang.roles[need.role];
    for (ShapeId shape : problem.gang().shapes[need.role]) {
      shapes_.push_back(shape);
      refresh_ns_ += index::NanosOfSlots(problem.cluster(), shape, 1);
      limits_.push_back(std::max(role.desired_tasks, need.want));
    }
  }
  first_column_.push_back(shapes_.size());
  total_.resize(shapes_.size());
}

void RegionSlots::Watch(std::span<const NodeIndex> nodes) {
  for (NodeIndex node : nodes_) position_[node] = kElsewhere;
  nodes_.assign(nodes.begin(), nodes.end());
  slots_.assign(nodes_.size() * shapes_.size(), 0);
  std::fill(total_.begin(), total_.end(), 0);
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    position_[nodes_[i]] = i;
    Refresh(nodes_[i]);
  }
}

void RegionSlots::Refresh(NodeIndex node) {
  const uint32_t position = position_[node];
  if (position == kElsewhere) return;
  problem_.Charge(1, refresh_ns_);
  uint32_t* row = slots_.data() + position * shapes_.size();
  for (size_t s = 0; s < shapes_.size(); ++s) {
    const uint32_t now =
        problem_.cluster().Slots(node, shapes_[s], Ledger::kLater, limits_[s]);
    total_[s] += now;
    total_[s] -= row[s];
    row[s] = now;
  }
}

bool RegionSlots::Possible() const {
  for (size_t n = 0; n < problem_.needs().size(); ++n) {
    const auto begin = total_.begin() + first_column_[n];
    const auto end = total_.begin() + first_column_[n + 1];
    const uint32_t count = problem_.needs()[n].count;
    if (count > 0 && *std::max_element(begin, end) < count) return false;
  }
  return true;
}

bool RegionSlots::Fits() const {
  if (!Possible()) return false;
  if (!problem_.SlotsDecide()) return problem_.Ask(nodes_) == Fit::kFits;
  problem_.CountQuestion();
  return true;
}

size_t RegionSlots::ColumnOf(size_t need) const {
  return std::min(first_column_[need] + aim_, first_column_[need + 1] - 1);
}

uint64_t RegionSlots::Lacking(size_t need, uint64_t extra) const {
  const uint64_t want = problem_.needs()[need].want;
  if (want == 0) return 0;
  const uint64_t have = Total(need);
  return want + extra > have ? want + extra - have : 0;
}

uint32_t RegionSlots::At(size_t need, NodeIndex node) const {
  return problem_.cluster().Slots(node, shapes_[ColumnOf(need)], Ledger::kLater,
                                  limits_[ColumnOf(need)]);
}

}  // namespace muster::preempt
