// The invariants of the design, checked against the whole state.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/impl.h"

namespace muster {

namespace {

absl::Status Broken(const std::string& what) {
  return absl::InternalError(what);
}

}  // namespace

// A scheduler loaded from the state must agree on everything that is kept
// incrementally here: capacity, usage, lists.
absl::Status Scheduler::Impl::Validate() const {
  MUSTER_RETURN_IF_ERROR(cluster.Validate());
  Impl again(config, nullptr, nullptr);
  if (absl::Status status = again.Load(State()); !status.ok()) {
    return Broken(
        absl::StrCat("the state cannot be loaded: ", status.message()));
  }
  if (again.cluster.Hash() != cluster.Hash()) {
    return Broken("free capacity is not what the tasks leave");
  }
  for (QueueIndex q = 0; q < queues.limit(); ++q) {
    const QueueTree::Entry& e = queues.at(q);
    if (!e.exists) continue;
    const QueueTree::Entry& o = again.queues.at(again.queues.Find(e.queue.key));
    if (!(e.usage == o.usage) || !(e.releasing == o.releasing) ||
        e.holding != o.holding || e.elastic != o.elastic ||
        e.gangs != o.gangs) {
      return Broken(absl::StrCat("queue '", e.queue.key,
                                 "': usage is not the sum of its tasks"));
    }
  }
  const auto counts_differ = [](const RankSet& a, const RankSet& b) {
    return a.size() != b.size();
  };
  size_t holding = 0;
  for (const RankSet& in_queue : holding_in_) holding += in_queue.size();
  if (holding != holding_.size() ||
      counts_differ(nominated_, again.nominated_) ||
      counts_differ(holding_, again.holding_) ||
      counts_differ(troubled_, again.troubled_) ||
      counts_differ(growable_, again.growable_) ||
      parked_.size() != again.parked_.size() ||
      overdue_.size() != again.overdue_.size() ||
      open_.size() != again.open_.size() || releasing_ != again.releasing_) {
    return Broken("a list of gangs is not what their states say");
  }
  for (GangIndex g = 0; g < gangs.limit(); ++g) {
    if (gangs.at(g).exists) MUSTER_RETURN_IF_ERROR(ValidateGangState(g));
  }
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::ValidateGangState(GangIndex g) const {
  const GangRecord& r = gangs.at(g);
  const std::string name =
      absl::StrCat("gang '", r.key, "' (", std::string(Name(r.phase)), ")");
  uint32_t by_phase[6] = {};
  for (const TaskRecord& task : r.tasks) {
    ++by_phase[static_cast<size_t>(task.phase)];
  }
  const auto in = [&](TaskPhase p) { return by_phase[static_cast<size_t>(p)]; };
  const uint32_t live = in(TaskPhase::kStarting) + in(TaskPhase::kRunning);
  switch (r.phase) {
    case GangPhase::kWaiting:
      if (!r.tasks.empty()) return Broken(name + " holds tasks");
      break;
    case GangPhase::kNominated:
      if (in(TaskPhase::kNominated) != r.tasks.size() || r.tasks.empty()) {
        return Broken(name + " has tasks that are not nominated");
      }
      break;
    case GangPhase::kStarting:
    case GangPhase::kRunning:
      if (live == 0 && in(TaskPhase::kReleasing) == 0) {
        return Broken(name + " has no task");
      }
      break;
    case GangPhase::kStopping:
    case GangPhase::kSuspending:
      if (in(TaskPhase::kReleasing) == 0 || live > 0) {
        return Broken(name + " releases nothing, or runs on");
      }
      break;
    case GangPhase::kSuspended:
      if (in(TaskPhase::kSuspended) == 0 ||
          in(TaskPhase::kSuspended) + in(TaskPhase::kSucceeded) !=
              r.tasks.size()) {
        return Broken(name + " holds something");
      }
      break;
  }
  if (r.phase != GangPhase::kNominated && in(TaskPhase::kNominated) > 0) {
    return Broken(name + " has a nominated task");
  }
  const bool running =
      r.phase == GangPhase::kStarting || r.phase == GangPhase::kRunning;
  std::vector<uint32_t> counts;
  CountTasks(r, &counts);
  if (running && r.trouble == ReasonCode::kNone && !r.cancel &&
      !Satisfied(gangs.description(r.description), counts)) {
    return Broken(name + " runs below its minimum, and nothing is done");
  }
  return absl::OkStatus();
}

}  // namespace muster
