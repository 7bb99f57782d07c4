#include "lib/solver/uniform_fill.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "lib/base/ceil_div.h"
#include "lib/index/scan.h"

namespace muster::solver {

using index::Layout;
using index::Position;

void UniformFill::AddDomains(int level, uint32_t first, uint32_t last) {
  const std::span<const uint32_t> sums = column_->sums(level);
  looked_at_ += last - first;
  for (uint32_t d = first; d < last; ++d) {
    if (sums[d] > 0) picks_.push_back({d, sums[d], 0});
  }
}

void UniformFill::AddNodes(uint32_t first_chunk, uint32_t last_chunk) {
  for (uint32_t c = first_chunk; c < last_chunk; ++c) {
    const Position first = layout_->chunks()[c].first;
    for (uint64_t mask = column_->any(c); mask != 0; mask &= mask - 1) {
      const Position p = first + static_cast<Position>(std::countr_zero(mask));
      picks_.push_back({p, column_->slots(p), 0});
    }
  }
}

// Keeps of picks_ the fewest that hold the tasks, and says how many each
// takes; in the order of ids. Returns the number.
uint32_t UniformFill::Choose(uint32_t tasks) {
  uint32_t most = 0;
  uint64_t room = 0;
  for (const Pick& p : picks_) {
    most = std::max(most, p.slots);
    room += p.slots;
  }
  if (room == tasks) {  // All of them.
    for (Pick& p : picks_) p.taken = p.slots;
    return static_cast<uint32_t>(picks_.size());
  }
  // The k largest go in whole: those above `edge`, and `at_edge` at it.
  sorted_.clear();
  for (const Pick& p : picks_) sorted_.push_back(p.slots);
  uint32_t edge = 0, at_edge = 0, left = tasks;
  if (most < 4 * picks_.size() + 64) {
    count_of_.assign(most + 1, 0);
    for (const uint32_t slots : sorted_) ++count_of_[slots];
    for (edge = most; left > uint64_t{count_of_[edge]} * edge; --edge) {
      left -= count_of_[edge] * edge;
    }
  } else {
    std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
    size_t i = 0;
    while (left > sorted_[i]) left -= sorted_[i++];
    edge = sorted_[i];
    while (i > 0 && sorted_[i - 1] == edge) {
      left += edge;
      --i;
    }
  }
  at_edge = CeilDiv(left, edge) - 1;
  left -= at_edge * edge;
  // The last one: the tightest that holds what is left.
  const Pick* last = nullptr;
  uint32_t skip = at_edge;
  for (const Pick& p : picks_) {
    if (p.slots > edge || p.slots < left) continue;
    if (p.slots == edge && skip > 0) {
      --skip;
      continue;
    }
    if (last == nullptr || p.slots < last->slots) last = &p;
  }
  const uint32_t last_id = last->id;
  size_t kept = 0;
  for (const Pick& p : picks_) {
    Pick chosen = p;
    if (p.id == last_id) {
      chosen.taken = left;
    } else if (p.slots > edge || (p.slots == edge && at_edge > 0)) {
      at_edge -= p.slots == edge;
      chosen.taken = p.slots;
    } else {
      continue;
    }
    picks_[kept++] = chosen;
  }
  picks_.resize(kept);
  return static_cast<uint32_t>(kept);
}

// The children of parents_, domains of the level.
void UniformFill::AddChildren(int level) {
  const bool nodes = level + 1 == layout_->levels();
  const std::span<const uint32_t> children = layout_->children(level);
  for (const Pick& parent : parents_) {
    if (nodes) {
      AddNodes(layout_->first_chunk(parent.id),
               layout_->first_chunk(parent.id + 1));
    } else {
      AddDomains(level + 1, children[parent.id], children[parent.id + 1]);
    }
  }
}

// From the chosen domains of a level to all their children.
void UniformFill::Descend(int level) {
  parents_.swap(picks_);
  picks_.clear();
  AddChildren(level);
}

uint32_t UniformFill::MostOfNodes(uint32_t domain) const {
  uint32_t most = 0;
  for (uint32_t c = layout_->first_chunk(domain);
       c < layout_->first_chunk(domain + 1); ++c) {
    most = std::max(most, column_->most(c));
  }
  return most;
}

// No placement uses fewer domains of the level than its largest ones that hold
// the tasks.
uint32_t UniformFill::LeastDomains(int level, uint32_t tasks) {
  const std::span<const uint32_t> sums = column_->sums(level);
  looked_at_ += sums.size();
  return Fewest(sums, index::Greatest(sums), tasks, ~0u);
}

uint32_t UniformFill::LeastNodes(uint32_t tasks) const {
  const uint32_t most = column_->most();
  return CeilDiv(tasks, most);
}

void UniformFill::Certify(Region region, uint32_t tasks,
                          Certificate* certificate) {
  certificate->optimal = true;
  for (size_t l = 0; l < certificate->levels.size(); ++l) {
    Certificate::Level& level = certificate->levels[l];
    if (level.used <= 1) {
      level.least = level.used;
    } else if (static_cast<int>(l) == region.level + 1 &&
               region.least_children > 0) {
      level.least = region.least_children;
    } else if (l + 1 == certificate->levels.size()) {
      level.least = LeastNodes(tasks);
    } else {
      level.least = LeastDomains(static_cast<int>(l), tasks);
    }
    certificate->optimal &= level.used == level.least;
  }
}

// How many of the values hold the tasks, the largest first; `enough` or more if
// not fewer than that. `most` is the largest.
template <class T>
uint32_t UniformFill::Fewest(std::span<const T> values, uint32_t most,
                             uint32_t tasks, uint32_t enough) {
  if (most >= kMostCounted) {
    sorted_.assign(values.begin(), values.end());
    std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
    uint32_t count = 0;
    while (tasks > sorted_[count]) tasks -= sorted_[count++];
    return count + 1;
  }
  number_of_.resize(kMostCounted, 0);
  for (const T v : values) ++number_of_[v];
  uint32_t count = 0;
  for (uint32_t edge = most; count < enough; --edge) {
    const uint32_t held = number_of_[edge] * edge;
    if (tasks <= held) {
      count += CeilDiv(tasks, edge);
      break;
    }
    tasks -= held;
    count += number_of_[edge];
  }
  for (const T v : values) number_of_[v] = 0;
  return count;
}

// How many children of the domain, at the least, hold the tasks, for which it
// has room; `enough` or more if they are not fewer than that.
uint32_t UniformFill::ChildrenNeeded(int level, uint32_t domain, uint32_t tasks,
                                     uint32_t enough) {
  if (level + 1 == layout_->levels()) {
    const uint32_t most = MostOfNodes(domain);
    const uint32_t bound = CeilDiv(tasks, most);
    if (bound >= enough || bound == 1) return bound;
    const auto [first, last] = layout_->range(level, domain);
    return Fewest(column_->slots().subspan(first, last - first), most, tasks,
                  enough);
  }
  const uint32_t first = layout_->children(level)[domain];
  const uint32_t last = layout_->children(level)[domain + 1];
  const auto sums = column_->sums(level + 1).subspan(first, last - first);
  const uint32_t most = index::Greatest(sums);
  const uint32_t bound = CeilDiv(tasks, most);
  if (bound >= enough || bound == 1) return bound;
  return Fewest(sums, most, tasks, enough);
}

// The room of the domain around it; 0 at the widest level.
uint32_t UniformFill::RoomAround(int level, uint32_t domain) const {
  return level == 0 ? 0
                    : column_->sums(level - 1)[layout_->parents(level)[domain]];
}

// The first of the domains with as much room as `domain`, of which none comes
// before it, among those with the least room around. Looks only into parents
// with less room than the best one so far.
uint32_t UniformFill::InTightestParent(int level, uint32_t domain) const {
  if (level == 0) return domain;
  const std::span<const uint32_t> sums = column_->sums(level);
  const std::span<const uint32_t> around = column_->sums(level - 1);
  const std::span<const uint32_t> parents = layout_->parents(level);
  const std::span<const uint32_t> children = layout_->children(level - 1);
  uint32_t least = around[parents[domain]];
  uint32_t parent = parents[domain];
  while (true) {
    do {
      if (++parent == around.size()) return domain;
    } while (around[parent] >= least);
    const uint32_t first = children[parent];
    const size_t next = index::FindFirst(sums.subspan(first), sums[domain]);
    if (next == index::kNowhere) return domain;
    const uint32_t found = first + static_cast<uint32_t>(next);
    parent = parents[found];
    if (around[parent] >= least) continue;
    least = around[parent];
    domain = found;
  }
}

bool UniformFill::FindDomain(const index::Layout& layout,
                             const index::Column& column, int level,
                             uint32_t tasks, Region* region) {
  layout_ = &layout;
  column_ = &column;
  const std::span<const uint32_t> sums = column.sums(level);
  const size_t tightest = index::LeastAbove(sums, tasks);
  if (tightest == index::kNowhere) return false;
  *region = {level, InTightestParent(level, static_cast<uint32_t>(tightest)),
             tasks};
  // Nodes that take one task each: all domains need the same number.
  const bool nodes = level + 1 == layout.levels();
  if (nodes && column.most() == 1) return true;
  uint32_t fewest = ChildrenNeeded(level, region->domain, tasks, ~0u);
  const uint32_t most =
      nodes ? column.most() : index::Greatest(column.sums(level + 1));
  const uint32_t least = CeilDiv(tasks, most);
  region->least_children = fewest;
  if (fewest == least) return true;
  for (uint32_t d = 0; d < sums.size(); ++d) {
    if (sums[d] < tasks) continue;
    const bool tighter =
        sums[d] < sums[region->domain] ||
        (sums[d] == sums[region->domain] &&
         RoomAround(level, d) < RoomAround(level, region->domain));
    if (!tighter && fewest == least) continue;
    const uint32_t needed =
        ChildrenNeeded(level, d, tasks, tighter ? fewest + 1 : fewest);
    if (needed > fewest || (needed == fewest && !tighter)) continue;
    fewest = needed;
    region->domain = d;
  }
  region->least_children = fewest;
  return true;
}

// Exactly, or with a bound, as far as the steps go.
void UniformFill::Search(int within, uint32_t tasks, uint64_t steps,
                         std::vector<Share>* shares, Certificate* certificate) {
  question_levels_.clear();
  for (int l = 0; l < layout_->levels(); ++l) {
    question_levels_.push_back({layout_->children(l), column_->sums(l)});
  }
  TreeQuestion question;
  question.levels = question_levels_;
  question.nodes = column_->slots();
  question.tasks = tasks;
  question.within = within;
  question.budget = steps;
  knapsack_.Solve(question, &answer_);
  looked_at_ += answer_.steps;
  if (answer_.outcome == TreeAnswer::Outcome::kInfeasible) return;
  for (size_t l = 0; l < answer_.levels.size(); ++l) {
    certificate->levels[l] = {answer_.levels[l].used, answer_.levels[l].least};
  }
  certificate->optimal = answer_.outcome == TreeAnswer::Outcome::kOptimal;
  shares->clear();
  for (const TreeAnswer::Share& share : answer_.shares.back()) {
    shares->push_back({share.domain, share.tasks});
  }
}

uint64_t UniformFill::Fill(const index::Layout& layout,
                           const index::Column& column, Region region,
                           uint32_t tasks, uint64_t exact_steps,
                           std::vector<Share>* shares,
                           Certificate* certificate) {
  layout_ = &layout;
  column_ = &column;
  looked_at_ = 0;
  certificate->levels.assign(static_cast<size_t>(layout.levels()) + 1, {1, 1});
  picks_.clear();
  if (region.level >= 0) {
    picks_.push_back({region.domain, tasks, tasks});
  } else if (layout.levels() > 0) {
    AddDomains(0, 0, layout.domains(0));
    certificate->levels[0].used = Choose(tasks);
  } else {
    AddNodes(0, static_cast<uint32_t>(layout.chunks().size()));
    certificate->levels[0].used = Choose(tasks);
  }
  for (int l = std::max(region.level, 0); l < layout.levels(); ++l) {
    Descend(l);
    certificate->levels[static_cast<size_t>(l) + 1].used = Choose(tasks);
  }
  shares->clear();
  for (const Pick& p : picks_) shares->push_back({p.id, p.taken});
  Certify(region, tasks, certificate);
  if (!certificate->optimal && exact_steps > 0 && layout.levels() > 0) {
    Search(region.level, tasks, exact_steps, shares, certificate);
  }
  return looked_at_;
}

}  // namespace muster::solver
