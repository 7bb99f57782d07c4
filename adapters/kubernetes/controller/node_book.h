// The nodes, and what pods use there that are not the scheduler's.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/node.h"
#include "muster/resources.h"

namespace muster::kubernetes {

// What one pod uses of its node.
struct PodUsage {
  std::string node{};
  Resources amount{};
  uint32_t devices = 0;  // Whole ones; nobody says which.

  friend bool operator==(const PodUsage&, const PodUsage&) = default;
};

// Not synchronised.
class NodeBook {
 public:
  // `spot`: when it goes away; kForever: nobody says that it does. O(log
  // nodes), and the size of the node.
  void Set(Node node, Time spot = kForever);
  void Remove(const std::string& name);
  // Replaces what the pod uses; without a node, nothing. It counts where and
  // while the node is there. O(log pods).
  void SetUsage(const std::string& uid, PodUsage usage);

  // What is new since the last call: nodes that went, came or changed, which
  // of them go away, then what others use of them. O(changes + pods of nodes
  // whose usage changed).
  std::vector<EventBody> TakeChanges();
  // The scheduler has taken a NodeChanged. Of one that it refused: Remove.
  void SetTold(const std::string& name) { told_.insert(name); }
  // All of it, for Reconciled. What TakeChanges would give is forgotten.
  void TakeAll(Reconciled* whole);

  // Null: it is not there. O(log nodes).
  const Node* Find(const std::string& name) const {
    const auto it = nodes_.find(name);
    return it == nodes_.end() ? nullptr : &it->second;
  }
  bool Has(const std::string& name) const { return nodes_.contains(name); }
  size_t size() const { return nodes_.size(); }

 private:
  ExternalUsage UsageOf(const std::string& name) const;

  std::map<std::string, Node> nodes_;
  std::map<std::string, Time> spot_;                 // Nodes that go away.
  std::set<std::string> told_;                       // The scheduler has them.
  std::map<std::string, PodUsage> usage_;            // By the pod's UID.
  std::map<std::string, std::set<std::string>> on_;  // Node to UIDs.
  std::set<std::string> changed_;                    // Nodes.
  std::set<std::string> spot_changed_;               // Nodes.
  std::set<std::string> used_otherwise_;             // Nodes.
  std::set<std::string> gone_;                       // Nodes.
};

}  // namespace muster::kubernetes
