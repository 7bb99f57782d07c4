#include "adapters/local/api/metrics_page.h"

#include "adapters/local/api/view_json.h"
#include "adapters/serve/metrics_text.h"
#include "muster/version.h"

namespace muster::local {
namespace {

void AddNumbers(const Numbers& n, serve::MetricsText* text) {
  const auto counter = [&](const char* name, const char* help, uint64_t value) {
    text->Counter(name, help);
    text->Sample({}, value);
  };
  const auto gauge = [&](const char* name, const char* help, uint64_t value) {
    text->Gauge(name, help);
    text->Sample({}, value);
  };
  counter("muster_jobs_submitted_total", "Jobs that were accepted.",
          n.submitted);
  text->Counter("muster_jobs_finished_total", "Jobs that have ended, and how.");
  text->Sample({{"outcome", "succeeded"}}, n.succeeded);
  text->Sample({{"outcome", "failed"}}, n.failed);
  text->Sample({{"outcome", "cancelled"}}, n.cancelled);
  counter("muster_task_starts_total", "Attempts of tasks.", n.task_starts);
  counter("muster_preemptions_total", "Jobs that made room for others.",
          n.preemptions);
  counter("muster_passes_total", "Passes of the scheduler.", n.passes);
  counter("muster_turns_total", "Turns of the daemon's loop.", n.turns);
  gauge("muster_jobs", "Jobs that have not ended.", n.jobs);
  gauge("muster_jobs_waiting", "Of these, jobs that hold nothing.", n.waiting);
  gauge("muster_tasks", "Tasks that are alive.", n.tasks);
  gauge("muster_ports", "Ports that jobs have.", n.ports);
  gauge("muster_journal_bytes", "Size of the scheduler's journal.",
        n.journal_bytes);
}

}  // namespace

std::string MetricsPage(const Controller& controller) {
  serve::MetricsText text;
  text.Gauge("muster_build_info", "The version; always 1.");
  text.Sample({{"version", MUSTER_VERSION}}, uint64_t{1});
  AddNumbers(controller.Count(), &text);
  const SchedulerConfig& config = controller.config().scheduler;
  const NodeView node = controller.ViewNode();
  const Resources capacity = CapacityOf(node.node, config);
  text.Gauge("muster_resource_capacity", "What the machine gives to jobs.");
  for (ResourceKind k = 0; k < config.resources.size(); ++k) {
    text.Sample({{"resource", config.resources[k]}},
                static_cast<double>(capacity[k]));
  }
  text.Gauge("muster_resource_used", "Of it, what jobs hold.");
  for (ResourceKind k = 0; k < config.resources.size(); ++k) {
    text.Sample({{"resource", config.resources[k]}},
                static_cast<double>(node.used[k]));
  }
  const std::vector<QueueView> queues = controller.Queues();
  text.Gauge("muster_queue_waiting", "Jobs of a queue that hold nothing.");
  for (const QueueView& queue : queues) {
    text.Sample({{"queue", queue.queue.key}}, uint64_t{queue.waiting});
  }
  text.Gauge("muster_queue_running", "Jobs of a queue that do.");
  for (const QueueView& queue : queues) {
    text.Sample({{"queue", queue.queue.key}}, uint64_t{queue.running});
  }
  return text.text();
}

}  // namespace muster::local
