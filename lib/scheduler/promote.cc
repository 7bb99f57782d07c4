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
  HeldTasks(r, &tasks_);
  pass_.budget.Charge(tasks_.size(), kTaskNs);
  const Resources& used = tables_.holdings.UsageOf(tasks_);
  bool hope = MayStillStart(r, used);
  bool room = !tables_.quota.OverLimitNow(r.queue, used, Ledger::kBoth);
  for (const TaskRecord& task : r.tasks) {
    if (tables_.cluster.Fits(task.at, Ledger::kNow)) {
      tables_.cluster.Charge(task.at, Ledger::kNow);
      continue;
    }
    room = false;
    hope &= tables_.nodes.releasing(task.at.node) > 0;
  }
  tables_.cluster.Rollback(mark);
  if (room && hope) {
    pass_.decisions.StartNominated(g);
  } else if (!hope) {
    pass_.decisions.Stop(g, DecisionKind::kEvict,
                         {.code = ReasonCode::kNominationUndone});
  } else {
    GangEdit gang(tables_, g);
    gang->check_due = false;
  }
  return hope;
}

// Whether it will be let in once it has room: it is not held, its queues have
// not been cut, and its nodes still take such tasks.
bool Promote::MayStillStart(const GangRecord& r, const Resources& used) const {
  if (r.held || r.not_before > tables_.now || tables_.queues.IsHeld(r.queue) ||
      tables_.quota.OverLimitNow(r.queue, used, Ledger::kLater)) {
    return false;
  }
  return std::ranges::all_of(r.tasks, [&](const TaskRecord& t) {
    return tables_.cluster.Admits(t.at.node, t.at.shape) &&
           DevicesSuit(tables_.cluster, t.at);
  });
}

}  // namespace muster
