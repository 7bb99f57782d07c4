#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fuzz/targets.h"
#include "muster/config.h"
#include "muster/workload/life.h"
#include "muster/workload/parse.h"
#include "muster/workload/rendezvous.h"
#include "muster/workload/to_gang.h"
#include "test/workload/manifests.h"

namespace muster::fuzz {
namespace {

namespace w = workload;

bool IsRefusal(const absl::Status& status) {
  return (absl::IsInvalidArgument(status) || absl::IsUnimplemented(status)) &&
         !status.message().empty();
}

// From its start until nothing is asked any more, or for some steps.
std::string Live(const w::Job& job, const std::vector<TaskId>& places) {
  const auto life = w::Life::Make(job);
  if (!life.ok()) return "no life: " + life.status().ToString();
  w::LifeState state = life->Begin();
  w::LifeOutput output;
  std::vector<w::LifeEvent> events = {w::Submitted{}, w::ResumeAsked{},
                                      w::Placed{places}};
  for (size_t i = 0; i < events.size() && i < 200; ++i) {
    const absl::Status s = life->Step(events[i], 0, &state, &output);
    if (!s.ok()) return "a step is refused: " + s.ToString();
    for (const w::Action& a : output.actions) {
      if (a.kind == w::ActionKind::kStart) {
        events.push_back(w::TaskReady{a.task, a.attempt});
        events.push_back(
            w::TaskExited{a.task, a.attempt, static_cast<int32_t>(i % 3)});
      } else if (a.kind == w::ActionKind::kStop) {
        events.push_back(w::TaskExited{a.task, a.attempt, 143});
      }
    }
  }
  return "";
}

std::string Use(const w::Job& job) {
  if (!job.array.indexes.empty() &&
      !w::ArrayElement(job, job.array.indexes.front()).ok()) {
    return "an array without its first element";
  }
  const auto form = w::ToGang(job, SchedulerConfig{}, {});
  if (!form.ok() && !IsRefusal(form.status())) return form.status().ToString();
  uint32_t tasks = 0;
  std::vector<TaskId> places;
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    tasks += job.roles[r].tasks();
    for (uint32_t i = 0; i < job.roles[r].replicas; ++i)
      places.push_back({r, i});
  }
  if (tasks > 1000) return "";
  const auto rendezvous = w::Rendezvous::Make(job, w::ClusterEndpoints(job));
  if (!rendezvous.ok()) return rendezvous.status().ToString();
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    (void)rendezvous->ForTask({r, 0});
    (void)rendezvous->ForTask({r, std::max(1u, job.roles[r].replicas) - 1});
  }
  return Live(job, places);
}

}  // namespace

std::string Manifest(std::string_view input) {
  const auto jobs = w::Parse(input);
  if (!jobs.ok()) {
    return IsRefusal(jobs.status()) ? "" : jobs.status().ToString();
  }
  for (const w::ParsedJob& parsed : *jobs) {
    std::string wrong = Use(parsed.job);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::vector<Seed> ManifestSeeds() {
  std::vector<Seed> seeds;
  for (const w::Manifest& m : w::AllManifests()) {
    seeds.push_back({std::string(m.name), std::string(m.text)});
  }
  return seeds;
}

}  // namespace muster::fuzz
