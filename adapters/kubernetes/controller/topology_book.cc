#include "adapters/kubernetes/controller/topology_book.h"

#include <algorithm>

#include "muster/config.h"

namespace muster::kubernetes {

void TopologyBook::SeeLabels(const api::StringMap& labels) {
  for (const auto& [key, value] : labels) labels_.insert(key);
}

bool TopologyBook::Learn(const std::string& key,
                         absl::FunctionRef<std::set<std::string>()> used) {
  if (key.empty() || learned_.contains(key) ||
      std::ranges::find(configured_, key, &Topology::key) !=
          configured_.end()) {
    return true;
  }
  if (key.size() > kMaxKeyLength) return false;
  size_t room = SchedulerConfig::kMaxTopologies - configured_.size();
  if (!labels_.contains(key)) room /= 2;
  if (learned_.size() >= room) {  // Those of groups that are over may go.
    const std::set<std::string> keep = used();
    std::erase_if(learned_, [&](const std::string& known) {
      return !keep.contains(known);
    });
  }
  if (learned_.size() >= room) return false;
  learned_.insert(key);
  changed_ = true;
  return true;
}

std::vector<Topology> TopologyBook::All() const {
  std::vector<Topology> all = configured_;
  for (const std::string& key : learned_) {
    all.push_back({.key = key, .levels = {key}});
  }
  return all;
}

}  // namespace muster::kubernetes
