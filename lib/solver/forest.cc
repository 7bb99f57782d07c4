#include "lib/solver/forest.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace muster::solver {

void Forest::Build(const Board& board, TaskId task, const Spot& spot,
                   std::span<const Spot> also, std::span<const Layer> layers) {
  board_ = &board;
  tree_ = &board.problem().tree(spot.tree);
  spot_ = spot;
  column_ = board.problem().column(task.role);
  base_ = std::min(spot.level + 1, tree_->hosts);
  const size_t levels = static_cast<size_t>(tree_->hosts - base_ + 1);
  if (levels_.size() < levels) levels_.resize(levels);
  for (size_t l = 0; l < levels; ++l) levels_[l].clear();

  const std::span<const NodeIndex> nodes = board.table().Nodes(spot_);
  board.problem().steps += nodes.size();
  for (const NodeIndex node : nodes) {
    const uint32_t slots = board.table().slots(column_, node);
    if (slots == 0 || !board.Allowed(task, node)) continue;
    const bool outside = std::any_of(also.begin(), also.end(), [&](Spot s) {
      return board.problem().tree(s.tree).DomainOf(s.level, node) != s.domain;
    });
    if (!outside) Add(node, slots);
  }
  Round(layers);
}

// Nodes come in the order of the tree, hence domains do, too.
void Forest::Add(NodeIndex node, uint32_t slots) {
  bool fresh = false;  // A wider domain was new, so this one is.
  for (int l = base_; l <= tree_->hosts; ++l) {
    std::vector<Entry>& level = at(l);
    const uint32_t domain = l == tree_->hosts ? node : tree_->DomainOf(l, node);
    fresh = fresh || level.empty() || level.back().domain != domain ||
            domain == kOutside;
    if (!fresh) continue;
    Entry entry{.domain = domain};
    if (l > base_) {
      entry.parent = static_cast<uint32_t>(at(l - 1).size()) - 1;
      Entry& parent = at(l - 1).back();
      if (parent.count++ == 0)
        parent.first = static_cast<uint32_t>(level.size());
    }
    if (l == tree_->hosts) entry.slots = entry.room = slots;
    level.push_back(entry);
  }
}

void Forest::Round(std::span<const Layer> layers) {
  slice_levels_.clear();
  for (const Layer& layer : layers) slice_levels_.push_back(layer.level);
  capacity_ = 0;
  for (int l = tree_->hosts; l >= base_; --l) {
    uint32_t size = 1;
    for (const Layer& layer : layers) {
      if (layer.level == l) size = std::max(size, layer.size);
    }
    for (Entry& e : at(l)) {
      e.slots -= e.slots % size;
      if (l > base_) {
        at(l - 1)[e.parent].slots += e.slots;
        at(l - 1)[e.parent].room += e.room;
      } else {
        capacity_ += e.slots;
      }
    }
  }
}

uint64_t Forest::Best(int level) const {
  if (level < base_) return capacity_;
  uint64_t best = 0;
  for (const Entry& e : at(level)) best = std::max(best, e.slots);
  return best;
}

bool Forest::Separate(int level) const {
  return std::find(slice_levels_.begin(), slice_levels_.end(), level) !=
         slice_levels_.end();
}

// The entries of the level `down` below those in [first, last).
std::pair<Forest::Pick, Forest::Pick> Forest::Below(int level, Pick first,
                                                    Pick last, int down) const {
  for (int l = level; l < down; ++l) {
    last = at(l)[last - 1].first + at(l)[last - 1].count;
    first = at(l)[first].first;
  }
  return {first, last};
}

// The score that `tasks` tasks get in the domain at best.
int64_t Forest::ScoreOf(int level, Pick pick, uint32_t tasks) {
  if (!board_->table().HasScores(column_)) return 0;
  const auto [first, last] = Below(level, pick, pick + 1, tree_->hosts);
  by_score_.clear();
  for (Pick p = first; p < last; ++p) {
    const Entry& e = at(tree_->hosts)[p];
    by_score_.emplace_back(-board_->table().Score(column_, e.domain),
                           static_cast<uint32_t>(e.slots));
  }
  std::sort(by_score_.begin(), by_score_.end());
  int64_t score = 0;
  for (const auto& [negated, slots] : by_score_) {
    const uint32_t taken = std::min(slots, tasks);
    score -= negated * taken;
    tasks -= taken;
  }
  return score;
}

