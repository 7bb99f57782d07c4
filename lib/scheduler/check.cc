// The invariants of the design, checked against the whole state.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/raised_minimum.h"
#include "lib/scheduler/snapshot.h"

namespace muster {
namespace {

template <class... Parts>
absl::Status Broken(const Parts&... parts) {
  return absl::InternalError(absl::StrCat(parts...));
}

// What tasks the gang's phase allows.
const char* WrongTasks(const SchedulerTables& tables, const GangRecord& r) {
  const PhaseCounts counts(r);
  const uint32_t live = counts.live();
  const uint32_t releasing = counts.in(TaskPhase::kReleasing);
  const uint32_t suspended = counts.in(TaskPhase::kSuspended);
  if (r.phase != GangPhase::kNominated &&
      counts.in(TaskPhase::kNominated) > 0 && !MayBeNominated(tables, r)) {
    return " has a nominated task";
  }
  if (suspended > 0 && r.phase != GangPhase::kSuspending &&
      r.phase != GangPhase::kSuspended && r.phase != GangPhase::kStopping) {
    return " has a suspended task";
  }
  switch (r.phase) {
    case GangPhase::kWaiting:
      return r.tasks.empty() ? nullptr : " holds tasks";
    case GangPhase::kNominated:
      return !r.tasks.empty() &&
                     counts.in(TaskPhase::kNominated) == r.tasks.size()
                 ? nullptr
                 : " has tasks that are not nominated";
    case GangPhase::kStarting:
    case GangPhase::kRunning:
      return live + releasing > 0 ? nullptr : " has no task";
    case GangPhase::kStopping:
      return releasing + suspended > 0 && live == 0
                 ? nullptr
                 : " releases nothing, or runs on";
    case GangPhase::kSuspending:
      return releasing > 0 && live == 0 ? nullptr
                                        : " releases nothing, or runs on";
    case GangPhase::kSuspended:
      return suspended > 0 && live + releasing == 0 ? nullptr
                                                    : " holds something";
  }
  return " has no phase";
}

absl::Status CompareQueues(const SchedulerTables& a, const SchedulerTables& b) {
  for (const QueueIndex q : a.queues.Positions()) {
    const QueueTree::Entry& e = a.queues.at(q);
    const QueueTree::Entry& o = b.queues.at(b.queues.Find(e.queue.key));
    if (!(e.used == o.used) || !(e.releasing == o.releasing) ||
        e.gangs != o.gangs || e.depth != o.depth) {
      return Broken("queue '", e.queue.key,
                    "': usage is not the sum of its tasks");
    }
  }
  return a.queues.asked() == b.queues.asked()
             ? absl::OkStatus()
             : Broken("what gangs could use is not the sum of theirs");
}

absl::Status CompareLists(const SchedulerTables& a, const SchedulerTables& b) {
  if (a.lists.Sizes() != b.lists.Sizes() ||
      a.answers.size() != b.answers.size() ||
      a.nodes.releasing() != b.nodes.releasing()) {
    return Broken("a list of gangs is not what their states say");
  }
  for (NodeIndex n : a.cluster.nodes()) {
    const NodeIndex o = b.cluster.Find(a.cluster.node(n).key).index;
    if (a.nodes.tasks(n).size() != b.nodes.tasks(o).size() ||
        a.nodes.releasing(n) != b.nodes.releasing(o)) {
      return Broken("node '", a.cluster.node(n).key,
                    "': its tasks are not those of the gangs");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGang(const SchedulerTables& tables, GangIndex g) {
  const GangRecord& r = tables.gangs.at(g);
  const std::string name =
      absl::StrCat("gang '", r.key, "' (", std::string(Name(r.phase)), ")");
  if (const char* wrong = WrongTasks(tables, r)) return Broken(name + wrong);
  std::vector<uint32_t> scratch;
  if (IsLive(r) && r.repair_reason == ReasonCode::kNone && !r.cancel &&
      !MeetsMinimum(r, tables.SpecOf(r), &scratch)) {
    return Broken(name + " runs below its minimum, and nothing is done");
  }
  if (tables.lists.Stands(g)) return absl::OkStatus();
  return Broken(name + " was changed without its lists");
}

absl::Status CheckAll(const SchedulerTables& tables) {
  MUSTER_RETURN_IF_ERROR(tables.cluster.Validate());
  for (const GangIndex g : tables.gangs.Positions()) {
    MUSTER_RETURN_IF_ERROR(CheckGang(tables, g));
  }
  if (!tables.activator.empty())
    return Broken("what happened is not published");
  const auto again = std::make_unique<SchedulerTables>(tables.config);
  if (absl::Status status = Load(*again, StateOf(tables)); !status.ok()) {
    return Broken("the state cannot be loaded: ", status.message());
  }
  if (again->cluster.Hash() != tables.cluster.Hash()) {
    return Broken("free capacity is not what the tasks leave");
  }
  MUSTER_RETURN_IF_ERROR(CompareQueues(tables, *again));
  return CompareLists(tables, *again);
}

}  // namespace muster
