#include "test/property/host.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "test/property/state_usage.h"

namespace muster {

std::vector<uint32_t> NumbersOf(DeviceSet devices) {
  std::vector<uint32_t> numbers;
  std::ranges::copy(devices, std::back_inserter(numbers));
  return numbers;
}

bool Host::IsStop(const DecisionRecord& d) const {
  return d.kind == DecisionKind::kEvict || d.kind == DecisionKind::kShrink ||
         d.kind == DecisionKind::kSuspend || d.kind == DecisionKind::kCancel;
}

void Host::Take(const PlanRecord& plan) {
  for (const DecisionRecord& d : plan.decisions) {
    if (d.kind == DecisionKind::kNominate || d.tasks.empty()) continue;
    if (IsStop(d)) {  // Starts of the same tasks are not carried out any more.
      for (DecisionRecord& p : pending_) {
        if (p.gang != d.gang || IsStop(p)) continue;
        std::erase_if(p.tasks, [&](const PlannedTaskRecord& t) {
          return std::any_of(
              d.tasks.begin(), d.tasks.end(),
              [&](const PlannedTaskRecord& s) { return s.task == t.task; });
        });
      }
      std::erase_if(pending_,
                    [](const DecisionRecord& p) { return p.tasks.empty(); });
    }
    pending_.push_back(d);
  }
}

TasksAnswered Host::Do(size_t i, size_t done, const std::string& elsewhere) {
  DecisionRecord& d = pending_[i];
  TasksAnswered answer{d.gang, {}};
  done = std::min(done, d.tasks.size());
  for (size_t t = 0; t < done; ++t) {
    const PlannedTaskRecord& p = d.tasks[t];
    TaskAnswer a{p.task, p.attempt, TaskOutcome::kReleased, "", {}};
    const Key key{d.gang, p.task};
    Real real{p.node,    NumbersOf(p.devices), p.alternative,
              p.attempt, p.first_slice,        false};
    suspended_.erase(key);
    if (d.kind == DecisionKind::kSuspend) {  // Before it ran, perhaps.
      a.outcome = TaskOutcome::kSuspended;
      suspended_.insert_or_assign(key,
                                  real_.try_emplace(key, real).first->second);
      real_.erase(key);
    } else if (IsStop(d)) {
      real_.erase(key);
    } else {
      a.outcome = TaskOutcome::kStarted;
      if (!elsewhere.empty()) {
        real.node = elsewhere;
        real.devices.clear();  // The scheduler guesses.
        real.first_slice.reset();
        a.node = elsewhere;
      }
      real_[key] = real;
    }
    answer.tasks.push_back(a);
  }
  d.tasks.erase(d.tasks.begin(), d.tasks.begin() + static_cast<long>(done));
  if (d.tasks.empty()) pending_.erase(pending_.begin() + static_cast<long>(i));
  return answer;
}

DecisionApplied Host::DoAll(size_t i) {
  const uint64_t seq = pending_[i].seq;
  Do(i, pending_[i].tasks.size(), "");
  return {seq};
}

bool Host::MayStart(const std::string& gang, uint32_t wave) const {
  return std::none_of(
      pending_.begin(), pending_.end(), [&](const DecisionRecord& d) {
        return d.gang == gang && !IsStop(d) &&
               std::any_of(d.tasks.begin(), d.tasks.end(),
                           [&](const auto& t) { return t.wave < wave; });
      });
}

bool Host::Ready(size_t i) const {
  const DecisionRecord& d = pending_[i];
  return IsStop(d) ||
         std::any_of(d.tasks.begin(), d.tasks.end(),
                     [&](const auto& t) { return MayStart(d.gang, t.wave); });
}

EventBody Host::DoReady(size_t i) {
  DecisionRecord& d = pending_[i];
  const auto ready = [&](const PlannedTaskRecord& t) {
    return IsStop(d) || MayStart(d.gang, t.wave);
  };
  const auto rest =
      std::stable_partition(d.tasks.begin(), d.tasks.end(), ready);
  if (rest == d.tasks.end()) return DoAll(i);
  return Do(i, static_cast<size_t>(rest - d.tasks.begin()), "");
}

TasksAnswered Host::FailAll(size_t i) {
  const DecisionRecord d = pending_[i];
  TasksAnswered answer{d.gang, {}};
  for (const PlannedTaskRecord& p : d.tasks) {
    // A task that dies while it is being stopped is gone as well.
    real_.erase({d.gang, p.task});
    suspended_.erase({d.gang, p.task});
    answer.tasks.push_back({p.task, p.attempt, TaskOutcome::kFailed, "", {}});
  }
  pending_.erase(pending_.begin() + static_cast<long>(i));
  return answer;
}

DecisionRefused Host::Refuse(size_t i) {
  const DecisionRecord d = pending_[i];
  if (IsStop(d)) {  // What had not even started does so now, and goes on.
    for (const PlannedTaskRecord& p : d.tasks) {
      if (suspended_.contains({d.gang, p.task})) continue;
      real_.try_emplace({d.gang, p.task},
                        Real{p.node, NumbersOf(p.devices), p.alternative,
                             p.attempt, p.first_slice, false});
    }
    // A gang that runs keeps nothing suspended.
    const auto of_gang = [&](const auto& r) { return r.first.first == d.gang; };
    if (std::ranges::any_of(real_, of_gang)) std::erase_if(suspended_, of_gang);
  }
  pending_.erase(pending_.begin() + static_cast<long>(i));
  return {d.seq};
}

bool Host::Uses(const std::string& node) const {
  const auto there = [&](const auto& r) { return r.second.node == node; };
  return std::ranges::any_of(real_, there) ||
         std::ranges::any_of(suspended_, there) ||
         std::ranges::any_of(pending_, [&](const DecisionRecord& d) {
           return std::ranges::find(d.tasks, node, &PlannedTaskRecord::node) !=
                  d.tasks.end();
         });
}

void Host::LoseNode(const std::string& node) {
  const auto there = [&](const auto& r) { return r.second.node == node; };
  std::erase_if(real_, there);
  std::erase_if(suspended_, there);
  for (DecisionRecord& d : pending_) {
    std::erase_if(d.tasks,
                  [&](const PlannedTaskRecord& t) { return t.node == node; });
  }
  std::erase_if(pending_,
                [](const DecisionRecord& d) { return d.tasks.empty(); });
}

void Host::DropPending(const std::string& gang) {
  std::erase_if(pending_,
                [&](const DecisionRecord& d) { return d.gang == gang; });
}

void Host::Forget(const std::string& gang) {
  std::erase_if(real_, [&](const auto& r) { return r.first.first == gang; });
  std::erase_if(suspended_,
                [&](const auto& r) { return r.first.first == gang; });
  DropPending(gang);
}

TasksAnswered Host::Leave(const Key& key) {
  Real& real = real_.at(key);
  real.leaving = true;
  return {key.first,
          {{key.second, real.attempt, TaskOutcome::kLeaving, "", {}}}};
}

TasksAnswered Host::End(Key key, TaskOutcome outcome) {
  const uint32_t attempt = real_.at(key).attempt;
  real_.erase(key);
  for (DecisionRecord& d : pending_) {  // There is nothing to stop any more.
    if (d.gang != key.first) continue;
    std::erase_if(d.tasks, [&](const PlannedTaskRecord& t) {
      return t.task == key.second;
    });
  }
  std::erase_if(pending_,
                [](const DecisionRecord& d) { return d.tasks.empty(); });
  return {key.first, {{key.second, attempt, outcome, "", {}}}};
}

std::vector<RealTask> Host::Tasks(const SchedulerState& state,
                                  bool releasing) const {
  std::map<std::string, const Gang*> gangs;
  for (const GangState& g : state.gangs) gangs[g.gang.key] = &g.gang;
  std::set<std::string> nodes;
  for (const NodeState& n : state.nodes) {
    if (!n.down) nodes.insert(n.node.key);
  }
  std::set<Key> stopping;
  for (const DecisionRecord& d : pending_) {
    if (!IsStop(d)) continue;
    for (const PlannedTaskRecord& p : d.tasks)
      stopping.insert({d.gang, p.task});
  }
  std::vector<RealTask> tasks;
  std::vector<std::pair<Key, Real>> all(real_.begin(), real_.end());
  if (state.config.host.suspend) {
    all.insert(all.end(), suspended_.begin(), suspended_.end());
  }
  for (const auto& [key, real] : all) {
    if (!gangs.contains(key.first) || !nodes.contains(real.node)) continue;
    const bool suspended = suspended_.contains(key);
    tasks.push_back(
        {key.first, key.second, real.node, real.devices, real.alternative,
         !suspended &&
             (real.leaving || (releasing && stopping.contains(key)))});
    tasks.back().suspended = suspended;
    const TaskShape& shape = StateUsage::ShapeOf(
        *gangs.at(key.first),
        {.task = key.second, .alternative = real.alternative});
    if (!real.devices.empty() && !shape.devices.partition.empty()) {
      tasks.back().first_slice = real.first_slice;
    }
  }
  return tasks;
}

void Host::KeepOnly(const std::vector<RealTask>& tasks) {
  std::set<Key> kept;
  for (const RealTask& t : tasks) kept.insert({t.gang, t.task});
  std::erase_if(real_, [&](const auto& r) { return !kept.contains(r.first); });
}

}  // namespace muster
