// What the scheduler is told of pods and their groups.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/controller.h"

namespace muster::kubernetes {

absl::Status Controller::Tell(EventBody what) {
  absl::Status status = scheduler_.Apply({now_, std::move(what)});
  told_ |= status.ok();
  return status;
}

void Controller::MustTell(EventBody what) {
  const absl::Status status = Tell(std::move(what));
  if (!status.ok()) AddDefect(status.ToString());
}

void Controller::AddDefect(std::string what) {
  constexpr size_t kMost = 100;
  if (defects_.size() < kMost) defects_.push_back(std::move(what));
}

void Controller::TellConfig() {
  config_due_ = false;
  SchedulerConfig config = scheduler_.config();
  config.resources = kinds_.names();
  config.topologies = options_.topologies;
  for (const std::string& key : topologies_) {
    config.topologies.push_back({.key = key, .levels = {key}});
  }
  MustTell(ConfigChanged{std::move(config)});
}

void Controller::TellClass(const PriorityClass& priority_class) {
  if (priority_class.key.empty()) return;  // The scheduler's own.
  if (classes_.insert(priority_class.key).second) {
    MustTell(PriorityClassChanged{priority_class});
  }
}

void Controller::TellQueues() {
  if (!queues_.due()) return;
  const bool told = queues_.Tell(
      kinds_, [this](EventBody what) { return Tell(std::move(what)); });
  if (told) TouchOutside();
}

void Controller::TellBudgets() {
  for (DisruptionBudget& budget : budgets_.TakeChanges()) {
    MustTell(DisruptionBudgetChanged{std::move(budget)});
  }
}

void Controller::TellNodes() {
  for (EventBody& event : nodes_.TakeChanges()) {
    if (std::holds_alternative<NodeChanged>(event)) {
      // What a node says of itself may be more than the library takes.
      const std::string name = std::get<NodeChanged>(event).node.key;
      if (Tell(std::move(event)).ok()) {
        nodes_.SetTold(name);
      } else {
        nodes_.Remove(name);
      }
    } else if (const auto* gone = std::get_if<NodeRemoved>(&event)) {
      LoseNode(gone->node);
      MustTell(std::move(event));
    } else if (nodes_.Has(std::get<ExternalUsageChanged>(event).usage.node)) {
      MustTell(std::move(event));
    }
  }
}

// What is to be said of a task that has a place, given its pod.
std::optional<TaskAnswer> Controller::AnswerOf(TaskId task, TaskSlot* slot,
                                               GangRecord* gang) {
  TaskAnswer answer{.task = task, .attempt = slot->attempt};
  const auto it = pods_.find(slot->pod);
  const PodRecord* pod = it == pods_.end() ? nullptr : &it->second;
  if (pod != nullptr && pod->end == PodRecord::End::kSucceeded) {
    answer.outcome = TaskOutcome::kSucceeded;
    slot->stage = TaskStage::kDone;
    return answer;
  }
  if (pod == nullptr && slot->stage == TaskStage::kAwaited) {
    if (now_ < slot->awaited_until) return std::nullopt;
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
      slot->stage != TaskStage::kStopping && !nodes_.Has(pod->node)) {
    // Somebody else bound it, to a node that is not known (yet).
    answer.outcome = TaskOutcome::kYielded;
    slot->stage = TaskStage::kWaiting;
    gang->Detach(pod->ref.uid);
    return answer;
  }
  if (bound && (slot->stage == TaskStage::kBinding ||
                slot->stage == TaskStage::kAwaited)) {
    answer.outcome = TaskOutcome::kStarted;
    if (pod->node != slot->node) answer.node = pod->node;
    slot->stage = TaskStage::kRunning;
    slot->node = pod->node;
    return answer;
  }
  if (slot->stage == TaskStage::kAwaited && pod->waits()) Bind(task, slot);
  return std::nullopt;
}

void Controller::AnswerTasks(GangRecord* gang) {
  if (gang->told.key.empty()) return;
  TasksAnswered answers{.gang = gang->told.key};
  for (uint32_t r = 0; r < gang->roles().size(); ++r) {
    std::vector<TaskSlot>& slots = gang->roles()[r].slots;
    for (uint32_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].placed()) continue;
      auto answer = AnswerOf({r, i}, &slots[i], gang);
      if (!answer) continue;
      if (!slots[i].placed()) nodes_.TellUsageAgain(slots[i].node);
      answers.tasks.push_back(*std::move(answer));
    }
  }
  if (!answers.tasks.empty()) MustTell(std::move(answers));
  // When all have succeeded, or been stopped for good, it is over.
  if (!scheduler_.FindGang(gang->told.key).valid()) Forget(gang);
}

void Controller::Forget(GangRecord* gang) {
  by_key_.erase(gang->told.key);
  gang->told = {};
  queues_.Retry();
  FreePlaces(gang);
}

