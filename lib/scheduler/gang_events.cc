// Events about gangs as a whole.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/validate.h"

namespace muster {

namespace {

absl::StatusOr<GangIndex> GangNamed(const Core& core, const std::string& key) {
  const GangIndex g = core.gangs.Find(key);
  if (g != kNoGang) return g;
  return absl::NotFoundError(absl::StrCat("gang '", key, "' is not known"));
}

absl::StatusOr<uint32_t> ClassNamed(const Core& core, const std::string& gang,
                                    const std::string& key) {
  const uint32_t position = core.classes.Find(key);
  if (position != PriorityClasses::kNone) return position;
  return absl::NotFoundError(absl::StrCat("gang '", gang, "'.priority_class: '",
                                          key, "' is not known"));
}

// A leaf that takes gangs.
absl::StatusOr<QueueIndex> LeafNamed(const Core& core, const std::string& gang,
                                     const std::string& key,
                                     bool even_if_closed) {
  const std::string field = absl::StrCat("gang '", gang, "'.queue: '", key);
  const QueueIndex q = core.queues.Find(key);
  if (q == kNoQueue) {
    return absl::NotFoundError(absl::StrCat(field, "' is not known"));
  }
  if (!core.queues.IsLeaf(q)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, "' has children; gangs go to leaves"));
  }
  if (core.queues.at(q).queue.closed && !even_if_closed) {
    return absl::FailedPreconditionError(absl::StrCat(field, "' is closed"));
  }
  return q;
}

absl::Status CheckNodeSets(const Core& core, const Gang& gang) {
  for (const Role& role : gang.roles) {
    for (const std::string& set : role.node_sets) {
      if (!core.cluster.HasNodeSet(set)) {
        return absl::NotFoundError(absl::StrCat(
            "gang '", gang.key, "'.roles.node_sets: '", set, "' is not known"));
      }
    }
  }
  return absl::OkStatus();
}

// All that gangs could use stays within 2^62 of each kind.
absl::Status CheckTotals(const Core& core, const Gang& gang, QueueIndex leaf) {
  const Resources most =
      MostOf(gang, core.queues.kinds(), core.cluster.device_kind());
  for (ResourceKind k = 0; k < most.size(); ++k) {
    for (QueueIndex q = leaf; q != kNoQueue; q = core.queues.at(q).parent) {
      const QueueTree::Entry& e = core.queues.at(q);
      if (most[k] <= QueueTree::kUnbounded - e.asked[k]) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "gang '", gang.key, "'.roles: all gangs of queue '", e.queue.key,
          "' could use more than 2^62 ", core.config.resources[k], " with it"));
    }
  }
  return absl::OkStatus();
}

void TakeOwnFields(const Gang& gang, GangRecord& r) {
  r.user = gang.user;
  r.account = gang.account;
  r.labels = gang.labels;
  std::sort(r.labels.begin(), r.labels.end());
  r.submitted = gang.submitted;
  r.held = gang.held;
  r.not_before = gang.not_before;
  r.max_runtime = gang.max_runtime;
  r.expected_runtime = gang.expected_runtime;
  r.restart_cost = gang.restart_cost;
}

}  // namespace

absl::Status Take(EventContext& context, const GangSubmitted& e) {
  return Submit(context, e.gang, false);
}

absl::Status Submit(EventContext& context, const Gang& gang,
                    bool even_if_closed) {
  Core& core = context.core;
  MUSTER_RETURN_IF_ERROR(ValidateGang(core.config, gang));
  if (core.gangs.Find(gang.key) != kNoGang) {
    return absl::AlreadyExistsError(
        absl::StrCat("gang '", gang.key, "' is there already"));
  }
  const absl::StatusOr<QueueIndex> q =
      LeafNamed(core, gang.key, gang.queue, even_if_closed);
  if (!q.ok()) return q.status();
  const absl::StatusOr<uint32_t> cls =
      ClassNamed(core, gang.key, gang.priority_class);
  if (!cls.ok()) return cls.status();
  MUSTER_RETURN_IF_ERROR(CheckNodeSets(core, gang));
  MUSTER_RETURN_IF_ERROR(CheckTotals(core, gang, *q));
  const GangIndex g = GangEdit::Add(core, gang.key);
  GangEdit added(core, g);
  added->spec = core.specs.Intern(gang, core.cluster);
  added->queue = *q;
  added->priority_class = *cls;
  TakeOwnFields(gang, *added);
  core.queues.CountGang(*q, core.specs.at(added->spec).most, 1);
  core.classes.CountGang(*cls, 1);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const GangHeld& e) {
  const absl::StatusOr<GangIndex> g = GangNamed(context.core, e.gang);
  if (!g.ok()) return g.status();
  GangEdit gang(context.core, *g);
  gang->held = e.held;
  if (gang->phase == GangPhase::kNominated) gang->look = true;
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const GangReprioritized& e) {
  Core& core = context.core;
  const absl::StatusOr<GangIndex> g = GangNamed(core, e.gang);
  if (!g.ok()) return g.status();
  const absl::StatusOr<uint32_t> cls =
      ClassNamed(core, e.gang, e.priority_class);
  if (!cls.ok()) return cls.status();
  GangEdit gang(core, *g);
  if (gang->priority_class == *cls) return absl::OkStatus();
  core.classes.CountGang(gang->priority_class, -1);
  core.classes.CountGang(*cls, 1);
  gang->priority_class = *cls;
  core.opener.VictimsChanged(gang->queue, core.PriorityOf(*gang));
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const GangCancelled& e) {
  const absl::StatusOr<GangIndex> g = GangNamed(context.core, e.gang);
  if (!g.ok()) return g.status();
  GangEdit gang(context.core, *g);
  gang->cancel = true;
  if (gang->phase == GangPhase::kNominated ||
      gang->phase == GangPhase::kSuspended) {
    context.life.Stop(gang);
  }
  context.life.Update(gang);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const GangFinished& e) {
  const absl::StatusOr<GangIndex> g = GangNamed(context.core, e.gang);
  if (!g.ok()) return g.status();
  GangEdit gang(context.core, *g);
  context.life.Stop(gang);
  gang.Leave();
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const CheckpointTaken& e) {
  const absl::StatusOr<GangIndex> g = GangNamed(context.core, e.gang);
  if (!g.ok()) return g.status();
  if (e.at > context.core.now) {
    return absl::InvalidArgumentError(absl::StrCat("checkpoint of gang '",
                                                   e.gang, "'.at: ", e.at,
                                                   " is later than the event"));
  }
  GangEdit gang(context.core, *g);
  gang->checkpoint = std::max(gang->checkpoint, e.at);
  return absl::OkStatus();
}

}  // namespace muster
