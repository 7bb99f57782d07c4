#include "adapters/inprocess/live_gang.h"

#include <algorithm>
#include <limits>

namespace muster::inprocess {
namespace {

// What is known of a group's children (gang.h says when it is satisfied).
struct GroupCount {
  uint32_t satisfied = 0;  // Children.
  uint32_t unmet = 0;      // Children that are not optional and not satisfied.
  uint32_t running = 0;    // Tasks.
};

// Whether the root group is satisfied with this many tasks of each role.
bool Satisfied(const Gang& gang, const std::vector<uint32_t>& running) {
  std::vector<GroupCount> counts(std::max<size_t>(1, gang.groups.size()));
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    const Role& role = gang.roles[r];
    const bool ok = running[r] >= std::max<uint32_t>(1, role.min_tasks);
    GroupCount& parent = counts[role.group];
    parent.satisfied += ok ? 1 : 0;
    parent.unmet += !ok && role.min_tasks > 0 ? 1 : 0;
    parent.running += running[r];
  }
  const Group plain_root;
  for (size_t i = counts.size(); i-- > 0;) {
    const Group& group = gang.groups.empty() ? plain_root : gang.groups[i];
    const GroupCount& c = counts[i];
    const bool ok = (group.min_children > 0 ? c.satisfied >= group.min_children
                                            : c.unmet == 0) &&
                    c.running >= group.min_tasks;
    if (i == 0) return ok && c.running > 0;
    GroupCount& parent = counts[group.parent];
    parent.satisfied += ok ? 1 : 0;
    parent.unmet += ok ? 0 : 1;
    parent.running += c.running;
  }
  return false;
}

}  // namespace

int64_t DeviceMilliOf(const Gang& gang) {
  int64_t sum = 0;
  for (const Role& role : gang.roles) {
    const DeviceRequest& d = role.shape.devices;
    const int64_t milli = d.memory_bytes > 0 ? kWholeDevice : d.milli;
    sum += int64_t{role.desired_tasks} * d.count * milli;
  }
  return sum;
}

bool LiveGang::Begin(GangId gang_id) {
  uint64_t count = 0;
  for (const Role& role : job.gang.roles) count += role.desired_tasks;
  device_milli = DeviceMilliOf(job.gang);
  tasks.assign(count, LiveTask{});
  id = gang_id;
  alive = true;
  work_done = leaving = has_run = resumes = false;
  rate = 0;
  done = saved = 0;
  burn = 0;
  last_stop = StopCause::kOther;
  ++version;
  return job.work <= std::numeric_limits<int64_t>::max() / 4 /
                         static_cast<int64_t>(std::max<uint64_t>(1, count));
}

uint32_t LiveGang::FlatIndex(TaskId task) const {
  uint32_t flat = 0;
  for (uint32_t r = 0; r < task.role && r < job.gang.roles.size(); ++r) {
    flat += job.gang.roles[r].desired_tasks;
  }
  return flat + task.index;
}

TaskId LiveGang::IdOf(uint32_t flat) const {
  uint32_t role = 0;
  while (flat >= job.gang.roles[role].desired_tasks) {
    flat -= job.gang.roles[role].desired_tasks;
    ++role;
  }
  return {.role = role, .index = flat};
}

const TaskShape& LiveGang::ShapeOf(uint32_t flat) const {
  const Role& role = job.gang.roles[IdOf(flat).role];
  const uint32_t a = tasks[flat].alternative;
  return a == 0 ? role.shape : role.alternatives[a - 1];
}

bool LiveGang::elastic() const {
  return std::ranges::any_of(job.gang.roles, [](const Role& r) {
    return r.min_tasks < r.desired_tasks;
  });
}

void LiveGang::Advance(Time now) {
  if (now <= updated) return;
  Duration elapsed = now - updated;
  updated = now;
  if (rate == 0) return;
  const Duration burnt = std::min(elapsed, burn);
  burn -= burnt;
  elapsed -= burnt;
  const int64_t left = total() - done;
  done += elapsed > left / rate ? left : elapsed * rate;
}

Time LiveGang::NextGoal() const {
  int64_t goal = total();
  if (const int64_t step = checkpoint_step(); step > 0 && step < goal - saved) {
    goal = saved + step;
  }
  return updated + burn + (goal - done + rate - 1) / rate;
}

uint32_t LiveGang::WorkingTasks() const {
  const auto works = [](const LiveTask& t) {
    return t.life == TaskLife::kRunning;
  };
  const auto count = static_cast<uint32_t>(std::ranges::count_if(tasks, works));
  const std::vector<Role>& roles = job.gang.roles;
  if (roles.size() == 1 && job.gang.groups.size() <= 1) {
    const uint32_t extra =
        job.gang.groups.empty() ? 0 : job.gang.groups[0].min_tasks;
    return count >= std::max({1U, roles[0].min_tasks, extra}) ? count : 0;
  }
  std::vector<uint32_t> running(roles.size(), 0);
  uint32_t flat = 0;
  for (size_t r = 0; r < roles.size(); ++r) {
    for (uint32_t i = 0; i < roles[r].desired_tasks; ++i, ++flat) {
      running[r] += works(tasks[flat]) ? 1 : 0;
    }
  }
  return Satisfied(job.gang, running) ? count : 0;
}

}  // namespace muster::inprocess
