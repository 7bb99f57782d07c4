// CpuDriver: which CPUs tasks run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/state.h"
#include "muster/ids.h"
#include "muster/workload/job.h"

namespace muster::local {

// The CPUs of what runs in a place: the kernel's numbers, ascending.
struct PlaceCpus {
  std::vector<uint32_t> cpus{};  // None: any.
  // They are not its own: what nobody has is shared by all who have none.
  bool shared = false;
};

// Where a place's CPUs are, if tasks are bound here. Its own, and those of the
// job's places in which nothing starts by itself: workers of mpirun and steps
// of srun are started by, and so within, the task that does. O(places + CPUs).
PlaceCpus CpusOf(const ControllerState& state, const JobRecord& job,
                 TaskId place);

// How many cpus of its own a place of the role has: as many as it asks for, if
// that is a whole number; 0: it shares. O(resources).
size_t OwnCpusOf(const workload::Role& role, uint32_t alternative);

// A place that asks for a whole number of cpus has so many of its own for as
// long as it is the job's, but for the time for which it is suspended: then,
// like its devices, they are others'. Not synchronised.
class CpuDriver {
 public:
  // Not owned.
  explicit CpuDriver(ControllerState* state) : s_(*state) {}

  // The place is the job's, or goes on there. Twice does no harm. As of
  // CoreAllocator::Take.
  void Give(JobRecord* job, TaskId place);
  // It is not any more, or is suspended. O(CPUs).
  void TakeBack(JobRecord* job, TaskId place);
  // What is launched runs on the CPUs of its place as they are now.
  std::vector<uint32_t> Launch(const JobRecord& job, LiveTask* task) const;
  // Binds what runs to the CPUs of its place, where they are others than it was
  // told last. O(1) if nothing has changed, else O(tasks x CPUs).
  void Settle();

 private:
  ControllerState& s_;
  bool changed_ = true;  // After a restart it is not known what was told.
};

}  // namespace muster::local
