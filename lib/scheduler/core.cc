#include "lib/scheduler/core.h"

#include <utility>

namespace muster {

namespace {

std::vector<ResourceKind> KeptKinds(const SchedulerConfig& config) {
  std::vector<ResourceKind> kinds;
  for (const std::string& kind : config.host.suspended_keeps) {
    kinds.push_back(config.KindOf(kind));
  }
  return kinds;
}

}  // namespace

Core::Core(SchedulerConfig c)
    : config(std::move(c)),
      cluster(static_cast<uint32_t>(config.resources.size()),
              config.KindOf(config.device_resource), config.topologies,
              config.partition_schemes, config.KindOf(config.node_resource)),
      queues(config.resources),
      law(queues, config.KindOf(config.device_resource)),
      order(NewDominantShareOrder(queues, law, cluster.total_capacity())),
      specs(KeptKinds(config)),
      lists(*this),
      opener(*this),
      undo(*this) {}

GangEdit::GangEdit(Core& core, GangIndex g)
    : core_(core), gang_(g), record_(core.gangs.record(g)) {
  if (record_.edits++ == 0) core.undo.Touch(g);
}

GangIndex GangEdit::Add(Core& core, std::string_view key) {
  const GangIndex g = core.gangs.Add(key);
  core.undo.Added(g);
  return g;
}

GangEdit::~GangEdit() {
  if (--record_.edits > 0) return;
  if (record_.leaves) {
    Remove();
  } else {
    core_.lists.Update(gang_, record_);
  }
}

void GangEdit::Remove() {
  core_.lists.Remove(gang_, record_);
  core_.answers.Forget(record_);
  core_.queues.CountGang(record_.queue, core_.specs.at(record_.spec).most, -1);
  core_.classes.CountGang(record_.priority_class, -1);
  core_.specs.Unref(record_.spec, core_.cluster);
  core_.undo.Removed(gang_);
  core_.gangs.Remove(gang_);
}

void CountDisruption(Core& core, std::string_view gang, int64_t sign) {
  if (core.budgets.Of(gang).empty()) return;
  core.budgets.Count(gang, sign);
  core.undo.Changed([&core, key = std::string(gang), sign] {
    core.budgets.Count(key, -sign);
  });
  if (sign > 0) core.opener.AllVictims();
}

}  // namespace muster
