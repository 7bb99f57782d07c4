// The nodes, and what pods use there that are not the scheduler's.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "muster/cluster_view.h"
#include "muster/event.h"
#include "muster/node.h"
#include "muster/resources.h"

namespace muster::kubernetes {

// What one pod uses of its node, beside what the scheduler's tasks hold there.
struct PodUsage {
  std::string node{};
  // Less than 0: the pod asks for so much less than the scheduler's task of it
  // holds.
  Resources amount{};
  uint32_t devices = 0;  // Whole ones; nobody says which.
  // The kubelet has taken it. One that it has not looked at yet counts as long
  // as it has room beside all else: else the kubelet will refuse it, and must
  // not, whoever bound it, drive away what runs or waits.
  bool settled = true;
  Time created = 0;  // Of those that are not settled the oldest is first.

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
  // Then, when the scheduler has been told what became of its tasks: which of
  // the pods count that no kubelet has looked at. O(nodes with such pods x
  // resources + such pods x their logarithm).
  std::vector<EventBody> TakeUnsettled(const ClusterView& cluster);
  // Nodes of which more may be in use than they have, or no longer, since the
  // last call.
  std::set<std::string> TakeDoubtful() { return std::exchange(doubtful_, {}); }
  // A task turned out to be there, and not where it was planned to be.
  void Doubt(const std::string& name) { doubtful_.insert(name); }
  // The scheduler has taken a NodeChanged. Of one that it refused: Remove.
  void SetTold(const std::string& name) { told_.insert(name); }
  // All of it, for Reconciled, but for pods that are not settled. What
  // TakeChanges would give is forgotten.
  void TakeAll(Reconciled* whole);

  // Null: it is not there. O(log nodes).
  const Node* Find(const std::string& name) const {
    const auto it = nodes_.find(name);
    return it == nodes_.end() ? nullptr : &it->second;
  }
  bool Has(const std::string& name) const { return nodes_.contains(name); }
  size_t size() const { return nodes_.size(); }

 private:
  // What pods use of a node that are not the scheduler's, and by how much what
  // its own hold there exceeds what they ask for.
  struct Sum {
    ExternalUsage usage{};
    Resources surplus{};
  };
  // Pods of a node that no kubelet has looked at.
  struct Unsettled {
    std::set<std::pair<Time, std::string>> pods{};  // By age; UIDs.
    std::set<std::string> counted{};                // UIDs.
  };

  void Forget(const std::string& uid);
  Sum SumOf(const std::string& name) const;
  // As the scheduler is to know it.
  Node ToldAs(const Node& node) const;
  bool Counts(const std::string& uid, const PodUsage& usage) const;

  std::map<std::string, Node> nodes_;
  std::map<std::string, Time> spot_;                 // Nodes that go away.
  std::set<std::string> told_;                       // The scheduler has them.
  std::map<std::string, PodUsage> usage_;            // By the pod's UID.
  std::map<std::string, std::set<std::string>> on_;  // Node to UIDs.
  std::map<std::string, Unsettled> unsettled_;       // By node.
  std::map<std::string, Resources> surplus_;  // By node, if there is any.
  std::set<std::string> changed_;             // Nodes.
  std::set<std::string> spot_changed_;        // Nodes.
  std::set<std::string> used_otherwise_;      // Nodes.
  std::set<std::string> gone_;                // Nodes.
  std::set<std::string> doubtful_;            // TakeDoubtful.
};

}  // namespace muster::kubernetes
