// Nodes on which more is in use than they have.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "adapters/kubernetes/controller/outbox.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "muster/cluster_view.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// Nothing is stopped there, and nothing new starts: so somebody has to be told.
// Not synchronised.
class ExcessBook {
 public:
  // Not owned.
  explicit ExcessBook(Outbox* outbox) : outbox_(*outbox) {}

  // The nodes may have come to be so, or gone, since the last call. An Event on
  // a node says it, at most every ten minutes. O(nodes named and known here x
  // their resources and devices).
  void Look(Time now, const std::set<std::string>& nodes,
            const ClusterView& cluster, const ResourceKinds& kinds);

  // To the resources of which it lacks some, by name.
  const std::map<std::string, std::vector<std::string>>& nodes() const {
    return exceeded_;
  }

 private:
  Outbox& outbox_;
  std::map<std::string, std::vector<std::string>> exceeded_;
  std::map<std::string, Time> told_;  // When; of nodes that are there.
};

}  // namespace muster::kubernetes
