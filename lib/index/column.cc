#include "lib/index/column.h"

#include <algorithm>

namespace muster::index {

void Column::Bind(const Layout& layout, const policy::NodePolicy& policy,
                  ShapeId shape, Ledger ledger) {
  layout_ = &layout;
  policy_ = &policy;
  question_ = {.shape = shape, .ledger = ledger};
  built_ = false;
  level_first_.assign(1, 0);
  for (int l = 0; l < layout.levels(); ++l) {
    level_first_.push_back(level_first_.back() + layout.domains(l));
  }
  const uint32_t inside = layout.inside_chunks();
  outside_shift_ = (inside + kGroup - 1) / kGroup * kGroup - inside;
}

void Column::Refresh(const Cluster& cluster, Scratch* scratch) {
  const uint64_t now = cluster.changed_version();
  if (built_ && version_ == now) return;
  if (!built_ || !cluster.ChangedSince(version_, &scratch->changed)) {
    Build(cluster);
  } else {
    scratch->seen.resize(cluster.node_limit(), 0);
    ++scratch->refresh;
    for (const NodeIndex n : scratch->changed) {
      if (scratch->seen[n] == scratch->refresh) continue;
      scratch->seen[n] = scratch->refresh;
      Update(cluster, layout_->position(n));
    }
  }
  FindLostMost();
  version_ = now;
}

// Chunks whose fullest node may have lost slots.
void Column::FindLostMost() {
  for (const uint32_t chunk : lost_) {
    const Layout::Chunk& c = layout_->chunks()[chunk];
    chunk_most_[chunk] = Greatest(std::span(slots_).subspan(c.first, c.count));
    most_lost_[chunk] = 0;
  }
  lost_.clear();
}

void Column::Build(const Cluster& cluster) {
  const uint32_t size = layout_->size();
  const size_t chunks = layout_->chunks().size();
  inside_ = outside_ = 0;
  saturated_ = reluctant_ = 0;
  avoided_.clear();
  slots_.assign(size, 0);
  sums_.assign(level_first_.back(), 0);
  chunk_most_.assign(chunks, 0);
  chunk_any_.assign(chunks, 0);
  most_lost_.assign(chunks, 0);
  lost_.clear();
  ranks_.assign(size, kNoRank);
  chunk_best_.assign((chunks + outside_shift_ + kGroup - 1) / kGroup * kGroup,
                     kNoEntry);
  group_best_.assign(chunk_best_.size() / kGroup, kNoEntry);
  chunk_marked_.assign(chunks, 0);
  marked_.clear();
  built_ = true;
  for (Position p = 0; p < size; ++p) Update(cluster, p);
}

void Column::Update(const Cluster& cluster, Position p) {
  const NodeIndex node = layout_->node(p);
  uint32_t now =
      cluster.Slots(node, question_.shape, question_.ledger, kMaxSlots + 1);
  const uint32_t before = slots_[p];
  if (now > kMaxSlots) now = kMaxSlots;
  const uint32_t chunk = layout_->chunk_of(p);
  if (now != before) CountSlots(p, before, now);
  ranks_[p] = now > 0 ? kStaleRank : kNoRank;
  if (now > 0 || before > 0) {
    CountReluctance(cluster, p);
    MarkDomain(chunk, now != before);
  }
}

void Column::CountSlots(Position p, uint32_t before, uint32_t now) {
  const uint32_t chunk = layout_->chunk_of(p);
  slots_[p] = static_cast<uint16_t>(now);
  saturated_ += (now == kMaxSlots) - (before == kMaxSlots);
  const uint32_t change = now - before;  // Modulo 2^32: sums stay exact.
  uint32_t domain = layout_->chunks()[chunk].domain;
  if (p < layout_->inside()) {
    inside_ += uint64_t{now} - before;
  } else {
    outside_ += uint64_t{now} - before;
  }
  if (domain != Layout::kNoDomain) {
    for (int l = layout_->levels() - 1; l >= 0; --l) {
      sums_[level_first_[l] + domain] += change;
      domain = layout_->parents(l)[domain];
    }
  }
  const Layout::Chunk& c = layout_->chunks()[chunk];
  const uint64_t bit = uint64_t{1} << (p - c.first);
  chunk_any_[chunk] =
      now > 0 ? chunk_any_[chunk] | bit : chunk_any_[chunk] & ~bit;
  uint16_t& most = chunk_most_[chunk];
  if (now >= most) {
    most = static_cast<uint16_t>(now);
  } else if (before == most && most_lost_[chunk] == 0) {
    most_lost_[chunk] = 1;
    lost_.push_back(chunk);
  }
}

void Column::CountReluctance(const Cluster& cluster, Position p) {
  const NodeIndex node = layout_->node(p);
  const bool avoided = slots_[p] > 0 && !cluster.node(node).taints.empty() &&
                       cluster.Reluctance(node, question_.shape) > 0;
  if (avoided_.empty()) {
    if (!avoided) return;
    avoided_.assign(layout_->size(), 0);
  }
  reluctant_ += avoided - avoided_[p];
  avoided_[p] = avoided;
}

void Column::MarkChunk(uint32_t chunk) {
  if (chunk_marked_[chunk] != 0) return;
  chunk_marked_[chunk] = 1;
  marked_.push_back(chunk);
}

std::pair<uint32_t, uint32_t> Column::TightChunks(uint32_t chunk) const {
  const uint32_t domain = layout_->chunks()[chunk].domain;
  if (domain == Layout::kNoDomain) return {0, 0};
  const uint32_t first = layout_->first_chunk(domain);
  const uint32_t last = layout_->first_chunk(domain + 1);
  if (last - first > kMaxTightChunks) return {0, 0};
  return {first, last};
}

// The chunk's best may differ; with the sums also that of its domain's others.
void Column::MarkDomain(uint32_t chunk, bool sums_changed) {
  MarkChunk(chunk);
  if (!sums_changed) return;
  const auto [first, last] = TightChunks(chunk);
  for (uint32_t c = first; c < last; ++c) MarkChunk(c);
}

uint64_t Column::Entry(uint32_t chunk) const {
  const Layout::Chunk& c = layout_->chunks()[chunk];
  const uint32_t rank = Least(std::span(ranks_).subspan(c.first, c.count));
  if (rank == kNoRank) return kNoEntry;
  const auto [first, last] = TightChunks(chunk);
  const uint32_t tightness =
      first == last ? 0 : sums(layout_->levels() - 1)[c.domain];
  return uint64_t{rank} << 32 | tightness;
}

void Column::RefreshChunk(const Cluster& cluster, uint32_t chunk) {
  const Layout::Chunk& c = layout_->chunks()[chunk];
  for (Position p = c.first; p < c.first + c.count; ++p) {
    if (ranks_[p] != kStaleRank) continue;
    ranks_[p] = std::min(policy_->Rank(cluster, layout_->node(p), question_),
                         kStaleRank - 1);
  }
  chunk_best_[EntryAt(chunk)] = Entry(chunk);
  chunk_marked_[chunk] = 0;
}

void Column::RefreshRanks(const Cluster& cluster) {
  if (marked_.empty()) return;
  uint32_t last_group = 0xffffffff;
  const auto refresh_group = [&](uint32_t group) {
    const std::span<const uint64_t> entries(
        chunk_best_.data() + size_t{group} * kGroup, kGroup);
    group_best_[group] = entries[LeastAt(entries)];
  };
  for (const uint32_t chunk : marked_) {
    RefreshChunk(cluster, chunk);
    const uint32_t group = EntryAt(chunk) / kGroup;
    if (group != last_group && last_group != 0xffffffff) {
      refresh_group(last_group);
    }
    last_group = group;
  }
  refresh_group(last_group);
  marked_.clear();
}

bool Column::Best(bool inside_only, Position* best) const {
  const uint32_t inside_groups =
      (layout_->inside_chunks() + outside_shift_) / kGroup;
  const std::span<const uint64_t> groups =
      std::span(group_best_).first(inside_only ? inside_groups : GroupCount());
  const size_t group = LeastAt(groups);
  if (group == kNowhere || groups[group] == kNoEntry) return false;
  const std::span<const uint64_t> entries(chunk_best_.data() + group * kGroup,
                                          kGroup);
  uint32_t chunk = static_cast<uint32_t>(group * kGroup + LeastAt(entries));
  const uint32_t rank = static_cast<uint32_t>(chunk_best_[chunk] >> 32);
  if (group >= inside_groups) chunk -= outside_shift_;
  const Layout::Chunk& c = layout_->chunks()[chunk];
  *best = c.first + static_cast<Position>(FindFirst(
                        std::span(ranks_).subspan(c.first, c.count), rank));
  return true;
}

bool Column::BestWith(uint32_t tasks, bool inside_only, Position* best) const {
  const uint32_t chunks = inside_only
                              ? layout_->inside_chunks()
                              : static_cast<uint32_t>(chunk_most_.size());
  uint64_t best_entry = kNoEntry;
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    if (chunk_most_[chunk] < tasks) continue;
    const uint32_t at = EntryAt(chunk);
    if (chunk_best_[at] >= best_entry) continue;  // None can be better.
    const Layout::Chunk& c = layout_->chunks()[chunk];
    const uint64_t tightness = chunk_best_[at] & 0xffffffff;
    for (Position p = c.first; p < c.first + c.count; ++p) {
      if (slots_[p] < tasks) continue;
      const uint64_t entry = uint64_t{ranks_[p]} << 32 | tightness;
      if (entry >= best_entry) continue;
      best_entry = entry;
      *best = p;
    }
  }
  return best_entry != kNoEntry;
}

std::string Column::Difference(const Cluster& cluster) const {
  Column fresh;
  fresh.Bind(*layout_, *policy_, question_.shape, question_.ledger);
  Scratch scratch;
  fresh.Refresh(cluster, &scratch);
  fresh.RefreshRanks(cluster);
  if (slots_ != fresh.slots_) return "slots";
  if (sums_ != fresh.sums_) return "sums";
  if (inside_ != fresh.inside_ || outside_ != fresh.outside_) return "totals";
  if (chunk_most_ != fresh.chunk_most_) return "chunk_most";
  if (chunk_any_ != fresh.chunk_any_) return "chunk_any";
  if (saturated_ != fresh.saturated_) return "saturated";
  if (reluctant_ != fresh.reluctant_) return "reluctant";
  if (!marked_.empty()) return "";  // Ranks were not asked for yet.
  if (ranks_ != fresh.ranks_) return "ranks";
  if (chunk_best_ != fresh.chunk_best_) return "chunk_best";
  if (group_best_ != fresh.group_best_) return "group_best";
  return "";
}

}  // namespace muster::index
