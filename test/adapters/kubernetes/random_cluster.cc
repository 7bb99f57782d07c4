#include "test/adapters/kubernetes/random_cluster.h"

namespace muster::kubernetes {

ApiOutcome RandomCluster::AnyFault() {
  const ApiOutcome outcomes[] = {ApiOutcome::kUnknown, ApiOutcome::kConflict,
                                 ApiOutcome::kRefused};
  return outcomes[Below(3)];
}

std::vector<std::string> RandomCluster::Running() const {
  std::vector<std::string> names;
  for (const std::string& name : api.Names()) {
    const api::Pod& pod = api.PodNamed(name);
    if (!pod.node_name.empty() && pod.phase == "Running") {
      names.push_back(name);
    }
  }
  return names;
}

void RandomCluster::FinishOne() {
  const std::vector<std::string> running = Running();
  if (!running.empty()) api.Finish(AnyOf(running), !OneIn(4));
}

void RandomCluster::DeleteOne() {
  const std::vector<std::string> names = api.Names();
  if (!names.empty()) api.DeletePod(AnyOf(names));
}

void RandomCluster::FinishAll(int times, Duration quiet,
                              absl::FunctionRef<void()> meanwhile) {
  for (int without = 0; without < times; ++without) {
    meanwhile();
    api.Pass(quiet);
    const std::vector<std::string> running = Running();
    if (running.empty()) continue;
    for (const std::string& name : running) api.Finish(name);
    without = 0;
  }
}

}  // namespace muster::kubernetes
