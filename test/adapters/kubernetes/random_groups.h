// Groups of every kind that come to a cluster, and whose objects go.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "test/adapters/kubernetes/random_cluster.h"

namespace muster::kubernetes {

class RandomGroups {
 public:
  // `cluster` outlives it.
  explicit RandomGroups(RandomCluster* cluster) : cluster_(cluster) {}

  // A group comes, or the object of one goes, and a second passes.
  void Act();

 private:
  // The object comes before the pods, among them or after them.
  void AddWith(const std::vector<PodSpec>& pods,
               const std::function<void()>& put);
  void AddVolcanoGang();
  void AddTrainingJob();
  void AddPluginGang();
  void AddSubgroups();
  void AddComposite();
  // Pods that say how many they are, and an object perhaps.
  void AddCounted();
  void AddWholeGang();

  RandomCluster* const cluster_;
  // That may go.
  std::vector<std::pair<GroupKind, std::string>> objects_;
};

}  // namespace muster::kubernetes
