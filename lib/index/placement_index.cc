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
  const size_t column = Column::kBytesPerNode * cluster.node_limit() + 1;
  most_columns_ = std::clamp(memory_ / column, kMinColumns, kMaxColumns);
  if (columns_.size() > most_columns_) columns_.resize(most_columns_);
}

NodeStates& PlacementIndex::StatesOf(const Cluster& cluster, int topology,
                                     Ledger ledger) {
  const auto at = static_cast<size_t>(topology + 1);
  std::optional<Layout>& layout = layouts_[at];
  if (!layout) layout.emplace().Build(cluster, topology);
  std::optional<NodeStates>& states =
      states_[at * kLedgers + static_cast<size_t>(ledger)];
  if (!states) states.emplace().Bind(*layout, policy_, ledger);
  return *states;
}

// For a new key, in place of the one used longest ago where there is no room.
size_t PlacementIndex::PlaceFor(const Key& key) {
  size_t at = places_.size();
  if (at < most_columns_) {
    if (columns_.size() == at) columns_.push_back(std::make_unique<Entry>());
  } else {
    const auto oldest = std::ranges::min_element(
        columns_, {}, [](const auto& entry) { return entry->used; });
    at = static_cast<size_t>(oldest - columns_.begin());
    places_.erase(columns_[at]->key);
  }
  places_.emplace(key, at);
  columns_[at]->key = key;
  return at;
}

Column& PlacementIndex::Get(const Cluster& cluster, int topology, ShapeId shape,
                            Ledger ledger, std::optional<int64_t> score) {
  Follow(cluster);
  const Key key{cluster.shape_serial(shape), topology, ledger, score};
  if (last_ >= places_.size() || columns_[last_]->key != key) {
    if (const auto it = places_.find(key); it != places_.end()) {
      last_ = it->second;
    } else {
      last_ = PlaceFor(key);
      columns_[last_]->column.Bind(
          cluster, &StatesOf(cluster, topology, ledger), policy_, shape, score);
    }
  }
  columns_[last_]->used = ++calls_;
  columns_[last_]->column.Refresh(cluster);
  return columns_[last_]->column;
}

}  // namespace muster::index
