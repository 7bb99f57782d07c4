#include "lib/index/shape_slots.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "lib/cluster/device_choice.h"
#include "lib/cluster/needs.h"
#include "lib/index/slots_cost.h"

namespace muster::index {

void ShapeSlots::Bind(const Cluster& cluster, LayoutState* state,
                      const scoring::NodePolicy& policy, ShapeId shape,
                      std::optional<int64_t> score) {
  state_ = state;
  layout_ = &state->layout();
  policy_ = &policy;
  question_.shape = shape;
  only_ = score;
  prefers_ = !cluster.preferences(shape).empty();
  const DeviceRequest& request = cluster.device_request(shape);
  const bool unshared = SharesNoDevice(request);
  form_ = Form::kOther;
  if (unshared && request.models.empty()) {
    form_ = IsPlain(cluster, shape) ? Form::kPlain : Form::kWhole;
  }
  devices_ = form_ == Form::kOther ? 0 : request.count;
  inverse_ = devices_ > 0 ? Inverse(devices_) : 0;
  scans_ = &Scans();
  by_memory_ = FormOf(request) == DeviceForm::kMemory;
  by_summary_ = policy.HasNodeSummary() && unshared;
  empty_nanos_ = NanosOfColumn(cluster, shape);
  built_ = false;
  admits_version_ = 0;
}

void ShapeSlots::Refresh(const Cluster& cluster) {
  state_->Refresh(cluster);
  const uint64_t now = state_->version();
  if (built_ && version_ == now) return;
  if (!built_ || !state_->Reaches(version_)) {
    Build(cluster);
  } else if (state_->Lists(version_)) {
    Follow(cluster);
  } else {
    FollowByChunks(cluster);
  }
  admits_version_ = state_->structure_version();
  FindLostMost();
  version_ = now;
}

// Each chunk once, at its last change, whatever happened to it how often.
void ShapeSlots::Follow(const Cluster& cluster) {
  const uint64_t now = state_->version();
  for (uint64_t v = version_; v < now; ++v) {
    const LayoutState::Change& change = state_->change(v);
    Chunk& row = chunks_[change.chunk];
    row.changed |= change.nodes;
    row.structure |= change.structure;
    if (form_ == Form::kPlain) continue;
    // Apply is to wait for these lines: shapes are many, their arrays large.
    const Position p = layout_->chunks()[change.chunk].first +
                       static_cast<Position>(std::countr_zero(change.nodes));
    __builtin_prefetch(&slots_[p]);
    __builtin_prefetch(&costs_[p]);
    __builtin_prefetch(&chunk_most_[change.chunk]);
    __builtin_prefetch(&best_.entry(change.chunk));
  }
  for (uint64_t v = version_; v < now; ++v) {
    if (state_->IsLast(v)) Apply(cluster, state_->change(v).chunk);
  }
}

// Every chunk that changed, and all of it.
void ShapeSlots::FollowByChunks(const Cluster& cluster) {
  const bool structure = admits_version_ != state_->structure_version();
  for (uint32_t c = 0; c < layout_->chunks().size(); ++c) {
    if (!state_->ChangedSince(version_, c)) continue;
    chunks_[c].changed = AllNodes(c);
    chunks_[c].structure = structure;
    Apply(cluster, c);
  }
}

// Chunks whose fullest node may have lost slots.
void ShapeSlots::FindLostMost() {
  for (const uint32_t chunk : lost_) {
    const Layout::Chunk& c = layout_->chunks()[chunk];
    chunk_most_[chunk] = Greatest(std::span(slots_).subspan(c.first, c.count));
    chunks_[chunk].most_lost = false;
  }
  lost_.clear();
}

void ShapeSlots::Build(const Cluster& cluster) {
  const uint32_t size = layout_->size();
  const auto chunks = static_cast<uint32_t>(layout_->chunks().size());
  totals_ = {};
  slots_.assign(size, 0);
  unwritten_.assign(chunks / 64 + 1, 0);
  sums_.assign(layout_->first_domain(layout_->levels()), 0);
  chunk_most_.assign(chunks, 0);
  lost_.clear();
  costs_.assign(size, kNoCost);
  best_.Reset(layout_->inside_chunks(), chunks);
  chunks_.resize(chunks);
  const bool admits_known = admits_version_ == state_->structure_version();
  if (!admits_known) ForgetScores();
  for (Score& score : scores_) score.nodes = 0;
  for (uint32_t c = 0; c < chunks; ++c) {
    chunks_[c] = {.admits = chunks_[c].admits,
                  .changed = AllNodes(c),
                  .scored = chunks_[c].scored,
                  .structure = !admits_known};
    Apply(cluster, c);
  }
  built_ = true;
}

uint64_t ShapeSlots::AllNodes(uint32_t chunk) const {
  return ~uint64_t{0} >> (Layout::kChunk - layout_->chunks()[chunk].count);
}

// Bit i: whether node i of the chunk admits the shape.
uint64_t ShapeSlots::Admitting(const Cluster& cluster, uint32_t chunk) const {
  const Layout::Chunk& c = layout_->chunks()[chunk];
  uint64_t admits = 0;
  for (uint32_t i = 0; i < c.count; ++i) {
    const NodeIndex node = layout_->node(c.first + i);
    admits |= uint64_t{cluster.Admits(node, question_.shape)} << i;
  }
  return admits;
}

void ShapeSlots::Apply(const Cluster& cluster, uint32_t chunk) {
  Chunk& row = chunks_[chunk];
  const uint64_t nodes = row.changed;
  row.changed = 0;
  if (row.structure) ReadStructure(cluster, chunk);
  const uint64_t had = row.any;
  const uint32_t change = form_ == Form::kPlain
                              ? Recount(chunk)
                              : CountSlots(cluster, chunk, nodes);
  if (change != 0) AddToSums(chunk, change);
  if (row.any != had) {
    totals_.with_slots += static_cast<uint32_t>(std::popcount(row.any)) -
                          static_cast<uint32_t>(std::popcount(had));
    CountScores(chunk, had & ~row.any, uint32_t{0} - 1);
    CountScores(chunk, row.any & ~had, 1);
  }
  const uint64_t stale = nodes & (had | row.any);
  row.stale |= stale;
  const Layout::Chunk& c = layout_->chunks()[chunk];
  if (stale != 0 && (change == 0 || c.siblings == c.siblings_end)) {
    best_.Mark(chunk);
  } else if (stale != 0) {
    for (uint32_t s = c.siblings; s < c.siblings_end; ++s) best_.Mark(s);
  }
}

// Which of the chunk's nodes admit the shape, and how well it likes them.
void ShapeSlots::ReadStructure(const Cluster& cluster, uint32_t chunk) {
  Chunk& row = chunks_[chunk];
  CountScores(chunk, row.any, uint32_t{0} - 1);
  row.admits = Admitting(cluster, chunk);
  ReadScores(cluster, chunk);
  CountScores(chunk, row.any, 1);
  row.structure = false;
}

// Most clusters have no node that is to be avoided, and most shapes no
// preference: scores are 0 then, and are not asked for.
void ShapeSlots::ReadScores(const Cluster& cluster, uint32_t chunk) {
  Chunk& row = chunks_[chunk];
  const Position first = layout_->chunks()[chunk].first;
  const uint64_t open =
      prefers_ ? row.admits : row.admits & state_->avoidable(chunk);
  if (only_.value_or(0) != 0) row.admits = open;
  row.scored = 0;
  ForEachBit(open, [&](uint32_t i) {
    const uint64_t bit = uint64_t{1} << i;
    const int64_t score =
        cluster.Score(layout_->node(first + i), question_.shape);
    if (only_) {
      if (score != *only_) row.admits &= ~bit;
    } else if (score != 0) {
      row.scored |= bit;
      score_of_.resize(layout_->size());
      score_of_[first + i] = NumberOf(score);
    }
  });
}

uint8_t ShapeSlots::NumberOf(int64_t score) {
  const auto known = std::ranges::find(scores_, score, &Score::score);
  const auto number = static_cast<size_t>(known - scores_.begin());
  if (known == scores_.end()) scores_.push_back({score, 0});
  if (number < kMostScores) return static_cast<uint8_t>(number);
  scores_.pop_back();
  crowded_ = true;
  return 0;
}

void ShapeSlots::ForgetScores() {
  scores_.clear();
  score_of_.clear();
  crowded_ = false;
  for (Chunk& row : chunks_) row.scored = 0;
}

// The number of times is modulo 2^32.
inline void ShapeSlots::CountScores(uint32_t chunk, uint64_t nodes,
                                    uint32_t times) {
  const Position first = layout_->chunks()[chunk].first;
  ForEachBit(nodes & chunks_[chunk].scored,
             [&](uint32_t i) { scores_[score_of_[first + i]].nodes += times; });
}

// Nodes with slots whose score is 0.
uint32_t ShapeSlots::Unscored() const {
  uint32_t nodes = totals_.with_slots;
  for (const Score& score : scores_) nodes -= score.nodes;
  return nodes;
}

bool ShapeSlots::alike() const {
  if (scores_.empty()) return true;
  const auto seen = [](const Score& s) { return s.nodes > 0; };
  return !crowded_ &&
         std::ranges::count_if(scores_, seen) + (Unscored() > 0) <= 1;
}

std::optional<int64_t> ShapeSlots::ScoreBelow(int64_t bound) const {
  std::optional<int64_t> best;
  const auto consider = [&](int64_t score, uint32_t nodes) {
    if (nodes > 0 && score < bound && (!best || score > *best)) best = score;
  };
  consider(0, Unscored());
  for (const Score& score : scores_) consider(score.score, score.nodes);
  return best;
}

// Of a plain shape: the whole chunk at once. By how much its sum changed.
inline uint32_t ShapeSlots::Recount(uint32_t chunk) {
  Chunk& row = chunks_[chunk];
  const std::span<const uint64_t> at_least = state_->at_least(chunk);
  const SlotCount count = scans_->count_slots(at_least.data(), at_least.size(),
                                              devices_, row.admits);
  unwritten_[chunk / 64] |= uint64_t{1} << chunk % 64;
  const uint32_t change = count.sum - row.sum;
  row.sum = count.sum;
  row.any = count.any;
  chunk_most_[chunk] = count.most;
  return change;
}

std::span<const uint16_t> ShapeSlots::AllSlots() {
  for (uint32_t from = 0; from < unwritten_.size(); ++from) {
    ForEachBit(std::exchange(unwritten_[from], 0), [&](uint32_t i) {
      const uint32_t chunk = from * 64 + i;
      const Layout::Chunk& c = layout_->chunks()[chunk];
      scans_->divide(&state_->whole()[c.first], c.count, inverse_,
                     chunks_[chunk].any, &slots_[c.first]);
    });
  }
  return slots_;
}

// Of a node that admits the shape.
inline uint32_t ShapeSlots::Count(const Cluster& cluster, Position p) const {
  const NodeIndex node = layout_->node(p);
  if (form_ == Form::kOther) {
    return std::min(kMaxSlots, cluster.Slots(node, question_.shape,
                                             state_->ledger(), kMaxSlots));
  }
  const uint32_t most = QuotientOf(p);
  if (most == 0) return 0;
  return cluster.SlotsBesideDevices(node, question_.shape, state_->ledger(),
                                    most);
}

// Of any other: these nodes, one by one.
uint32_t ShapeSlots::CountSlots(const Cluster& cluster, uint32_t chunk,
                                uint64_t nodes) {
  Chunk& row = chunks_[chunk];
  const Position first = layout_->chunks()[chunk].first;
  uint32_t change = 0;
  ForEachBit(nodes & (row.admits | row.any), [&](uint32_t i) {
    const Position p = first + i;
    const uint64_t bit = uint64_t{1} << i;
    const uint32_t now = (row.admits & bit) != 0 ? Count(cluster, p) : 0;
    const uint32_t before = slots_[p];
    if (now == before) return;
    slots_[p] = static_cast<uint16_t>(now);
    change += now - before;
    totals_.saturated += (now == kMaxSlots) - (before == kMaxSlots);
    row.any = now > 0 ? row.any | bit : row.any & ~bit;
    uint16_t& most = chunk_most_[chunk];
    if (now >= most) {
      most = static_cast<uint16_t>(now);
    } else if (before == most && !row.most_lost) {
      row.most_lost = true;
      lost_.push_back(chunk);
    }
  });
  return change;
}

// The change is modulo 2^32: sums stay exact.
inline void ShapeSlots::AddToSums(uint32_t chunk, uint32_t change) {
  const auto signed_change = static_cast<int32_t>(change);
  (chunk < layout_->inside_chunks() ? totals_.inside : totals_.outside) +=
      static_cast<uint64_t>(int64_t{signed_change});
  for (const uint32_t domain : layout_->domains_around(chunk)) {
    sums_[domain] += change;
  }
}

// Brings the costs of these nodes of the chunk up to date.
void ShapeSlots::RefreshCostsOf(const Cluster& cluster, uint32_t chunk,
                                uint64_t nodes) {
  const Position first = layout_->chunks()[chunk].first;
  if (by_summary_) {
    policy_->NodeCosts(cluster.device_request(question_.shape), nodes,
                       state_->NodeSummaries(cluster, chunk, nodes),
                       costs_.data() + first);
    return;
  }
  ForEachBit(nodes, [&](uint32_t i) {
    const NodeIndex node = layout_->node(first + i);
    costs_[first + i] = std::min(
        policy_->NodeCost({cluster, node, state_->ledger()}, question_),
        scoring::NodePolicy::kMaxNodeCost);
  });
}

// The least cost of the chunk, which has a node with slots. All that did not
// change have the cost of the entry at the least, and the node that the entry
// names has it: the chunk is looked at only where neither decides.
uint32_t ShapeSlots::LeastCost(uint32_t chunk, uint64_t changed) {
  const Layout::Chunk& c = layout_->chunks()[chunk];
  const std::span<const uint32_t> all =
      std::span(costs_).subspan(c.first, c.count);
  const uint64_t entry = best_.entry(chunk);
  const auto before = static_cast<uint32_t>(entry >> 32);
  uint64_t mask = changed & chunks_[chunk].any;
  uint32_t least = kNoCost;
  uint8_t& at = chunks_[chunk].best_at;
  const bool stays = entry != LeastChunk::kNone && (changed >> at & 1) == 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<uint8_t>(std::countr_zero(mask));
    if (all[i] >= least || (stays && all[i] > before)) continue;
    least = all[i];
    at = i;
  }
  if (entry != LeastChunk::kNone && least <= before) return least;
  if (stays) return before;
  mask = chunks_[chunk].any;
  least = scans_->least_where(all.data(), all.size(), mask);
  while (all[std::countr_zero(mask)] != least) mask &= mask - 1;
  at = static_cast<uint8_t>(std::countr_zero(mask));
  return least;
}

