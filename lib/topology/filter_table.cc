#include "lib/topology/filter_table.h"

#include <algorithm>

#include "absl/strings/str_format.h"
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
  const auto [known, added] = by_filter_.try_emplace(filter, 0);
  FilterId& id = known->second;
  if (!added) {
    ++entries_[id].refs;
    return id;
  }
  if (unused_.empty()) {
    id = static_cast<FilterId>(entries_.size());
    entries_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  entries_[id] = {.filter = filter, .refs = 1, .live = true};
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
  by_filter_.erase(entries_[id].filter);
  entries_[id] = {};
  unused_.push_back(id);
}

void FilterTable::MarkChanged(NodeIndex node) {
  node_limit_ = std::max(node_limit_, node + 1);
  log_.Reserve(node_limit_);
  log_.Add(node);
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
  changed_.clear();
  if (entry.seen == kNeverSeen || version() - entry.seen > node_limit_ ||
      !log_.Since(entry.seen, &changed_)) {
    for (NodeIndex n = 0; n < node_limit_; ++n) evaluate(n);
  } else {
    for (const NodeIndex n : changed_) evaluate(n);
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
