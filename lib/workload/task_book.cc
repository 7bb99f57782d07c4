#include "lib/workload/task_book.h"

#include <algorithm>
#include <functional>
#include <span>

namespace muster::workload {

bool TaskBook::IsLive(uint32_t task) const {
  switch (s_.tasks[task].phase) {
    case TaskPhase::kStarting:
    case TaskPhase::kRunning:
    case TaskPhase::kReady:
    case TaskPhase::kStopping:
      return true;
    default:
      return false;
  }
}

// --- Places ------------------------------------------------------------------

bool TaskBook::TakePlace(TaskId place, bool* grown) {
  RoleState& role = s_.roles[place.role];
  if (rules_.pooled) {
    if (role.owner[place.index] != RoleState::kNotHeld) return false;
    role.owner[place.index] = RoleState::kSpare;
    role.spare.push_back(place.index);
    ++role.held;
    return true;
  }
  TaskState& t = s_.tasks[rules_.first_task[place.role] + place.index];
  if (t.slot != TaskState::kNoSlot) return false;
  t.slot = place.index;
  ++role.held;
  if (t.phase != TaskPhase::kIdle) {  // It is over, and needs none.
    FreePlace(rules_.first_task[place.role] + place.index,
              TaskOutcome::kSucceeded);
    return false;
  }
  if (t.member) {
    --s_.lacking;
  } else {
    t.member = true;
    ++role.size;
    *grown = true;
  }
  return true;
}

void TaskBook::FreePlace(uint32_t task, TaskOutcome outcome) {
  TaskState& t = s_.tasks[task];
  if (t.slot == TaskState::kNoSlot) return;
  const TaskId id = rules_.IdOf(task);
  Act({.kind = ActionKind::kFree,
       .task = id,
       .slot = t.slot,
       .attempt = t.attempt,
       .outcome = outcome});
  RoleState& role = s_.roles[id.role];
  if (rules_.pooled) role.owner[t.slot] = RoleState::kNotHeld;
  --role.held;
  t.slot = TaskState::kNoSlot;
}

void TaskBook::FreeSpare(uint32_t role, uint32_t slot, TaskOutcome outcome) {
  Act({.kind = ActionKind::kFree,
       .task = {role, 0},
       .slot = slot,
       .outcome = outcome});
  s_.roles[role].owner[slot] = RoleState::kNotHeld;
  --s_.roles[role].held;
}

void TaskBook::LosePlace(uint32_t task) {
  TaskState& t = s_.tasks[task];
  if (t.slot == TaskState::kNoSlot) return;
  FreePlace(task, TaskOutcome::kYielded);
  if (!rules_.pooled && t.member) ++s_.lacking;
}

void TaskBook::Vacate(uint32_t task) {
  TaskState& t = s_.tasks[task];
  const bool moved = t.moved;
  t.leaving = t.moved = false;
  if (moved) return LosePlace(task);
  FreePlace(task, TaskOutcome::kReleased);
  Leave(task);
}

void TaskBook::Leave(uint32_t task) {
  TaskState& t = s_.tasks[task];
  t.leaving = t.moved = false;
  if (rules_.pooled || !t.member) return;
  t.member = false;
  --s_.roles[rules_.role_of_task[task]].size;
}

void TaskBook::FreeIdlePlaces(TaskOutcome outcome) {
  for (uint32_t task = 0; task < s_.tasks.size(); ++task) {
    if (!IsLive(task)) FreePlace(task, outcome);
  }
  for (uint32_t r = 0; rules_.pooled && r < s_.roles.size(); ++r) {
    RoleState& role = s_.roles[r];
    for (uint32_t slot = 0; slot < role.owner.size(); ++slot) {
      if (role.owner[slot] == RoleState::kSpare) FreeSpare(r, slot, outcome);
    }
    role.spare.clear();
  }
}

bool TaskBook::HavePlaces(uint32_t first, uint32_t count) const {
  if (rules_.pooled) return true;
  const std::span<const TaskState> tasks(s_.tasks);
  return std::ranges::none_of(
      tasks.subspan(first, count), [](const TaskState& t) {
        return t.member && t.slot == TaskState::kNoSlot &&
               (t.phase == TaskPhase::kSucceeded ||
                t.phase == TaskPhase::kFailed);
      });
}

void TaskBook::Spare(uint32_t task) {
  TaskState& t = s_.tasks[task];
  if (t.slot == TaskState::kNoSlot) return;
  RoleState& role = s_.roles[rules_.role_of_task[task]];
  role.owner[t.slot] = RoleState::kSpare;
  role.spare.push_back(t.slot);
  t.slot = TaskState::kNoSlot;
}

void TaskBook::Retry(uint32_t task) {
  const TaskId id = rules_.IdOf(task);
  s_.roles[id.role].retry.push_back(id.index);
}

void TaskBook::EndPlace(uint32_t task) {
  if (rules_.pooled) {
    Spare(task);
  } else if (!rules_.keeps_places) {
    FreePlace(task, TaskOutcome::kSucceeded);
  }
}

// --- Tasks -------------------------------------------------------------------

void TaskBook::Start(uint32_t task) {
  TaskState& t = s_.tasks[task];
  const TaskId id = rules_.IdOf(task);
  t.phase = TaskPhase::kStarting;
  t.delayed = false;
  ++t.attempt;
  ++s_.live;
  Act({.kind = ActionKind::kStart,
       .task = id,
       .slot = t.slot,
       .attempt = t.attempt});
}

void TaskBook::Stop(uint32_t task, Duration grace) {
  TaskState& t = s_.tasks[task];
  if (!IsLive(task) || t.phase == TaskPhase::kStopping) return;
  const TaskId id = rules_.IdOf(task);
  CountStopped(t, &s_.roles[id.role]);
  t.phase = TaskPhase::kStopping;
  Act({.kind = ActionKind::kStop,
       .task = id,
       .slot = t.slot,
       .attempt = t.attempt,
       .grace = std::min(grace, rules_.job.roles[id.role].task.grace)});
}

void TaskBook::StopAll(Duration grace) {
  for (uint32_t task = 0; task < s_.tasks.size(); ++task) Stop(task, grace);
}

void TaskBook::Running(uint32_t task) {
  s_.tasks[task].phase = TaskPhase::kRunning;
  ++s_.roles[rules_.role_of_task[task]].running;
}

void TaskBook::Ready(uint32_t task) {
  s_.tasks[task].phase = TaskPhase::kReady;
  ++s_.roles[rules_.role_of_task[task]].ready;
}

void TaskBook::CountStopped(const TaskState& task, RoleState* role) {
  const bool ready = task.phase == TaskPhase::kReady;
  if (ready || task.phase == TaskPhase::kRunning) --role->running;
  if (ready) --role->ready;
}

void TaskBook::Ended(uint32_t task) {
  TaskState& t = s_.tasks[task];
  CountStopped(t, &s_.roles[rules_.role_of_task[task]]);
  t.phase = TaskPhase::kIdle;
  --s_.live;
}

void TaskBook::Succeeded(uint32_t task) {
  const TaskId id = rules_.IdOf(task);
  s_.tasks[task].phase = TaskPhase::kSucceeded;
  ++s_.roles[id.role].succeeded;
  CountRules(id, /*up=*/true);
  EndPlace(task);
}

void TaskBook::Failed(uint32_t task) {
  s_.tasks[task].phase = TaskPhase::kFailed;
  ++s_.roles[rules_.role_of_task[task]].failed;
  EndPlace(task);
}

void TaskBook::Reset(uint32_t task) {
  TaskState& t = s_.tasks[task];
  const TaskId id = rules_.IdOf(task);
  if (t.phase == TaskPhase::kSucceeded) {
    CountRules(id, /*up=*/false);
    --s_.roles[id.role].succeeded;
  } else if (t.phase == TaskPhase::kFailed) {
    --s_.roles[id.role].failed;
  }
  t.phase = TaskPhase::kIdle;
}

void TaskBook::CountRules(TaskId id, bool up) {
  const uint32_t group_size = rules_.job.roles[id.role].group_size;
  bool whole = false;  // The task makes its group whole.
  if (!s_.groups.empty()) {
    GroupState& group = s_.groups[rules_.GroupOf(id)];
    whole =
        up ? ++group.succeeded == group_size : group.succeeded-- == group_size;
  }
  for (const uint32_t i : rules_.rules_of_role[id.role]) {
    const SuccessRule& rule = rules_.job.success[i];
    const bool counts =
        rule.groups
            ? whole
            : rule.indexes.empty() ||
                  std::ranges::any_of(rule.indexes, [&](auto range) {
                    return range.first <= id.index && id.index <= range.second;
                  });
    if (counts && up) ++s_.rules[i];
    if (counts && !up) --s_.rules[i];
  }
}

void TaskBook::FillSpares(uint32_t r) {
  RoleState& role = s_.roles[r];
  const uint32_t tasks = rules_.job.roles[r].tasks();
  while (!role.spare.empty()) {
    const uint32_t slot = role.spare.back();
    if (role.owner[slot] != RoleState::kSpare) {
      role.spare.pop_back();  // It has been taken back since.
      continue;
    }
    const uint32_t open = tasks - role.succeeded - role.failed;
    if (IsClosing() || role.held > open) {
      role.spare.pop_back();
      FreeSpare(r, slot, TaskOutcome::kSucceeded);
      continue;
    }
    uint32_t index = 0;
    if (!role.retry.empty()) {
      index = role.retry.back();
      role.retry.pop_back();
    } else if (role.next < tasks) {
      index = role.next++;
    } else {
      return;  // It waits for a task that starts again.
    }
    role.spare.pop_back();
    role.owner[slot] = index;
    const uint32_t task = rules_.first_task[r] + index;
    s_.tasks[task].slot = slot;
    Start(task);
  }
}

void TaskBook::StartLater(uint32_t task, Time at) {
  s_.tasks[task].delayed = true;
  s_.timers.emplace_back(at, task);
  std::push_heap(s_.timers.begin(), s_.timers.end(), std::greater<>());
}

bool TaskBook::NextDue(Time now, uint32_t* task) {
  if (s_.timers.empty() || s_.timers.front().first > now) return false;
  *task = s_.timers.front().second;
  std::pop_heap(s_.timers.begin(), s_.timers.end(), std::greater<>());
  s_.timers.pop_back();
  s_.tasks[*task].delayed = false;
  return true;
}

void TaskBook::ForgetTimers() {
  for (const auto& [at, task] : s_.timers) {
    s_.tasks[task].delayed = false;
    if (rules_.pooled) Retry(task);
  }
  s_.timers.clear();
}

// --- Counts ------------------------------------------------------------------

bool TaskBook::Holds(const StartAfter& after) const {
  const RoleState& role = s_.roles[after.role];
  const uint32_t need = after.count > 0 ? after.count : role.size;
  if (rules_.job.roles[after.role].passive) return role.held >= need;
  switch (after.condition) {
    case StartCondition::kRunning:
      return role.running + role.succeeded >= need;
    case StartCondition::kReady:
      return role.ready + role.succeeded >= need;
    case StartCondition::kSucceeded:
      return role.succeeded >= need;
  }
  return false;
}

uint32_t TaskBook::RuleNeeds(uint32_t i) const {
  const SuccessRule& rule = rules_.job.success[i];
  if (rule.count > 0) return rule.count;
  uint32_t need = 0;
  for (const auto& [first, last] : rule.indexes) need += last - first + 1;
  if (!rule.indexes.empty()) return need;
  for (const uint32_t r : rule.roles) need += s_.roles[r].size;
  return need;
}

bool TaskBook::RuleHolds(uint32_t i) const {
  const uint32_t need = RuleNeeds(i);
  if (need == 0 || s_.rules[i] < need) return false;
  return !rules_.job.success[i].and_drained || s_.live == 0;
}

bool TaskBook::HasPending(uint32_t r) const {
  return rules_.pooled && !IsClosing() &&
         (!s_.roles[r].retry.empty() ||
          s_.roles[r].next < rules_.job.roles[r].tasks());
}

bool TaskBook::IsClosing() const {
  for (uint32_t i = 0; i < s_.rules.size(); ++i) {
    if (rules_.job.success[i].and_drained && s_.rules[i] >= RuleNeeds(i)) {
      return true;
    }
  }
  return false;
}

// At most one of each type; Running and Restarting exclude each other, and
// nothing follows the end.
void TaskBook::SetCondition(ConditionType type, bool status,
                            std::string_view reason) {
  auto& all = s_.conditions;
  for (const Condition& c : all) {
    const bool final = c.status && (c.type == ConditionType::kSucceeded ||
                                    c.type == ConditionType::kFailed);
    if (final && type != ConditionType::kRunning) return;
    if (c.type == type && c.status == status && c.reason == reason) return;
  }
  if (!status && std::ranges::none_of(
                     all, [&](const Condition& c) { return c.type == type; })) {
    return;
  }
  const ConditionType other = type == ConditionType::kRunning
                                  ? ConditionType::kRestarting
                                  : ConditionType::kRunning;
  const bool exclusive =
      type == ConditionType::kRunning || type == ConditionType::kRestarting;
  std::erase_if(all, [&](const Condition& c) {
    return c.type == type || (exclusive && status && c.type == other);
  });
  const Condition condition{type, status, reason, s_.now};
  all.push_back(condition);
  out_.conditions.push_back(condition);
}

}  // namespace muster::workload
