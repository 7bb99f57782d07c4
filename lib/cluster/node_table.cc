#include "lib/cluster/node_table.h"

#include <algorithm>
#include <utility>

namespace muster {

NodeIndex NodeTable::Add(const Node& node) {
  const NodeIndex index = KeyedTable::Add(node.key);
  row(index).node = node;
  places_.resize(limit());
  places_[index] = Place::kAdded;
  added_.push_back(index);
  in_order_ = false;
  return index;
}

void NodeTable::Remove(NodeIndex node) {
  KeyedTable::Remove(node);
  places_[node] = Place::kNone;
  in_order_ = false;
}

std::span<const NodeIndex> NodeTable::InOrder() const {
  if (in_order_) return order_;
  std::erase_if(order_,
                [this](NodeIndex n) { return places_[n] != Place::kInOrder; });
  const auto sorted = static_cast<ptrdiff_t>(order_.size());
  for (const NodeIndex n : added_) {
    if (places_[n] != Place::kAdded) continue;
    places_[n] = Place::kInOrder;
    order_.push_back(n);
  }
  added_.clear();
  const auto key = [this](NodeIndex n) { return KeyAt(n); };
  const auto middle = order_.begin() + sorted;
  std::ranges::sort(middle, order_.end(), {}, key);
  std::ranges::inplace_merge(order_.begin(), middle, order_.end(), {}, key);
  in_order_ = true;
  return order_;
}

bool NodeSetTable::Contains(std::string_view set, std::string_view node) const {
  const auto it = sets_.find(set);
  return it != sets_.end() && it->second.contains(node);
}

std::vector<std::string> NodeSetTable::Set(const NodeSet& set) {
  StringSet& known = sets_[set.key];
  StringSet wanted(set.nodes.begin(), set.nodes.end());
  std::vector<std::string> changed;
  for (const std::string& key : known) {
    if (!wanted.contains(key)) changed.push_back(key);
  }
  for (const std::string& key : wanted) {
    if (!known.contains(key)) changed.push_back(key);
  }
  known = std::move(wanted);
  std::ranges::sort(changed);
  return changed;
}

std::vector<std::string> NodeSetTable::Remove(std::string_view set) {
  std::vector<std::string> changed = Set({.key = std::string(set)});
  sets_.erase(std::string(set));
  return changed;
}

std::vector<NodeSet> NodeSetTable::All() const {
  std::vector<NodeSet> all;
  for (const auto& [key, members] : sets_) {
    all.push_back({.key = key, .nodes = {members.begin(), members.end()}});
    std::ranges::sort(all.back().nodes);
  }
  return all;
}

}  // namespace muster
