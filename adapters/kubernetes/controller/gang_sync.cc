#include "adapters/kubernetes/controller/gang_sync.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/gang_reports.h"
#include "adapters/kubernetes/controller/gang_spread.h"
#include "adapters/kubernetes/controller/object_refs.h"
#include "adapters/kubernetes/model/owner_kind.h"

namespace muster::kubernetes {
namespace {

// A reason: the scheduler does not take what a group asks for.
constexpr char kNotTaken[] = "NotTaken";

// What a pod uses of its node.
PodUsage UsageOf(const PodRecord& pod) {
  PodUsage usage = pod.usage;
  if (pod.role != nullptr) {
    usage.amount = pod.role->shape.resources;
    usage.devices = pod.role->shape.devices.count;
  }
  usage.node = pod.node;
  usage.settled = pod.settled;
  usage.created = pod.created;
  return usage;
}

// The same beyond what the scheduler's task of it holds: it was resized where
// it runs. What it gave back comes with the rest of its room once it stops.
PodUsage Beyond(const TaskShape& held, const TaskSlot& slot, PodUsage usage) {
  usage.settled = true;
  usage.devices -= std::min(usage.devices, held.devices.count);
  usage.amount.Subtract(held.resources);
  if (slot.stage == TaskStage::kStopping) {
    for (ResourceKind k = 0; k < usage.amount.size(); ++k) {
      usage.amount.Set(k, std::max<int64_t>(usage.amount[k], 0));
    }
  }
  const bool more = usage.devices > 0 || !usage.amount.IsZero();
  return more ? std::move(usage) : PodUsage();
}

}  // namespace

// What is to be said of a task that has a place, given its pod.
std::optional<TaskAnswer> GangSync::AnswerOf(TaskId task, TaskSlot* slot,
                                             GangRecord* gang) {
  TaskAnswer answer{.task = task, .attempt = slot->attempt};
  const PodRecord* pod = slot->pod;
  if (pod != nullptr && pod->end == PodRecord::End::kSucceeded) {
    answer.outcome = TaskOutcome::kSucceeded;
    slot->stage = TaskStage::kDone;
    return answer;
  }
  if (pod == nullptr && slot->stage == TaskStage::kAwaited) {
    if (s_.link.now() < slot->awaited_until) return std::nullopt;
    // Nobody makes it again. The others go on without.
    answer.outcome = TaskOutcome::kSucceeded;
    slot->stage = TaskStage::kDone;
    return answer;
  }
  if (pod == nullptr || pod->end == PodRecord::End::kFailed) {
    answer.outcome = slot->stage == TaskStage::kStopping
                         ? TaskOutcome::kReleased
                         : TaskOutcome::kYielded;
    slot->stage = TaskStage::kWaiting;
    if (pod != nullptr) gang->Detach(pod->ref.uid);
    return answer;
  }
  const bool bound = !pod->node.empty();
  if (bound && slot->stage != TaskStage::kRunning &&
      slot->stage != TaskStage::kStopping && !s_.nodes.Has(pod->node)) {
    // Somebody else bound it, to a node that is not known (yet).
    answer.outcome = TaskOutcome::kYielded;
    slot->stage = TaskStage::kWaiting;
    gang->Detach(pod->ref.uid);
    return answer;
  }
  if (bound && (slot->stage == TaskStage::kBinding ||
                slot->stage == TaskStage::kClaiming ||
                slot->stage == TaskStage::kAwaited)) {
    answer.outcome = TaskOutcome::kStarted;
    if (pod->node != slot->node) {
      answer.node = pod->node;
      s_.nodes.Doubt(pod->node);
    }
    slot->stage = TaskStage::kRunning;
    slot->node = pod->node;
    return answer;
  }
  if (bound && pod->deleting && slot->stage == TaskStage::kRunning) {
    // Somebody else wants it stopped: it is none of the gang's any more.
    answer.outcome = TaskOutcome::kLeaving;
    slot->stage = TaskStage::kStopping;
    return answer;
  }
  if (!bound && slot->stage == TaskStage::kStopping && !slot->bind_asked) {
    answer.outcome = TaskOutcome::kReleased;
    slot->stage = TaskStage::kWaiting;
    return answer;
  }
  if (slot->stage == TaskStage::kAwaited && pod->waits()) {
    executor_.Place(gang, task, slot);
  }
  return std::nullopt;
}

void GangSync::AnswerTasks(GangRecord* gang) {
  if (gang->told.key.empty()) return;
  TasksAnswered answers{.gang = gang->told.key};
  for (uint32_t r = 0; r < gang->roles().size(); ++r) {
    std::vector<TaskSlot>& slots = gang->roles()[r].slots;
    for (uint32_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].placed()) continue;
      auto answer = AnswerOf({r, i}, &slots[i], gang);
      if (!answer) continue;
      answers.tasks.push_back(*std::move(answer));
    }
  }
  if (!answers.tasks.empty()) s_.link.MustTell(std::move(answers));
  s_.ForgetIfOver(gang);
}

