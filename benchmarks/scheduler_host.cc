#include "benchmarks/scheduler_host.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "benchmarks/padded.h"

namespace muster::bench {
namespace {

void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << "\n";
  std::abort();
}

}  // namespace

double CpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double Quantile(std::vector<double> samples, double share) {
  if (samples.empty()) std::abort();
  const double below = share * static_cast<double>(samples.size());
  const auto at = samples.begin() +
                  std::min(static_cast<std::ptrdiff_t>(below),
                           static_cast<std::ptrdiff_t>(samples.size()) - 1);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

double Median(std::vector<double> samples) {
  return Quantile(std::move(samples), 0.5);
}

bool Premise(benchmark::State& state, bool holds, const char* what) {
  if (!holds && !state.error_occurred()) state.SkipWithError(what);
  return holds;
}

Node MakeNode(uint32_t number, uint32_t devices) {
  Node node;
  node.key = Padded("n", number);
  node.capacity = {256'000, int64_t{1} << 40};
  node.devices.assign(devices, {.model = "H100"});
  node.labels = {{"block", Padded("b", number / kSchedulerBlock)},
                 {"rack", Padded("r", number / kSchedulerRack)}};
  return node;
}

Gang MakeGang(std::string key, const std::string& queue, uint32_t tasks,
              uint32_t devices) {
  Gang gang;
  gang.key = std::move(key);
  gang.queue = queue;
  Role& role = gang.roles.emplace_back();
  role.name = "worker";
  role.min_tasks = role.desired_tasks = tasks;
  role.shape.resources = {1000, int64_t{1} << 30};
  role.shape.devices.count = devices;
  return gang;
}

SchedulerConfig MakeConfig() {
  SchedulerConfig config;
  config.topologies = {{"net", {"block", "rack"}}};
  return config;
}

SchedulerHost::SchedulerHost(SchedulerConfig config)
    : scheduler(*Scheduler::Create(std::move(config))) {}

void SchedulerHost::Apply(const Event& event) { Must(scheduler.Apply(event)); }

void SchedulerHost::AddNodes(uint32_t count, uint32_t devices) {
  for (uint32_t n = 0; n < count; ++n) Apply(NodeChanged{MakeNode(n, devices)});
}

void SchedulerHost::AddQueue(const std::string& key,
                             std::optional<int64_t> guaranteed) {
  Queue queue;
  queue.key = key;
  if (guaranteed) {
    queue.quotas = {
        {.resource = "gpu", .guarantee = *guaranteed * kWholeDevice}};
  }
  Apply(QueueChanged{std::move(queue)});
}

void SchedulerHost::AddClass(const std::string& key, int32_t value,
                             OnPreempted what) {
  PriorityClass priority_class;
  priority_class.key = key;
  priority_class.value = value;
  priority_class.on_preempted = what;
  Apply(PriorityClassChanged{std::move(priority_class)});
}

void SchedulerHost::Answer() {
  for (const Decision& d : plan.decisions) Apply(DecisionApplied{d.seq});
}

void SchedulerHost::Settle() {
  constexpr int kMostPasses = 100;
  for (int i = 0; i < kMostPasses; ++i) {
    Pass();
    if (plan.decisions.empty() && plan.unreported.empty()) return;
    Answer();
  }
  Must(absl::InternalError("does not settle"));
}

uint32_t SchedulerHost::Count(GangPhase phase) const {
  return scheduler.PhaseCounts()[static_cast<size_t>(phase)];
}

uint32_t SchedulerHost::Decided(DecisionKind kind) const {
  return static_cast<uint32_t>(
      std::ranges::count(plan.decisions, kind, &Decision::kind));
}

SchedulerState SchedulerHost::Content() const {
  SchedulerState content = scheduler.State();
  content.version = 0;
  return content;
}

}  // namespace muster::bench
