// The topologies: those of the configuration, and one for each node label that
// a group names.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "adapters/kubernetes/api/objects.h"
#include "muster/topology.h"

namespace muster::kubernetes {

// Not synchronised.
class TopologyBook {
 public:
  explicit TopologyBook(std::vector<Topology> configured)
      : configured_(std::move(configured)) {}

  // A node has labels of these keys.
  void SeeLabels(const api::StringMap& labels);

  // There is to be a topology of this label alone, unless one has that key
  // already; "": none is named. False: it is no label's key, or there is no
  // room for another one: keys that no node has, which anybody may invent, fill
  // half of it. `used` tells which keys groups name, so that the others make
  // room; it is called when there is none.
  bool Learn(const std::string& key,
             absl::FunctionRef<std::set<std::string>()> used);

  // True: All() is not as when this was last called.
  bool TakeChanged() { return std::exchange(changed_, false); }
  // For SchedulerConfig::topologies. O(topologies).
  std::vector<Topology> All() const;
  const std::vector<Topology>& configured() const { return configured_; }

 private:
  const std::vector<Topology> configured_;
  absl::flat_hash_set<std::string> labels_;  // Keys, of all nodes there were.
  std::set<std::string> learned_;
  bool changed_ = false;
};

}  // namespace muster::kubernetes
