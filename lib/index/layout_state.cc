#include "lib/index/layout_state.h"

#include <algorithm>
#include <bit>

#include "lib/cluster/device_choice.h"
#include "lib/index/scan.h"

namespace muster::index {
namespace {

bool Avoidable(const Node& node) {
  return std::ranges::find(node.taints, TaintEffect::kPreferNoSchedule,
                           &Taint::effect) != node.taints.end();
}

}  // namespace

void LayoutState::Bind(const Layout& layout, const scoring::NodePolicy& policy,
                       Ledger ledger) {
  layout_ = &layout;
  policy_ = &policy;
  ledger_ = ledger;
  has_summaries_ = policy.HasNodeSummary();
  built_ = false;
}

void LayoutState::Refresh(const Cluster& cluster) {
  const uint64_t now = cluster.changed_version();
  if (built_ && cluster_version_ == now) return;
  if (!built_ || !cluster.ChangedSince(cluster_version_, &changed_)) {
    Build(cluster);
  } else {
    Follow(cluster);
  }
  structure_version_ = cluster.structure_version();
  cluster_version_ = now;
}

// What happened to nodes of one chunk in a row becomes one entry.
void LayoutState::Follow(const Cluster& cluster) {
  const bool structure = structure_version_ != cluster.structure_version();
  const uint32_t levels = levels_;
  bool fewer = false;  // Whether the node with the most has lost devices.
  cluster.FreeDevicesEach(changed_, ledger_, &free_);
  for (size_t i = 0; i < changed_.size();) {
    const Position first = layout_->position(changed_[i]);
    const uint32_t chunk = layout_->chunk_of(first);
    const Position start = layout_->chunks()[chunk].first;
    const uint32_t count = layout_->chunks()[chunk].count;
    uint64_t nodes = 0;
    for (; i < changed_.size(); ++i) {
      const Position p = layout_->position(changed_[i]);
      if (p - start >= count) break;
      nodes |= uint64_t{1} << (p - start);
      SetWhole(p, free_[i], levels);
      if (!structure) continue;
      const uint8_t before = devices_[p];
      ReadStructure(cluster, p);
      fewer |= before == levels && devices_[p] < before;
    }
    if (has_summaries_) chunk_stale_[chunk] |= nodes;
    ring_[version_++ & (ring_.size() - 1)] = {nodes, chunk, structure};
    chunk_version_[chunk] = version_;
  }
  if (fewer) levels_ = *std::ranges::max_element(devices_);
  if (levels != levels_) SortAll();
}

// Enters the devices that are wholly free, with so many levels in at_least_.
void LayoutState::SetWhole(Position p, uint32_t devices, uint32_t levels) {
  uint64_t* at_least = at_least_.data() + size_t{layout_->chunk_of(p)} * levels;
  const uint32_t before = whole_[p];
  whole_[p] = static_cast<uint8_t>(devices);
  const uint32_t end = std::min(std::max(before, devices), levels);
  for (uint32_t k = std::min(before, devices); k < end; ++k) {
    at_least[k] ^= layout_->bit(p);
  }
}

// By the devices that are wholly free.
void LayoutState::SortAll() {
  at_least_.resize(layout_->chunks().size() * levels_);
  for (uint32_t c = 0; c < layout_->chunks().size(); ++c) {
    const Layout::Chunk& chunk = layout_->chunks()[c];
    Scans().at_least(whole_.data() + chunk.first, chunk.count, levels_,
                     at_least_.data() + size_t{c} * levels_);
  }
}

void LayoutState::Build(const Cluster& cluster) {
  const uint32_t size = layout_->size();
  ring_.resize(std::bit_ceil(2 * layout_->chunks().size() + 64));
  // All that was read before is out of date.
  oldest_ = ++version_;
  devices_.assign(size, 0);
  avoidable_.assign(layout_->chunks().size(), 0);
  avoidable_nodes_ = 0;
  chunk_version_.assign(layout_->chunks().size(), version_);
  if (has_summaries_) {
    summaries_.assign(size, 0);
    chunk_stale_.assign(layout_->chunks().size(), ~uint64_t{0});
  }
  cluster.FreeDevicesEach(layout_->nodes(), ledger_, &whole_);
  levels_ = 0;
  for (Position p = 0; p < size; ++p) ReadStructure(cluster, p);
  SortAll();
  built_ = true;
}

void LayoutState::ReadStructure(const Cluster& cluster, Position p) {
  const NodeIndex node = layout_->node(p);
  const uint32_t chunk = layout_->chunk_of(p);
  const uint64_t bit = layout_->bit(p);
  devices_[p] = static_cast<uint8_t>(cluster.node(node).devices.size());
  levels_ = std::max<uint32_t>(levels_, devices_[p]);
  const uint64_t before = avoidable_[chunk];
  const bool now = Avoidable(cluster.node(node));
  avoidable_[chunk] = now ? before | bit : before & ~bit;
  avoidable_nodes_ += now - ((before & bit) != 0);
}

const uint64_t* LayoutState::NodeSummaries(const Cluster& cluster,
                                           uint32_t chunk, uint64_t nodes) {
  const Position first = layout_->chunks()[chunk].first;
  ForEachBit(chunk_stale_[chunk] & nodes, [&](uint32_t i) {
    summaries_[first + i] =
        policy_->NodeSummary({cluster, layout_->node(first + i), ledger_});
  });
  chunk_stale_[chunk] &= ~nodes;
  return summaries_.data() + first;
}

}  // namespace muster::index
