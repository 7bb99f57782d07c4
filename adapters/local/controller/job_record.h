// JobRecord: a job that has not finished.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/controller/meeting.h"
#include "adapters/local/controller/own_cpus.h"
#include "adapters/local/controller/shared_text.h"
#include "adapters/local/model/job_row.h"
#include "adapters/local/model/life_row.h"
#include "adapters/local/model/task_row.h"
#include "muster/device.h"
#include "muster/device_set.h"
#include "muster/ids.h"
#include "muster/workload/life.h"
#include "muster/workload/rendezvous.h"
#include "muster/workload/to_gang.h"

namespace muster::local {

// What the scheduler has given.
struct Place {
  uint32_t attempt = 0;      // PlannedTask::attempt
  uint32_t alternative = 0;  // Of what its task asks for.
  DeviceSet devices{};
  uint32_t first_slice = 0;
};

// One attempt of a task that is alive, as far as is known.
struct LiveTask {
  TaskRow row{};
  uint32_t slot = 0;      // Its place: that of its role with this number.
  bool deferred = false;  // Its start waits until the job is resumed.
  bool asked = false;     // To be suspended, or resumed: no answer yet.
  std::vector<uint32_t> bound{};  // The CPUs that it was told last.
};

// Of a job that waits, only what is needed then is in memory: see JobBook.
struct JobRecord {
  // Manifest, environment and endpoints are empty: these are beside.
  JobRow row{};
  SharedText manifest{};
  SharedText environment{};  // "K=V", each behind it a zero.
  // Its events so far, as long as they are few: what is not in memory is made
  // of them.
  std::vector<LifeRow> events{};
  bool has_all_events = true;
  uint64_t next_seq = 1;

  // --- If `life` is there ----------------------------------------------------
  std::optional<workload::Life> life{};
  workload::LifeState state{};
  workload::GangForm form{};  // Without the gang itself.
  // By role of the gang, and alternative.
  std::vector<std::vector<DeviceRequest>> requests{};

  // Sizes that were asked for, by role; 0: as the manifest says.
  std::vector<uint32_t> sizes{};
  std::map<TaskId, Place> places{};    // By role and place.
  OwnCpus cpus{};                      // Of these places.
  std::map<TaskId, LiveTask> tasks{};  // By role and index.
  Meeting meeting{};
  std::optional<workload::Rendezvous> rendezvous{};
  bool suspended = false;  // By the scheduler.
  // As many of its array as may at a time are before it: ArrayBook.
  bool throttled = false;
  bool ended = false;  // It goes with this turn.
  Time wake_at = kForever;

  const workload::Job& job() const { return life->job(); }
  // Of a task's place; 0 where it has none.
  uint32_t AlternativeOf(TaskId place) const {
    const auto held = places.find(place);
    return held == places.end() ? 0 : held->second.alternative;
  }
};

// Tasks that it has now, or is about to.
inline uint32_t TaskCount(const workload::LifeState& state) {
  uint32_t size = 0;
  for (const workload::RoleState& role : state.roles) size += role.size;
  return size;
}

// Whether it is queued, or suspended by its owner: it holds nothing.
inline bool Waits(const JobRow& row) {
  return row.phase == Name(workload::LifePhase::kQueued) ||
         row.phase == Name(workload::LifePhase::kSuspended);
}

// The same, and nothing of it is anywhere: what it runs can be another.
inline bool OnlyWaits(const JobRecord& job) {
  return Waits(job.row) && job.places.empty() && job.tasks.empty() &&
         !job.ended;
}

// Whether the scheduler is to leave it where it is, and why.
inline bool IsHeld(const JobRecord& job) {
  return job.row.held || job.throttled;
}
inline std::string HeldWhy(const JobRecord& job) {
  if (job.row.held) return "by its owner";
  if (!job.throttled) return "";
  return "behind others of its array, of which " +
         std::to_string(job.row.array_limit) + " may run at a time";
}

// Its place in its queue, by this time and then its id.
inline Time PlaceOf(const JobRow& row) {
  return row.place.value_or(row.submitted);
}

}  // namespace muster::local
