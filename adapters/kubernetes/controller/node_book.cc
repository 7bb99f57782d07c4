#include "adapters/kubernetes/controller/node_book.h"

#include <algorithm>
#include <utility>

namespace muster::kubernetes {

void NodeBook::Set(Node node, Time spot) {
  const std::string name = node.key;
  const auto before = spot_.find(name);
  if (spot != (before == spot_.end() ? kForever : before->second)) {
    spot_changed_.insert(name);
    spot_.erase(name);
    if (spot != kForever) spot_[name] = spot;
  }
  const auto [it, is_new] = nodes_.try_emplace(name);
  if (!is_new && it->second == node) return;
  it->second = std::move(node);
  changed_.insert(name);
  if (is_new && on_.contains(name)) used_otherwise_.insert(name);
}

void NodeBook::Remove(const std::string& name) {
  if (nodes_.erase(name) == 0) return;
  changed_.erase(name);
  spot_.erase(name);
  spot_changed_.erase(name);
  used_otherwise_.erase(name);
  if (told_.contains(name)) gone_.insert(name);
}

void NodeBook::SetUsage(const std::string& uid, PodUsage usage) {
  const auto it = usage_.find(uid);
  if (it != usage_.end()) {
    if (it->second == usage) return;
    const std::string& before = it->second.node;
    used_otherwise_.insert(before);
    on_[before].erase(uid);
    if (on_[before].empty()) on_.erase(before);
    usage_.erase(it);
  }
  if (usage.node.empty()) return;
  used_otherwise_.insert(usage.node);
  on_[usage.node].insert(uid);
  usage_.emplace(uid, std::move(usage));
}

ExternalUsage NodeBook::UsageOf(const std::string& name) const {
  ExternalUsage sum{.node = name};
  const auto pods = on_.find(name);
  if (pods == on_.end()) return sum;
  const auto has = static_cast<uint32_t>(nodes_.at(name).devices.size());
  for (const std::string& uid : pods->second) {
    const PodUsage& usage = usage_.at(uid);
    for (ResourceKind k = 0; k < usage.amount.size(); ++k) {
      // Anybody may bind pods that ask for more than there is.
      sum.amount.Set(k, std::min(sum.amount[k] + usage.amount[k],
                                 Resources::kMaxQuantity));
    }
    sum.unnamed_devices = std::min(has, sum.unnamed_devices + usage.devices);
  }
  return sum;
}

std::vector<EventBody> NodeBook::TakeChanges() {
  std::vector<EventBody> events;
  for (const std::string& name : gone_) {
    told_.erase(name);
    // It may have come back as another one.
    if (nodes_.contains(name)) used_otherwise_.insert(name);
    events.emplace_back(NodeRemoved{name});
  }
  for (const std::string& name : changed_) {
    events.emplace_back(NodeChanged{nodes_.at(name)});
  }
  for (const std::string& name : spot_changed_) {
    const auto spot = spot_.find(name);
    if (spot == spot_.end()) {
      events.emplace_back(NodeUp{name});
    } else {
      events.emplace_back(SpotNotice{name, spot->second});
    }
  }
  for (const std::string& name : used_otherwise_) {
    if (nodes_.contains(name))
      events.emplace_back(ExternalUsageChanged{UsageOf(name)});
  }
  gone_.clear();
  changed_.clear();
  spot_changed_.clear();
  used_otherwise_.clear();
  return events;
}

void NodeBook::TakeAll(Reconciled* whole) {
  for (const auto& [name, node] : nodes_) {
    told_.insert(name);
    whole->nodes.push_back(node);
    if (on_.contains(name)) whole->external.push_back(UsageOf(name));
  }
  gone_.clear();
  changed_.clear();
  used_otherwise_.clear();
  spot_changed_.clear();
  for (const auto& [name, at] : spot_) spot_changed_.insert(name);
}

}  // namespace muster::kubernetes