int Forest::NearnessOf(int level, const Entry& e) const {
  if (e.domain == kOutside) return tree_->hosts + 1;
  return board_->Nearness({spot_.tree, level, e.domain});
}

Forest::Rank Forest::RankOf(int level, Pick pick, uint32_t tasks) {
  const Entry& e = at(level)[pick];
  Rank rank{.pick = pick};
  rank.nearness = NearnessOf(level, e);
  rank.score = -ScoreOf(level, pick, tasks);
  rank.tightness = static_cast<int64_t>(e.room);
  return rank;
}

// The best single entry in [first, last) with room for all tasks.
bool Forest::One(int level, Pick first, Pick last, uint32_t tasks, Pick* best) {
  bool found = false;
  Rank best_rank;
  const Cluster& cluster = board_->cluster();
  const Ledger ledger = board_->problem().request().ledger;
  const ResourceKind kinds = cluster.resource_count();
  const ResourceKind device = cluster.device_kind();
  for (Pick p = first; p < last; ++p) {
    if (at(level)[p].slots < tasks) continue;
    Rank rank = RankOf(level, p, tasks);
    if (level == tree_->hosts) {
      rank.tightness = 0;
      const NodeIndex a = at(level)[p].domain;
      if (device < kinds) rank.tightness = cluster.free(a, device, ledger);
      if (found && std::tie(rank.nearness, rank.score, rank.tightness) ==
                       std::tie(best_rank.nearness, best_rank.score,
                                best_rank.tightness)) {
        const NodeIndex b = at(level)[best_rank.pick].domain;
        for (ResourceKind k = 0; k < kinds; ++k) {
          const int64_t less =
              cluster.free(a, k, ledger) - cluster.free(b, k, ledger);
          if (less > 0) break;
          if (less < 0) {
            best_rank = rank;
            break;
          }
        }
        continue;
      }
    }
    if (!found || rank < best_rank) best_rank = rank;
    found = true;
  }
  if (found) *best = best_rank.pick;
  return found;
}

// Keeps, of the candidates in picks_, the fewest that hold the tasks, and
// writes down how many each gets. The largest first; the last as tight as can
// be.
void Forest::Several(int level, uint32_t tasks) {
  std::vector<Entry>& entries = at(level);
  std::sort(picks_.begin(), picks_.end(), [&](Pick a, Pick b) {
    if (entries[a].slots != entries[b].slots) {
      return entries[a].slots > entries[b].slots;
    }
    if (entries[a].room != entries[b].room) {
      return entries[a].room < entries[b].room;
    }
    return a < b;
  });
  size_t domains = 0;
  for (uint64_t held = 0; held < tasks; ++domains) {
    held += entries[picks_[domains]].slots;
  }
  if (board_->table().HasScores(column_)) {
    SeveralByScore(level, tasks, domains);
  } else {
    uint32_t left = tasks;
    for (size_t i = 0; i + 1 < domains; ++i) {
      entries[picks_[i]].chosen =
          static_cast<uint32_t>(entries[picks_[i]].slots);
      left -= entries[picks_[i]].chosen;
    }
    size_t tightest = domains - 1;
    std::pair<int, uint64_t> best{tree_->hosts + 2, 0};
    for (size_t i = domains - 1; i < picks_.size(); ++i) {
      const Entry& e = entries[picks_[i]];
      if (e.slots < left) break;
      const std::pair<int, uint64_t> rank{NearnessOf(level, e), e.room};
      if (rank >= best) continue;
      best = rank;
      tightest = i;
    }
    entries[picks_[tightest]].chosen = left;
    picks_[domains - 1] = picks_[tightest];
    picks_.resize(domains);
  }
  std::sort(picks_.begin(), picks_.end());
}

