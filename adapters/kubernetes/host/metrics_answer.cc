#include "adapters/kubernetes/host/metrics_answer.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/serve/metrics_text.h"
#include "muster/version.h"

namespace muster::kubernetes {
namespace {

using serve::MetricsText;

constexpr std::array<std::string_view, client::kUrgencies> kUrgencyNames{
    "decision", "status", "event"};

uint64_t Unsigned(int64_t count) {
  return static_cast<uint64_t>(std::max<int64_t>(count, 0));
}

void AddProcess(double start, MetricsText* text) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * 1e-6;
  };
  text->Counter("process_cpu_seconds_total", "CPU time that was used.");
  text->Sample({}, seconds(usage.ru_utime) + seconds(usage.ru_stime));
  text->Gauge("process_start_time_seconds",
              "When the process began, since 1970.");
  text->Sample({}, start);
  uint64_t all = 0;
  uint64_t resident = 0;
  if (std::ifstream("/proc/self/statm") >> all >> resident) {
    text->Gauge("process_resident_memory_bytes", "Memory that is in use.");
    text->Sample({}, resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  }
}

void AddRequests(const Host& host, MetricsText* text) {
  text->Counter("muster_api_requests_total",
                "Writes to the API server that ended, and reads of one object; "
                "code is 0 without an answer.");
  for (const auto& [end, count] : host.metrics().requests()) {
    text->Sample({{"verb", end.kind.verb},
                  {"resource", end.kind.resource},
                  {"outcome", NameOf(end.outcome)},
                  {"code", std::to_string(end.http_status)}},
                 count);
  }
  const client::RequestQueue& queue = host.queue();
  text->Counter("muster_api_request_retries_total",
                "Tries of these beyond the first.");
  text->Sample({}, queue.counts().retries);
  text->Counter("muster_events_dropped_total",
                "Events that made room for newer ones.");
  text->Sample({}, queue.counts().dropped_events);
  text->Gauge("muster_api_requests_waiting",
              "Writes that wait for their turn, by urgency.");
  for (size_t i = 0; i < client::kUrgencies; ++i) {
    text->Sample({{"urgency", kUrgencyNames[i]}},
                 uint64_t{queue.waiting(static_cast<client::Urgency>(i))});
  }
  text->Gauge("muster_api_requests_in_flight", "Writes that are under way.");
  text->Sample({}, uint64_t{queue.in_flight()});
}

void AddWatches(const std::vector<WatchState>& watches, MetricsText* text) {
  const auto add = [&](std::string_view name, std::string_view help,
                       uint64_t client::ReflectorCounts::* count) {
    text->Counter(name, help);
    for (const WatchState& watch : watches) {
      text->Sample({{"resource", watch.resource}}, watch.counts.*count);
    }
  };
  add("muster_watch_starts_total", "Watches that were begun, or begun again.",
      &client::ReflectorCounts::watches);
  add("muster_watch_lists_total", "Lists that were complete.",
      &client::ReflectorCounts::lists);
  add("muster_watch_events_total", "Changes that were told.",
      &client::ReflectorCounts::events);
  add("muster_watch_failures_total", "Lists and watches that failed.",
      &client::ReflectorCounts::failures);
  text->Gauge("muster_watch_open", "Whether a watch is open.");
  for (const WatchState& watch : watches) {
    text->Sample({{"resource", watch.resource}}, uint64_t{watch.open});
  }
}

void AddWaiting(const Scheduler& scheduler, MetricsText* text) {
  const std::vector<uint32_t> phases = scheduler.PhaseCounts();
  text->Gauge("muster_groups", "Groups, by phase.");
  for (size_t i = 0; i < phases.size(); ++i) {
    text->Sample({{"phase", Name(static_cast<GangPhase>(i))}},
                 uint64_t{phases[i]});
  }
  Plan plan;
  scheduler.AllWaiting(&plan);
  std::map<std::string_view, uint64_t> reasons;
  uint64_t told = 0;
  for (const Waiting& waiting : plan.waiting) {
    reasons[Name(waiting.reason.code)] += waiting.count;
    told += waiting.count;
  }
  const uint64_t all = phases[static_cast<size_t>(GangPhase::kWaiting)];
  // Held, or failed a moment ago, or not looked at yet.
  if (all > told) reasons["other"] = all - told;
  text->Gauge("muster_groups_waiting", "Groups that wait, by reason.");
  for (const auto& [reason, count] : reasons) {
    text->Sample({{"reason", reason}}, count);
  }
}

void AddQueues(const QueueTally& tally, MetricsText* text) {
  std::vector<std::pair<std::string, QueueCounts>> queues;
  QueueCounts rest;
  for (const auto& [name, counts] : tally.queues()) {
    if (queues.size() < kMostMetricQueues) {
      queues.emplace_back(name, counts);
      continue;
    }
    rest.pending_groups += counts.pending_groups;
    rest.running_groups += counts.running_groups;
    rest.pending_pods += counts.pending_pods;
    rest.running_pods += counts.running_pods;
  }
  // No queue has this name.
  if (tally.queues().size() > queues.size()) queues.emplace_back("*", rest);
  text->Gauge("muster_queue_pods",
              "Pods, by queue: '' of those that are in none, '*' of further "
              "queues.");
  for (const auto& [name, counts] : queues) {
    text->Sample({{"queue", name}, {"state", "pending"}},
                 Unsigned(counts.pending_pods));
    text->Sample({{"queue", name}, {"state", "running"}},
                 Unsigned(counts.running_pods));
  }
  text->Gauge("muster_queue_groups", "Groups, likewise.");
  for (const auto& [name, counts] : queues) {
    text->Sample({{"queue", name}, {"state", "pending"}},
                 Unsigned(counts.pending_groups));
    text->Sample({{"queue", name}, {"state", "running"}},
                 Unsigned(counts.running_groups));
  }
}

void AddController(const Controller& controller, MetricsText* text) {
  text->Counter("muster_decisions_total", "Decisions, by kind.");
  for (size_t i = 0; i < controller.decisions().size(); ++i) {
    text->Sample({{"kind", Name(static_cast<DecisionKind>(i))}},
                 controller.decisions()[i]);
  }
  const ControllerCounts counts = controller.counts();
  text->Gauge("muster_pods", "Pods that are known.");
  text->Sample({}, uint64_t{counts.pods});
  text->Gauge("muster_nodes", "Nodes that are known.");
  text->Sample({}, uint64_t{controller.scheduler().cluster().nodes().size()});
  text->Gauge("muster_nodes_exceeded",
              "Nodes on which more is in use than they have: what runs goes "
              "on, nothing new starts.");
  text->Sample({}, uint64_t{counts.exceeded});
  text->Counter("muster_defects_total", "Defects of Muster that were found.");
  text->Sample({}, uint64_t{controller.defects().size()});
  AddWaiting(controller.scheduler(), text);
  AddQueues(controller.tally(), text);
}

}  // namespace

std::string MetricsAnswer(const Host& host, double start) {
  MetricsText text;
  text.Gauge("muster_build_info", "1; the labels tell what runs.");
  text.Sample({{"version", MUSTER_VERSION}}, uint64_t{1});
  text.Gauge("muster_leader", "Whether this replica leads.");
  text.Sample({}, uint64_t{host.term() != nullptr});
  text.Gauge("muster_deciding",
             "Whether it leads and is in step with the API server.");
  text.Sample({}, uint64_t{host.decides()});
  text.Add("muster_pass_duration_seconds",
           "Steps in which the scheduler decided, with all that belongs to "
           "them.",
           host.metrics().passes());
  text.Add("muster_event_to_request_seconds",
           "From the observation that a decision is made of until its request "
           "is handed on.",
           host.metrics().decisions());
  AddRequests(host, &text);
  if (host.term() != nullptr) {
    AddWatches(host.term()->watches(), &text);
    AddController(host.term()->controller(), &text);
  }
  AddProcess(start, &text);
  return text.text();
}

}  // namespace muster::kubernetes