void GangSync::TellEmpty(GangRecord* gang) {
  if (gang->told.key.empty()) return;
  const bool comes_back = gang->ref.kind != GroupKind::kPod && !gang->gone &&
                          s_.link.now() < gang->empty_until;
  if (!comes_back) {
    s_.link.MustTell(GangFinished{gang->told.key});
    s_.Forget(gang);
    return;
  }
  if (!gang->told.held) {
    gang->told.held = true;
    gang->told.held_why =
        absl::StrCat("0 of ", gang->spec->min_pods, kPodsLack);
    s_.link.MustTell(GangHeld{gang->told.key, true, gang->told.held_why});
  }
}

void GangSync::TellWanted(Gang&& wanted, GangRecord* gang) {
  if (wanted.queue.empty() || wanted.queue == s_.options.default_queue) {
    wanted.queue = s_.queues.QueueFor(gang->ref.namespace_name);
  }
  std::string why_not =
      s_.queues.WhyNot(wanted.queue, gang->ref.namespace_name);
  if (!why_not.empty()) {
    s_.gangs.SetOutside(gang->ref);
    reporter_.Report(gang, "SchedulerError", why_not);
    if (gang->told.key.empty()) return;
    wanted.queue = gang->told.queue;
    wanted.held = true;
    wanted.held_why = std::move(why_not);
  }
  if (wanted == gang->told) return;
  absl::Status status;
  if (gang->told.key.empty()) {
    status = s_.link.Submit(&wanted);
    if (status.ok()) s_.gangs.SetTold(wanted.key, gang);
  } else {
    if (wanted.queue != gang->told.queue) {
      status = s_.link.Tell(GangMoved{wanted.key, wanted.queue});
      s_.queues.Retry();  // The former one may be to go.
    }
    if (status.ok()) status = s_.link.Tell(GangChanged{wanted});
  }
  if (status.ok()) {
    gang->told = std::move(wanted);
    if (!s_.warnings.empty()) {
      s_.warnings.Clear(GroupObject(gang->ref, gang->spec->key), kNotTaken);
    }
  } else {
    const bool of_object =
        absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
    if (gang->has_object && of_object) {
      s_.warnings.Warn(GroupObject(gang->ref, gang->spec->key), kNotTaken,
                       std::string(status.message()));
    }
    s_.gangs.SetOutside(gang->ref);  // A closed queue may open again.
    reporter_.Report(gang, "SchedulerError", std::string(status.message()));
  }
}

bool GangSync::TellPods(GangRecord* gang, bool bound_too) {
  volumes_.Resolve(gang);
  gang->MakeRoles(bound_too);
  PriorityClass priority_class;
  Gang wanted = gang->ToGang(&priority_class);
  if (wanted.key.empty()) return false;
  if (const std::string why = SpreadRoles(*gang, &wanted);
      !why.empty() && wanted.held_why.empty()) {
    wanted.held = true;
    wanted.held_why = why;
  }
  s_.link.TellClass(priority_class);
  TellWanted(std::move(wanted), gang);
  return true;
}

void GangSync::TellGang(GangRecord* gang) {
  if (TellPods(gang, false)) {
    gang->empty_until = kForever;
    return;
  }
  if (gang->empty_until == kForever) {
    gang->empty_until = s_.link.now() + s_.options.group_timeout;
    s_.gangs.TouchAt(gang->empty_until, gang->ref);
  }
  TellEmpty(gang);
  const std::string why_not = gang->WhyNot();
  if (!why_not.empty()) reporter_.Report(gang, "SchedulerError", why_not);
}

