#include "lib/scheduler/promote.h"

#include <algorithm>

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

void Promote::Run(PassContext& pass) {
  ranks_.clear();
  for (const GangRank& rank : pass.core.lists.asking()) {
    if (pass.core.gangs.at(rank.gang).phase == GangPhase::kNominated) {
      ranks_.push_back(rank);
    }
  }
  for (const GangRank& rank : ranks_) {
    if (pass.budget.exhausted()) return;
    pass.budget.Charge(1, kClassNs);
    Look(pass, rank.gang);
  }
}

void Promote::Look(PassContext& pass, GangIndex g) {
  Core& core = pass.core;
  const GangRecord& r = core.gangs.at(g);
  const Cluster::Mark mark = core.cluster.Begin();
  HeldTasks(r, &tasks_);
  pass.budget.Charge(tasks_.size(), kTaskNs);
  const Resources& held = holdings_.UsageOf(tasks_);
  bool hope = MayStillStart(core, r, held);
  bool room = !core.law.OverLimitNow(r.queue, held, Ledger::kBoth);
  for (const TaskRecord& task : r.tasks) {
    if (core.cluster.Fits(task.at, Ledger::kNow)) {
      core.cluster.Charge(task.at, Ledger::kNow);
      continue;
    }
    room = false;
    hope &= core.nodes.releasing(task.at.node) > 0;
  }
  core.cluster.Rollback(mark);
  if (room && hope) {
    pass.decisions.StartNominated(g);
  } else if (!hope) {
    pass.decisions.Stop(g, DecisionKind::kEvict,
                        {.code = ReasonCode::kNominationUndone});
  } else {
    GangEdit gang(core, g);
    gang->look = false;
  }
}

// Whether it will be let in once it has room: nobody holds it, its queues have
// not been cut, and its nodes still take such tasks.
bool Promote::MayStillStart(const Core& core, const GangRecord& r,
                            const Resources& held) const {
  if (r.held || r.not_before > core.now || core.queues.Held(r.queue) ||
      core.law.OverLimitNow(r.queue, held, Ledger::kLater)) {
    return false;
  }
  return std::all_of(r.tasks.begin(), r.tasks.end(), [&](const TaskRecord& t) {
    return core.cluster.Admits(t.at.node, t.at.shape) &&
           DevicesSuit(core.cluster, t.at);
  });
}

}  // namespace muster
