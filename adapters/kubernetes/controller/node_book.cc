#include "adapters/kubernetes/controller/node_book.h"

#include <algorithm>
#include <cstdlib>
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
  surplus_.erase(name);
  if (told_.contains(name)) gone_.insert(name);
}

void NodeBook::Forget(const std::string& uid) {
  const auto it = usage_.find(uid);
  if (it == usage_.end()) return;
  const std::string& node = it->second.node;
  used_otherwise_.insert(node);
  on_[node].erase(uid);
  if (on_[node].empty()) on_.erase(node);
  if (!it->second.settled) {
    Unsettled& unsettled = unsettled_[node];
    unsettled.pods.erase({it->second.created, uid});
    unsettled.counted.erase(uid);
    if (unsettled.pods.empty()) unsettled_.erase(node);
  }
  usage_.erase(it);
}

void NodeBook::SetUsage(const std::string& uid, PodUsage usage) {
  const auto it = usage_.find(uid);
  if (it != usage_.end() && it->second == usage) return;
  Forget(uid);
  if (usage.node.empty()) return;
  used_otherwise_.insert(usage.node);
  on_[usage.node].insert(uid);
  if (!usage.settled) {
    unsettled_[usage.node].pods.insert({usage.created, uid});
  }
  usage_.emplace(uid, std::move(usage));
}

bool NodeBook::Counts(const std::string& uid, const PodUsage& usage) const {
  return usage.settled || unsettled_.at(usage.node).counted.contains(uid);
}

NodeBook::Sum NodeBook::SumOf(const std::string& name) const {
  Sum sum{.usage = {.node = name}};
  const auto pods = on_.find(name);
  if (pods == on_.end()) return sum;
  Resources more, less;
  uint32_t devices = 0;
  const auto has = static_cast<uint32_t>(nodes_.at(name).devices.size());
  for (const std::string& uid : pods->second) {
    const PodUsage& usage = usage_.at(uid);
    if (!Counts(uid, usage)) continue;
    for (ResourceKind k = 0; k < usage.amount.size(); ++k) {
      // Anybody may bind pods that ask for more than there is.
      Resources& of_sign = usage.amount[k] < 0 ? less : more;
      of_sign.Set(k, std::min(of_sign[k] + std::abs(usage.amount[k]),
                              Resources::kMaxQuantity));
    }
    devices = std::min(has, devices + usage.devices);
  }
  sum.usage.unnamed_devices = devices;
  for (ResourceKind k = 0; k < std::max(more.size(), less.size()); ++k) {
    const int64_t amount = more[k] - less[k];
    if (amount > 0) sum.usage.amount.Set(k, amount);
    if (amount < 0) sum.surplus.Set(k, -amount);
  }
  return sum;
}

Node NodeBook::ToldAs(const Node& node) const {
  Node told = node;
  const auto surplus = surplus_.find(node.key);
  if (surplus == surplus_.end()) return told;
  for (ResourceKind k = 0; k < surplus->second.size(); ++k) {
    told.capacity.Set(k, std::min(told.capacity[k] + surplus->second[k],
                                  Resources::kMaxQuantity));
  }
  return told;
}

std::vector<EventBody> NodeBook::TakeChanges() {
  std::vector<EventBody> events;
  for (const std::string& name : gone_) {
    told_.erase(name);
    // It may have come back as another one.
    if (nodes_.contains(name)) used_otherwise_.insert(name);
    events.emplace_back(NodeRemoved{name});
  }
  std::vector<ExternalUsage> used;
  for (const std::string& name : used_otherwise_) {
    if (!nodes_.contains(name)) continue;
    Sum sum = SumOf(name);
    const auto before = surplus_.find(name);
    if (before == surplus_.end() ? !sum.surplus.IsZero()
                                 : before->second != sum.surplus) {
      changed_.insert(name);
      surplus_.erase(name);
      if (!sum.surplus.IsZero()) surplus_[name] = std::move(sum.surplus);
    }
    used.push_back(std::move(sum.usage));
  }
  for (const std::string& name : changed_) {
    events.emplace_back(NodeChanged{ToldAs(nodes_.at(name))});
  }
  for (const std::string& name : spot_changed_) {
    const auto spot = spot_.find(name);
    if (spot == spot_.end()) {
      events.emplace_back(NodeUp{name});
    } else {
      events.emplace_back(SpotNotice{name, spot->second});
    }
  }
  for (ExternalUsage& usage : used) {
    events.emplace_back(ExternalUsageChanged{std::move(usage)});
  }
  doubtful_.insert(changed_.begin(), changed_.end());
  doubtful_.insert(used_otherwise_.begin(), used_otherwise_.end());
  doubtful_.insert(gone_.begin(), gone_.end());
  gone_.clear();
  changed_.clear();
  spot_changed_.clear();
  used_otherwise_.clear();
  return events;
}

std::vector<EventBody> NodeBook::TakeUnsettled(const ClusterView& cluster) {
  std::vector<EventBody> events;
  for (auto& [name, unsettled] : unsettled_) {
    const NodeId id = cluster.Find(name);
    if (!id.valid() || !nodes_.contains(name)) continue;
    Resources room;
    for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
      if (k == cluster.device_kind()) continue;
      room.Set(k, cluster.free(id.index, k, Ledger::kNow));
    }
    uint32_t devices = cluster.free_devices(id.index, Ledger::kNow);
    for (const std::string& uid : unsettled.counted) {
      room.Add(usage_.at(uid).amount);
      devices += usage_.at(uid).devices;
    }
    std::set<std::string> counted;
    for (const auto& [created, uid] : unsettled.pods) {
      const PodUsage& usage = usage_.at(uid);
      if (!usage.amount.FitsIn(room) || usage.devices > devices) continue;
      room.Subtract(usage.amount);
      devices -= usage.devices;
      counted.insert(uid);
    }
    if (counted == unsettled.counted) continue;
    unsettled.counted = std::move(counted);
    doubtful_.insert(name);
    events.emplace_back(ExternalUsageChanged{SumOf(name).usage});
  }
  return events;
}

void NodeBook::TakeAll(Reconciled* whole) {
  for (const auto& [name, node] : nodes_) {
    told_.insert(name);
    doubtful_.insert(name);
    whole->nodes.push_back(ToldAs(node));
    if (on_.contains(name)) whole->external.push_back(SumOf(name).usage);
  }
  gone_.clear();
  changed_.clear();
  used_otherwise_.clear();
  spot_changed_.clear();
  for (const auto& [name, at] : spot_) spot_changed_.insert(name);
}

}  // namespace muster::kubernetes
