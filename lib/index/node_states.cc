#include "lib/index/node_states.h"

#include <algorithm>
#include <bit>

namespace muster::index {
namespace {

bool Avoidable(const Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [](const Taint& taint) {
                       return taint.effect == TaintEffect::kPreferNoSchedule;
                     });
}

}  // namespace

void NodeStates::Bind(const Layout& layout, const policy::NodePolicy& policy,
                      Ledger ledger) {
  layout_ = &layout;
  policy_ = &policy;
  ledger_ = ledger;
  keeps_ranks_ = policy.SameForUnshared();
  built_ = false;
}

void NodeStates::Refresh(const Cluster& cluster) {
  const uint64_t now = cluster.changed_version();
  if (built_ && cluster_version_ == now) return;
  if (!built_ || !cluster.ChangedSince(cluster_version_, &changed_)) {
    Build(cluster);
  } else {
    const bool structure = structure_version_ != cluster.structure_version();
    const uint64_t before = version_;
    cluster.FreeDevicesEach(changed_, ledger_, &free_);
    for (size_t i = 0; i < changed_.size(); ++i) {
      const Position p = layout_->position(changed_[i]);
      const uint32_t chunk = layout_->chunk_of(p);
      const uint64_t bit = layout_->bit(p);
      whole_[p] = free_[i];
      if (keeps_ranks_) chunk_stale_[chunk] |= bit;
      if (structure) ReadStructure(cluster, p);
      // Nobody has seen this round's changes yet.
      if (version_ > before) {
        Change& last = ring_[(version_ - 1) & (ring_.size() - 1)];
        if (last.chunk == chunk) {
          last.nodes |= bit;
          continue;
        }
      }
      ring_[version_++ & (ring_.size() - 1)] = {bit, chunk, structure};
      chunk_version_[chunk] = version_;
    }
  }
  structure_version_ = cluster.structure_version();
  cluster_version_ = now;
}

void NodeStates::Build(const Cluster& cluster) {
  const uint32_t size = layout_->size();
  ring_.resize(std::bit_ceil(2 * layout_->chunks().size() + 64));
  // Whoever saw anything before has to look at everything.
  oldest_ = ++version_;
  devices_.assign(size, 0);
  avoidable_.assign(layout_->chunks().size(), 0);
  any_avoidable_ = 0;
  chunk_version_.assign(layout_->chunks().size(), version_);
  if (keeps_ranks_) {
    ranks_.assign(size, kNoRank);
    chunk_stale_.assign(layout_->chunks().size(), ~uint64_t{0});
  }
  cluster.FreeDevicesEach(layout_->nodes(), ledger_, &whole_);
  for (Position p = 0; p < size; ++p) ReadStructure(cluster, p);
  built_ = true;
}

void NodeStates::ReadStructure(const Cluster& cluster, Position p) {
  const NodeIndex node = layout_->node(p);
  const uint32_t chunk = layout_->chunk_of(p);
  const uint64_t bit = layout_->bit(p);
  devices_[p] = static_cast<uint8_t>(cluster.node(node).devices.size());
  const uint64_t before = avoidable_[chunk];
  const bool now = Avoidable(cluster.node(node));
  avoidable_[chunk] = now ? before | bit : before & ~bit;
  any_avoidable_ += now - ((before & bit) != 0);
}

void NodeStates::RefreshRanks(const Cluster& cluster, ShapeId shape,
                              uint32_t chunk, uint64_t nodes) {
  const policy::Question question{.shape = shape, .ledger = ledger_};
  const Position first = layout_->chunks()[chunk].first;
  for (uint64_t mask = chunk_stale_[chunk] & nodes; mask != 0;
       mask &= mask - 1) {
    const Position p = first + static_cast<Position>(std::countr_zero(mask));
    ranks_[p] = std::min(policy_->Rank(cluster, layout_->node(p), question),
                         kNoRank - 1);
  }
  chunk_stale_[chunk] &= ~nodes;
}

std::string NodeStates::Difference(const Cluster& cluster) const {
  NodeStates fresh;
  fresh.Bind(*layout_, *policy_, ledger_);
  fresh.Refresh(cluster);
  if (whole_ != fresh.whole_) return "whole devices";
  if (devices_ != fresh.devices_) return "devices";
  if (avoidable_ != fresh.avoidable_) return "avoidable";
  if (any_avoidable_ != fresh.any_avoidable_) return "any_avoidable";
  return "";
}

}  // namespace muster::index
