#include "lib/cluster/filter_table.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_format.h"
#include "lib/cluster/selector.h"

namespace muster {
namespace {

// Whether a device of the node is what the filter asks for.
bool IsWanted(const Filter& filter, const Device& device) {
  const auto in = [](const auto& all, const auto& one) {
    return std::ranges::find(all, one) != all.end();
  };
  if (!filter.models.empty() && !in(filter.models, device.model)) return false;
  if (filter.partition.empty()) return true;
  if (!in(filter.schemes, device.partition_scheme)) return false;
  return device.partitions.empty() ||
         std::ranges::find(device.partitions, filter.partition,
                           &DevicePartition::profile) !=
             device.partitions.end();
}

}  // namespace

bool Admits(const Filter& filter, NodeIndex index, const NodeView& view) {
  if (!view.nodes.exists(index)) return false;
  const NodeRecord& record = view.nodes[index];
  const Node& node = record.node;
  if (!record.available || !node.schedulable) return false;
  for (const Taint& taint : node.taints) {
    if (taint.effect != TaintEffect::kPreferNoSchedule &&
        !Tolerates(filter.tolerations, taint)) {
      return false;
    }
  }
  for (const std::string& set : filter.node_sets) {
    if (!view.sets.Contains(set, node.key)) return false;
  }
  const bool picky = !filter.models.empty() || !filter.partition.empty();
  if (picky && std::ranges::none_of(node.devices, [&](const Device& d) {
        return IsWanted(filter, d);
      })) {
    return false;
  }
  return Matches(filter.selector, node.labels);
}

void FilterTable::MarkChanged(NodeIndex node) {
  node_limit_ = std::max(node_limit_, node + 1);
  log_.Reserve(node_limit_);
  log_.Add(node);
}

void FilterTable::Refresh(const Filter& filter, const Cache& cache,
                          const NodeView& view) const {
  cache.bits.resize((size_t{node_limit_} + 63) / 64, 0);
  changed_.clear();
  if (version() - cache.seen > node_limit_ ||
      !log_.Since(cache.seen, &changed_)) {
    changed_.resize(node_limit_);
    std::iota(changed_.begin(), changed_.end(), NodeIndex{0});
  }
  for (const NodeIndex node : changed_) {
    const uint64_t bit = uint64_t{1} << node % 64;
    uint64_t& word = cache.bits[node / 64];
    word = muster::Admits(filter, node, view) ? word | bit : word & ~bit;
  }
  cache.seen = version();
}

absl::Status FilterTable::Validate(const std::vector<uint32_t>& refs,
                                   const NodeView& view) const {
  for (FilterId id = 0; id < filters_.size(); ++id) {
    const auto& entry = filters_[id];
    if (entry.refs != refs[id]) {
      return absl::InternalError(absl::StrFormat(
          "filter %u: %u references, counted %u", id, entry.refs, refs[id]));
    }
    if (!filters_.known(id)) continue;
    for (NodeIndex n = 0; n < node_limit_; ++n) {
      if (Admits(id, n, view) != muster::Admits(entry.key, n, view)) {
        return absl::InternalError(
            absl::StrFormat("filter %u: stale bit of node %u", id, n));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
