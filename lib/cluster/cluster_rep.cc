#include "lib/cluster/cluster_rep.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/cluster/selector.h"

namespace muster {

Cluster::Rep::Rep(Ledgers empty, std::vector<Topology> configured)
    : ledgers(std::move(empty)),
      topologies(std::move(configured)),
      total_capacity(ledgers.kinds()),
      nodes_capacity(ledgers.kinds()),
      indexes_(topologies.size()) {}

NodeId Cluster::Upsert(const Node& node) {
  Rep& r = *rep_;
  NodeIndex n = r.nodes.Find(node.key);
  if (n == NodeId::kNone) {
    n = r.nodes.Add(node);
    ++r.layout_version;
  } else {
    NodeRecord& record = r.nodes[n];
    if (record.node == node) return r.nodes.id(n);
    if (!r.SamePlaces(record.node.labels, node.labels)) ++r.layout_version;
    r.CountCapacity(n, -1);
    record.node = node;
  }
  r.Enter(n);
  return r.nodes.id(n);
}

void Cluster::Rep::Enter(NodeIndex node) {
  changed.Reserve(2 * size_t{nodes.limit()});
  ledgers.SetNode(node, nodes[node].node, nodes[node].external);
  CountCapacity(node, 1);
  filters.MarkChanged(node);
  changed.Add(node);
  ++structure_version;
}

void Cluster::Rep::Leave(NodeIndex node) {
  CountCapacity(node, -1);
  ledgers.ClearNode(node);
  nodes.Remove(node);
  filters.MarkChanged(node);
  changed.Add(node);
  ++layout_version;
  ++structure_version;
}

void Cluster::Remove(NodeIndex node) {
  if (exists(node)) rep_->Leave(node);
}

void Cluster::UndoAdd(NodeIndex node) {
  rep_->Leave(node);
  --rep_->nodes[node].generation;
}

NodeIndex Cluster::UndoRemove(const Node& node) {
  Rep& r = *rep_;
  const NodeIndex n = r.nodes.Add(node);
  --r.nodes[n].generation;
  ++r.layout_version;
  r.Enter(n);
  return n;
}

bool Cluster::Rep::SamePlaces(const Labels& a, const Labels& b) const {
  if (a == b) return true;
  for (const Topology& topology : topologies) {
    for (const std::string& level : topology.levels) {
      if (!AgreeIn(level, a, b)) return false;
    }
  }
  return true;
}

void Cluster::SetAvailable(NodeIndex node, bool available) {
  Rep& r = *rep_;
  if (!r.nodes.exists(node) || r.nodes[node].available == available) return;
  r.CountCapacity(node, -1);
  r.nodes[node].available = available;
  r.CountCapacity(node, 1);
  r.filters.MarkChanged(node);
  r.changed.Add(node);
  ++r.structure_version;
}

bool Cluster::SetExternalUsage(NodeIndex node, const ExternalUsage& usage) {
  Rep& r = *rep_;
  if (!r.nodes.exists(node)) return false;
  NodeRecord& record = r.nodes[node];
  if (record.external.amount == usage.amount &&
      record.external.devices == usage.devices) {
    return false;
  }
  const bool given_up =
      r.ledgers.SetExternalUsage(node, record.external, usage);
  r.changed.Add(node);
  record.external = usage;
  ++r.structure_version;
  return given_up;
}

void Cluster::Rep::NodeSetChanged(const std::vector<std::string>& keys) {
  ++structure_version;
  for (const std::string& key : keys) {
    const NodeIndex n = nodes.Find(key);
    if (n == NodeId::kNone) continue;
    filters.MarkChanged(n);
    changed.Add(n);
  }
}

void Cluster::Rep::CountCapacity(NodeIndex node, int64_t times) {
  for (ResourceKind k = 0; k < ledgers.kinds(); ++k) {
    const int64_t capacity = times * ledgers.capacity(node, k);
    nodes_capacity.Set(k, nodes_capacity[k] + capacity);
    if (!nodes[node].available) continue;
    total_capacity.Set(k, total_capacity[k] + capacity);
  }
}

const TopologyIndex& Cluster::Rep::Index(size_t topology) const {
  CachedTopology& cached = indexes_[topology];
  if (cached.version != layout_version) {
    cached.built = BuildTopology(topologies[topology], nodes);
    cached.version = layout_version;
  }
  return cached.built.index;
}

ShapeId Cluster::Rep::Intern(const Role& role, uint32_t alternative) {
  const TaskShape& shape =
      alternative == 0 ? role.shape : role.alternatives[alternative - 1];
  const std::string& partition = shape.devices.partition;
  Filter wanted{.selector = shape.selector,
                .tolerations = role.tolerations,
                .node_sets = role.node_sets,
                .models = shape.devices.models};
  wanted.tolerations.insert(wanted.tolerations.end(), shape.tolerations.begin(),
                            shape.tolerations.end());
  wanted.node_sets.insert(wanted.node_sets.end(), shape.node_sets.begin(),
                          shape.node_sets.end());
  if (!partition.empty()) {
    wanted.partition = partition;
    wanted.schemes = ledgers.partition_table().SchemesWith(partition);
  }
  Resources resources = shape.resources;
  if (ledgers.node_kind() < ledgers.kinds()) {
    resources.Set(ledgers.node_kind(), shape.whole_node ? kWholeNode : 1);
  }
  return Intern(wanted, {.resources = std::move(resources),
                         .request = shape.devices,
                         .preferences = role.preferences});
}

ShapeId Cluster::Rep::Intern(const Filter& wanted, ShapeKey key) {
  key.filter = filters.Intern(wanted);
  const auto [id, added] = shape_records.Intern(key);
  if (!added) {
    filters.Unref(key.filter);
    return id;
  }
  shapes.resize(shape_records.size());
  shape_records[id].serial = ++last_serial;
  shapes[id] = {key.filter, NeedsOf(key)};
  return id;
}

ShapeId Cluster::Rep::Intern(ShapeId shape, int32_t most_milli) {
  ShapeKey key = shape_records[shape].key;
  key.most_milli = most_milli;
  const FilterId filter = key.filter;
  return Intern(filters[filter], std::move(key));
}

Needs Cluster::Rep::NeedsOf(const ShapeKey& shape) {
  const DeviceRequest& request = shape.request;
  Needs needs{.form = FormOf(request),
              .count = request.count,
              .most_milli = shape.most_milli};
  for (ResourceKind k = 0; k < ledgers.kinds(); ++k) {
    const int64_t amount = shape.resources[k];
    if (amount > 0 && k != ledgers.device_kind()) {
      needs.amounts.push_back({k, amount});
    }
  }
  for (const std::string& model : request.models) {
    needs.models.push_back(ledgers.ModelNumber(model));
  }
  std::ranges::sort(needs.models);
  const bool both = needs.form == DeviceForm::kFractionAndMemory;
  if (both || needs.form == DeviceForm::kMemory)
    needs.memory = request.memory_bytes;
  if (both || needs.form == DeviceForm::kFraction) needs.milli = request.milli;
  if (needs.form == DeviceForm::kPartition) {
    needs.partition = ledgers.partition_table().Find(request.partition);
    needs.milli = ledgers.partition_table().LeastMilli(needs.partition);
  }
  return needs;
}

void Cluster::Unref(ShapeId shape) {
  Rep& r = *rep_;
  const std::optional<uint32_t> forgotten = r.shape_records.Unref(shape);
  if (forgotten) r.filters.Unref(r.shapes[*forgotten].filter);
}

const Resources& Cluster::Rep::Demand(ShapeId id) const {
  const auto& record = shape_records[id];
  if (record.demand_seen == filters.version()) return record.demand;
  record.demand_seen = filters.version();
  record.demand = record.key.resources;
  if (ledgers.device_kind() >= ledgers.kinds()) return record.demand;
  const Needs& needs = shapes[id].needs;
  int64_t largest = 0;
  const bool by_memory = needs.form == DeviceForm::kMemory;
  for (NodeIndex n = 0; by_memory && n < nodes.limit(); ++n) {
    if (!Admits(n, id)) continue;
    for (const uint32_t d : ledgers.DevicesOfModels(n, needs)) {
      largest = std::max(largest, ledgers.device_memory(n, d));
    }
  }
  record.demand.Set(ledgers.device_kind(),
                    int64_t{needs.count} * ShareOf(needs, largest).milli);
  return record.demand;
}

inline void Cluster::Rep::Apply(const Allocation& a, Ledger ledger, int sign) {
  ledgers.Post(a.node, shapes[a.shape].needs, a.devices, a.first_slice, ledger,
               sign);
  changed.Add(a.node);
}

void Cluster::Rep::Post(const Allocation& a, Ledger ledger, int sign) {
  if (!nodes.exists(a.node)) return;
  Apply(a, ledger, sign);
  if (transactions.empty()) return;
  // What takes the last one back needs no undoing, nor does that: the log of a
  // search that tries much is as long as what it holds.
  if (postings.size() > transactions.back().postings) {
    const Posting& last = postings.back();
    if (last.sign == -sign && last.ledger == ledger && last.allocation == a) {
      postings.pop_back();
      return;
    }
  }
  postings.emplace_back(a, ledger, sign);
}

Cluster::Mark Cluster::Begin() {
  Rep& r = *rep_;
  r.transactions.push_back({r.postings.size(), r.changed.Mark()});
  return r.transactions.size() - 1;
}

void Cluster::Rollback(Mark mark) {
  Rep& r = *rep_;
  if (mark >= r.transactions.size()) return;
  const auto [postings, changes] = r.transactions[mark];
  r.transactions.resize(mark);
  while (r.postings.size() > postings) {
    const Rep::Posting& last = r.postings.back();
    r.Apply(last.allocation, last.ledger, -last.sign);
    r.postings.pop_back();
  }
  r.changed.UndoneSince(changes);
}

void Cluster::Commit(Mark mark) {
  Rep& r = *rep_;
  if (mark >= r.transactions.size()) return;
  r.transactions.resize(mark);
  if (r.transactions.empty()) r.postings.clear();
}

}  // namespace muster
