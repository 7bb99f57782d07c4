#include "lib/index/node_states.h"

#include <algorithm>
#include <bit>
#include <numeric>

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
    for (const NodeIndex n : changed_) {
      const Position p = layout_->position(n);
      const uint32_t chunk = layout_->chunk_of(p);
      const uint64_t bit = layout_->bit(p);
      Read(cluster, p, structure);
      // Nobody has seen this round's changes yet.
      if (version_ > before) {
        Change& last = ring_[(version_ - 1) & (ring_.size() - 1)];
        if (last.chunk == chunk) {
          last.nodes |= bit;
          continue;
        }
      }
      ring_[version_++ & (ring_.size() - 1)] = {bit, chunk, structure};
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
  whole_.assign(size, 0);
  avoidable_.assign(layout_->chunks().size(), 0);
  any_avoidable_ = 0;
  stale_.clear();
  if (keeps_ranks_) {
    ranks_.assign(size, kStaleRank);
    stale_.resize(size);
    std::iota(stale_.begin(), stale_.end(), Position{0});
  }
  for (Position p = 0; p < size; ++p) Read(cluster, p, true);
  built_ = true;
}

void NodeStates::Read(const Cluster& cluster, Position p, bool structure) {
  const NodeIndex node = layout_->node(p);
  whole_[p] = static_cast<uint8_t>(cluster.free_devices(node, ledger_));
  if (keeps_ranks_ && ranks_[p] != kStaleRank) {
    ranks_[p] = kStaleRank;
    stale_.push_back(p);
  }
  if (!structure) return;
  const uint32_t chunk = layout_->chunk_of(p);
  const uint64_t bit = layout_->bit(p);
  const uint64_t before = avoidable_[chunk];
  const bool now = Avoidable(cluster.node(node));
  avoidable_[chunk] = now ? before | bit : before & ~bit;
  any_avoidable_ += now - ((before & bit) != 0);
}

void NodeStates::RefreshRanks(const Cluster& cluster, ShapeId shape) {
  const policy::Question question{.shape = shape, .ledger = ledger_};
  for (const Position p : stale_) {
    ranks_[p] = std::min(policy_->Rank(cluster, layout_->node(p), question),
                         kStaleRank - 1);
  }
  stale_.clear();
}

std::string NodeStates::Difference(const Cluster& cluster) const {
  NodeStates fresh;
  fresh.Bind(*layout_, *policy_, ledger_);
  fresh.Refresh(cluster);
  if (whole_ != fresh.whole_) return "whole devices";
  if (avoidable_ != fresh.avoidable_) return "avoidable";
  if (any_avoidable_ != fresh.any_avoidable_) return "any_avoidable";
  return "";
}

}  // namespace muster::index
