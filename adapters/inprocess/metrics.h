// What a simulation measures.
#ifndef MUSTER_ADAPTERS_INPROCESS_METRICS_H_
#define MUSTER_ADAPTERS_INPROCESS_METRICS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/inprocess/books.h"
#include "adapters/inprocess/observer.h"
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

// What was measured, and the sums behind it. Floating point is for reading
// only: nothing here reaches a decision.
class Metrics {
 public:
  struct Counts {
    uint64_t submitted = 0, finished = 0, cancelled = 0, refused = 0;
    uint64_t passes = 0, decisions = 0, answers = 0, checkpoints = 0;
    uint64_t budget_exhausted = 0, steps = 0;
    uint64_t overcommits = 0;   // Planned tasks without room in the books.
    uint64_t not_found = 0;     // Late messages about gangs that were gone.
    uint64_t max_live = 0;      // Gangs that waited or ran at one time.
    uint64_t quiet_passes = 0;  // Passes that decided nothing.
    // Counted only where the program replaces operator new.
    uint64_t pass_allocations = 0, quiet_pass_allocations = 0;
    std::array<uint64_t, 10> by_kind{};  // DecisionKind.
    std::array<uint64_t, 8> stops{};     // StopCause.
    std::array<double, 8> lost_gpu_s{};  // StopCause; restart costs included.
  };

  Counts counts{};
  std::vector<std::string> classes{};  // Priority class keys; "" is none.
  std::vector<Finished> finished{};
  double pass_seconds = 0;  // Inside Scheduler::Schedule, wall time.
  double worst_pass_seconds = 0;
  Time first_submission = kForever;
  Time last_end = 0;

  // Time goes on to `now` with these totals.
  void Advance(Time now, const BookTotals& totals);
  void Submitted(Time at, double gpu_seconds);
  void Ended(Time at, const Finished& f);
  void Planned(const Plan& plan, double seconds, uint64_t allocations);
  uint16_t ClassOf(const std::string& key);

  // Share of each resource in use, from the first submission to the last end.
  double Utilisation(ResourceKind kind) const;
  // Device-seconds of work asked for, and of capacity that went unused.
  double offered_device_seconds() const { return offered_gpu_seconds_; }
  double idle_device_seconds() const { return idle_device_seconds_; }
  // Of the free device thousandths, the share on devices in partial use; of the
  // free whole devices, the share on nodes that are in partial use. Both
  // averaged over the free capacity and time.
  double PartlyUsedShare() const;
  double ScatteredShare() const;
  Duration makespan() const;

 private:
  Time since_ = 0;
  std::vector<double> used_{};  // x seconds.
  std::vector<double> capacity_{};
  double offered_gpu_seconds_ = 0;
  double free_ = 0, partly_ = 0, whole_ = 0, whole_on_free_node_ = 0;
  double idle_device_seconds_ = 0;
  std::map<std::string, uint16_t> class_index_{};
};

}  // namespace muster::inprocess

#endif  // MUSTER_ADAPTERS_INPROCESS_METRICS_H_
