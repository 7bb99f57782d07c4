#include "lib/solver/listed_slots.h"

#include <algorithm>

namespace muster::solver {

// With the last question's number of columns.
void ListedSlots::Clear() {
  for (const NodeIndex n : filled_) {
    std::fill_n(slots_.begin() + n * columns_, columns_, 0);
    listed_[n] = 0;
  }
  for (const size_t entry : summed_) sums_[entry] = 0;
  filled_.clear();
  summed_.clear();
}

void ListedSlots::Build(const Problem& problem,
                        std::span<const NodeIndex> nodes) {
  Clear();
  problem_ = &problem;
  columns_ = problem.columns().size();
  const size_t domains = domain_numbers_.Reset(problem.trees());
  const size_t limit = problem.cluster().node_limit();
  slots_.resize(std::max(slots_.size(), limit * columns_), 0);
  sums_.resize(std::max(sums_.size(), domains * columns_), 0);
  listed_.resize(std::max(listed_.size(), limit), 0);
  totals_.assign(columns_, 0);
  for (const NodeIndex n : nodes) {
    filled_.push_back(n);
    listed_[n] = 1;
    Update(n);
  }
}

void ListedSlots::Update(NodeIndex node) {
  if (listed_[node] == 0) return;
  const std::span<const Column> columns = problem_->columns();
  for (uint32_t c = 0; c < columns.size(); ++c) {
    const uint32_t now = problem_->cluster().Slots(
        node, columns[c].shape, problem_->request().ledger, columns[c].limit);
    uint32_t& known = slots_[node * columns_ + c];
    if (known == now) continue;
    Add(c, node, uint64_t{now} - known);
    known = now;
  }
}

void ListedSlots::Add(uint32_t column, NodeIndex node, uint64_t change) {
  totals_[column] += change;
  const std::span<const Tree> trees = problem_->trees();
  for (size_t t = 0; t < trees.size(); ++t) {
    if (!trees[t].Contains(node)) continue;
    for (int l = 0; l < trees[t].hosts; ++l) {
      const size_t entry =
          domain_numbers_[{static_cast<int>(t), l,
                           trees[t].index->domain_of[l][node]}] *
              columns_ +
          column;
      if (sums_[entry] == 0) summed_.push_back(entry);
      sums_[entry] += change;
    }
  }
}

}  // namespace muster::solver
