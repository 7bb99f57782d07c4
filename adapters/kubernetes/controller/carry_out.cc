// What the scheduler decides, as requests, and what becomes of these.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/controller.h"

namespace muster::kubernetes {
namespace {

constexpr Duration kReadAgain = kSecond;
constexpr Duration kEvictAgain = 5 * kSecond;

}  // namespace

void Controller::Ask(InFlight request) {
  requests_.push_back({next_request_, request.body});
  in_flight_[next_request_++] = std::move(request);
}

// A controller has few of them at a time, if any.
void Controller::AskAgain() {
  for (auto& [at, request] : std::exchange(again_, {})) {
    if (at > now_) {
      again_.emplace_back(at, std::move(request));
      continue;
    }
    const auto pod = pods_.find(request.pod);
    if (pod == pods_.end()) continue;
    if (request.must &&
        (pod->second.deleting || StoppingSlot(request) == nullptr)) {
      continue;
    }
    Ask(std::move(request));
  }
}

void Controller::Bind(TaskId task, TaskSlot* slot) {
  slot->stage = TaskStage::kBinding;
  Ask(InFlight{
      .body = BindRequest{.pod = pods_.at(slot->pod).ref,
                          .node = slot->node,
                          .annotations = {{kTaskAnnotation,
                                           absl::StrCat(task.index)},
                                          {kDecisionAnnotation,
                                           absl::StrCat(slot->decision)}}},
      .pod = slot->pod,
      .attempt = slot->attempt});
}

void Controller::Give(const DecisionRecord& decision,
                      const PlannedTaskRecord& task, GangRecord* gang) {
  TaskSlot* slot = gang->SlotOf(task.task);
  if (slot == nullptr) {
    AddDefect(absl::StrCat("no task ", task.task.role, ".", task.task.index,
                           " of ", decision.gang));
    return;
  }
  slot->attempt = task.attempt;
  slot->node = task.node;
  slot->decision = decision.seq;
  const auto pod = pods_.find(slot->pod);
  if (pod != pods_.end() && pod->second.waits()) {
    Bind(task.task, slot);
    return;
  }
  // The one that was there is gone or about to go; its place is kept.
  if (pod != pods_.end()) {
    gang->Detach(pod->first);
    Touch(gang->ref);  // If it is bound elsewhere, it uses room there.
  }
  slot->stage = TaskStage::kAwaited;
  slot->awaited_until = now_ + options_.pod_timeout;
  timers_.insert({slot->awaited_until, gang->ref});
}

void Controller::Stop(const DecisionRecord& decision,
                      const PlannedTaskRecord& task, GangRecord* gang) {
  TaskSlot* slot = gang->SlotOf(task.task);
  if (slot == nullptr || !slot->placed()) return;
  slot->stage = TaskStage::kStopping;
  slot->decision = decision.seq;
  Touch(gang->ref);  // Without a pod it has stopped.
  const auto pod = pods_.find(slot->pod);
  if (pod == pods_.end() || pod->second.deleting) return;
  std::string whom = "no gang: " + std::string(Name(decision.reason.code));
  const auto other = by_key_.find(decision.on_behalf_of);
  if (other != by_key_.end()) whom = gangs_.at(other->second).told.display;
  Ask(InFlight{.body = EvictRequest{.pod = pod->second.ref},
               .pod = slot->pod,
               .attempt = decision.seq,
               .must = decision.on_behalf_of.empty()});
  Ask(EventRequest{.pod = pod->second.ref,
                   .warning = false,
                   .reason = "Preempted",
                   .action = "Preempting",
                   .note = absl::StrCat("Stopped for ", whom)});
}

void Controller::CarryOut(const DecisionRecord& decision) {
  const auto ref = by_key_.find(decision.gang);
  if (ref == by_key_.end()) {
    AddDefect(absl::StrCat("no gang ", decision.gang));
    return;
  }
  GangRecord& gang = gangs_.at(ref->second);
  using enum DecisionKind;
  for (const PlannedTaskRecord& task : decision.tasks) {
    switch (decision.kind) {
      case kStart:
      case kGrow:
        Give(decision, task, &gang);
        break;
      case kEvict:
      case kShrink:
      case kCancel:
        Stop(decision, task, &gang);
        break;
      default:  // What this host cannot do is not decided.
        break;
    }
  }
}

TaskSlot* Controller::BindingSlot(const InFlight& request) {
  TaskSlot* slot = gangs_.at(pods_.at(request.pod).group).SlotOf(request.pod);
  const bool awaited = slot != nullptr && slot->attempt == request.attempt &&
                       slot->stage == TaskStage::kBinding;
  return awaited ? slot : nullptr;
}

TaskSlot* Controller::StoppingSlot(const InFlight& request) {
  TaskSlot* slot = gangs_.at(pods_.at(request.pod).group).SlotOf(request.pod);
  const bool awaited = slot != nullptr && slot->decision == request.attempt &&
                       slot->stage == TaskStage::kStopping;
  return awaited ? slot : nullptr;
}

void Controller::BindFailed(const InFlight& request, TaskSlot* slot) {
  GangRecord& gang = gangs_.at(pods_.at(request.pod).group);
  MustTell(TasksAnswered{gang.told.key,
                         {{.task = *gang.TaskOf(request.pod),
                           .attempt = slot->attempt,
                           .outcome = TaskOutcome::kFailed}}});
  slot->stage = TaskStage::kWaiting;
  nodes_.TellUsageAgain(slot->node);
}

void Controller::BindAnswered(const ApiAnswer& answer,
                              const InFlight& request) {
  const auto pod = pods_.find(request.pod);
  if (pod == pods_.end()) return;  // Its end was seen.
  GangRecord& gang = gangs_.at(pod->second.group);
  Touch(gang.ref);
  switch (answer.outcome) {
    case ApiOutcome::kDone:
      pod->second.node = std::get<BindRequest>(request.body).node;
      Ask(EventRequest{.pod = pod->second.ref,
                       .reason = "Scheduled",
                       .action = "Binding",
                       .note = absl::StrCat("Assigned to ", pod->second.node)});
      return;
    case ApiOutcome::kNotFound:
    case ApiOutcome::kConflict:
    case ApiOutcome::kUnknown:
      // It may be bound, by this request or another, or be gone.
      Ask(InFlight{.body = ReadRequest{pod->second.ref},
                   .pod = request.pod,
                   .attempt = request.attempt});
      return;
    case ApiOutcome::kRefused:
    case ApiOutcome::kTooManyRequests:
      if (TaskSlot* slot = BindingSlot(request)) {
        BindFailed(request, slot);
        Report(&gang, "SchedulerError",
               absl::StrCat("binding failed: ", answer.message));
      }
      return;
  }
}

void Controller::ReadAnswered(const ApiAnswer& answer,
                              const InFlight& request) {
  const auto pod = pods_.find(request.pod);
  if (pod == pods_.end() || !pod->second.node.empty()) return;
  Touch(pod->second.group);
  TaskSlot* slot = BindingSlot(request);
  if (slot == nullptr) return;
  if (answer.outcome == ApiOutcome::kDone ||
      answer.outcome == ApiOutcome::kNotFound) {
    BindFailed(request, slot);
  } else {
    // Still nobody knows where it is: its room is not given away.
    again_.emplace_back(now_ + kReadAgain, request);
  }
}

void Controller::GoOn(TaskSlot* slot) {
  const auto pod = pods_.find(slot->pod);
  if (pod == pods_.end() || !pod->second.node.empty()) {
    slot->stage = TaskStage::kRunning;
    return;
  }
  // What became of its binding was not looked at while it was to be stopped.
  slot->stage = TaskStage::kBinding;
  Ask(InFlight{.body = ReadRequest{pod->second.ref},
               .pod = slot->pod,
               .attempt = slot->attempt});
}

void Controller::EvictAnswered(const ApiAnswer& answer,
                               const InFlight& request) {
  const bool goes = answer.outcome == ApiOutcome::kDone ||
                    answer.outcome == ApiOutcome::kNotFound ||
                    answer.outcome == ApiOutcome::kConflict;
  const auto pod = pods_.find(request.pod);
  if (goes || pod == pods_.end()) return;  // Its end is yet to be seen.
  if (StoppingSlot(request) == nullptr) return;
  if (request.must) {  // As `kubectl drain` does.
    again_.emplace_back(now_ + kEvictAgain, request);
    return;
  }
  GangRecord& gang = gangs_.at(pod->second.group);
  gang.ForEachSlot([&](TaskSlot& slot) {
    if (slot.stage == TaskStage::kStopping &&
        slot.decision == request.attempt) {
      GoOn(&slot);
    }
  });
  MustTell(DecisionRefused{request.attempt});
  Touch(gang.ref);
}

void Controller::Answer(const ApiAnswer& answer) {
  const auto node = in_flight_.extract(answer.id);
  if (node.empty()) return;
  const InFlight& request = node.mapped();
  if (std::holds_alternative<BindRequest>(request.body)) {
    BindAnswered(answer, request);
  } else if (std::holds_alternative<EvictRequest>(request.body)) {
    EvictAnswered(answer, request);
  } else if (std::holds_alternative<ReadRequest>(request.body)) {
    ReadAnswered(answer, request);
  }
}

}  // namespace muster::kubernetes