// As Several, the best score first among the choices that keep the number of
// domains.
void Forest::SeveralByScore(int level, uint32_t tasks, size_t domains) {
  std::vector<Entry>& entries = at(level);
  uint32_t left = tasks;
  for (size_t chosen = 0; chosen < domains; ++chosen) {
    const size_t others = domains - chosen - 1;
    uint64_t top = 0;  // What the largest `others` hold.
    for (size_t i = 0; i < others; ++i)
      top += entries[picks_[chosen + i]].slots;
    size_t best = chosen;
    Rank best_rank;
    bool found = false;
    for (size_t i = chosen; i < picks_.size(); ++i) {
      const uint64_t slots = entries[picks_[i]].slots;
      uint64_t rest = top;
      if (i < chosen + others) {
        rest = top - slots + entries[picks_[chosen + others]].slots;
      }
      if (slots + rest < left) break;
      Rank rank = RankOf(level, picks_[i],
                         std::min(left, static_cast<uint32_t>(slots)));
      // More preferred tasks before tighter fit; per task, not in all.
      rank.score /= static_cast<int64_t>(std::min<uint64_t>(left, slots));
      if (others > 0) rank.tightness = -rank.tightness;
      if (!found || rank < best_rank) {
        found = true;
        best = i;
        best_rank = rank;
      }
    }
    const Pick pick = picks_[best];
    picks_.erase(picks_.begin() + static_cast<ptrdiff_t>(best));
    picks_.insert(picks_.begin() + static_cast<ptrdiff_t>(chosen), pick);
    entries[pick].chosen =
        std::min(left, static_cast<uint32_t>(entries[pick].slots));
    left -= entries[pick].chosen;
  }
  picks_.resize(domains);
}

// picks_ are the chosen entries of `level`, with `tasks` in all: chooses among
// their children, level by level, to the hosts.
void Forest::Descend(int level, uint32_t tasks) {
  while (level < tree_->hosts) {
    if (Separate(level) && picks_.size() > 1) return DescendSeparately(level);
    if (picks_.size() == 1) {
      Pick first = picks_[0];
      Pick last = first + 1;
      std::array<std::pair<Pick, Pick>, 18> ranges;
      ranges[static_cast<size_t>(level - base_)] = {first, last};
      for (int l = level; l < tree_->hosts; ++l) {
        last = at(l)[last - 1].first + at(l)[last - 1].count;
        first = at(l)[first].first;
        ranges[static_cast<size_t>(l + 1 - base_)] = {first, last};
      }
      bool found = false;
      for (int l = tree_->hosts; l > level && !found; --l) {
        const auto [from, to] = ranges[static_cast<size_t>(l - base_)];
        Pick best = 0;
        if (!One(l, from, to, tasks, &best)) continue;
        found = true;
        at(l)[best].chosen = tasks;
        picks_.assign(1, best);
        level = l;
      }
      if (found) continue;
    }
    const size_t parents = picks_.size();
    for (size_t i = 0; i < parents; ++i) {
      const Entry& e = at(level)[picks_[i]];
      for (uint32_t c = 0; c < e.count; ++c) picks_.push_back(e.first + c);
    }
    picks_.erase(picks_.begin(),
                 picks_.begin() + static_cast<ptrdiff_t>(parents));
    ++level;
    Several(level, tasks);
  }
}

// Below the level of slices each domain keeps the number of tasks it got.
void Forest::DescendSeparately(int level) {
  const size_t first = separate_.size();
  separate_.insert(separate_.end(), picks_.begin(), picks_.end());
  const size_t last = separate_.size();
  for (size_t i = first; i < last; ++i) {
    picks_.assign(1, separate_[i]);
    Descend(level, at(level)[separate_[i]].chosen);
  }
  separate_.resize(first);
}

void Forest::Collect(std::vector<Share>* shares) const {
  for (const Entry& e : at(tree_->hosts)) {
    if (e.chosen > 0) shares->push_back({e.domain, e.chosen});
  }
}

bool Forest::Distribute(uint32_t tasks, int required,
                        std::vector<Share>* shares) {
  shares->clear();
  if (capacity_ < tasks) return false;
  int level = kEverywhere;
  Pick best = 0;
  for (int l = tree_->hosts; l >= base_ && l >= required; --l) {
    const Pick last = static_cast<Pick>(at(l).size());
    if (!One(l, 0, last, tasks, &best)) continue;
    level = l;
    break;
  }
  if (level == kEverywhere) {
    if (required >= base_) return false;
    level = base_;
    picks_.clear();
    for (Pick p = 0; p < at(base_).size(); ++p) picks_.push_back(p);
    Several(base_, tasks);
  } else {
    at(level)[best].chosen = tasks;
    picks_.assign(1, best);
  }
  Descend(level, tasks);
  Collect(shares);
  return true;
}

}  // namespace muster::solver
