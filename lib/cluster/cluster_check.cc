// Hash and Validate: what tests and replays compare.

#include <algorithm>

#include "absl/strings/str_format.h"
#include "lib/base/hash.h"
#include "lib/base/status_macros.h"
#include "lib/cluster/cluster_rep.h"

namespace muster {

uint64_t Cluster::Rep::Hash() const {
  StableHash hash;
  hash.Add(ledgers.kinds());
  hash.Add(ledgers.device_kind());
  hash.Add(ledgers.node_kind());
  hash.Add(topologies);
  hash.Add(ledgers.partition_table().schemes());
  hash.Add(sets.All());
  for (const NodeIndex n : nodes.InOrder()) HashNode(n, &hash);
  return hash.value();
}

void Cluster::Rep::HashNode(NodeIndex n, StableHash* hash) const {
  const NodeRecord& record = nodes[n];
  hash->Add(record.node);
  hash->Add(record.available);
  hash->Add(record.external.amount);
  hash->Add(record.external.devices);
  for (const Ledger ledger : {Ledger::kNow, Ledger::kLater}) {
    for (ResourceKind k = 0; k < ledgers.kinds(); ++k) {
      hash->Add(ledgers.free(n, k, ledger));
    }
  }
  for (uint32_t d = 0; d < ledgers.device_count(n); ++d) {
    for (const size_t l : {Ledgers::kNow, Ledgers::kLater}) {
      const DevicePart free = ledgers.RawFree(n, d, l);
      hash->Add(free.milli);
      hash->Add(free.memory);
      for (const int32_t tasks : ledgers.SliceTasks(n, d, l)) hash->Add(tasks);
    }
  }
}

absl::Status Cluster::Rep::Validate() const {
  if (transactions.empty() && !postings.empty()) {
    return absl::InternalError("an undo log without a transaction");
  }
  for (const auto& check :
       {&Rep::ValidateNodes, &Rep::ValidateShapes, &Rep::ValidateTopologies}) {
    MUSTER_RETURN_IF_ERROR((this->*check)());
  }
  return absl::OkStatus();
}

absl::Status Cluster::Rep::ValidateNodes() const {
  size_t existing = 0;
  Resources total;
  for (const NodeIndex n : nodes.Positions()) {
    ++existing;
    const NodeRecord& record = nodes[n];
    if (nodes.Find(record.node.key) != n) {
      return absl::InternalError(
          absl::StrFormat("%s: not found by its key", record.node.key));
    }
    MUSTER_RETURN_IF_ERROR(ledgers.Validate(n, record.node, record.external));
    for (ResourceKind k = 0; record.available && k < ledgers.kinds(); ++k) {
      total.Set(k, total[k] + ledgers.capacity(n, k));
    }
  }
  if (!(total == total_capacity)) {
    return absl::InternalError("total_capacity is not the sum over the nodes");
  }
  const auto order = nodes.InOrder();
  const auto key = [&](NodeIndex n) { return nodes.KeyAt(n); };
  if (order.size() != existing || !std::ranges::is_sorted(order, {}, key)) {
    return absl::InternalError("nodes() is not all nodes in key order");
  }
  return absl::OkStatus();
}

absl::Status Cluster::Rep::ValidateShapes() const {
  std::vector<uint32_t> refs(filters.size(), 0);
  for (ShapeId id = 0; id < shapes.size(); ++id) {
    if (shape_records.known(id)) ++refs[shapes[id].filter];
  }
  return filters.Validate(refs, View());
}

absl::Status Cluster::Rep::ValidateTopologies() const {
  const auto same = [](const Domain& a, const Domain& b) {
    return a.name == b.name && a.parent == b.parent &&
           a.first_child == b.first_child && a.child_count == b.child_count &&
           a.first_node == b.first_node && a.node_count == b.node_count;
  };
  const auto same_level = [&](const auto& a, const auto& b) {
    return std::ranges::equal(a, b, same);
  };
  for (size_t t = 0; t < topologies.size(); ++t) {
    const TopologyIndex& have = Index(t);
    const BuiltTopology built = BuildTopology(topologies[t], nodes);
    const TopologyIndex& fresh = built.index;
    if (have.nodes != fresh.nodes || have.position != fresh.position ||
        have.domain_of != fresh.domain_of ||
        !std::ranges::equal(have.levels, fresh.levels, same_level)) {
      return absl::InternalError(absl::StrFormat(
          "topology %s: the index is stale", topologies[t].key));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
