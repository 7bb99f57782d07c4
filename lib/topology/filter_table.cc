#include "lib/topology/filter_table.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "lib/base/hash.h"
#include "lib/topology/selector.h"

namespace muster {

namespace {

// Whether a device of the node is what the filter asks for.
bool IsWanted(const Filter& filter, const Device& device) {
  const auto in = [](const auto& all, const auto& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  if (!filter.models.empty() && !in(filter.models, device.model)) return false;
  if (filter.partition.empty()) return true;
  if (!in(filter.schemes, device.partition_scheme)) return false;
  return device.partitions.empty() ||
         std::any_of(device.partitions.begin(), device.partitions.end(),
                     [&](const DevicePartition& p) {
                       return p.profile == filter.partition;
                     });
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
  if (picky &&
      std::none_of(node.devices.begin(), node.devices.end(),
                   [&](const Device& d) { return IsWanted(filter, d); })) {
    return false;
  }
  return Holds(filter.selector, node.labels);
}

FilterId FilterTable::Intern(const Filter& filter) {
  StableHash hash;
  hash.Add(filter);
  std::vector<FilterId>& same = by_hash_[hash.value()];
  for (const FilterId id : same) {
    if (entries_[id].filter == filter) {
      ++entries_[id].refs;
      return id;
    }
  }
  auto id = static_cast<FilterId>(entries_.size());
  if (unused_.empty()) {
    entries_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  Entry& entry = entries_[id];
  entry.filter = filter;
  entry.hash = hash.value();
  entry.refs = 1;
  entry.live = true;
  same.push_back(id);
  return id;
}

void FilterTable::Unref(FilterId id) {
  if (--entries_[id].refs > 0) return;
  idle_.push_back(id);
  if (idle_.size() <= kMaxIdle) return;
  const FilterId oldest = idle_.front();
  idle_.pop_front();
  // It may be in use again, or in the queue a second time.
  if (entries_[oldest].live && entries_[oldest].refs == 0) Retire(oldest);
}

void FilterTable::Retire(FilterId id) {
  const auto it = by_hash_.find(entries_[id].hash);
  std::erase(it->second, id);
  if (it->second.empty()) by_hash_.erase(it);
  entries_[id] = {};
  unused_.push_back(id);
}

void FilterTable::MarkChanged(NodeIndex node) {
  node_limit_ = std::max(node_limit_, node + 1);
  if (log_.size() >= 2 * size_t{node_limit_} + 64) {
    const size_t half = log_.size() / 2;
    log_.erase(log_.begin(), log_.begin() + static_cast<ptrdiff_t>(half));
    log_start_ += half;
  }
  log_.push_back(node);
}

void FilterTable::Refresh(const Entry& entry, const NodeView& view) const {
  entry.bits.resize((size_t{node_limit_} + 63) / 64, 0);
  const auto evaluate = [&](NodeIndex node) {
    const uint64_t bit = uint64_t{1} << node % 64;
    if (muster::Admits(entry.filter, node, view)) {
      entry.bits[node / 64] |= bit;
    } else {
      entry.bits[node / 64] &= ~bit;
    }
  };
  if (entry.seen == kNeverSeen || entry.seen < log_start_ ||
      version() - entry.seen > node_limit_) {
    for (NodeIndex n = 0; n < node_limit_; ++n) evaluate(n);
  } else {
    for (size_t i = entry.seen - log_start_; i < log_.size(); ++i) {
      evaluate(log_[i]);
    }
  }
  entry.seen = version();
}

absl::Status FilterTable::Validate(const std::vector<uint32_t>& refs,
                                   const NodeView& view) const {
  for (FilterId id = 0; id < entries_.size(); ++id) {
    const Entry& entry = entries_[id];
    if (entry.refs != refs[id]) {
      return absl::InternalError(absl::StrFormat(
          "filter %u: %u references, counted %u", id, entry.refs, refs[id]));
    }
    if (!entry.live) continue;
    for (NodeIndex n = 0; n < node_limit_; ++n) {
      if (Admits(id, n, view) != muster::Admits(entry.filter, n, view)) {
        return absl::InternalError(
            absl::StrFormat("filter %u: stale bit of node %u", id, n));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
