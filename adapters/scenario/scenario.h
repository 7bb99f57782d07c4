// Scenarios: a cluster, tenants, gangs and events in one YAML file, and what is
// expected of the run. docs/scenario-format.md describes every key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/inprocess/host_model.h"
#include "adapters/inprocess/observer.h"
#include "adapters/inprocess/workload.h"
#include "adapters/text/cluster_fields.h"
#include "adapters/text/yaml_reader.h"
#include "muster/reason.h"

namespace muster::inprocess {

// What is not set is not looked at.
struct ExpectedInterval {
  std::optional<Time> from{};
  std::optional<Time> to{};
  std::optional<StopCause> end{};
  std::optional<Duration> saved{};
  std::optional<Duration> lost{};
  std::optional<uint32_t> tasks{};
  std::optional<std::string> by{};
  std::optional<std::vector<std::string>> nodes{};  // By task.
  std::optional<std::vector<Size>> sizes{};         // All of them, in order.
  Mark mark{};
};

struct ExpectedIntervals {
  std::string gang{};
  std::vector<ExpectedInterval> intervals{};  // All of them, in order.
  Mark mark{};
};

// All tasks of a gang (or of these roles of it) always run in one domain.
struct ExpectedTogether {
  std::string gang{};
  std::string level{};  // A node's label, or "host".
  std::vector<std::string> roles{};
  Mark mark{};
};

// The gang waits at the end of the run, for this reason.
struct ExpectedWaiting {
  std::string gang{};
  ReasonCode reason = ReasonCode::kNone;
  Mark mark{};
};

struct Expectations {
  std::vector<ExpectedIntervals> intervals{};
  std::vector<ExpectedTogether> together{};
  std::vector<ExpectedWaiting> waiting{};
  // Exactly these gangs are stopped before their end at least once.
  std::optional<std::vector<std::string>> stopped{};
  Mark stopped_mark{};
};

struct Scenario {
  std::string file{};
  std::string title{};
  std::string story{};  // In plain words.
  Setup setup{};
  HostModel host{};
  std::vector<Job> jobs{};  // By time of submission.
  std::vector<WorldEvent> events{};
  Expectations expect{};
  std::map<std::string, Mark> gang_marks{};
};

// What a file may ask for, so that a few bytes cannot take all memory or time.
struct ScenarioLimits {
  int64_t memory = int64_t{4} << 30;  // Nodes and gangs with all copies, bytes.
  int64_t checkpoints = 1'000'000;    // Of one gang in one run.
};

// Reads and checks a file. Every error is INVALID_ARGUMENT: one line with file,
// line, column and field. What only a scheduler can judge (fields that are not
// supported yet, cyclic role orders, ...) is asked of one.
// `keys`, if given, learns which keys the reader asked for, errors or not.
absl::StatusOr<Scenario> LoadScenario(const std::string& file,
                                      const ScenarioLimits& limits = {},
                                      KeysRead* keys = nullptr);

// What LoadScenario uses; see cluster.cc and gang.cc.
struct ScenarioMarks {
  std::vector<Mark> nodes{};
  std::vector<Mark> node_sets{};
  std::vector<Mark> queues{};
  std::vector<Mark> classes{};
  std::vector<Mark> jobs{};
};
Resources ReadResources(const Value& value, const SchedulerConfig& config,
                        int64_t* device_milli);
// per_task, devices and selector of a task.
void ReadShape(Fields* f, const SchedulerConfig& config, TaskShape* shape);
void ReadConfig(Fields* top, SchedulerConfig* config);
// scheduler, placement and host: what may differ on one cluster. Values that
// are not named stay as they are.
void ReadSettings(Fields* top, SchedulerConfig* config, HostModel* host);
void ReadNodes(const Value& value, const SchedulerConfig& config,
               std::vector<Node>* nodes, std::vector<Mark>* marks);
NodeSet ReadNodeSet(const Value& value);
ExternalUsage ReadExternalUsage(const Value& value,
                                const SchedulerConfig& config);
TopologyConstraint ReadTopologyConstraint(const Value& value);
Labels ReadLabels(const Value& value);
// One job, or several copies of it.
void ReadJobs(const Value& value, const SchedulerConfig& config,
              const ScenarioLimits& limits, std::vector<Job>* jobs,
              std::vector<Mark>* marks);
void ReadEvents(const Value& value, const SchedulerConfig& config,
                std::vector<WorldEvent>* events);
void ReadExpectations(const Value& value, Expectations* expect);

}  // namespace muster::inprocess
