// From a scenario to what a host of the library would say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/config.h"
#include "muster/event.h"
#include "muster/gang.h"
#include "test/conformance/scenario.h"

namespace muster::conformance {

// One pod, and the task it became.
struct Unit {
  size_t gang = 0;  // Position in Scenario::gangs.
  size_t pod = 0;   // Position in GangSpec::pods.
  std::string name;
  std::string state;   // As the scenario starts.
  std::string node;    // Where it is then; empty: nowhere.
  bool member = true;  // Whether it is a task of the gang.
  bool lost = false;   // With its node, before the first pass.
  TaskId task{};
  std::vector<uint32_t> devices{};
};

struct TranslatedGang {
  Gang gang;
  // Never handed in: finished, or without pods.
  bool left_out = false;
  // Why the library may refuse the gang, and be right; empty: it must not.
  std::string refusable;
  // false: it is held in this pass because another of its queue goes before it.
  bool has_turn = true;
  bool evicted_pods_stay_terminating = false;
};

// The host's state at a moment. The last one is what the passes start from;
// the ones before tell which gangs have been running for longer.
struct Moment {
  Time at = 0;
  Reconciled whole;
};

struct Translation {
  SchedulerConfig config;
  std::vector<PriorityClass> classes;
  std::vector<Queue> queues;          // Parents first; all open.
  std::vector<Queue> closed_queues;   // Their final values, said last.
  std::vector<TranslatedGang> gangs;  // As in Scenario::gangs.
  std::vector<Moment> moments;
  // What befell after the last moment: pods that succeeded, pods that were
  // lost, and the nodes that were lost with them.
  std::vector<TasksAnswered> answers;
  std::vector<std::string> lost_nodes;
  std::vector<Unit> units;
  std::map<std::string, StringMap> node_labels;  // Topology levels included.
  Time start = 0;                                // Of the first pass.
};

// UNIMPLEMENTED with the reason where the scenario says something that the
// library's public interface, or this program, has no word for.
absl::StatusOr<Translation> Translate(const Scenario& scenario);

// Usage that is told without gangs becomes one gang that runs for each queue.
Scenario WithUsageAsGangs(Scenario scenario);

bool HasPodSets(const Scenario& scenario);     // Pods come in counted sets.
bool IsQueueSystem(const Scenario& scenario);  // Kueue's quotas and words.

}  // namespace muster::conformance