inline uint64_t ShapeSlots::EntryOf(const Cluster& cluster, uint32_t chunk) {
  Chunk& row = chunks_[chunk];
  const uint64_t changed = row.stale;
  row.stale = 0;  // One without slots gets some by a change.
  if (row.any == 0) return LeastChunk::kNone;
  auto cost = static_cast<uint32_t>(best_.entry(chunk) >> 32);
  const uint64_t open = changed & row.any;
  if (open != 0) RefreshCostsOf(cluster, chunk, open);
  if (open != 0 || (changed >> row.best_at & 1) != 0) {
    cost = LeastCost(chunk, changed);
  }
  const Layout::Chunk& c = layout_->chunks()[chunk];
  const uint32_t tightness = c.siblings == c.siblings_end
                                 ? 0
                                 : sums_[layout_->domains_around(chunk).back()];
  return uint64_t{cost} << 32 | tightness;
}

// What a piece of memory is of a device depends on the largest there is: when
// that one comes or goes, every node may have another cost.
void ShapeSlots::FollowDemand(const Cluster& cluster) {
  const Resources& demand = cluster.demand(question_.shape);
  if (demand == demand_) return;
  demand_ = demand;
  for (uint32_t c = 0; c < chunks_.size(); ++c) {
    chunks_[c].stale |= chunks_[c].any;
    best_.Mark(c);
  }
}

