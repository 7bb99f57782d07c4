// Events about gangs as a whole.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/raised_minimum.h"

namespace muster {

absl::StatusOr<GangIndex> GangNamed(const SchedulerTables& tables,
                                    std::string_view key) {
  const GangIndex g = tables.gangs.Find(key);
  if (g != kNoGang) return g;
  return NotFound("gang '", std::string(key), "' is not known");
}

std::vector<std::string> NodeSetsOf(const Gang& gang) {
  std::vector<std::string> sets;
  const auto add = [&](const auto& of) {
    sets.insert(sets.end(), of.node_sets.begin(), of.node_sets.end());
  };
  for (const Role& role : gang.roles) {
    add(role);
    add(role.shape);
    std::ranges::for_each(role.alternatives, add);
  }
  return sets;
}

namespace {

absl::StatusOr<uint32_t> ClassNamed(const SchedulerTables& tables,
                                    const std::string& gang,
                                    const std::string& key) {
  const uint32_t position = tables.classes.Find(key);
  if (position != PriorityClasses::kNone) return position;
  return NotFound("gang '", gang, "'.priority_class: '", key, "' is not known");
}

// A leaf that takes gangs.
absl::StatusOr<QueueIndex> LeafNamed(const SchedulerTables& tables,
                                     const std::string& gang,
                                     const std::string& key,
                                     bool even_if_closed) {
  const auto field = [&] {
    return absl::StrCat("gang '", gang, "'.queue: '", key);
  };
  const QueueIndex q = tables.queues.Find(key);
  if (q == kNoQueue) return NotFound(field(), "' is not known");
  if (!tables.queues.IsLeaf(q)) {
    return Invalid(field(), "' has children; gangs go to leaves");
  }
  if (tables.queues.at(q).queue.closed && !even_if_closed) {
    return NotNow(field(), "' is closed");
  }
  return q;
}

absl::Status CheckNodeSets(const SchedulerTables& tables, const Gang& gang) {
  for (const std::string& set : NodeSetsOf(gang)) {
    if (tables.cluster.HasNodeSet(set)) continue;
    return NotFound("gang '", gang.key, "'.roles.node_sets: '", set,
                    "' is not known");
  }
  return absl::OkStatus();
}

// All that gangs could use stays in bounds, with `more` of this one.
absl::Status CheckTotals(const SchedulerTables& tables, const Gang& gang,
                         const Resources& more) {
  for (ResourceKind k = 0; k < more.size(); ++k) {
    if (more[k] > Resources::kMaxTotal - tables.queues.asked()[k]) {
      return Invalid("gang '", gang.key,
                     "'.roles: all gangs could use more than 2^62 ",
                     tables.config.resources[k], " with it");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Take(SchedulerTables& tables, const GangSubmitted& e) {
  return Submit(tables, e.gang, false);
}

absl::Status Submit(SchedulerTables& tables, const Gang& gang,
                    bool even_if_closed) {
  if (tables.gangs.Find(gang.key) != kNoGang) {
    return absl::AlreadyExistsError(
        absl::StrCat("gang '", gang.key, "' is there already"));
  }
  MUSTER_ASSIGN_OR_RETURN(
      const QueueIndex q,
      LeafNamed(tables, gang.key, gang.queue, even_if_closed));
  MUSTER_ASSIGN_OR_RETURN(const uint32_t cls,
                          ClassNamed(tables, gang.key, gang.priority_class));
  MUSTER_RETURN_IF_ERROR(CheckNodeSets(tables, gang));
  MUSTER_RETURN_IF_ERROR(
      CheckTotals(tables, gang, MostOf(gang, tables.cluster)));
  const GangIndex g = GangEdit::Add(tables, gang.key);
  GangEdit added(tables, g);
  added->spec = tables.specs.Intern(gang, tables.cluster);
  added->queue = q;
  added->priority_class = cls;
  added->TakeFrom(gang);
  CountGang(tables, *added, 1);
  return absl::OkStatus();
}

namespace {

// A task that is somewhere stays what it is: its role has the same name and the
// shape it has asks for the same.
absl::Status CheckKept(const SchedulerTables& tables, const GangRecord& r,
                       const Gang& changed) {
  const GangSpec& spec = tables.SpecOf(r);
  for (const TaskRecord& task : r.tasks) {
    if (task.phase == TaskPhase::kNominated) continue;
    const uint32_t i = task.task.role;
    const Role& role = spec.gang().roles[i];
    const std::string field = absl::StrCat("gang '", r.key, "'.roles[", i, "]");
    if (i >= changed.roles.size() || changed.roles[i].name != role.name) {
      return NotNow(field, ": role '", role.name,
                    "' has tasks, and stays where it is");
    }
    const uint32_t a = AlternativeOf(spec, task.task, task.at.shape);
    const std::vector<TaskShape>& others = changed.roles[i].alternatives;
    const TaskShape* shape = a == 0               ? &changed.roles[i].shape
                             : a <= others.size() ? &others[a - 1]
                                                  : nullptr;
    const TaskShape& now = a == 0 ? role.shape : role.alternatives[a - 1];
    if (shape == nullptr || !(shape->resources == now.resources) ||
        !(shape->devices == now.devices) ||
        shape->whole_node != now.whole_node) {
      return NotNow(field,
                    ".shape: has tasks, which keep resources and devices");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckChange(const SchedulerTables& tables, GangIndex g,
                         const Gang& gang) {
  const GangRecord& r = tables.gangs.at(g);
  const std::string& queue = tables.queues.at(r.queue).queue.key;
  if (gang.queue != queue) {
    return Invalid("gang '", r.key, "'.queue: is '", queue,
                   "'; GangMoved moves it to '", gang.queue, "'");
  }
  MUSTER_RETURN_IF_ERROR(CheckNodeSets(tables, gang));
  MUSTER_RETURN_IF_ERROR(CheckKept(tables, r, gang));
  Resources more = MostOf(gang, tables.cluster);
  more.Subtract(tables.SpecOf(r).most);
  return CheckTotals(tables, gang, more);
}

}  // namespace

absl::Status Take(SchedulerTables& tables, const GangChanged& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, e.gang.key));
  MUSTER_RETURN_IF_ERROR(CheckChange(tables, g, e.gang));
  MUSTER_ASSIGN_OR_RETURN(
      const uint32_t cls,
      ClassNamed(tables, e.gang.key, e.gang.priority_class));
  GangEdit gang(tables, g);
  const std::optional<OnPreempted> on_preempted = gang->on_preempted;
  gang->TakeFrom(e.gang);
  if (gang->phase == GangPhase::kNominated) gang->check_due = true;
  const SpecIndex spec = tables.specs.Intern(e.gang, tables.cluster);
  if (spec == GivenSpec(*gang) && cls == gang->priority_class &&
      on_preempted == gang->on_preempted) {
    tables.specs.Unref(spec, tables.cluster);
    return absl::OkStatus();
  }
  if (gang->phase == GangPhase::kNominated) tables.life.Stop(gang);
  CountGang(tables, *gang, -1);
  gang->priority_class = cls;
  ChangeSpec(tables, gang, spec);
  CountGang(tables, *gang, 1);
  tables.activator.VictimsChanged(*gang);
  if (IsLive(*gang) && gang->repair_reason == ReasonCode::kNone) {
    gang->repair_reason = tables.life.WhyLeaves(*gang);
  }
  tables.life.Update(gang);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const GangMoved& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, e.gang));
  MUSTER_ASSIGN_OR_RETURN(const QueueIndex q,
                          LeafNamed(tables, e.gang, e.queue, false));
  const GangRecord& r = tables.gangs.at(g);
  if (r.queue == q) return absl::OkStatus();
  GangEdit gang(tables, g);
  CountGang(tables, *gang, -1);
  tables.holdings.MoveTo(gang, q);
  CountGang(tables, *gang, 1);
  tables.activator.VictimsChanged(*gang);
  if (gang->phase == GangPhase::kNominated) gang->check_due = true;
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const GangHeld& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, e.gang));
  GangEdit gang(tables, g);
  gang->held = e.held;
  gang->held_why = e.why;
  if (gang->phase == GangPhase::kNominated) gang->check_due = true;
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const GangReprioritized& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, e.gang));
  MUSTER_ASSIGN_OR_RETURN(const uint32_t cls,
                          ClassNamed(tables, e.gang, e.priority_class));
  GangEdit gang(tables, g);
  if (gang->priority_class == cls) return absl::OkStatus();
  gang->priority_class = cls;
  tables.activator.VictimsChanged(*gang);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const GangCancelled& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, e.gang));
  GangEdit gang(tables, g);
  gang->cancel = true;
  if (gang->phase == GangPhase::kNominated) tables.life.Stop(gang);
  tables.life.Update(gang);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const GangFinished& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, e.gang));
  GangEdit gang(tables, g);
  tables.life.Stop(gang);
  gang.Leave();
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const GangYielded& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, e.gang));
  GangEdit gang(tables, g);
  if (gang->phase == GangPhase::kNominated) return absl::OkStatus();
  tables.life.Stop(gang);
  tables.life.Update(gang);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const CheckpointTaken& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, e.gang));
  if (e.at > tables.now) {
    return Invalid("checkpoint of gang '", e.gang, "'.at: ", e.at,
                   " is later than the event");
  }
  GangEdit gang(tables, g);
  gang->checkpoint = std::max(gang->checkpoint, e.at);
  // What is suspended can be saved, too.
  if (gang->phase == GangPhase::kSuspended && e.at >= gang->since) {
    Save(*gang, 0);
  }
  return absl::OkStatus();
}

}  // namespace muster
