#include "muster/workload/life.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "lib/workload/cat.h"
#include "lib/workload/life_rules.h"
#include "lib/workload/readers.h"
#include "lib/workload/stepper.h"

namespace muster::workload {
namespace {

// Whether what an event names is there.
class EventCheck {
 public:
  explicit EventCheck(const LifeRules& rules) : rules_(rules) {}

  absl::Status operator()(const Placed& e) const { return Places(e.places); }
  absl::Status operator()(const PlacesTaken& e) const {
    absl::Status s = Notice(e.notice);
    return s.ok() ? Places(e.places) : s;
  }
  absl::Status operator()(const Preempted& e) const { return Notice(e.notice); }
  absl::Status operator()(const LimitChanged& e) const {
    return e.limit < 0 || e.limit > kMaxDuration
               ? absl::InvalidArgumentError(
                     "limit: is not between 0 and kMaxDuration")
               : absl::OkStatus();
  }
  absl::Status operator()(const TaskStarted& e) const { return Task(e.task); }
  absl::Status operator()(const TaskReady& e) const { return Task(e.task); }
  absl::Status operator()(const TaskExited& e) const { return Task(e.task); }
  absl::Status operator()(const TasksListed& e) const {
    for (const LiveTask& live : e.live) {
      absl::Status s = Task(live.task);
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const ResizeAsked& e) const {
    if (e.role >= rules_.job.roles.size()) return NoRole(e.role);
    if (rules_.job.resize == ResizeMode::kFixed) {
      return absl::FailedPreconditionError("the job has one size");
    }
    const Role& role = rules_.job.roles[e.role];
    if (e.size < std::max(1u, role.min_replicas) ||
        e.size > rules_.Places(e.role)) {
      return absl::InvalidArgumentError(
          Cat("size: ", e.size, " is not between ", role.min_replicas, " and ",
              rules_.Places(e.role)));
    }
    return absl::OkStatus();
  }
  template <class Other>
  absl::Status operator()(const Other&) const {
    return absl::OkStatus();
  }

 private:
  static absl::Status Notice(Duration notice) {
    return notice < 0 || notice > kMaxDuration
               ? absl::InvalidArgumentError(
                     "notice: is not between 0 and kMaxDuration")
               : absl::OkStatus();
  }
  static absl::Status NoRole(uint32_t role) {
    return absl::InvalidArgumentError(Cat("role: there is no ", role));
  }
  absl::Status Task(TaskId id) const {
    if (id.role >= rules_.job.roles.size()) return NoRole(id.role);
    if (id.index < rules_.job.roles[id.role].tasks()) return absl::OkStatus();
    return absl::InvalidArgumentError(Cat("task: there is no ", id.index));
  }
  absl::Status Places(const std::vector<TaskId>& places) const {
    for (const TaskId id : places) {
      if (id.role >= rules_.job.roles.size()) return NoRole(id.role);
      if (id.index >= rules_.Places(id.role)) {
        return absl::InvalidArgumentError(Cat("place: there is no ", id.index));
      }
    }
    return absl::OkStatus();
  }

  const LifeRules& rules_;
};

}  // namespace

LifeRules::LifeRules(Job of) : job(std::move(of)) {
  pooled = job.kind == Kind::kJob;
  unit = job.resize == ResizeMode::kInPlace ? RestartUnit::kTask
                                            : job.failure.unit;
  keeps_places = unit == RestartUnit::kGang || job.failure.by_group;
  followers.resize(job.roles.size());
  rules_of_role.resize(job.roles.size());
  uint32_t tasks = 0, groups = 0;
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    const Role& role = job.roles[r];
    first_task.push_back(tasks);
    first_group.push_back(groups);
    role_of_task.insert(role_of_task.end(), role.tasks(), r);
    tasks += role.tasks();
    if (role.group_size > 0) {
      groups += (role.tasks() + role.group_size - 1) / role.group_size;
    }
    for (const StartAfter& after : role.start_after) {
      auto& f = followers[after.role];
      if (f.empty() || f.back() != r) f.push_back(r);
    }
  }
  first_task.push_back(tasks);
  first_group.push_back(job.failure.by_group ? groups : 0);
  for (uint32_t i = 0; i < job.success.size(); ++i) {
    for (const uint32_t r : job.success[i].roles) rules_of_role[r].push_back(i);
  }
}

ExitClass Classify(RestartPolicy restart, RetryableCodes codes, int32_t code,
                   ExitReason reason) {
  switch (reason) {
    case ExitReason::kNodeLost:
    case ExitReason::kPreempted:
    case ExitReason::kLost:
      return ExitClass::kFree;
    case ExitReason::kOutOfMemory:
      return restart == RestartPolicy::kNever ? ExitClass::kPermanent
                                              : ExitClass::kRetryable;
    case ExitReason::kNotStarted:
      code = 128;
      break;
    case ExitReason::kExited:
      if (code == 0) {
        return restart == RestartPolicy::kAlways ? ExitClass::kRetryable
                                                 : ExitClass::kSuccess;
      }
      break;
  }
  switch (restart) {
    case RestartPolicy::kNever:
      return ExitClass::kPermanent;
    case RestartPolicy::kOnFailure:
    case RestartPolicy::kAlways:
    case RestartPolicy::kReplace:
      return ExitClass::kRetryable;
    case RestartPolicy::kExitCode:
      break;
  }
  const bool retried =
      codes == RetryableCodes::kSignals
          ? code >= 128
          : code == 130 || code == 137 || code == 138 || code == 143;
  return retried ? ExitClass::kRetryable : ExitClass::kPermanent;
}

struct Life::Rep {
  explicit Rep(Job job) : rules(std::move(job)) {}
  LifeRules rules;
};

Life::Life(std::unique_ptr<const Rep> rep) : rep_(std::move(rep)) {}
Life::Life(Life&&) noexcept = default;
Life& Life::operator=(Life&&) noexcept = default;
Life::~Life() = default;

absl::StatusOr<Life> Life::Make(Job job) {
  absl::Status s = Check(job);
  if (!s.ok()) return s;
  if (job.failure.by_group &&
      job.failure.group_backoff_limits.size() != job.roles.size()) {
    return absl::InvalidArgumentError("group_backoff_limits: not one a role");
  }
  return Life(std::make_unique<const Rep>(std::move(job)));
}

const Job& Life::job() const { return rep_->rules.job; }

LifeState Life::Begin() const {
  const LifeRules& rules = rep_->rules;
  LifeState state;
  state.tasks.resize(rules.first_task.back());
  state.roles.resize(rules.job.roles.size());
  state.groups.resize(rules.first_group.back());
  state.rules.resize(rules.job.success.size());
  for (uint32_t r = 0; rules.pooled && r < state.roles.size(); ++r) {
    state.roles[r].owner.assign(rules.Places(r), RoleState::kNotHeld);
    state.roles[r].size = rules.job.roles[r].tasks();
  }
  return state;
}

absl::Status Life::Step(const LifeEvent& event, Time now, LifeState* state,
                        LifeOutput* output) const {
  const LifeRules& rules = rep_->rules;
  output->actions.clear();
  output->conditions.clear();
  absl::Status s = std::visit(EventCheck(rules), event);
  if (s.ok() && (now < 0 || now > kMaxTime)) {
    s = absl::InvalidArgumentError("now: is not between 0 and kMaxTime");
  }
  if (!s.ok()) return s;
  state->now = std::max(state->now, now);
  Stepper stepper(rules, state, output);
  stepper.PassTime();
  std::visit([&](const auto& e) { stepper.On(e); }, event);
  stepper.Settle();
  output->wake_at = stepper.WakeAt();
  return absl::OkStatus();
}

uint32_t PositionOf(const Job& job, TaskId task) {
  uint32_t position = task.index;
  for (uint32_t r = 0; r < task.role; ++r) position += job.roles[r].tasks();
  return position;
}

}  // namespace muster::workload
