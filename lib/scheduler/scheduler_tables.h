// Everything one scheduler knows: the tables, and what keeps them true to each
// other when one of them changes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/queue/queue_order.h"
#include "lib/queue/queue_tree.h"
#include "lib/queue/quota_checker.h"
#include "lib/scheduler/activator.h"
#include "lib/scheduler/answers.h"
#include "lib/scheduler/disruption_budgets.h"
#include "lib/scheduler/gang_lists.h"
#include "lib/scheduler/gang_spec.h"
#include "lib/scheduler/gang_table.h"
#include "lib/scheduler/holdings.h"
#include "lib/scheduler/life.h"
#include "lib/scheduler/node_records.h"
#include "lib/scheduler/priority_classes.h"
#include "lib/scheduler/undo.h"
#include "muster/config.h"
#include "muster/node.h"
#include "muster/scheduler.h"

namespace muster {

// Plain data: any code that has it may read all of it. Gangs are written
// through GangEdit, what tasks hold through Holdings; the rest by the events
// about it (events.h) and by the pass.
struct SchedulerTables {
  explicit SchedulerTables(SchedulerConfig config);
  SchedulerTables(const SchedulerTables&) = delete;
  SchedulerTables& operator=(const SchedulerTables&) = delete;

  SchedulerConfig config;
  Time now = 0;
  uint64_t version = 0;
  uint64_t next_seq = 1;
  // The round under way began with this decision: see Pass.
  uint64_t round_seq = 1;
  bool round_open = false;
  bool round_grew = false;
  uint64_t external_seq = 0;  // See SchedulerState.

  Cluster cluster;
  NodeRecords nodes{};
  std::map<std::string, NodeSet, std::less<>> node_sets{};
  QueueTree queues;
  QuotaChecker quota;
  QueueOrder order;
  PriorityClasses classes{};
  DisruptionBudgets budgets{};
  SpecTable specs;
  GangTable gangs{};
  GangLists lists{*this};
  // Gangs that the round placed, those that are gone included.
  std::vector<GangIndex> placed{};
  Answers answers{};
  Holdings holdings{*this};
  Life life{*this};
  Activator activator{*this};
  Undo undo{*this};
  ReconcileReport report{};  // Of the last Reconciled.

  int32_t PriorityOf(const GangRecord& r) const {
    return classes.at(r.priority_class).value;
  }
  const GangSpec& SpecOf(const GangRecord& r) const { return specs.at(r.spec); }
  const GangSpec& SpecOf(GangIndex g) const { return SpecOf(gangs.at(g)); }
  // Whether it was placed in the round under way.
  bool IsFresh(const GangRecord& r) const { return r.placed_seq >= round_seq; }
};

// Access to a gang's record for changing it. While one is open, the gang's
// lists may not be looked at; when the last one on the gang ends, they are true
// again. The what-if under way, if any, has a copy from before. Edits nest.
class GangEdit {
 public:
  GangEdit(SchedulerTables& tables, GangIndex g);
  // A new gang, with this key.
  static GangIndex Add(SchedulerTables& tables, std::string_view key);
  ~GangEdit();
  GangEdit(const GangEdit&) = delete;
  GangEdit& operator=(const GangEdit&) = delete;

  GangRecord& operator*() { return record_; }
  GangRecord* operator->() { return &record_; }
  GangIndex gang() const { return gang_; }
  // The gang is gone when the last edit on it ends. It holds nothing.
  void Leave() { record_.leaves = true; }

 private:
  SchedulerTables& tables_;
  const GangIndex gang_;
  GangRecord& record_;
};

// The gang counts for its queue (1), or no more (-1).
void CountGang(SchedulerTables& tables, const GangRecord& r, int32_t sign);
// A gang that holds nothing stands nowhere and counts for nothing from now on.
void TakeOut(SchedulerTables& tables, GangIndex g, GangRecord& r);

// The gang's question to a solver, which keeps to what its queue has left of
// its limits: `room` (null: whatever it uses).
PlacementRequest RequestFor(const SchedulerTables& tables, GangIndex g,
                            Ledger ledger, Resources* room);

// Whether there may be anybody to stop for a gang of the leaf that has the
// priority and asks `least`: some gang in its queue that gives way to it, or a
// queue that may have to give back. O(priorities held + depth).
bool AnyVictim(const SchedulerTables& tables, QueueIndex leaf, int32_t priority,
               const Resources& least);

// What becomes of the gang when it is preempted.
OnPreempted OnPreemptedOf(const SchedulerTables& tables, const GangRecord& r);

// That the queue's limit says no.
Reason ReasonOf(const LimitExcess& excess, ReasonCode code);
// A reason of the solver, which knows of no queues: where a limit says no,
// whose that is.
Reason WithQueue(const SchedulerTables& tables, const GangRecord& r,
                 Ledger ledger, const Reason& reason);

// A gang is stopped for another one (-1), or that was refused (1): its budgets.
void CountDisruption(SchedulerTables& tables, std::string_view gang,
                     int64_t sign);

}  // namespace muster
