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
    exists_.push_back(0);
  } else {
    index = unused_.back();
    unused_.pop_back();
  }
  Enter(index, node);
  return index;
}

void NodeTable::Enter(NodeIndex index, const Node& node) {
  NodeRecord& record = records_[index];
  record.node = node;
  exists_[index] = 1;
  by_key_.emplace(node.key, index);
  ordered_.push_back({index, record.generation});
  in_order_ = false;
}

void NodeTable::UndoAdd(NodeIndex node) {
  NodeRecord& record = records_[node];
  by_key_.erase(record.node.key);
  record = {.generation = record.generation};
  exists_[node] = 0;
  in_order_ = false;
  InOrder();  // Forgets it: its id is given out again.
  unused_.push_back(node);
}

NodeIndex NodeTable::UndoRemove(const Node& node) {
  InOrder();  // Forgets its id of before: it is given out again.
  const NodeIndex index = unused_.back();
  unused_.pop_back();
  --records_[index].generation;
  Enter(index, node);
  return index;
}

void NodeTable::Remove(NodeIndex node) {
  NodeRecord& record = records_[node];
  by_key_.erase(record.node.key);
  record = {.generation = record.generation + 1};
  exists_[node] = 0;
  unused_.push_back(node);
  in_order_ = false;
}

std::span<const NodeIndex> NodeTable::InOrder() const {
  if (in_order_) return order_;
  const auto sorted_end = ordered_.begin() + static_cast<ptrdiff_t>(sorted_);
  const auto gone = [this](const Ordered& o) { return !IsLive(o); };
  sorted_ -=
      static_cast<size_t>(std::count_if(ordered_.begin(), sorted_end, gone));
  std::erase_if(ordered_, gone);
  const auto by_key = [this](const Ordered& a, const Ordered& b) {
    return records_[a.node].node.key < records_[b.node].node.key;
  };
  const auto middle = ordered_.begin() + static_cast<ptrdiff_t>(sorted_);
  std::sort(middle, ordered_.end(), by_key);
  std::inplace_merge(ordered_.begin(), middle, ordered_.end(), by_key);
  sorted_ = ordered_.size();
  order_.clear();
  for (const Ordered& o : ordered_) order_.push_back(o.node);
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
  std::sort(changed.begin(), changed.end());
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
    NodeSet set{.key = key};
    set.nodes.assign(members.begin(), members.end());
    std::sort(set.nodes.begin(), set.nodes.end());
    all.push_back(std::move(set));
  }
  return all;
}

}  // namespace muster
