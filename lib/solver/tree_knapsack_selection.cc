#include "lib/solver/tree_knapsack_selection.h"

#include <algorithm>
#include <utility>

namespace muster::solver::knapsack {
namespace {

using PickedDomain = Selection::PickedDomain;

bool LargerFirst(const PickedDomain& a, const PickedDomain& b) {
  return a.slots != b.slots ? a.slots > b.slots : a.id < b.id;
}

}  // namespace

void Selection::Reset(int levels) {
  if (levels_.size() < static_cast<size_t>(levels)) levels_.resize(levels);
  for (std::vector<PickedDomain>& level : levels_) level.clear();
}

// Fills offers_ with what can take tasks below the picks of the level above.
void Selection::Gather(const TreeQuestion& tree, int level) {
  offers_.clear();
  const auto offer = [&](uint32_t parent, TreeQuestion::Range range) {
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const uint32_t slots = tree.slots(level, i);
      if (slots > 0) offers_.push_back({i, parent, slots});
    }
  };
  if (level == 0) return offer(0, tree.all(0));
  for (uint32_t p = 0; p < used(level - 1); ++p) {
    offer(p, tree.children(level - 1, levels_[level - 1][p].id));
  }
}

void Selection::PickFewest(const TreeQuestion& tree, int level) {
  Gather(tree, level);
  std::ranges::sort(offers_, LargerFirst);
  uint64_t rest = tree.tasks;
  size_t count = 0;
  while (offers_[count].slots < rest) rest -= offers_[count++].slots;
  // The last in order that serves, then the first of its like.
  size_t last = count;
  while (last + 1 < offers_.size() && offers_[last + 1].slots >= rest) ++last;
  while (last > count && offers_[last - 1].slots == offers_[last].slots) --last;
  levels_[level].assign(offers_.begin(), offers_.begin() + count);
  levels_[level].push_back(offers_[last]);
}

void Selection::Complete(const TreeQuestion& tree, int level) {
  for (int l = level + 1; l <= tree.last(); ++l) PickFewest(tree, l);
  std::ranges::sort(levels_[tree.last()], LargerFirst);
}

bool Selection::BetterThan(const Selection& other) const {
  for (size_t l = 0; l < levels_.size(); ++l) {
    if (levels_[l].size() != other.levels_[l].size()) {
      return levels_[l].size() < other.levels_[l].size();
    }
  }
  return false;
}

// The capacity of a domain's nodes if all that take tasks are alike, else 0.
uint32_t Selection::NodeSize(const TreeQuestion& tree, int level, uint32_t id) {
  uint32_t size = 0;
  const TreeQuestion::Range children = tree.children(level, id);
  for (uint32_t i = children.begin; i < children.end; ++i) {
    const uint32_t slots = tree.slots(level + 1, i);
    if (slots == 0 || slots == size) continue;
    if (size != 0) return 0;
    size = slots;
  }
  return size;
}

void Selection::Tighten(const TreeQuestion& tree) {
  // With nodes all alike their number does not depend on where they are.
  int level = tree.last();
  uint32_t size = NodeSize(tree, level - 1, levels_[level - 1][0].id);
  for (const PickedDomain& pick : levels_[level - 1]) {
    if (NodeSize(tree, level - 1, pick.id) != size) size = 0;
  }
  if (size > 0) --level;
  taken_.clear();
  children_.assign(level == 0 ? 1 : levels_[level - 1].size(), 0);
  uint64_t over = 0;
  for (const PickedDomain& pick : levels_[level]) {
    taken_.push_back(pick.id);
    ++children_[pick.parent];
    over += pick.slots;
  }
  over -= tree.tasks;
  if (over == 0) return;
  std::ranges::sort(taken_);
  Gather(tree, level);
  std::erase_if(offers_, [&](const PickedDomain& offer) {
    return std::ranges::binary_search(taken_, offer.id) ||
           (size > 0 && NodeSize(tree, level, offer.id) != size);
  });
  std::ranges::sort(offers_, LargerFirst);
  bool changed = false;
  while (over > 0 && ExchangeOne(level, &over)) changed = true;
  if (changed) Complete(tree, level);
}

// The offer to take in a pick's place that leaves the least over, of equals the
// first; kNone if there is no tighter one.
size_t Selection::TighterThan(const PickedDomain& pick, uint64_t over) const {
  const uint64_t least = pick.slots - std::min<uint64_t>(pick.slots, over);
  size_t best = kNone;
  size_t i = std::partition_point(offers_.begin(), offers_.end(),
                                  [&](const PickedDomain& offer) {
                                    return offer.slots >= least;
                                  }) -
             offers_.begin();
  while (i-- > 0) {
    const PickedDomain& offer = offers_[i];
    if (offer.slots >= pick.slots) break;
    if (best != kNone && offer.slots > offers_[best].slots) break;
    // No pick of the level above is left empty.
    if (children_[pick.parent] > 1 || offer.parent == pick.parent) best = i;
  }
  return best;
}

bool Selection::ExchangeOne(int level, uint64_t* over) {
  uint32_t most = 0;
  PickedDomain* out = nullptr;
  PickedDomain* in = nullptr;
  for (PickedDomain& pick : levels_[level]) {
    const size_t offer = TighterThan(pick, *over);
    if (offer == kNone || pick.slots - offers_[offer].slots <= most) continue;
    most = pick.slots - offers_[offer].slots;
    out = &pick;
    in = &offers_[offer];
  }
  if (out == nullptr) return false;
  *over -= most;
  --children_[out->parent];
  ++children_[in->parent];
  std::swap(*out, *in);
  std::ranges::sort(offers_, LargerFirst);
  return true;
}

}  // namespace muster::solver::knapsack
