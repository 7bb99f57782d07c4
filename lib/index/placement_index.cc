#include "lib/index/placement_index.h"

#include <algorithm>

namespace muster::index {

void PlacementIndex::Follow(const Cluster& cluster) {
  if (!made_from_.IsNew(cluster, cluster.layout_version())) return;
  layouts_.clear();
  layouts_.resize(cluster.topologies().size() + 1);
  states_.clear();
  states_.resize(layouts_.size() * kLedgers);
  places_.clear();
  const size_t bytes = ShapeSlots::kBytesPerNode * cluster.node_limit() + 1;
  most_entries_ = std::clamp(memory_ / bytes, kMinEntries, kMaxEntries);
  if (entries_.size() > most_entries_) entries_.resize(most_entries_);
}

LayoutState& PlacementIndex::StateOf(const Cluster& cluster, int topology,
                                     Ledger ledger) {
  const auto at = static_cast<size_t>(topology + 1);
  std::optional<Layout>& layout = layouts_[at];
  if (!layout) layout.emplace().Build(cluster, topology);
  std::optional<LayoutState>& state =
      states_[at * kLedgers + static_cast<size_t>(ledger)];
  if (!state) state.emplace().Bind(*layout, policy_, ledger);
  return *state;
}

// For a new key, in place of the one used longest ago where there is no room.
size_t PlacementIndex::PlaceFor(const Key& key) {
  size_t at = places_.size();
  if (at < most_entries_) {
    if (entries_.size() == at) entries_.push_back(std::make_unique<Entry>());
  } else {
    const auto oldest = std::ranges::min_element(
        entries_, {}, [](const auto& entry) { return entry->used; });
    at = static_cast<size_t>(oldest - entries_.begin());
    places_.erase(entries_[at]->key);
  }
  places_.emplace(key, at);
  entries_[at]->key = key;
  return at;
}

ShapeSlots& PlacementIndex::Get(const Cluster& cluster, int topology,
                                ShapeId shape, Ledger ledger,
                                std::optional<int64_t> score) {
  Follow(cluster);
  const Key key{cluster.shape_serial(shape), topology, ledger, score};
  if (last_ >= places_.size() || entries_[last_]->key != key) {
    if (const auto it = places_.find(key); it != places_.end()) {
      last_ = it->second;
    } else {
      last_ = PlaceFor(key);
      entries_[last_]->slots.Bind(cluster, &StateOf(cluster, topology, ledger),
                                  policy_, shape, score);
    }
  }
  entries_[last_]->used = ++calls_;
  entries_[last_]->slots.Refresh(cluster);
  return entries_[last_]->slots;
}

}  // namespace muster::index