void GangSync::Sync(GangRecord* gang) {
  AnswerTasks(gang);
  if (gang->placed() && !gang->HasPods()) {
    // Places are kept for single pods, not for a gang that somebody took away.
    s_.link.MustTell(GangYielded{gang->told.key});
    s_.FreePlaces(gang);
  }
  if (gang->spec) TellGang(gang);
  // Pods that took the tasks of others may have places to be bound to.
  AnswerTasks(gang);
  // Before the next decision the scheduler knows what was wrong with a place.
  if (volumes_.Advance(gang) && gang->spec) TellGang(gang);
  TellCheckpoint(gang);
  if (s_.nominations.Has(gang->told.key)) s_.nominations.Doubt();
  UpdateUsage(*gang);
  UpdateBudgets(*gang);
  UpdateTally(gang);
  // Of groups alike there are as many as pods name.
  const bool stays = gang->has_object && CopyOf(gang->ref).empty();
  if (gang->empty() && gang->told.key.empty() && !stays) {
    s_.gangs.Erase(gang);
  }
}

void GangSync::TellCheckpoint(GangRecord* gang) {
  if (gang->told.key.empty() || !gang->placed()) return;
  const std::optional<Time> said = CheckpointOf(*gang);
  if (!said) return;
  const Time at = std::min(*said, s_.link.now());
  if (at <= gang->checkpoint_told) return;
  gang->checkpoint_told = at;
  s_.link.MustTell(CheckpointTaken{gang->told.key, at});
}

void GangSync::UpdateUsage(const GangRecord& gang) {
  for (const auto& [uid, member] : gang.members()) {
    const PodRecord& pod = *member.pod;
    PodUsage usage;
    const TaskSlot* slot = gang.SlotOf(member);
    if (pod.runs() && (slot == nullptr || !slot->placed())) {
      usage = UsageOf(pod);
    } else if (pod.runs()) {
      const TaskShape& held = gang.roles()[member.task->role].model->shape;
      const bool as_held = pod.role != nullptr &&
                           pod.role->shape.resources == held.resources &&
                           pod.role->shape.devices.count == held.devices.count;
      if (!as_held) usage = Beyond(held, *slot, UsageOf(pod));
    }
    s_.nodes.SetUsage(uid, std::move(usage));
  }
}

void GangSync::UpdateTally(GangRecord* gang) {
  GangCounts counts{.queue = gang->told.queue};
  for (const auto& [uid, member] : gang->members()) {
    counts.pending_pods += member.pod->pending() ? 1 : 0;
    counts.running_pods += member.pod->runs() ? 1 : 0;
  }
  s_.tally.Set(&gang->counted, std::move(counts));
  s_.NoteStatus(*gang);
}

void GangSync::UpdateBudgets(const GangRecord& gang) {
  const std::string& ns = gang.ref.namespace_name;
  for (const auto& [uid, member] : gang.members()) {
    if (member.pod->runs() && !gang.told.key.empty()) {
      s_.budgets.SetPod(ns, uid, gang.told.key, *member.pod->labels);
    } else {
      s_.budgets.RemovePod(ns, uid);
    }
  }
}

void GangSync::TellMembers() {
  for (GangRecord* gang : s_.gangs.all()) {
    if (gang->spec) TellPods(gang, true);
  }
}

void GangSync::TakeOver(Reconciled* whole) {
  const Time now = s_.link.now();
  for (GangRecord* const taken : s_.gangs.all()) {
    GangRecord& gang = *taken;
    for (const auto& [uid, member] : gang.members()) {
      if (!member.task || gang.told.key.empty()) continue;
      const PodRecord& pod = *member.pod;
      if (!s_.nodes.Has(pod.node)) continue;
      whole->tasks.push_back(
          {.gang = gang.told.key,
           .task = *member.task,
           .node = pod.node,
           .started = std::min(now, pod.started.value_or(pod.created))});
      TaskSlot& slot = *gang.SlotOf(*member.task);
      slot.stage = TaskStage::kRunning;
      slot.node = pod.node;
      if (pod.deleting) s_.gangs.Touch(taken);  // It leaves: see AnswerOf.
    }
    const std::optional<Time> saved = CheckpointOf(gang);
    if (saved && gang.placed()) {
      gang.checkpoint_told = std::min(*saved, now);
      whole->gangs.push_back(
          {.gang = gang.told.key, .checkpoint = gang.checkpoint_told});
    }
    UpdateUsage(gang);
    UpdateBudgets(gang);
    UpdateTally(&gang);
  }
}

}  // namespace muster::kubernetes
