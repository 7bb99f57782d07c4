// Does everything balance at the end?
#include <bit>
#include <string>

#include "adapters/inprocess/simulator_impl.h"

namespace muster::inprocess {
namespace {

absl::Status Wrong(const std::string& what) {
  return absl::InternalError("audit: " + what);
}

// Whether the scheduler believes that nothing is held on any node.
absl::Status CheckAllFree(const Scheduler& scheduler,
                          const RealUsage& real_usage) {
  const ClusterView cluster = scheduler.cluster();
  for (NodeIndex n : cluster.nodes()) {
    const std::string& key = cluster.node(n).key;
    const ExternalUsage& external = real_usage.external(real_usage.Find(key));
    for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
      int64_t expected = cluster.capacity(n, k) - external.amount[k];
      if (k == cluster.device_kind()) {
        expected -= real_usage.ExternalMilli(real_usage.Find(key));
        for (const Device& d : cluster.node(n).devices) {
          if (!d.healthy) expected = -1;  // Not comparable.
        }
        if (expected < 0) continue;
      }
      for (Ledger ledger : {Ledger::kNow, Ledger::kLater}) {
        if (cluster.free(n, k, ledger) != expected) {
          return Wrong("node " + key + ": " + std::to_string(expected) +
                       " of resource " + std::to_string(k) +
                       " should be free, the scheduler says " +
                       std::to_string(cluster.free(n, k, ledger)));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Simulator::Impl::Audit() const {
  const Metrics::Counts& c = metrics_.counts;
  uint64_t live = 0;
  for (const LiveGang& g : live_) live += g.alive && !g.work_done ? 1 : 0;
  if (c.submitted != c.finished + c.cancelled + c.refused + live) {
    return Wrong("gangs are lost: " + std::to_string(c.submitted) +
                 " submitted, " + std::to_string(c.finished) + " finished, " +
                 std::to_string(c.cancelled) + " cancelled, " +
                 std::to_string(c.refused) + " refused, " +
                 std::to_string(live) + " live");
  }
  if (absl::Status s = scheduler_.Validate(); !s.ok()) return s;
  uint64_t known = 0;
  for (uint32_t n : scheduler_.PhaseCounts()) known += n;
  if (known != live_.alive()) {
    return Wrong("the scheduler knows " + std::to_string(known) +
                 " gangs, the host " + std::to_string(live_.alive()));
  }
  bool anything = false;
  for (const LiveGang& g : live_) {
    if (!g.alive) continue;
    const absl::StatusOr<GangState> recorded = scheduler_.Find(g.job.gang.key);
    if (!recorded.ok()) return recorded.status();
    uint64_t tasks = 0;
    for (const LiveTask& t : g.tasks) tasks += t.holds() ? 1 : 0;
    for (const TaskState& b : recorded->tasks) {
      const LiveTask& t = g.tasks[g.FlatIndex(b.task)];
      if (b.phase != TaskPhase::kRunning) continue;
      --tasks;
      if (t.life != TaskLife::kRunning || real_usage_.key(t.node) != b.node ||
          t.place.devices != b.devices ||
          t.place.first_slice != b.first_slice) {
        return Wrong("gang " + g.job.gang.key + ": a task is not where the " +
                     "scheduler believes it to be");
      }
    }
    anything |= tasks > 0 || !recorded->tasks.empty();
    // Answers may be under way when the run was stopped in between.
    if (tasks != 0 && queue_.empty()) {
      return Wrong("gang " + g.job.gang.key +
                   ": tasks run that the scheduler does not know of");
    }
  }
  if (anything) return absl::OkStatus();
  if (const std::string node = real_usage_.FirstInUse(); !node.empty()) {
    return Wrong("something still runs on node " + node);
  }
  return CheckAllFree(scheduler_, real_usage_);
}

}  // namespace muster::inprocess
