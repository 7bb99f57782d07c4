// Watches a simulation for a report: everything that the page shows, in a
// bounded amount of memory.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "adapters/inprocess/observer.h"
#include "adapters/inprocess/simulator.h"
#include "adapters/report/gangs.h"
#include "adapters/report/map.h"
#include "adapters/report/report.h"
#include "adapters/report/series.h"

namespace muster::inprocess {

// Columns of RunRecord::series. Sums over time, in device-seconds or
// gang-seconds; kSubmitted and kFinished are counts, and so on. Behind
// kFixedColumns: used and capacity of each resource, in pairs.
enum SeriesColumn : size_t {
  kSeconds,        // Of the bucket that were simulated.
  kFreeMilli,      // UsageTotals' four about free devices,
  kPartlyMilli,    //
  kWholeFree,      //
  kScatteredFree,  // the last one as whole_free - whole_on_free_node.
  kWaitingGangs,
  kWorkingGangs,
  kWaitingDevices,  // That waiting gangs ask for.
  kSubmitted,
  kFinished,
  kLost,  // Device-seconds by StopCause: 8 columns.
  kFixedColumns = kLost + 8,
};
enum SeriesMaximum : size_t { kMostWaiting, kMaxima };

// What was seen.
struct RunRecord {
  Time end = 0;
  BucketSeries series{kFixedColumns, kMaxima, 1};
  MapPicture map{};
  std::vector<std::string> levels{};  // Of the map's paths.
  std::vector<GangSample::Picked> sample{};
  uint64_t gangs = 0;  // That the sample was taken from.
  bool sample_complete = true;
  // Gangs that wait at the end, in order of submission: the first ones, with
  // how many of their queue come before them.
  std::vector<std::pair<GangRecord, uint32_t>> waiting{};
  uint64_t waiting_in_all = 0;
  bool reasons_complete = true;  // Every gang that waited was asked why.
};

struct RecorderLimits {
  size_t buckets = 1024;
  size_t map_cells = 4'000'000;  // Devices x steps.
  size_t map_bytes = 4'000'000;
  size_t per_standing = 100;
  size_t waiting = 2000;
  // Calls of Explain x gangs that wait: what asking for reasons may cost.
  uint64_t reason_work = 100'000'000;
};

// Tells another observer, if there is one, everything that it is told. One
// thread; memory O(live gangs + limits).
class Recorder final : public Observer {
 public:
  explicit Recorder(const SchedulerConfig& config, Observer* next = nullptr,
                    RecorderLimits limits = {});

  void Advanced(Time from, Time to, const RealUsage& real_usage) override;
  void NodeUpdated(uint32_t node, const RealUsage& real_usage) override;
  void PlaceChanged(const PlaceChange& change) override;
  void Submitted(Time at, const Gang& gang) override;
  void Ran(const RunStart& run) override;
  void Resized(Time at, const Gang& gang, uint32_t tasks) override;
  void Stopped(const RunStop& stop) override;
  void Gone(Time at, const Gang& gang, std::string_view why) override;
  void Planned(const Plan& plan, const Scheduler& scheduler) override;

  // To be called once, when the run has ended.
  RunRecord Finish(const Simulator& simulator);

 private:
  struct Live {
    GangRecord record{};
    bool working = false;
  };

  Live* Find(std::string_view key);
  // From now on it waits, or does not.
  void SetWaiting(Live* live, bool waits);
  void End(const std::string& key, Time at);
  // Asks why a waiting gang waits, if that may still be asked; how many of its
  // queue come first.
  uint32_t Ask(Live* live, Time at, const Scheduler& scheduler);
  void AskOldest(Time at, const Scheduler& scheduler);

  Observer* next_;
  RecorderLimits limits_;
  std::vector<std::string> levels_{};
  uint32_t submissions_ = 0;
  BucketSeries series_;
  std::vector<double> rates_{};
  uint64_t working_ = 0;
  int64_t waiting_milli_ = 0;

  DeviceMap map_;
  GangSample sample_;
  std::unordered_map<std::string, Live> live_;
  std::set<std::pair<uint32_t, Live*>> queue_;  // Who waits, by number.
  std::vector<std::string> ask_;  // To be asked after the next pass.
  Time ask_oldest_at_ = 0;
  uint64_t reason_work_ = 0;
  bool reasons_complete_ = true;
};

}  // namespace muster::inprocess
