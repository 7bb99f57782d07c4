// What a simulation measures.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/inprocess/observer.h"
#include "adapters/inprocess/real_usage.h"
#include "muster/decision.h"
#include "muster/ids.h"
#include "muster/plan.h"

namespace muster::inprocess {

// Of a set of spans: sorted[floor(q x count)].
struct Quantiles {
  uint64_t count = 0;
  double mean = 0;  // Seconds, like the rest.
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
};
// Sorts *spans.
Quantiles QuantilesOf(std::vector<Duration>* spans);

// One finished gang, kept small: there may be millions.
struct Finished {
  Duration wait = 0;        // Submission to the first moment at work.
  Duration completion = 0;  // Submission to the end.
  uint16_t group = 0;       // Into Metrics::classes.
  uint8_t size = 0;         // Into kSizeNames.
};

// Gangs by the devices they ask for at full size.
inline constexpr std::array<std::string_view, 9> kSizeNames = {
    "0", "<1", "1", "2-4", "5-8", "9-16", "17-32", "33-64", ">64"};
uint8_t SizeOf(int64_t device_milli);

// One of the days from the first submission on; sums over its time.
struct Day {
  double used = 0;       // Device-seconds.
  double capacity = 0;   // Likewise.
  double offered = 0;    // Likewise, if every gang ran from its submission on.
  double free = 0;       // Of devices, in thousandths x seconds.
  double partly = 0;     // Of these, on devices in partial use.
  double whole = 0;      // Device-seconds of devices that were not used,
  double scattered = 0;  // and of these, on nodes in partial use.
};

// What was measured, and the sums behind it. Floating point is for reading
// only: nothing here reaches a decision.
class Metrics {
 public:
  struct Counts {
    uint64_t submitted = 0, finished = 0, cancelled = 0, refused = 0;
    uint64_t passes = 0, decisions = 0, answers = 0, checkpoints = 0;
    uint64_t budget_exhausted = 0, steps = 0;
    uint64_t overcommits = 0;   // Planned tasks without room in RealUsage.
    uint64_t not_found = 0;     // Late messages about gangs that were gone.
    uint64_t max_live = 0;      // Gangs that waited or ran at one time.
    uint64_t quiet_passes = 0;  // Passes that decided nothing.
    // Counted only where the program replaces operator new.
    uint64_t pass_allocations = 0, quiet_pass_allocations = 0;
    // Gangs that room was made for; of them, those whose victims were proven
    // to be the cheapest; and of all what was lost, and had to be.
    uint64_t preemptions = 0, cheapest = 0;
    double preempted_gpu_s = 0, preempted_least_gpu_s = 0;
    std::array<uint64_t, 10> by_kind{};  // DecisionKind.
    std::array<uint64_t, 8> stops{};     // StopCause.
    std::array<double, 8> lost_gpu_s{};  // StopCause; restart costs included.
  };

  Counts counts{};
  std::vector<std::string> classes{};  // Priority class keys; "" is none.
  std::vector<Finished> finished{};
  double pass_seconds = 0;  // Of CPU, inside Scheduler::Schedule.
  double worst_pass_seconds = 0;
  Time first_submission = kForever;
  Time last_end = 0;

  // `device_kind`: position of the resource that is counted by devices.
  explicit Metrics(ResourceKind device_kind = 0) : device_kind_(device_kind) {}

  // Time goes on to `now` with these totals.
  void Advance(Time now, const UsageTotals& totals);
  // A gang with these devices and run time was submitted.
  void Submitted(Time at, int64_t device_milli, Duration work);
  void Ended(Time at, const Finished& f);
  void Planned(const Plan& plan, double seconds, uint64_t allocations);
  uint16_t ClassOf(const std::string& key);

  // Share of each resource in use, from the first submission to the last end.
  double Utilisation(ResourceKind kind) const;
  // Work asked of the devices / their capacity, over the makespan.
  double OfferedLoad() const;
  // Of the free device thousandths, the share on devices in partial use; of the
  // free whole devices, the share on nodes that are in partial use. Both
  // averaged over the free capacity and time.
  double PartlyUsedShare() const;
  double ScatteredShare() const;
  Duration makespan() const;
  const std::vector<Day>& days() const { return days_; }

 private:
  Day Sum() const;
  // Calls f(day, seconds) for each day that from..to touches.
  template <class F>
  void EachDay(Time from, Time to, F f);

  ResourceKind device_kind_;
  Time since_ = 0;
  std::vector<double> used_{};  // By kind, x seconds.
  std::vector<double> capacity_{};
  std::vector<Day> days_{};
  std::map<std::string, uint16_t> class_index_{};
};

}  // namespace muster::inprocess
