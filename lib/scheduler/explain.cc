// Why a gang is where it is, and reasons with names.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "lib/scheduler/impl.h"

namespace muster {

NamedReason Scheduler::Impl::Named(const Reason& reason, GangIndex g) const {
  NamedReason named;
  named.code = reason.code;
  named.object_kind = reason.object_kind;
  named.needed = reason.needed;
  named.available = reason.available;
  if (reason.resource < config.resources.size()) {
    named.resource = config.resources[reason.resource];
  }
  const Gang* gang = nullptr;
  if (g < gangs.limit() && gangs.at(g).exists) {
    gang = &gangs.description(gangs.at(g).description).prepared.gang;
  }
  const uint32_t o = reason.object;
  switch (reason.object_kind) {
    case ReasonObject::kNone:
      break;
    case ReasonObject::kNode:
      if (cluster.exists(o)) named.object = cluster.node(o).key;
      break;
    case ReasonObject::kQueue:
      if (o < queues.limit()) named.object = queues.at(o).queue.key;
      break;
    case ReasonObject::kGang:
      if (o < gangs.limit()) named.object = gangs.at(o).key;
      break;
    case ReasonObject::kRole:
      if (gang != nullptr && o < gang->roles.size()) {
        named.object = gang->roles[o].name;
      }
      break;
    case ReasonObject::kGroup:
      if (gang != nullptr && o < gang->groups.size()) {
        named.object = gang->groups[o].name;
      }
      break;
    case ReasonObject::kLevel:
      named.object = LevelName(gang, o);
      break;
  }
  return named;
}

// The level of the first topology the gang's constraints name.
std::string Scheduler::Impl::LevelName(const Gang* gang, uint32_t level) const {
  const TopologyConstraint* constraint = nullptr;
  if (gang != nullptr) {
    for (const Group& group : gang->groups) {
      if (constraint == nullptr && !group.topology.empty()) {
        constraint = &group.topology;
      }
    }
    for (const Role& role : gang->roles) {
      if (constraint == nullptr && !role.topology.empty()) {
        constraint = &role.topology;
      }
    }
  }
  const int t = cluster.FindTopology(
      constraint == nullptr ? std::string_view() : constraint->topology);
  if (t < 0) return kHostLevel;
  const std::vector<std::string>& levels =
      cluster.topologies()[static_cast<size_t>(t)].levels;
  return level < levels.size() ? levels[level] : kHostLevel;
}

absl::StatusOr<Explanation> Scheduler::Impl::Explain(
    std::string_view key) const {
  const GangIndex g = gangs.Find(key);
  if (g == GangStore::kNoGang) {
    return absl::NotFoundError(
        absl::StrCat("gang '", std::string(key), "' is not known"));
  }
  const GangRecord& r = gangs.at(g);
  Explanation e;
  e.phase = r.phase;
  GangState state = StateOf(g);
  e.tasks = std::move(state.tasks);
  Reason reason;
  if (r.phase == GangPhase::kNominated) {
    reason.code = ReasonCode::kWaitingForRelease;
  } else if (r.phase == GangPhase::kWaiting ||
             r.phase == GangPhase::kSuspended) {
    if (r.held || queues.Held(r.queue)) {
      reason.code = ReasonCode::kHeld;
    } else if (r.waiting_in != kNoClass) {
      reason = waiting.at(r.waiting_in).reason;
    } else {
      reason.code =
          r.not_before > now ? ReasonCode::kNotBefore : ReasonCode::kBackoff;
      reason.needed = std::max(r.not_before, r.backoff_until);
      reason.available = now;
    }
    e.ahead = waiting.CountAhead(r.queue, RankOf(g));
  }
  e.reason = Named(reason, g);
  return e;
}

// Turns the handles of another scheduler's plan into this one's, by key. What
// is not known here has no handle.
void Scheduler::Impl::Adopt(const Impl& other, Plan* plan) const {
  const auto gang_id = [&](TextRef key) {
    const GangIndex g = gangs.Find(plan->Text(key));
    return g == GangStore::kNoGang ? GangId{}
                                   : GangId{g, gangs.at(g).generation};
  };
  const auto adopt = [&](Reason& r) {
    if (r.object_kind == ReasonObject::kNode) {
      r.object = cluster.Find(other.cluster.node(r.object).key).index;
    } else if (r.object_kind == ReasonObject::kQueue) {
      r.object = queues.Find(other.queues.at(r.object).queue.key);
    } else if (r.object_kind == ReasonObject::kGang) {
      r.object = gangs.Find(other.gangs.at(r.object).key);
    }
  };
  for (std::vector<Decision>* list : {&plan->decisions, &plan->untold}) {
    for (Decision& d : *list) {
      d.gang = gang_id(d.gang_key);
      d.on_behalf_of = gang_id(d.on_behalf_key);
      adopt(d.reason);
    }
  }
  for (PlannedTask& task : plan->tasks) {
    task.node = cluster.Find(plan->Text(task.node_key));
  }
  for (Waiting& w : plan->waiting) {
    w.gang = gang_id(w.gang_key);
    adopt(w.reason);
  }
}

PlanRecord Scheduler::Impl::Record(const Plan& plan) const {
  PlanRecord record;
  record.now = plan.now;
  record.based_on = plan.based_on;
  record.next_wakeup = plan.next_wakeup;
  record.budget_exhausted = plan.budget_exhausted;
  record.steps = plan.steps;
  for (const std::vector<Decision>* list : {&plan.decisions, &plan.untold}) {
    for (const Decision& d : *list) {
      DecisionRecord& out = record.decisions.emplace_back();
      out.seq = d.seq;
      out.kind = d.kind;
      out.reason = Named(d.reason, d.gang.index);
      out.gang = plan.Text(d.gang_key);
      out.on_behalf_of = plan.Text(d.on_behalf_key);
      out.grace = d.grace;
      for (const PlannedTask& task : plan.TasksOf(d)) {
        out.tasks.push_back({task.task, task.attempt,
                             std::string(plan.Text(task.node_key)), task.booked,
                             task.alternative, task.wave, task.slot});
      }
    }
  }
  std::sort(record.decisions.begin(), record.decisions.end(),
            [](const DecisionRecord& a, const DecisionRecord& b) {
              return a.seq < b.seq;
            });
  return record;
}

}  // namespace muster
