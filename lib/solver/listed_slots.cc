#include "lib/solver/listed_slots.h"

#include <algorithm>

namespace muster::solver {

void ListedSlots::Clear() {
  for (const NodeIndex n : filled_) listed_[n] = 0;
  for (const size_t entry : summed_) sums_[entry] = 0;
  filled_.clear();
  summed_.clear();
}

void ListedSlots::Build(const PlacementProblem& problem,
                        std::span<const NodeIndex> nodes) {
  Clear();
  problem_ = &problem;
  columns_ = problem.columns().size();
  const size_t limit = problem.cluster().node_limit();
  const size_t domains = numbers_.Reset(problem.trees(), limit);
  sums_.resize(std::max(sums_.size(), domains * columns_), 0);
  listed_.resize(std::max(listed_.size(), limit), 0);
  for (const NodeIndex n : nodes) {
    filled_.push_back(n);
    listed_[n] = 1;
    Update(n);
  }
}

void ListedSlots::Update(NodeIndex node) {
  if (listed_[node] == 0) return;
  const std::span<const ShapeColumn> columns = problem_->columns();
  for (uint32_t c = 0; c < columns.size(); ++c) {
    const uint64_t now = problem_->cluster().Slots(
        node, columns[c].shape, problem_->ledger(), columns[c].limit);
    const uint64_t change = now - slots(c, node);
    if (change == 0) continue;
    numbers_.ForEachAround(node, [&](const DomainRef& domain) {
      const size_t entry = numbers_[domain] * columns_ + c;
      if (sums_[entry] == 0) summed_.push_back(entry);
      sums_[entry] += change;
    });
  }
}

}  // namespace muster::solver
