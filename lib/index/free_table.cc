#include "lib/index/free_table.h"

#include "lib/index/free_on.h"

namespace muster::index {
namespace {

bool Has(const std::vector<uint64_t>& bits, NodeIndex node) {
  return (bits[node / 64] >> node % 64 & 1) != 0;
}

}  // namespace

const std::vector<int64_t>& FreeTable::Get(const Cluster& cluster,
                                           ShapeId shape, Ledger ledger) {
  if (made_from_.IsNew(cluster, cluster.layout_version())) {
    filters_.Clear();
    counted_.fill({});
  }
  Refresh(cluster, ledger);
  Filter& filter = FilterOf(cluster, shape);
  std::vector<int64_t>& sums = filter.sums[static_cast<size_t>(ledger)];
  if (sums.empty()) Sum(cluster, ledger, &filter);
  return sums;
}

// With what it admits now.
FreeTable::Filter& FreeTable::FilterOf(const Cluster& cluster, ShapeId shape) {
  const uint64_t serial = cluster.filter_serial(shape);
  Filter* filter =
      filters_.Find([&](const Filter& f) { return f.serial == serial; });
  const uint64_t structure = cluster.structure_version();
  if (filter != nullptr && filter->structure == structure) return *filter;
  if (filter == nullptr || !FindChanged(cluster, filter->version)) {
    if (filter == nullptr) filter = &filters_.Make();
    *filter = {.serial = serial};
    filter->admits.assign(cluster.node_limit() / 64 + 1, 0);
    changed_.assign(cluster.nodes().begin(), cluster.nodes().end());
  }
  for (const NodeIndex n : changed_) Admit(cluster, shape, n, filter);
  filter->structure = structure;
  filter->version = cluster.changed_version();
  return *filter;
}

void FreeTable::Admit(const Cluster& cluster, ShapeId shape, NodeIndex node,
                      Filter* filter) {
  const bool admits = cluster.Admits(node, shape);
  if (admits == Has(filter->admits, node)) return;
  filter->admits[node / 64] ^= uint64_t{1} << node % 64;
  const uint32_t kinds = cluster.resource_count();
  for (size_t l = 0; l < kLedgers; ++l) {
    if (filter->sums[l].empty()) continue;
    const int64_t* free = counted_[l].free.data() + size_t{node} * kinds;
    for (ResourceKind k = 0; k < kinds; ++k) {
      filter->sums[l][k] += admits ? free[k] : -free[k];
    }
  }
}

// What is free on each node, and every filter's sums of it.
void FreeTable::Refresh(const Cluster& cluster, Ledger ledger) {
  Counted& counted = counted_[static_cast<size_t>(ledger)];
  if (counted.free.empty() || !FindChanged(cluster, counted.version)) {
    if (counted.free.empty()) {
      counted.free.assign(
          size_t{cluster.node_limit()} * cluster.resource_count(), 0);
    }
    changed_.assign(cluster.nodes().begin(), cluster.nodes().end());
  }
  for (const NodeIndex n : changed_) Recount(cluster, n, ledger);
  counted.version = cluster.changed_version();
}

void FreeTable::Recount(const Cluster& cluster, NodeIndex node, Ledger ledger) {
  const auto l = static_cast<size_t>(ledger);
  const uint32_t kinds = cluster.resource_count();
  int64_t* counted = counted_[l].free.data() + size_t{node} * kinds;
  for (ResourceKind k = 0; k < kinds; ++k) {
    const int64_t free = FreeOn(cluster, node, k, ledger);
    const int64_t change = free - counted[k];
    if (change == 0) continue;
    counted[k] = free;
    filters_.ForEach([&](Filter& filter) {
      if (!filter.sums[l].empty() && Has(filter.admits, node)) {
        filter.sums[l][k] += change;
      }
    });
  }
}

void FreeTable::Sum(const Cluster& cluster, Ledger ledger, Filter* filter) {
  const auto l = static_cast<size_t>(ledger);
  const uint32_t kinds = cluster.resource_count();
  filter->sums[l].assign(kinds, 0);
  for (const NodeIndex n : cluster.nodes()) {
    if (!Has(filter->admits, n)) continue;
    const int64_t* free = counted_[l].free.data() + size_t{n} * kinds;
    for (ResourceKind k = 0; k < kinds; ++k) filter->sums[l][k] += free[k];
  }
}

// Puts into `changed_` those changed since, each once. False if that is not
// known any more.
bool FreeTable::FindChanged(const Cluster& cluster, uint64_t version) {
  if (!cluster.ChangedSince(version, &changed_)) return false;
  seen_.resize(cluster.node_limit(), false);
  std::erase_if(changed_, [&](NodeIndex n) {
    const bool seen = seen_[n];
    seen_[n] = true;
    return seen;
  });
  for (const NodeIndex n : changed_) seen_[n] = false;
  return true;
}

}  // namespace muster::index
