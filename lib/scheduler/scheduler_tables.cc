#include "lib/scheduler/scheduler_tables.h"

#include <utility>

#include "lib/scheduler/raised_minimum.h"

namespace muster {

SchedulerTables::SchedulerTables(SchedulerConfig c)
    : config(std::move(c)),
      cluster(static_cast<uint32_t>(config.resources.size()),
              config.KindOf(config.device_kind), config.topologies,
              config.partition_schemes, config.KindOf(config.node_kind)),
      queues(config.resources),
      quota(queues),
      order(queues, quota, cluster.total_capacity(), config.queue_order),
      specs(config) {}

GangEdit::GangEdit(SchedulerTables& tables, GangIndex g)
    : tables_(tables), gang_(g), record_(tables.gangs.row(g)) {
  if (record_.edits++ == 0) tables.undo.Touch(g);
}

GangIndex GangEdit::Add(SchedulerTables& tables, std::string_view key) {
  const GangIndex g = tables.gangs.Add(key);
  tables.gangs.row(g).key = key;
  tables.undo.Added(g);
  return g;
}

GangEdit::~GangEdit() {
  if (record_.edits == 1 && !record_.leaves && record_.wanted != kNoSpec &&
      !MayBeNominated(tables_, record_)) {
    DropNominated(tables_, *this);
  }
  if (--record_.edits > 0) return;
  if (!record_.leaves) {
    tables_.lists.Update(gang_, record_);
    return;
  }
  TakeOut(tables_, gang_, record_);
  tables_.undo.Removed(gang_);
  tables_.gangs.Remove(gang_);
}

void CountGang(SchedulerTables& tables, const GangRecord& r, int32_t sign) {
  tables.queues.CountGang(r.queue, tables.SpecOf(r).most, sign);
}

void TakeOut(SchedulerTables& tables, GangIndex g, GangRecord& r) {
  tables.lists.Remove(g, r);
  tables.answers.Forget(r);
  CountGang(tables, r, -1);
  for (const SpecIndex s : {r.spec, r.wanted, r.under}) {
    if (s != kNoSpec) tables.specs.Unref(s, tables.cluster);
  }
}

PlacementRequest RequestFor(const SchedulerTables& tables, GangIndex g,
                            Ledger ledger, Resources* room) {
  const GangRecord& r = tables.gangs.at(g);
  PlacementRequest request;
  request.gang = &tables.SpecOf(r).prepared;
  request.key = r.key;
  request.ledger = ledger;
  request.placement_steps = tables.config.search.placement_steps;
  if (room != nullptr && tables.quota.Room(r.queue, ledger, room)) {
    request.headroom = room;
  }
  return request;
}

bool AnyVictim(const SchedulerTables& tables, QueueIndex leaf, int32_t priority,
               const Resources& least) {
  const PreemptWithin within = tables.queues.at(leaf).law.within;
  for (const auto& [p, holders] : tables.lists.holding(leaf)) {
    if (p > priority || within == PreemptWithin::kNever) break;
    if (p < priority || holders.elastic() ||
        within == PreemptWithin::kLowerOrNewerEqual) {
      return true;
    }
  }
  return tables.quota.MayReclaimAtAll(leaf, least);
}

OnPreempted OnPreemptedOf(const SchedulerTables& tables, const GangRecord& r) {
  return r.on_preempted.value_or(
      tables.classes.at(r.priority_class).on_preempted);
}

Reason ReasonOf(const LimitExcess& excess, ReasonCode code) {
  return {.code = code,
          .object_kind = ReasonObject::kQueue,
          .object = excess.queue,
          .resource = excess.kind,
          .needed = excess.needed,
          .available = excess.available};
}

Reason WithQueue(const SchedulerTables& tables, const GangRecord& r,
                 Ledger ledger, const Reason& reason) {
  if (reason.code != ReasonCode::kQueueLimit ||
      reason.object_kind == ReasonObject::kQueue) {
    return reason;
  }
  Resources needed;
  needed.Set(reason.resource, reason.needed);
  const LimitExcess excess = tables.quota.OverLimit(r.queue, needed, ledger);
  return excess ? ReasonOf(excess, reason.code) : reason;
}

void CountDisruption(SchedulerTables& tables, std::string_view gang,
                     int64_t sign) {
  if (tables.budgets.Of(gang).empty()) return;
  tables.budgets.Count(gang, sign);
  tables.undo.Changed([&tables, key = std::string(gang), sign] {
    tables.budgets.Count(key, -sign);
  });
  if (sign > 0) tables.activator.AllVictims();
}

}  // namespace muster
