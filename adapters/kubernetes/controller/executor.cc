#include "adapters/kubernetes/controller/executor.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/object_refs.h"

namespace muster::kubernetes {
namespace {

constexpr Duration kReadAgain = kSecond;
constexpr Duration kEvictAgain = 5 * kSecond;

}  // namespace

void Executor::AskAgain() {
  for (AwaitedRequest& request : s_.outbox.TakeDue(s_.link.now())) {
    const PodRecord* pod = s_.gangs.FindPod(request.pod);
    if (pod == nullptr) continue;
    if (request.must && (pod->deleting || StoppingSlot(request) == nullptr)) {
      continue;
    }
    s_.outbox.Ask(std::move(request));
  }
}

void Executor::Place(GangRecord* gang, TaskId task, TaskSlot* slot) {
  if (!gang->has_claims) return Bind(task, slot);
  slot->stage = TaskStage::kClaiming;
  slot->awaited_until = s_.link.now() + s_.options.volume_timeout;
  s_.gangs.TouchAt(slot->awaited_until, gang->ref);
  s_.gangs.Touch(gang);
}

void Executor::Bind(TaskId task, TaskSlot* slot) {
  slot->stage = TaskStage::kBinding;
  slot->bind_asked = true;
  s_.outbox.Ask(AwaitedRequest{.body = BindRequest{.pod = slot->pod->ref,
                                                   .node = slot->node,
                                                   .task = task.index,
                                                   .decision = slot->decision},
                               .pod = slot->pod->ref.uid,
                               .attempt = slot->attempt});
}

void Executor::Give(const DecisionRecord& decision,
                    const PlannedTaskRecord& task, GangRecord* gang) {
  TaskSlot* slot = gang->SlotOf(task.task);
  if (slot == nullptr) {
    s_.link.AddDefect(absl::StrCat("no task ", task.task.role, ".",
                                   task.task.index, " of ", decision.gang));
    return;
  }
  slot->attempt = task.attempt;
  slot->node = task.node;
  slot->decision = decision.seq;
  slot->bind_asked = false;
  const PodRecord* pod = slot->pod;
  if (pod != nullptr && pod->waits()) {
    Place(gang, task.task, slot);
    return;
  }
  // The one that was there is gone or about to go; its place is kept.
  if (pod != nullptr) {
    gang->Detach(pod->ref.uid);
    s_.gangs.Touch(gang);  // If it is bound elsewhere, it uses room there.
  }
  slot->stage = TaskStage::kAwaited;
  slot->awaited_until = s_.link.now() + s_.options.pod_timeout;
  s_.gangs.TouchAt(slot->awaited_until, gang->ref);
}

void Executor::Stop(const DecisionRecord& decision,
                    const PlannedTaskRecord& task, GangRecord* gang) {
  TaskSlot* slot = gang->SlotOf(task.task);
  if (slot == nullptr || !slot->placed()) return;
  const bool claims = slot->stage == TaskStage::kClaiming;
  slot->stage = TaskStage::kStopping;
  slot->decision = decision.seq;
  s_.gangs.Touch(gang);  // Without a pod, or a binding, it has stopped.
  if (claims) return;
  const PodRecord* pod = slot->pod;
  if (pod == nullptr || pod->deleting) return;
  std::string whom = "no gang: " + std::string(Name(decision.reason.code));
  const GangRecord* other = s_.gangs.FindTold(decision.on_behalf_of);
  if (other != nullptr) {
    // Who may read this may not know what others have.
    const bool own = other->ref.namespace_name == pod->ref.namespace_name;
    whom = own ? other->told.display : "a group of another namespace";
  }
  s_.outbox.Ask(AwaitedRequest{.body = EvictRequest{.pod = pod->ref},
                               .pod = pod->ref.uid,
                               .attempt = decision.seq,
                               .must = decision.on_behalf_of.empty()});
  if (auto warning = s_.jobs.TakeWarning(pod->ref.namespace_name, pod->job)) {
    s_.outbox.Ask(*std::move(warning));
  }
  s_.outbox.Ask(EventRequest{.object = PodObject(pod->ref),
                             .warning = false,
                             .reason = "Preempted",
                             .action = "Preempting",
                             .note = absl::StrCat("Stopped for ", whom)});
}

void Executor::CarryOut(const DecisionRecord& decision) {
  GangRecord* gang = s_.gangs.FindTold(decision.gang);
  if (gang == nullptr) {
    s_.link.AddDefect(absl::StrCat("no gang ", decision.gang));
    return;
  }
  using enum DecisionKind;
  ShowNomination(decision, gang);
  for (const PlannedTaskRecord& task : decision.tasks) {
    switch (decision.kind) {
      case kStart:
      case kGrow:
        Give(decision, task, gang);
        break;
      case kEvict:
      case kShrink:
      case kCancel:
        Stop(decision, task, gang);
        break;
      default:  // What this host cannot do is not decided.
        break;
    }
  }
  if (decision.kind == kStart) reporter_.NotePlaced(gang);
}

void Executor::ShowNomination(const DecisionRecord& decision,
                              GangRecord* gang) {
  using enum DecisionKind;
  const bool known = s_.nominations.Has(decision.gang);
  if (decision.kind != kNominate && !known) return;
  NominationBook::Places places;
  for (const PlannedTaskRecord& task : decision.tasks) {
    const TaskSlot* slot = gang->SlotOf(task.task);
    const PodRecord* pod = slot == nullptr ? nullptr : slot->pod;
    if (pod != nullptr && pod->waits()) {
      places[pod->ref.uid] = {pod->ref, task.node};
    }
  }
  if (decision.kind == kNominate) {
    s_.nominations.Set(decision.gang, places);
  } else if (decision.kind == kStart || decision.kind == kGrow) {
    std::set<std::string> bound;
    for (const auto& [uid, place] : places) bound.insert(uid);
    s_.nominations.Start(decision.gang, bound);
  } else if (decision.kind != kShrink) {
    s_.nominations.Set(decision.gang, {});
  }
}

TaskSlot* Executor::BindingSlot(const AwaitedRequest& request) {
  TaskSlot* slot =
      s_.gangs.GangOf(*s_.gangs.FindPod(request.pod)).SlotOf(request.pod);
  const bool awaited = slot != nullptr && slot->attempt == request.attempt &&
                       slot->stage == TaskStage::kBinding;
  return awaited ? slot : nullptr;
}

TaskSlot* Executor::StoppingSlot(const AwaitedRequest& request) {
  TaskSlot* slot =
      s_.gangs.GangOf(*s_.gangs.FindPod(request.pod)).SlotOf(request.pod);
  const bool awaited = slot != nullptr && slot->decision == request.attempt &&
                       slot->stage == TaskStage::kStopping;
  return awaited ? slot : nullptr;
}

void Executor::BindFailed(const AwaitedRequest& request, TaskSlot* slot) {
  GangRecord& gang = s_.gangs.GangOf(*s_.gangs.FindPod(request.pod));
  s_.link.MustTell(TasksAnswered{gang.told.key,
                                 {{.task = *gang.TaskOf(request.pod),
                                   .attempt = slot->attempt,
                                   .outcome = TaskOutcome::kFailed}}});
  slot->stage = TaskStage::kWaiting;
}

void Executor::BindAnswered(const ApiAnswer& answer,
                            const AwaitedRequest& request) {
  PodRecord* pod = s_.gangs.FindPod(request.pod);
  if (pod == nullptr) return;  // Its end was seen.
  GangRecord& gang = s_.gangs.GangOf(*pod);
  s_.gangs.Touch(&gang);
  switch (answer.outcome) {
    case ApiOutcome::kDone:
      pod->node = std::get<BindRequest>(request.body).node;
      pod->refused.clear();
      s_.nominations.Bound(request.pod);
      s_.outbox.Ask(
          EventRequest{.object = PodObject(pod->ref),
                       .reason = "Scheduled",
                       .action = "Binding",
                       .note = absl::StrCat("Assigned to ", pod->node)});
      return;
    case ApiOutcome::kNotFound:
    case ApiOutcome::kConflict:
    case ApiOutcome::kUnknown:
      // It may be bound, by this request or another, or be gone.
      s_.outbox.Ask(AwaitedRequest{.body = ReadRequest{pod->ref},
                                   .pod = request.pod,
                                   .attempt = request.attempt});
      return;
    case ApiOutcome::kRefused:
    case ApiOutcome::kTooManyRequests:
      s_.nominations.NotBound(request.pod);
      if (answer.outcome == ApiOutcome::kRefused) {
        pod->refused = answer.message.empty() ? "no reason" : answer.message;
      }
      if (TaskSlot* slot = BindingSlot(request)) BindFailed(request, slot);
      s_.gangs.SetUnreported(&gang);
      return;
  }
}

void Executor::ReadAnswered(const ApiAnswer& answer,
                            const AwaitedRequest& request) {
  PodRecord* pod = s_.gangs.FindPod(request.pod);
  if (pod == nullptr || !pod->node.empty()) return;
  s_.gangs.Touch(pod->group);
  const bool read = answer.outcome == ApiOutcome::kDone ||
                    answer.outcome == ApiOutcome::kNotFound;
  if (read) s_.nominations.NotBound(request.pod);
  TaskSlot* slot = BindingSlot(request);
  if (slot == nullptr) return;
  if (read) {
    BindFailed(request, slot);
  } else {
    // Still nobody knows where it is: its room is not given away.
    s_.outbox.AskLater(s_.link.now() + kReadAgain, request);
  }
}

void Executor::GoOn(TaskSlot* slot) {
  const PodRecord* pod = slot->pod;
  if (pod == nullptr || !pod->node.empty()) {
    slot->stage = TaskStage::kRunning;
    return;
  }
  if (!slot->bind_asked) {
    slot->stage = TaskStage::kClaiming;
    s_.gangs.Touch(pod->group);
    return;
  }
  // What became of its binding was not looked at while it was to be stopped.
  slot->stage = TaskStage::kBinding;
  s_.outbox.Ask(AwaitedRequest{.body = ReadRequest{pod->ref},
                               .pod = pod->ref.uid,
                               .attempt = slot->attempt});
}

void Executor::EvictAnswered(const ApiAnswer& answer,
                             const AwaitedRequest& request) {
  const bool goes = answer.outcome == ApiOutcome::kDone ||
                    answer.outcome == ApiOutcome::kNotFound ||
                    answer.outcome == ApiOutcome::kConflict;
  PodRecord* pod = s_.gangs.FindPod(request.pod);
  if (goes || pod == nullptr) return;  // Its end is yet to be seen.
  if (StoppingSlot(request) == nullptr) return;
  if (request.must) {  // As `kubectl drain` does.
    s_.outbox.AskLater(s_.link.now() + kEvictAgain, request);
    return;
  }
  GangRecord& gang = s_.gangs.GangOf(*pod);
  gang.ForEachSlot([&](TaskSlot& slot) {
    if (slot.stage == TaskStage::kStopping &&
        slot.decision == request.attempt) {
      GoOn(&slot);
    }
  });
  s_.link.MustTell(DecisionRefused{request.attempt});
  s_.nominations.Doubt();
  s_.gangs.Touch(&gang);
}

void Executor::ClaimAnswered(const ApiAnswer& answer,
                             const AwaitedRequest& request,
                             const ObjectVersion& claim) {
  s_.volumes.Answer({claim.namespace_name, claim.name}, request.attempt,
                    answer);
}

void Executor::Answer(const ApiAnswer& answer) {
  const auto request = s_.outbox.TakeAnswered(answer.id);
  if (!request) return;
  if (std::holds_alternative<BindRequest>(request->body)) {
    BindAnswered(answer, *request);
  } else if (std::holds_alternative<EvictRequest>(request->body)) {
    EvictAnswered(answer, *request);
  } else if (std::holds_alternative<ReadRequest>(request->body)) {
    ReadAnswered(answer, *request);
  } else if (const auto* select =
                 std::get_if<SelectNodeRequest>(&request->body)) {
    ClaimAnswered(answer, *request, select->claim);
  } else if (const auto* give =
                 std::get_if<GiveVolumeRequest>(&request->body)) {
    ClaimAnswered(answer, *request, give->claim);
  } else if (const auto* status =
                 std::get_if<QueueStatusRequest>(&request->body)) {
    if (answer.outcome != ApiOutcome::kDone) {
      s_.queue_news.SetUnsent(status->name);
    }
  } else if (const auto* group =
                 std::get_if<GroupStatusRequest>(&request->body)) {
    if (answer.outcome != ApiOutcome::kDone) {
      s_.group_news.SetUnsent(
          {GroupKind::kMusterGroup, group->namespace_name, group->name});
    }
  }
}

}  // namespace muster::kubernetes
