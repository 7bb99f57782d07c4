#include "lib/index/placement_index.h"

#include <algorithm>

namespace muster::index {

namespace {

constexpr size_t kLedgers = 4;  // Values of Ledger, from 0 on.

}  // namespace

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

const Layout& PlacementIndex::LayoutOf(const Cluster& cluster, int topology) {
  std::unique_ptr<Layout>& layout = layouts_[static_cast<size_t>(topology + 1)];
  if (layout == nullptr) {
    layout = std::make_unique<Layout>();
    layout->Build(cluster, topology);
  }
  return *layout;
}

NodeStates& PlacementIndex::StatesOf(const Cluster& cluster, int topology,
                                     Ledger ledger) {
  const size_t at = static_cast<size_t>(topology + 1) * kLedgers +
                    static_cast<size_t>(ledger);
  std::unique_ptr<NodeStates>& states = states_[at];
  if (states == nullptr) {
    states = std::make_unique<NodeStates>();
    states->Bind(LayoutOf(cluster, topology), policy_, ledger);
  }
  return *states;
}

// The place of the key; of one put in place of the one used longest ago where
// it is new and there is no room: then columns_ does not hold it yet.
size_t PlacementIndex::Find(const Key& key) {
  if (last_ < places_.size() && columns_[last_]->key == key) return last_;
  if (const auto it = places_.find(key); it != places_.end()) return it->second;
  size_t at = places_.size();
  if (at < most_columns_) {
    if (columns_.size() == at) columns_.push_back(std::make_unique<Entry>());
  } else {
    at = 0;
    for (size_t i = 1; i < columns_.size(); ++i) {
      if (columns_[i]->used < columns_[at]->used) at = i;
    }
    places_.erase(columns_[at]->key);
  }
  places_.emplace(key, at);
  columns_[at]->key = key;
  columns_[at]->layout = nullptr;
  return at;
}

Column& PlacementIndex::Get(const Cluster& cluster, int topology, ShapeId shape,
                            Ledger ledger) {
  Follow(cluster);
  last_ = Find({cluster.shape_serial(shape), topology, ledger});
  Entry& entry = *columns_[last_];
  entry.used = ++calls_;
  if (entry.layout == nullptr) {
    entry.layout = &LayoutOf(cluster, topology);
    entry.column.Bind(cluster, &StatesOf(cluster, topology, ledger), policy_,
                      shape);
  }
  entry.column.Refresh(cluster);
  return entry.column;
}

std::string PlacementIndex::Difference(const Cluster& cluster) {
  Follow(cluster);
  for (size_t i = 0; i < places_.size(); ++i) {
    Entry& entry = *columns_[i];
    // A shape that is gone is never asked for again.
    if (cluster.shape_serial(entry.column.shape()) != entry.key.serial)
      continue;
    entry.column.Refresh(cluster);
    const std::string difference = entry.column.Difference(cluster);
    if (!difference.empty()) {
      return "shape " + std::to_string(entry.column.shape()) + ": " +
             difference;
    }
  }
  return "";
}

}  // namespace muster::index
