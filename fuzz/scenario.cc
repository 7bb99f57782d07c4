#include "adapters/scenario/scenario.h"

#include <string>

#include "adapters/inprocess/simulator.h"
#include "fuzz/memory_file.h"
#include "fuzz/targets.h"

namespace muster::fuzz {
namespace {

using inprocess::Job;

// Small enough that a time out is a mistake of the reader, not of the file.
constexpr inprocess::ScenarioLimits kLimits = {.memory = 4 << 20,
                                               .checkpoints = 100};

absl::StatusOr<inprocess::Scenario> Load(std::string_view input) {
  const MemoryFile file(input);
  return inprocess::LoadScenario(file.path(), kLimits);
}

// A picture of a cluster, not a load test.
bool IsSmall(const inprocess::Scenario& s) {
  uint64_t tasks = 0;
  for (const Job& job : s.jobs) {
    for (const Role& role : job.gang.roles) tasks += role.desired_tasks;
  }
  return s.setup.nodes.size() <= 64 && s.jobs.size() <= 64 && tasks <= 512 &&
         s.events.size() <= 64;
}

}  // namespace

std::string Scenario(std::string_view input) {
  const auto s = Load(input);
  if (s.ok()) return "";
  const std::string message(s.status().message());
  if (!absl::IsInvalidArgument(s.status())) return s.status().ToString();
  return message.starts_with("/proc/self/fd/") ? ""
                                               : "an error without its file";
}

std::string Simulation(std::string_view input) {
  const auto s = Load(input);
  if (!s.ok() || !IsSmall(*s)) return "";
  inprocess::VectorSource jobs(s->jobs);
  auto simulator = inprocess::Simulator::Create(
      s->setup, &jobs, s->events, {.host = s->host, .validate = true});
  if (!simulator.ok()) return "";
  const absl::Status run = simulator->Run();
  if (!run.ok()) return absl::IsInternal(run) ? run.ToString() : "";
  const absl::Status audit = simulator->Audit();
  return audit.ok() ? "" : audit.ToString();
}

}  // namespace muster::fuzz
