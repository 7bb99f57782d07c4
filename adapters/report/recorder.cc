#include "adapters/report/recorder.h"

#include <algorithm>
#include <array>

#include "adapters/inprocess/live_gang.h"
#include "adapters/text/quantity.h"

namespace muster::inprocess {
namespace {

constexpr size_t kAskedOldest = 16;

double Devices(int64_t milli) {
  return static_cast<double>(milli) / kWholeDevice;
}

double DeviceSeconds(Duration d, int64_t milli) {
  return static_cast<double>(d) / kSecond * Devices(milli);
}

size_t LostColumn(StopCause cause) {
  return kLost + static_cast<size_t>(cause);
}

Stint Begin(const RunStart& run) {
  Stint stint{.from = run.at};
  std::vector<std::string_view> nodes;
  for (const std::string_view node : run.nodes) {
    if (!node.empty()) nodes.push_back(node);
  }
  stint.sizes = {{run.at, static_cast<uint32_t>(nodes.size())}};
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  stint.nodes_in_all = static_cast<uint32_t>(nodes.size());
  nodes.resize(std::min(nodes.size(), Stint::kMaxNodes));
  stint.nodes.assign(nodes.begin(), nodes.end());
  return stint;
}

// Amounts as people write them: cpu and devices are counted in thousandths.
std::string Amount(int64_t amount, bool thousandths) {
  if (!thousandths) return std::to_string(amount);
  return FormatSeconds(amount * (kSecond / kWholeDevice));
}

std::string PlainText(const NamedReason& r, const std::string& device) {
  std::string text(Name(r.code));
  std::ranges::replace(text, '-', ' ');
  if (r.code == ReasonCode::kNotBefore || r.code == ReasonCode::kBackoff) {
    return text + ": until " + FormatSeconds(r.needed) + " s";
  }
  if (!r.object.empty()) {
    text += " (" + std::string(Name(r.object_kind)) + " " + r.object + ")";
  }
  if (r.needed == 0 && r.available == 0) return text;
  const bool thousandths = r.resource == device || r.resource == "cpu";
  const std::string what = r.resource.empty()    ? "tasks"
                           : r.resource == "gpu" ? "GPUs"
                                                 : r.resource;
  return text + ": needs " + Amount(r.needed, thousandths) + " " + what + ", " +
         Amount(r.available, thousandths) + " available";
}

// Repetitions are left out.
void NoteReason(GangRecord* record, Time at, ReasonCode code,
                std::string text) {
  std::vector<ReasonAt>& reasons = record->reasons;
  if (!reasons.empty() &&
      (reasons.back().text == text ||
       (reasons.back().code == code && reasons.back().at == at))) {
    return;
  }
  if (reasons.size() == GangRecord::kMaxReasons) return;
  reasons.push_back({at, code, std::move(text)});
}

}  // namespace

Recorder::Recorder(const SchedulerConfig& config, Observer* next,
                   RecorderLimits limits)
    : next_(next),
      limits_(limits),
      series_(kFixedColumns + 2 * config.resources.size(), kMaxima,
              limits.buckets),
      rates_(kFixedColumns + 2 * config.resources.size(), 0),
      map_(limits.map_cells),
      sample_(limits.per_standing) {
  if (!config.topologies.empty()) levels_ = config.topologies[0].levels;
}

Recorder::Live* Recorder::Find(std::string_view key) {
  const auto it = live_.find(std::string(key));
  return it == live_.end() ? nullptr : &it->second;
}

void Recorder::Advanced(Time from, Time to, const RealUsage& real_usage) {
  if (next_ != nullptr) next_->Advanced(from, to, real_usage);
  if (!series_.begun()) return;
  const UsageTotals& totals = real_usage.totals();
  rates_[kSeconds] = 1;
  rates_[kFreeMilli] = static_cast<double>(totals.free_milli);
  rates_[kPartlyMilli] = static_cast<double>(totals.partly_free_milli);
  rates_[kWholeFree] = static_cast<double>(totals.whole_free);
  rates_[kScatteredFree] =
      static_cast<double>(totals.whole_free - totals.whole_on_free_node);
  rates_[kWaitingGangs] = static_cast<double>(queue_.size());
  rates_[kWorkingGangs] = static_cast<double>(working_);
  rates_[kWaitingDevices] = Devices(waiting_milli_);
  for (size_t k = 0; k < totals.used.size(); ++k) {
    rates_[kFixedColumns + 2 * k] = static_cast<double>(totals.used[k]);
    rates_[kFixedColumns + 2 * k + 1] = static_cast<double>(totals.capacity[k]);
  }
  const std::array<double, kMaxima> levels = {
      static_cast<double>(queue_.size())};
  series_.AddOver(from, to, rates_, levels);
  map_.Advanced(from, to, real_usage);
}

void Recorder::NodeUpdated(uint32_t node, const RealUsage& real_usage) {
  if (next_ != nullptr) next_->NodeUpdated(node, real_usage);
  map_.NodeUpdated(node, real_usage);
}

void Recorder::PlaceChanged(const PlaceChange& change) {
  if (next_ != nullptr) next_->PlaceChanged(change);
  const Live* live = Find(change.gang.key);
  if (live == nullptr) return;
  const GangRecord& r = live->record;
  if (change.taken) {
    map_.Take(r.number, {r.key, r.priority_class, r.device_milli}, change.node,
              change.devices);
  } else {
    map_.Leave(r.number, change.node, change.devices);
  }
}

void Recorder::SetWaiting(Live* live, bool waits) {
  waiting_milli_ += (waits ? 1 : -1) * live->record.device_milli;
  if (waits) {
    queue_.insert({live->record.number, live});
    ask_.push_back(live->record.key);
  } else {
    queue_.erase({live->record.number, live});
  }
}

void Recorder::Submitted(Time at, const Gang& gang) {
  if (next_ != nullptr) next_->Submitted(at, gang);
  if (!series_.begun()) series_.Begin(at);
  series_.AddAt(at, kSubmitted, 1);
  Live& live = live_[gang.key];
  GangRecord& r = live.record;
  r = {.number = submissions_++,
       .key = gang.key,
       .priority_class = gang.priority_class,
       .queue = gang.queue,
       .device_milli = DeviceMilliOf(gang),
       .submitted = at};
  for (const Role& role : gang.roles) r.tasks += role.desired_tasks;
  SetWaiting(&live, true);
}

void Recorder::Ran(const RunStart& run) {
  if (next_ != nullptr) next_->Ran(run);
  Live* live = Find(run.gang.key);
  if (live == nullptr) return;
  GangRecord& r = live->record;
  if (r.stints_in_all == 0) r.waited = run.at - r.submitted;
  if (r.stints_in_all++ < GangRecord::kMaxStints) {
    r.stints.push_back(Begin(run));
  }
  series_.AddAt(run.at, LostColumn(run.last_stop),
                DeviceSeconds(run.restart_cost, r.device_milli));
  live->working = true;
  ++working_;
  SetWaiting(live, false);
  map_.SetWorking(r.number, true);
}

void Recorder::Resized(Time at, const Gang& gang, uint32_t tasks) {
  if (next_ != nullptr) next_->Resized(at, gang, tasks);
  Live* live = Find(gang.key);
  if (live == nullptr || !live->working) return;
  const GangRecord& r = live->record;
  if (r.stints_in_all > GangRecord::kMaxStints) return;
  std::vector<Size>& sizes = live->record.stints.back().sizes;
  if (sizes.back().at == at) sizes.pop_back();
  if (sizes.size() == Stint::kMaxSizes) return;
  if (sizes.empty() || sizes.back().tasks != tasks) {
    sizes.push_back({at, tasks});
  }
}

void Recorder::Stopped(const RunStop& stop) {
  if (next_ != nullptr) next_->Stopped(stop);
  Live* live = Find(stop.gang.key);
  if (live == nullptr) return;
  GangRecord& r = live->record;
  if (r.stints_in_all <= GangRecord::kMaxStints) {
    Stint& stint = r.stints.back();
    stint.to = stop.at;
    stint.cause = stop.cause;
    stint.saved = stop.saved;
    stint.lost = stop.lost;
    stint.on_behalf_of = stop.on_behalf_of;
  }
  series_.AddAt(stop.at, LostColumn(stop.cause),
                DeviceSeconds(stop.lost, r.device_milli));
  live->working = false;
  --working_;
  SetWaiting(live, true);
  map_.SetWorking(r.number, false);
  if (stop.cause != StopCause::kFinished) {
    ++r.stops;
    return;
  }
  series_.AddAt(stop.at, kFinished, 1);
  End(r.key, stop.at);
}

void Recorder::Gone(Time at, const Gang& gang, std::string_view why) {
  if (next_ != nullptr) next_->Gone(at, gang, why);
  Live* live = Find(gang.key);
  if (live == nullptr) return;
  live->record.gone = why;
  End(gang.key, at);
}

void Recorder::End(const std::string& key, Time at) {
  const auto it = live_.find(key);
  Live& live = it->second;
  SetWaiting(&live, false);
  live.record.ended = at;
  if (live.record.stints_in_all == 0) {
    live.record.waited = at - live.record.submitted;
  }
  sample_.Offer(std::move(live.record));
  live_.erase(it);
}

void Recorder::Planned(const Plan& plan, const Scheduler& scheduler) {
  if (next_ != nullptr) next_->Planned(plan, scheduler);
  for (const Waiting& w : plan.waiting) {
    if (w.count == 0) continue;
    if (Live* live = Find(plan.Text(w.gang_key))) {
      NoteReason(&live->record, plan.now, w.reason.code,
                 PlainText(scheduler.Named(w.reason, w.gang),
                           scheduler.config().device_kind));
    }
  }
  for (const std::string& key : ask_) {
    Live* live = Find(key);
    if (live != nullptr && !live->working) Ask(live, plan.now, scheduler);
  }
  ask_.clear();
  AskOldest(plan.now, scheduler);
}

// The first in the queue, now and then: some 64 times while time doubles.
void Recorder::AskOldest(Time at, const Scheduler& scheduler) {
  if (at < ask_oldest_at_) return;
  ask_oldest_at_ = at + (at - series_.origin()) / 64;
  size_t asked = 0;
  for (const auto& [number, live] : queue_) {
    if (++asked > kAskedOldest) break;
    Ask(live, at, scheduler);
  }
}

uint32_t Recorder::Ask(Live* live, Time at, const Scheduler& scheduler) {
  if (reason_work_ > limits_.reason_work) {
    reasons_complete_ = false;
    return 0;
  }
  reason_work_ += 16 + queue_.size();
  const absl::StatusOr<Explanation> why = scheduler.Explain(live->record.key);
  if (!why.ok()) return 0;
  // One that has no reason to wait is on its way: it starts, or stops.
  const ReasonCode code = why->reason.code;
  NoteReason(&live->record, at, code,
             code == ReasonCode::kNone
                 ? std::string(Name(why->phase))
                 : PlainText(why->reason, scheduler.config().device_kind));
  return why->ahead;
}

RunRecord Recorder::Finish(const Simulator& simulator) {
  RunRecord record{.end = simulator.now()};
  record.map = map_.Finish(record.end, simulator.real_usage(), levels_,
                           limits_.map_bytes);
  record.levels = levels_;
  record.waiting_in_all = queue_.size();
  reason_work_ = 0;  // What they wait for now, whatever was asked before.
  for (const auto& [number, live] : queue_) {
    live->record.waited = live->record.stints_in_all > 0
                              ? live->record.waited
                              : record.end - live->record.submitted;
    if (record.waiting.size() == limits_.waiting) continue;
    const uint32_t ahead = Ask(live, record.end, simulator.scheduler());
    record.waiting.emplace_back(live->record, ahead);
  }
  std::vector<Live*> left;
  for (auto& [key, live] : live_) left.push_back(&live);
  std::ranges::sort(left, {}, [](const Live* l) { return l->record.number; });
  for (Live* live : left) sample_.Offer(live->record);
  record.sample = sample_.Picks();
  record.gangs = sample_.offered();
  record.sample_complete = sample_.complete();
  record.reasons_complete = reasons_complete_;
  record.series = std::move(series_);
  return record;
}

}  // namespace muster::inprocess
