#include <algorithm>

#include "lib/scheduler/pass.h"

namespace muster {
namespace {

// Whether the devices are of a model that was asked for.
bool DevicesSuit(const Cluster& cluster, const Allocation& at) {
  const std::vector<std::string>& models =
      cluster.device_request(at.shape).models;
  const std::vector<Device>& devices = cluster.node(at.node).devices;
  return models.empty() || std::ranges::all_of(at.devices, [&](uint32_t d) {
           return d >= devices.size() ||
                  std::ranges::find(models, devices[d].model) != models.end();
         });
}

}  // namespace

void Promote::Run() {
  CheckDue(true, [this](GangIndex g) { return PromoteGang(g); });
}

bool Promote::PromoteGang(GangIndex g) {
  const GangRecord& r = tables_.gangs.at(g);
  const Cluster::Mark mark = tables_.cluster.Begin();
  tasks_.clear();
  for (const TaskRecord& task : r.tasks) {
    if (task.phase == TaskPhase::kNominated)
      tasks_.push_back({task.task, task.at});
  }
  pass_.budget.Charge(tasks_.size(), kTaskNs);
  const Resources& used = tables_.holdings.UsageOf(tasks_);
  bool hope = MayStillStart(r, used);
  bool room = !tables_.quota.OverLimitNow(r.queue, used, Ledger::kBoth);
  for (const auto& [task, at] : tasks_) {
    if (tables_.cluster.Fits(at, Ledger::kNow)) {
      tables_.cluster.Charge(at, Ledger::kNow);
      continue;
    }
    room = false;
    hope &= tables_.nodes.releasing(at.node) > 0;
  }
  tables_.cluster.Rollback(mark);
  if (room && hope) {
    pass_.decisions.StartNominated(g);
  } else if (!hope && IsLive(r)) {
    pass_.decisions.Withdraw(g, {.code = ReasonCode::kNominationUndone});
  } else if (!hope) {
    pass_.decisions.Stop(g, DecisionKind::kEvict,
                         {.code = ReasonCode::kNominationUndone});
  } else {
    GangEdit gang(tables_, g);
    gang->check_due = false;
  }
  return hope;
}

// Whether it will be let in once it has room: it is not held (what runs is in),
// its queues have not been cut, and its nodes still take such tasks.
bool Promote::MayStillStart(const GangRecord& r, const Resources& used) const {
  const bool held =
      r.held || r.not_before > tables_.now || tables_.queues.IsHeld(r.queue);
  if ((held && !IsLive(r)) ||
      tables_.quota.OverLimitNow(r.queue, used, Ledger::kLater)) {
    return false;
  }
  return std::ranges::all_of(tasks_, [&](const Assignment& a) {
    return tables_.cluster.Admits(a.at.node, a.at.shape) &&
           DevicesSuit(tables_.cluster, a.at);
  });
}

}  // namespace muster
