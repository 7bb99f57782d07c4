// A discrete-event simulator in virtual time: an ordinary host of a scheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/inprocess/host_model.h"
#include "adapters/inprocess/metrics.h"
#include "adapters/inprocess/observer.h"
#include "adapters/inprocess/workload.h"
#include "muster/ids.h"
#include "muster/scheduler.h"
#include "muster/waiting_mirror.h"

namespace muster::inprocess {

struct SimulatorOptions {
  HostModel host{};
  Observer* observer = nullptr;  // Not owned. Costs time on large traces.
  // Reads a counter of allocations, where the program has one.
  uint64_t (*allocations)() = nullptr;
  // Told now and then how many of the jobs have ended.
  std::function<void(uint64_t ended, uint64_t all)> progress{};
  bool validate = false;  // Scheduler::Validate() after every pass: slow.
};

// What became of a refused event or submission.
struct Refusal {
  Time at = 0;
  std::string what{};  // The gang's key, or the kind of event.
  std::string error{};
  int line = 0;  // WorldEvent::line.
};

// Feeds a scheduler with arrivals, completions, checkpoints, node events and
// answers, carries out its decisions, and keeps account of each gang's
// progress: all choices are the scheduler's. Makes one pass per point in time
// at which something happened that a decision could depend on, and further
// ones while answers at the same time change the picture.
//
// A gang works while all its roles and groups are at their minimum, at the
// speed (tasks that run / tasks desired). A stop throws away what was done
// since the last checkpoint, but not a suspension. A restart first costs
// Gang::restart_cost.
//
// One thread at a time. The jobs' source, the observer and the journal outlive
// the simulator. Time and memory are O(log n) per event and O(live gangs).
class Simulator {
 public:
  // Sets up the cluster. An error is the scheduler's.
  static absl::StatusOr<Simulator> Create(const Setup& setup, JobSource* jobs,
                                          std::vector<WorldEvent> world,
                                          SimulatorOptions options);
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;
  ~Simulator();

  // Receives everything from now on. Not owned; null: no observer.
  void SetJournal(Journal* journal);

  // Goes on until nothing more will happen, or to the last event at or before
  // `until`. INTERNAL: the scheduler broke its contract (it refused a correct
  // answer, used what the host cannot do, does not come to rest).
  absl::Status Run(Time until = kForever);

  // To be called when a run has ended. INTERNAL names the first thing that
  // does not balance: a gang unaccounted for, capacity that no task holds,
  // a task that is not where the scheduler believes it is.
  absl::Status Audit() const;

  Time now() const;
  const Scheduler& scheduler() const;
  const Metrics& metrics() const;
  const RealUsage& real_usage() const;
  // As the plans told it.
  const WaitingMirror& waiting() const;
  const std::vector<Refusal>& refusals() const;  // The first 100.
  // Keys of the gangs that neither ended nor are gone, in order of submission.
  std::vector<std::string> Live() const;

 private:
  class Impl;
  explicit Simulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::inprocess
