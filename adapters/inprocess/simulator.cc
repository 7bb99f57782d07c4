#include "adapters/inprocess/simulator.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "adapters/inprocess/simulator_impl.h"

namespace muster::inprocess {
namespace {

// A pass answers to what the one before did; more than this at one time means
// that the scheduler makes no progress.
constexpr uint32_t kMaxPassesAtOneTime = 100'000;

// As many are remembered: the first ones tell what is wrong.
constexpr size_t kMaxRefusals = 100;

// Of this thread: what others do on the machine does not count.
double CpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

Simulator::Impl::Impl(Scheduler scheduler, const SchedulerConfig& config,
                      JobSource* jobs, std::vector<WorldEvent> world,
                      SimulatorOptions options)
    : scheduler_(std::move(scheduler)),
      real_usage_(static_cast<uint32_t>(config.resources.size()),
                  config.KindOf(config.device_kind), config.partition_schemes),
      metrics_(config.KindOf(config.device_kind)),
      config_(config),
      jobs_(jobs),
      world_(std::move(world)),
      options_(std::move(options)),
      places_(config_, &real_usage_, &metrics_, options_.observer) {
  std::ranges::stable_sort(world_, {}, &WorldEvent::at);
  has_next_ = jobs_->Next(&next_job_);
}

absl::Status Simulator::Impl::SetUp(const Setup& setup) {
  std::vector<EventBody> all;
  for (const Node& n : setup.nodes) all.push_back(NodeChanged{n});
  for (const NodeSet& s : setup.node_sets) all.push_back(NodeSetChanged{s});
  for (const PriorityClass& c : setup.priority_classes) {
    all.push_back(PriorityClassChanged{c});
  }
  for (const Queue& q : setup.queues) all.push_back(QueueChanged{q});
  for (EventBody& body : all) HappenTold(body, 0);
  if (refusals_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(refusals_[0].what + ": " +
                                    refusals_[0].error);
}

Time Simulator::Impl::NextTime() const {
  Time t = wake_;
  if (!queue_.empty()) t = std::min(t, queue_.top().at);
  if (has_next_) t = std::min(t, next_job_.gang.submitted);
  if (next_world_ < world_.size()) t = std::min(t, world_[next_world_].at);
  return t == kForever ? t : std::max(t, now_);
}

absl::Status Simulator::Impl::Run(Time until) {
  uint64_t rounds = 0;
  for (Time t = NextTime(); t <= until && t < kForever; t = NextTime()) {
    if (t > now_) passes_at_now_ = 0;
    metrics_.Advance(t, real_usage_.totals());
    if (options_.observer != nullptr && t > now_) {
      options_.observer->Advanced(now_, t, real_usage_);
    }
    now_ = t;
    if (absl::Status s = HandleAllAt(t); !s.ok()) return s;
    if (options_.progress && ++rounds % 1024 == 0) {
      options_.progress(ended_, jobs_->size());
    }
  }
  if (options_.progress) options_.progress(ended_, jobs_->size());
  return absl::OkStatus();
}

// Everything due at `t`, then one pass if anything calls for it. What the pass
// brings about at `t` itself is found by the next call.
absl::Status Simulator::Impl::HandleAllAt(Time t) {
  while (!queue_.empty() && queue_.top().at <= t) {
    if (absl::Status s = HandleDue(queue_.Pop()); !s.ok()) return s;
  }
  for (; next_world_ < world_.size() && world_[next_world_].at <= t;
       ++next_world_) {
    Happen(world_[next_world_]);
  }
  while (has_next_ && next_job_.gang.submitted <= t) {
    if (absl::Status s = SubmitNext(); !s.ok()) return s;
  }
  if (wake_ <= t) {
    wake_ = kForever;
    pass_needed_ = true;
  }
  while (pass_needed_ && broken_.ok()) {
    if (absl::Status s = Pass(); !s.ok()) return s;
    // Progress at this very time (work of length 0) comes before the next pass.
    if (!queue_.empty() && queue_.top().at <= t) break;
  }
  return broken_;
}

absl::Status Simulator::Impl::HandleDue(const Due& due) {
  switch (due.kind) {
    case DueKind::kProgress:
      if (live_[due.index].version == due.version) OnProgress(due.index);
      break;
    case DueKind::kAct:
      FinishAct(acts_.Take(due.index));
      break;
    case DueKind::kAnswer:
      Deliver(messages_.Take(due.index), true, true);
      break;
  }
  return broken_;
}

absl::Status Simulator::Impl::SubmitNext() {
  const Gang& gang = next_job_.gang;
  event_.at = now_;
  if (!std::holds_alternative<GangSubmitted>(event_.what)) {
    event_.what = GangSubmitted{};
  }
  std::get<GangSubmitted>(event_.what).gang = gang;
  const absl::Status status = scheduler_.Apply(event_);
  const absl::Status admitted =
      status.ok() ? Admit(&next_job_) : absl::OkStatus();
  if (!status.ok()) {
    metrics_.Submitted(now_, 0, 0);
    ++metrics_.counts.refused;
    ++ended_;
    Refuse({now_, gang.key, std::string(status.message())});
    if (options_.observer != nullptr) {
      options_.observer->Gone(now_, gang, std::string(status.message()));
    }
  }
  has_next_ = jobs_->Next(&next_job_);
  return admitted;
}

absl::Status Simulator::Impl::Admit(Job* job) {
  const uint32_t slot = live_.NewSlot();
  LiveGang& g = live_[slot];
  std::swap(g.job, *job);
  if (!g.Begin(scheduler_.FindGang(g.job.gang.key))) {
    return absl::InvalidArgumentError(g.job.gang.key +
                                      ": its work is too large");
  }
  g.updated = now_;
  g.class_index = metrics_.ClassOf(g.job.gang.priority_class);
  live_.Enter(slot);
  metrics_.Submitted(now_, g.device_milli, g.job.work);
  metrics_.counts.max_live = std::max(metrics_.counts.max_live, live_.alive());
  if (options_.observer != nullptr) {
    options_.observer->Submitted(now_, g.job.gang);
  }
  pass_needed_ = true;
  return absl::OkStatus();
}

void Simulator::Impl::Refuse(Refusal refusal) {
  if (refusals_.size() < kMaxRefusals) refusals_.push_back(std::move(refusal));
}

absl::Status Simulator::Impl::Pass() {
  if (++passes_at_now_ > kMaxPassesAtOneTime) {
    return absl::InternalError(
        "the scheduler does not come to rest at one time");
  }
  pass_needed_ = false;
  const uint64_t before =
      options_.allocations != nullptr ? options_.allocations() : 0;
  const double start = CpuSeconds();
  scheduler_.Schedule(now_, &plan_);
  const double took = CpuSeconds() - start;
  const uint64_t after =
      options_.allocations != nullptr ? options_.allocations() : 0;
  metrics_.Planned(plan_, took, after - before);
  waiting_.Follow(plan_);
  if (options_.validate) {
    if (absl::Status s = scheduler_.Validate(); !s.ok()) return s;
  }
  if (options_.observer != nullptr) {
    options_.observer->Planned(plan_, scheduler_);
  }
  wake_ = plan_.next_wakeup;
  if (wake_ <= now_) {
    wake_ = kForever;
    pass_needed_ = true;
  }
  for (const Decision& d : plan_.decisions) CarryOut(d);
  return broken_;
}

void Simulator::Impl::OnProgress(uint32_t slot) {
  LiveGang& g = live_[slot];
  g.Advance(now_);
  if (g.done >= g.total()) return Finish(slot);
  g.saved += g.checkpoint_step();
  ++metrics_.counts.checkpoints;
  ScheduleProgress(slot);
  Report(slot, CheckpointTaken{.gang = g.job.gang.key, .at = now_}, false);
}

void Simulator::Impl::Finish(uint32_t slot) {
  LiveGang& g = live_[slot];
  g.work_done = true;
  g.saved = g.done;
  for (uint32_t i = 0; i < g.tasks.size(); ++i) {
    places_.Leave(now_, g, i, TaskLife::kNone);
  }
  UpdateRate(slot, StopCause::kFinished);
  metrics_.Ended(now_, {.wait = g.first_run - g.job.gang.submitted,
                        .completion = now_ - g.job.gang.submitted,
                        .group = g.class_index,
                        .size = SizeOf(g.device_milli)});
  ++ended_;
  g.leaving = true;
  Report(slot, GangFinished{.gang = g.job.gang.key}, true);
}

void Simulator::Impl::UpdateRate(uint32_t slot, StopCause cause,
                                 std::string_view on_behalf_of) {
  if (!waves_.empty()) OpenWaves(slot);
  LiveGang& g = live_[slot];
  const uint32_t rate = g.WorkingTasks();
  if (rate == g.rate) return;
  g.Advance(now_);
  if (g.rate == 0) BeginsToWork(g);
  if (rate == 0) StopsWorking(g, cause, on_behalf_of);
  if (g.rate > 0 && rate > 0 && options_.observer != nullptr) {
    options_.observer->Resized(now_, g.job.gang, rate);
  }
  g.rate = rate;
  ++g.version;
  if (rate > 0) ScheduleProgress(slot);
}

void Simulator::Impl::BeginsToWork(LiveGang& g) {
  g.updated = now_;
  const bool again = g.has_run && !g.resumes;
  if (!g.has_run) {
    g.has_run = true;
    g.first_run = now_;
  } else if (again) {
    g.burn = g.job.gang.restart_cost;
    metrics_.counts.lost_gpu_s[static_cast<size_t>(g.last_stop)] +=
        static_cast<double>(g.burn) / kSecond *
        static_cast<double>(g.device_milli) / kWholeDevice;
  }
  g.resumes = false;
  if (options_.observer == nullptr) return;
  std::vector<std::string_view> nodes;
  for (const LiveTask& t : g.tasks) {
    nodes.push_back(t.life == TaskLife::kRunning
                        ? std::string_view(real_usage_.key(t.node))
                        : std::string_view());
  }
  options_.observer->Ran({.at = now_,
                          .gang = g.job.gang,
                          .nodes = nodes,
                          .restart_cost = again ? g.burn : 0,
                          .last_stop = g.last_stop});
}

void Simulator::Impl::StopsWorking(LiveGang& g, StopCause cause,
                                   std::string_view for_whom) {
  if (cause == StopCause::kSuspended) {
    g.resumes = true;
    g.saved = g.done;
  }
  const int64_t lost = g.done - g.saved;
  g.done = g.saved;
  g.last_stop = cause;
  const size_t c = static_cast<size_t>(cause);
  ++metrics_.counts.stops[c];
  metrics_.counts.lost_gpu_s[c] +=
      static_cast<double>(g.RunTime(lost)) / kSecond *
      static_cast<double>(g.device_milli) / kWholeDevice;
  if (options_.observer == nullptr) return;
  options_.observer->Stopped({.at = now_,
                              .gang = g.job.gang,
                              .cause = cause,
                              .saved = g.RunTime(g.saved),
                              .lost = g.RunTime(lost),
                              .on_behalf_of = for_whom});
}

void Simulator::Impl::ScheduleProgress(uint32_t slot) {
  const LiveGang& g = live_[slot];
  queue_.Push({.at = g.NextGoal(),
               .kind = DueKind::kProgress,
               .index = slot,
               .version = g.version});
}

uint32_t Simulator::Impl::SlotOf(std::string_view key) const {
  return live_.SlotOf(scheduler_.FindGang(key));
}

void Simulator::Impl::FreeIfGone(uint32_t slot) {
  LiveGang& g = live_[slot];
  if (!g.alive || scheduler_.FindGang(g.job.gang.key) == g.id) return;
  for (uint32_t i = 0; i < g.tasks.size(); ++i) {
    places_.Leave(now_, g, i, TaskLife::kNone);
  }
  UpdateRate(slot, StopCause::kCancelled);
  if (!g.work_done) {
    ++metrics_.counts.cancelled;
    ++ended_;
    metrics_.last_end = std::max(metrics_.last_end, now_);
    if (options_.observer != nullptr) {
      options_.observer->Gone(now_, g.job.gang, "cancelled");
    }
  }
  waves_.Forget(slot);
  live_.Free(slot);
}

void Simulator::Impl::Report(uint32_t slot, EventBody body, bool matters,
                             Duration extra_delay) {
  const HostModel& h = options_.host;
  const Duration delay = h.answer_delay + extra_delay;
  // A host repeats answers, not news.
  const bool news = std::holds_alternative<GangFinished>(body) ||
                    std::holds_alternative<CheckpointTaken>(body);
  const uint32_t times = news ? 1 : h.answers;
  const Message message{std::move(body), slot, live_[slot].id};
  for (uint32_t i = delay == 0 ? 1 : 0; i < times; ++i) {
    queue_.Push({.at = now_ + delay + i * h.answer_gap,
                 .kind = DueKind::kAnswer,
                 .index = messages_.Add(message)});
  }
  if (delay == 0) Deliver(message, matters, false);
}

void Simulator::Impl::Deliver(const Message& message, bool matters, bool late) {
  ++metrics_.counts.answers;
  const absl::Status status = scheduler_.Apply({now_, message.body});
  if (absl::IsNotFound(status) && late) {
    ++metrics_.counts.not_found;
  } else if (!status.ok()) {
    Broken("an answer was refused", status);
  }
  pass_needed_ |= matters;
  const LiveGang& g = live_[message.slot];
  if (g.alive && g.id == message.gang && g.leaving) FreeIfGone(message.slot);
}

void Simulator::Impl::Broken(std::string_view what,
                             const absl::Status& status) {
  if (!broken_.ok()) return;
  broken_ = absl::InternalError("at " + std::to_string(now_) +
                                " ns: " + std::string(what) + ": " +
                                std::string(status.message()));
}

// --- The public face ---------------------------------------------------------

absl::StatusOr<Simulator> Simulator::Create(const Setup& setup, JobSource* jobs,
                                            std::vector<WorldEvent> world,
                                            SimulatorOptions options) {
  absl::StatusOr<Scheduler> scheduler = Scheduler::Create(setup.config);
  if (!scheduler.ok()) return scheduler.status();
  auto impl = std::make_unique<Impl>(*std::move(scheduler), setup.config, jobs,
                                     std::move(world), std::move(options));
  if (absl::Status s = impl->SetUp(setup); !s.ok()) return s;
  return Simulator(std::move(impl));
}

Simulator::Simulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;
Simulator::~Simulator() = default;

void Simulator::SetJournal(Journal* journal) {
  impl_->scheduler_.SetJournal(journal);
}
absl::Status Simulator::Run(Time until) { return impl_->Run(until); }
absl::Status Simulator::Audit() const { return impl_->Audit(); }
Time Simulator::now() const { return impl_->now_; }
const Scheduler& Simulator::scheduler() const { return impl_->scheduler_; }
const Metrics& Simulator::metrics() const { return impl_->metrics_; }
const WaitingMirror& Simulator::waiting() const { return impl_->waiting_; }
const RealUsage& Simulator::real_usage() const { return impl_->real_usage_; }
const std::vector<Refusal>& Simulator::refusals() const {
  return impl_->refusals_;
}

std::vector<std::string> Simulator::Live() const {
  std::vector<const LiveGang*> live;
  for (const LiveGang& g : impl_->live_) {
    if (g.alive && !g.work_done) live.push_back(&g);
  }
  std::ranges::sort(live, [](const LiveGang* a, const LiveGang* b) {
    return std::tie(a->job.gang.submitted, a->job.gang.key) <
           std::tie(b->job.gang.submitted, b->job.gang.key);
  });
  std::vector<std::string> keys;
  for (const LiveGang* g : live) keys.push_back(g->job.gang.key);
  return keys;
}

}  // namespace muster::inprocess
