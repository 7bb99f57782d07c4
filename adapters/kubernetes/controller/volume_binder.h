// VolumeBinder: pods and the nodes of their volumes; volumes that are bound
// once a pod has a node.
#pragma once

#include <string>

#include "adapters/kubernetes/controller/executor.h"
#include "adapters/kubernetes/controller/role_pool.h"
#include "adapters/kubernetes/controller/state.h"

namespace muster::kubernetes {

// Not synchronised.
class VolumeBinder {
 public:
  // Neither is owned.
  VolumeBinder(ControllerState* state, Executor* executor)
      : s_(*state), executor_(*executor) {}

  // What their volumes say now of the gang's pods that have no place: their
  // roles, and what they lack. Roles of the gang are made after this.
  // O(pods of the gang x VolumeBook::Judge).
  void Resolve(GangRecord* gang);
  // Has volumes bound for pods that have places; binds those that have all of
  // theirs, once the gang has as many as it needs; gives places back that
  // volumes do not admit. True: there were some, and the gang is to be told
  // anew. O(pods of the gang x VolumeBook::Judge).
  bool Advance(GangRecord* gang);

 private:
  // Whether the pod of a task that has a place has all its volumes. If it
  // cannot have them there, the place is given back.
  bool IsReady(GangRecord* gang, TaskSlot* slot);
  // Has the claim bound for this node; why that cannot be, or "".
  std::string Provide(const ClaimKey& key, const Node& node, ClaimStage stage,
                      const PodRef& pod);
  std::string SelectNode(const ClaimKey& key, const std::string& node,
                         const PodRef& pod);
  std::string GiveVolume(const ClaimKey& key, const Node& node,
                         const PodRef& pod);
  // No volume for the node came of it: the claim's pods look elsewhere.
  void GiveUp(const ClaimKey& key, const std::string& node);
  // Pods look for other nodes than the one that was selected in vain.
  void Unselect(const PodRecord& pod, const std::string& node);
  void GiveBack(GangRecord* gang, TaskSlot* slot, const std::string& why);
  // Tells of places that were given back. A gang of which no pod is bound gives
  // all of them back, so that it starts as a whole; else those tasks are over,
  // and their pods get others.
  void TellGivenBack(GangRecord* gang);

  ControllerState& s_;
  Executor& executor_;
  RolePool roles_;
};

}  // namespace muster::kubernetes
