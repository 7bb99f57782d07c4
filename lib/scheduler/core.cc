#include "lib/scheduler/core.h"

#include <utility>

namespace muster {

Core::Core(SchedulerConfig c)
    : config(std::move(c)),
      cluster(static_cast<uint32_t>(config.resources.size()),
              config.KindOf(config.device_resource), config.topologies,
              config.partition_schemes, config.KindOf(config.node_resource)),
      queues(config.resources),
      quota(queues, config.KindOf(config.device_resource)),
      order(NewDominantShareOrder(queues, quota, cluster.total_capacity())),
      specs(config) {}

GangEdit::GangEdit(Core& core, GangIndex g)
    : core_(core), gang_(g), record_(core.gangs.row(g)) {
  if (record_.edits++ == 0) core.undo.Touch(g);
}

GangIndex GangEdit::Add(Core& core, std::string_view key) {
  const GangIndex g = core.gangs.Add(key);
  core.gangs.row(g).key = key;
  core.undo.Added(g);
  return g;
}

GangEdit::~GangEdit() {
  if (--record_.edits > 0) return;
  if (!record_.leaves) {
    core_.lists.Update(gang_, record_);
    return;
  }
  TakeOut(core_, gang_, record_);
  core_.undo.Removed(gang_);
  core_.gangs.Remove(gang_);
}

void CountGang(Core& core, const GangRecord& r, int32_t sign) {
  core.queues.CountGang(r.queue, core.SpecOf(r).most, sign);
}

void TakeOut(Core& core, GangIndex g, GangRecord& r) {
  core.lists.Remove(g, r);
  core.answers.Forget(r);
  CountGang(core, r, -1);
  core.specs.Unref(r.spec, core.cluster);
}

PlacementRequest RequestFor(const Core& core, GangIndex g, Ledger ledger,
                            Resources* room) {
  const GangRecord& r = core.gangs.at(g);
  PlacementRequest request;
  request.gang = &core.SpecOf(r).prepared;
  request.key = r.key;
  request.ledger = ledger;
  request.exact_steps = core.config.search.exact_steps;
  if (room != nullptr && core.quota.Room(r.queue, ledger, room)) {
    request.headroom = room;
  }
  return request;
}

bool AnyVictim(const Core& core, QueueIndex leaf, int32_t priority,
               const Resources& least) {
  for (const auto& [p, holders] : core.lists.holding(leaf)) {
    if (p < priority || (p == priority && holders.elastic())) return true;
    if (p >= priority) break;
  }
  return core.quota.MayReclaimAtAll(leaf, least);
}

OnPreempted OnPreemptedOf(const Core& core, const GangRecord& r) {
  return r.on_preempted.value_or(
      core.classes.at(r.priority_class).on_preempted);
}

Reason ReasonOf(const LimitExcess& excess, ReasonCode code) {
  return {.code = code,
          .object_kind = ReasonObject::kQueue,
          .object = excess.queue,
          .resource = excess.kind,
          .needed = excess.needed,
          .available = excess.available};
}

Reason WithQueue(const Core& core, const GangRecord& r, Ledger ledger,
                 const Reason& reason) {
  if (reason.code != ReasonCode::kQueueLimit ||
      reason.object_kind == ReasonObject::kQueue) {
    return reason;
  }
  Resources needed;
  needed.Set(reason.resource, reason.needed);
  const LimitExcess excess = core.quota.OverLimit(r.queue, needed, ledger);
  return excess ? ReasonOf(excess, reason.code) : reason;
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