void ShapeSlots::RefreshCosts(const Cluster& cluster) {
  if (by_memory_) FollowDemand(cluster);
  best_.Refresh([&](uint32_t chunk) { return EntryOf(cluster, chunk); });
}

bool ShapeSlots::FirstOf(uint32_t chunk, Position* first) const {
  if (chunk == LeastChunk::kNoChunk) return false;
  const auto cost = static_cast<uint32_t>(best_.entry(chunk) >> 32);
  const Layout::Chunk& c = layout_->chunks()[chunk];
  const std::span<const uint32_t> all =
      std::span(costs_).subspan(c.first, c.count);
  size_t i = FindFirst(all, cost);
  while ((chunks_[chunk].any >> i & 1) == 0 || all[i] != cost) ++i;
  *first = c.first + static_cast<Position>(i);
  return true;
}

uint32_t ShapeSlots::WithSlots(uint32_t from, uint32_t to) const {
  uint32_t count = 0;
  for (uint32_t c = from; c < to; ++c) {
    count += static_cast<uint32_t>(std::popcount(chunks_[c].any));
  }
  return count;
}

bool ShapeSlots::BestWith(uint32_t tasks, bool inside_only,
                          Position* best) const {
  const uint32_t chunks = inside_only
                              ? layout_->inside_chunks()
                              : static_cast<uint32_t>(chunk_most_.size());
  uint64_t best_entry = LeastChunk::kNone;
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    if (chunk_most_[chunk] < tasks) continue;
    const uint64_t least = best_.entry(chunk);
    if (least >= best_entry) continue;  // None can be better.
    const Layout::Chunk& c = layout_->chunks()[chunk];
    const uint64_t tightness = least & 0xffffffff;
    ForEachBit(chunks_[chunk].any, [&](uint32_t i) {
      const Position p = c.first + i;
      const uint64_t entry = uint64_t{costs_[p]} << 32 | tightness;
      if (entry >= best_entry || SlotsIn(chunk, p) < tasks) return;
      best_entry = entry;
      *best = p;
    });
  }
  return best_entry != LeastChunk::kNone;
}

}  // namespace muster::index
