#include "lib/solver/uniform_fill.h"

#include <algorithm>
#include <bit>

#include "lib/base/fraction.h"
#include "lib/index/scan.h"
#include "lib/solver/fewest.h"

namespace muster::solver {

using index::Layout;
using index::Position;

void UniformFill::AddDomains(int level, uint32_t first, uint32_t last) {
  const std::span<const uint32_t> sums = shape_slots_->sums(level);
  looked_at_ += last - first;
  for (uint32_t d = first; d < last; ++d) {
    if (sums[d] > 0) picks_.push_back({d, sums[d], 0});
  }
}

// Calls f(chunk, position) for the nodes with slots.
template <class F>
void UniformFill::ForEachNode(uint32_t first_chunk, uint32_t last_chunk,
                              const F& f) const {
  for (uint32_t c = first_chunk; c < last_chunk; ++c) {
    const Position first = layout_->chunks()[c].first;
    for (uint64_t mask = shape_slots_->any(c); mask != 0; mask &= mask - 1) {
      f(c, first + static_cast<Position>(std::countr_zero(mask)));
    }
  }
}

void UniformFill::AddNodes(uint32_t first_chunk, uint32_t last_chunk) {
  ForEachNode(first_chunk, last_chunk, [&](uint32_t chunk, Position p) {
    picks_.push_back({p, shape_slots_->SlotsIn(chunk, p), 0});
  });
}

// Where no node takes more than one task: the first ones that take one, in the
// domains of picks_.
void UniformFill::ShareNodes(std::vector<PositionTasks>* shares) const {
  shares->resize(tasks_);
  PositionTasks* next = shares->data();
  PositionTasks* const end = next + tasks_;
  for (const PickedDomain& parent : picks_) {
    ForEachNode(layout_->first_chunk(parent.id),
                layout_->first_chunk(parent.id + 1), [&](uint32_t, Position p) {
                  if (next != end) *next++ = {p, 1};
                });
  }
}

// Keeps of picks_ the fewest that hold the tasks, and says how many each
// takes; in the order of ids.
void UniformFill::Choose() {
  uint64_t room = 0;
  slots_.clear();
  for (const PickedDomain& p : picks_) {
    slots_.push_back(p.slots);
    room += p.slots;
  }
  if (room == tasks_) {  // All of them.
    for (PickedDomain& p : picks_) p.taken = p.slots;
    return;
  }
  // The k largest go in whole: those above `edge`, and `at_edge` at it.
  const std::span<const uint32_t> slots(slots_);
  const auto [edge, above] = EdgeOf(slots, index::Greatest(slots), tasks_);
  uint32_t left = tasks_ - above.sum;
  uint32_t at_edge = CeilDiv(left, edge) - 1;
  left -= at_edge * edge;
  // The last one: the tightest that holds what is left.
  const PickedDomain* last = nullptr;
  uint32_t skip = at_edge;
  for (const PickedDomain& p : picks_) {
    if (p.slots > edge || p.slots < left) continue;
    if (p.slots == edge && skip > 0) {
      --skip;
      continue;
    }
    if (last == nullptr || p.slots < last->slots) last = &p;
  }
  const uint32_t last_id = last->id;
  size_t kept = 0;
  for (const PickedDomain& p : picks_) {
    PickedDomain chosen = p;
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
}

// The children of parents_, domains of the level.
void UniformFill::AddChildren(int level) {
  const bool nodes = level + 1 == layout_->levels();
  const std::span<const uint32_t> children = layout_->children(level);
  for (const PickedDomain& parent : parents_) {
    if (nodes) {
      AddNodes(layout_->first_chunk(parent.id),
               layout_->first_chunk(parent.id + 1));
    } else {
      AddDomains(level + 1, children[parent.id], children[parent.id + 1]);
    }
  }
}

uint32_t UniformFill::MostOfNodes(uint32_t domain) const {
  uint32_t most = 0;
  for (uint32_t c = layout_->first_chunk(domain);
       c < layout_->first_chunk(domain + 1); ++c) {
    most = std::max(most, shape_slots_->most(c));
  }
  return most;
}

// No placement uses fewer domains of the level than its largest ones that hold
// the tasks; `used` or more if that is known sooner: at a price of `edge`
// tasks a domain, whatever it is.
uint32_t UniformFill::LeastDomains(int level, uint32_t used) {
  const std::span<const uint32_t> sums = shape_slots_->sums(level);
  looked_at_ += sums.size();
  const uint32_t edge = least_[level];
  const index::AboveCount above = index::SumAbove(sums, edge);
  if (above.sum < tasks_ &&
      above.count + CeilDiv(tasks_ - above.sum, edge) >= used) {
    return used;
  }
  return Fewest(sums, index::Greatest(sums), tasks_);
}

void UniformFill::Certify() {
  certificate_->optimal = true;
  for (size_t l = 0; l < certificate_->levels.size(); ++l) {
    Certificate::Level& level = certificate_->levels[l];
    if (level.used <= 1) {
      level.least = level.used;
    } else if (proven_[l] > 0) {
      level.least = proven_[l];
    } else if (l + 1 == certificate_->levels.size()) {
      level.least = CeilDiv(tasks_, shape_slots_->most());
    } else {
      level.least = LeastDomains(static_cast<int>(l), level.used);
    }
    certificate_->optimal &= level.used == level.least;
  }
}

// How many children of the domain, at the least, hold the tasks, for which it
// has room; `enough` or more if they are not fewer than that.
uint32_t UniformFill::ChildrenNeeded(int level, uint32_t domain,
                                     uint32_t enough) {
  const bool nodes = level + 1 == layout_->levels();
  const uint32_t begin = layout_->children(level)[domain];
  const uint32_t end = layout_->children(level)[domain + 1];
  const auto inside = [&](auto all) { return all.subspan(begin, end - begin); };
  const uint32_t most =
      nodes ? MostOfNodes(domain)
            : index::Greatest(inside(shape_slots_->sums(level + 1)));
  const uint32_t bound = CeilDiv(tasks_, most);
  if (bound >= enough || bound == 1) return bound;
  return nodes ? Fewest(inside(shape_slots_->AllSlots()), most, tasks_)
               : Fewest(inside(shape_slots_->sums(level + 1)), most, tasks_);
}

// The room of the domain around it; 0 at the widest level.
uint32_t UniformFill::RoomAround(int level, uint32_t domain) const {
  return level == 0
             ? 0
             : shape_slots_->sums(level - 1)[layout_->parents(level)[domain]];
}

// The first of the domains with as much room as `domain`, of which none comes
// before it, among those with the least room around. Looks only into parents
// with less room than the best one so far.
uint32_t UniformFill::InTightestParent(int level, uint32_t domain) const {
  if (level == 0) return domain;
  const std::span<const uint32_t> sums = shape_slots_->sums(level);
  const std::span<const uint32_t> around = shape_slots_->sums(level - 1);
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
                             index::ShapeSlots& slots, int level,
                             uint32_t tasks, FillArea* region) {
  layout_ = &layout;
  shape_slots_ = &slots;
  tasks_ = tasks;
  const std::span<const uint32_t> sums = slots.sums(level);
  const size_t tightest = index::LeastAbove(sums, tasks);
  if (tightest == index::kNowhere) return false;
  *region = {level, InTightestParent(level, static_cast<uint32_t>(tightest)),
             tasks};
  // Nodes that take one task each: all domains need the same number.
  const bool nodes = level + 1 == layout.levels();
  if (nodes && slots.most() == 1) return true;
  uint32_t fewest = ChildrenNeeded(level, region->domain, ~0u);
  const uint32_t most =
      nodes ? slots.most() : index::Greatest(slots.sums(level + 1));
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
        ChildrenNeeded(level, d, tighter ? fewest + 1 : fewest);
    if (needed > fewest || (needed == fewest && !tighter)) continue;
    fewest = needed;
    region->domain = d;
  }
  region->least_children = fewest;
  return true;
}

// The region may be any of these: at least as good as the one chosen so far at
// the level below, of which `count` domains hold the tasks.
void UniformFill::FindRoots(int level, uint32_t count) {
  roots_.clear();
  if (level < 0) {
    roots_.push_back({0, layout_->domains(0)});
    return;
  }
  const std::span<const uint32_t> sums = shape_slots_->sums(level);
  const std::span<const uint32_t> children = layout_->children(level);
  for (uint32_t d = 0; d < sums.size(); ++d) {
    if (sums[d] < tasks_) continue;
    if (ChildrenNeeded(level, d, count + 1) > count) continue;
    roots_.push_back({children[d], children[d + 1]});
  }
}

template <class T>
bool UniformFill::SearchTwoLevels(int level, std::span<const T> slots) {
  const size_t wide = static_cast<size_t>(level) + 1;
  TwoLevels::CoverQuestion<T> question;
  question.slots = shape_slots_->sums(level + 1);
  question.children = layout_->children(level + 1);
  question.child_slots = slots;
  question.count = certificate_->levels[wide].used;
  question.tasks = tasks_;
  FindRoots(level, question.count);
  looked_at_ +=
      two_levels_.Search(question, roots_, certificate_->levels[wide + 1].used,
                         chosen_slots_[wide]);
  proven_[wide] = certificate_->levels[wide].least;
  proven_[wide + 1] = two_levels_.least();
  return two_levels_.found();
}

// Among equally few domains under the region, or under another one as good,
// looks for those that need the fewest children, with bounds by prices.
void UniformFill::ImproveTwoLevels(FillArea region) {
  const int narrow = region.level + 2;
  if (narrow > layout_->levels()) return;
  const auto met = [&](int l) {
    const Certificate::Level& level = certificate_->levels[l];
    return level.used == level.least;
  };
  if (!met(narrow - 1) || met(narrow)) return;
  const bool found =
      narrow < layout_->levels()
          ? SearchTwoLevels(region.level, shape_slots_->sums(narrow))
          : SearchTwoLevels(region.level, shape_slots_->AllSlots());
  if (found) {
    picks_.clear();
    for (const uint32_t d : two_levels_.chosen()) picks_.push_back({d, 0, 0});
    FillFrom(narrow - 1);
  }
  Certify();
}

// Solves exactly, or to a bound, within the steps.
void UniformFill::Search(uint64_t steps, std::vector<PositionTasks>* shares) {
  question_levels_.clear();
  for (int l = 0; l < layout_->levels(); ++l) {
    question_levels_.push_back({layout_->children(l), shape_slots_->sums(l)});
  }
  TreeQuestion question;
  question.levels = question_levels_;
  question.nodes = shape_slots_->AllSlots();
  question.tasks = tasks_;
  question.budget = steps;
  knapsack_.Solve(question, &answer_);
  looked_at_ += answer_.steps;
  const auto& mine = certificate_->levels;
  const auto used = &Certificate::Level::used;
  const bool worse = std::ranges::lexicographical_compare(mine, answer_.levels,
                                                          {}, used, used);
  certificate_->optimal = true;
  for (size_t l = 0; l < answer_.levels.size(); ++l) {
    Certificate::Level& level = certificate_->levels[l];
    if (!worse) level.used = answer_.levels[l].used;
    level.least = std::max(proven_[l], answer_.levels[l].least);
    certificate_->optimal &= level.used == level.least;
  }
  if (!worse) shares->swap(answer_.shares);
}

void UniformFill::ChooseAt(int level) {
  Choose();
  certificate_->levels[level].used = static_cast<uint32_t>(picks_.size());
  chosen_slots_[level] = 0;
  least_[level] = ~0u;
  for (const PickedDomain& p : picks_) {
    chosen_slots_[level] += p.slots;
    least_[level] = std::min(least_[level], p.slots);
  }
}

// From picks_, domains of the level, downwards; to nodes only where some take
// more than one task.
void UniformFill::FillFrom(int level) {
  for (int l = level; l < layout_->levels(); ++l) {
    if (single_ && l + 1 == layout_->levels()) {
      certificate_->levels.back().used = tasks_;
      return;
    }
    parents_.swap(picks_);
    picks_.clear();
    AddChildren(l);
    ChooseAt(l + 1);
  }
}

uint64_t UniformFill::Fill(const index::Layout& layout,
                           index::ShapeSlots& slots, FillArea region,
                           uint32_t tasks, uint64_t placement_steps,
                           std::vector<PositionTasks>* shares,
                           Certificate* certificate) {
  layout_ = &layout;
  shape_slots_ = &slots;
  tasks_ = tasks;
  certificate_ = certificate;
  looked_at_ = 0;
  single_ = layout.levels() > 0 && slots.most() == 1;
  const auto levels = static_cast<size_t>(layout.levels());
  certificate->levels.assign(levels + 1, {1, 1});
  proven_.assign(levels + 2, 0);
  chosen_slots_.assign(levels + 1, 0);
  least_.assign(levels + 1, 0);
  proven_[region.level + 1] = region.least_children;
  picks_.clear();
  if (region.level >= 0) {
    picks_.push_back({region.domain, tasks, tasks});
  } else {
    if (levels > 0) {
      AddDomains(0, 0, layout.domains(0));
    } else {
      AddNodes(0, static_cast<uint32_t>(layout.chunks().size()));
    }
    ChooseAt(0);
  }
  FillFrom(std::max(region.level, 0));
  Certify();
  if (!certificate->optimal && placement_steps > 0 && levels > 0) {
    ImproveTwoLevels(region);
  }
  if (single_) {
    ShareNodes(shares);
  } else {
    shares->clear();
    for (const PickedDomain& p : picks_) shares->push_back({p.id, p.taken});
  }
  if (!certificate->optimal && placement_steps > 0 && levels > 0) {
    Search(placement_steps, shares);
  }
  return looked_at_;
}

}  // namespace muster::solver
