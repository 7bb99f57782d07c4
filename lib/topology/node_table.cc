#include "lib/topology/node_table.h"

#include <algorithm>
#include <utility>

namespace muster {

NodeId NodeTable::id(NodeIndex node) const {
  if (!exists(node)) return {};
  return {.index = node, .generation = records_[node].generation};
}

NodeId NodeTable::Find(std::string_view key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? NodeId{} : id(it->second);
}

uint32_t NodeTable::last_generation() const {
  uint32_t last = first_generation_;
  for (const NodeRecord& record : records_) {
    last = std::max(last, record.generation);
  }
  return last;
}

NodeIndex NodeTable::Add(const Node& node) {
  NodeIndex index = limit();
  if (unused_.empty()) {
    records_.emplace_back().generation = first_generation_;
    places_.emplace_back();
  } else {
    index = unused_.back();
    unused_.pop_back();
  }
  records_[index].node = node;
  places_[index] = Place::kAdded;
  by_key_.emplace(node.key, index);
  added_.push_back(index);
  in_order_ = false;
  return index;
}

void NodeTable::Remove(NodeIndex node, uint32_t generation) {
  by_key_.erase(records_[node].node.key);
  records_[node] = {.generation = generation};
  places_[node] = Place::kNone;
  unused_.push_back(node);
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
  const auto key = [this](NodeIndex n) -> const std::string& {
    return records_[n].node.key;
  };
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