void Controller::FreePlaces(GangRecord* gang) {
  gang->ForEachSlot([this](TaskSlot& slot) {
    if (slot.placed()) nodes_.TellUsageAgain(slot.node);
    slot = {.pod = slot.pod};
  });
}

void Controller::TellEmpty(GangRecord* gang) {
  if (gang->told.key.empty()) return;
  const bool comes_back = gang->ref.kind != GroupKind::kPod && !gang->gone &&
                          now_ < gang->empty_until;
  if (!comes_back) {
    MustTell(GangFinished{gang->told.key});
    Forget(gang);
    return;
  }
  if (!gang->told.held) {
    gang->told.held = true;
    gang->told.held_why =
        absl::StrCat("0 of ", gang->spec->min_pods, kPodsLack);
    MustTell(GangHeld{gang->told.key, true, gang->told.held_why});
  }
}

void Controller::TellMembers(Gang wanted, GangRecord* gang) {
  if (wanted.queue.empty()) wanted.queue = options_.default_queue;
  std::string why_not = queues_.WhyNot(wanted.queue, gang->ref.namespace_name);
  if (!why_not.empty()) {
    outside_.insert(gang->ref);
    Report(gang, "SchedulerError", why_not);
    if (gang->told.key.empty()) return;
    wanted.queue = gang->told.queue;
    wanted.held = true;
    wanted.held_why = std::move(why_not);
  }
  if (wanted == gang->told) return;
  absl::Status status;
  if (gang->told.key.empty()) {
    status = Tell(GangSubmitted{wanted});
    if (status.ok()) by_key_[wanted.key] = gang->ref;
  } else {
    if (wanted.queue != gang->told.queue) {
      status = Tell(GangMoved{wanted.key, wanted.queue});
    }
    if (status.ok()) status = Tell(GangChanged{wanted});
  }
  if (status.ok()) {
    gang->told = std::move(wanted);
  } else {
    outside_.insert(gang->ref);  // A closed queue may open again.
    Report(gang, "SchedulerError", std::string(status.message()));
  }
}

bool Controller::TellPods(GangRecord* gang, bool bound_too) {
  gang->MakeRoles(pods_, bound_too);
  PriorityClass priority_class;
  Gang wanted = gang->ToGang(pods_, &priority_class);
  if (wanted.key.empty()) return false;
  TellClass(priority_class);
  TellMembers(std::move(wanted), gang);
  return true;
}

void Controller::TellGang(GangRecord* gang) {
  if (TellPods(gang, false)) {
    gang->empty_until = kForever;
    return;
  }
  if (gang->empty_until == kForever) {
    gang->empty_until = now_ + options_.group_timeout;
    timers_.insert({gang->empty_until, gang->ref});
  }
  TellEmpty(gang);
  const std::string why_not = gang->WhyNot(pods_);
  if (!why_not.empty()) Report(gang, "SchedulerError", why_not);
}

void Controller::Sync(const GroupRef& ref) {
  const auto it = gangs_.find(ref);
  if (it == gangs_.end()) return;
  GangRecord& gang = it->second;
  AnswerTasks(&gang);
  if (gang.placed() && !gang.HasPods()) {
    // Places are kept for single pods, not for a gang that somebody took away.
    MustTell(GangYielded{gang.told.key});
    FreePlaces(&gang);
  }
  if (gang.spec) {
    TellGang(&gang);
  } else {
    unreported_.insert(ref);  // Its object is missing, unless it comes soon.
  }
  // Pods that took the tasks of others may have places to be bound to.
  AnswerTasks(&gang);
  UpdateUsage(&gang);
  UpdateBudgets(gang);
  if (gang.empty() && gang.told.key.empty() && !gang.has_object) {
    outside_.erase(ref);
    gangs_.erase(it);
  }
}

// What is there becomes the scheduler's state, whoever made it so.
absl::Status Controller::TellAll() {
  TellConfig();
  TellQueues();
  for (auto& [ref, gang] : gangs_) {
    if (gang.spec) TellPods(&gang, true);
  }
  TellNodes();  // Leaves out those that are not valid.
  Reconciled whole;
  for (auto& [ref, gang] : gangs_) {
    for (const auto& [uid, task] : gang.members()) {
      if (!task || gang.told.key.empty()) continue;
      const PodRecord& pod = pods_.at(uid);
      if (!nodes_.Has(pod.node)) continue;
      whole.tasks.push_back(
          {.gang = gang.told.key,
           .task = *task,
           .node = pod.node,
           .releasing = pod.deleting,
           .started = std::min(now_, pod.started.value_or(pod.created))});
      TaskSlot& slot = *gang.SlotOf(*task);
      slot.stage = pod.deleting ? TaskStage::kStopping : TaskStage::kRunning;
      slot.node = pod.node;
    }
    UpdateUsage(&gang);
    UpdateBudgets(gang);
  }
  nodes_.TakeAll(&whole);
  return Tell(std::move(whole));
}

}  // namespace muster::kubernetes
