// The fields of muster/state.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_STATE_H_
#define MUSTER_FIELDS_STATE_H_

#include "muster/fields/config.h"
#include "muster/fields/decision.h"
#include "muster/fields/disruption_budget.h"
#include "muster/fields/gang.h"
#include "muster/fields/gang_class_state.h"
#include "muster/fields/ids.h"
#include "muster/fields/node.h"
#include "muster/fields/priority_class.h"
#include "muster/fields/protocol.h"
#include "muster/fields/queue.h"
#include "muster/fields/reason.h"
#include "muster/state.h"

namespace muster {

template <>
struct FieldsOf<TaskState> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "task", s.task);
    v(2, "phase", s.phase);
    v(3, "attempt", s.attempt);
    v(4, "node", s.node);
    v(5, "devices", s.devices.word(0));
    v(6, "alternative", s.alternative);
    v(7, "first_slice", s.first_slice);
    VisitAdded(8, "devices_from_64", s.devices.word(1), v);
  }
};

template <>
struct FieldsOf<PendingDecision> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "seq", s.seq);
    v(2, "kind", s.kind);
    v(3, "on_behalf_of", s.on_behalf_of);
    v(4, "tasks", s.tasks);
  }
};

template <>
struct FieldsOf<GangMinimum> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "role_tasks", s.role_tasks);
    v(2, "group_tasks", s.group_tasks);
    v(3, "group_children", s.group_children);
  }
};

template <>
struct FieldsOf<GangState> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "phase", s.phase);
    v(3, "cancel", s.cancel);
    v(4, "repair_reason", s.repair_reason);
    v(5, "attempts", s.attempts);
    v(6, "failures", s.failures);
    v(7, "backoff_until", s.backoff_until);
    v(8, "started", s.started);
    v(9, "checkpoint", s.checkpoint);
    v(10, "tasks", s.tasks);
    v(11, "pending", s.pending);
    v(12, "placed_seq", s.placed_seq);
    v(13, "check_due", s.check_due);
    v(14, "since", s.since);
    VisitAdded(15, "run_time", s.run_time, v);
    VisitAdded(16, "saved", s.saved, v);
    VisitAdded(17, "unsaved", s.unsaved, v);
    VisitAdded(18, "interrupted", s.interrupted, v);
    VisitAdded(19, "runs_under", s.runs_under, v);
    VisitAdded(20, "evictions", s.evictions, v);
    VisitAdded(21, "evicted", s.evicted, v);
    VisitAdded(22, "made_room_seq", s.made_room_seq, v);
  }
};

template <>
struct FieldsOf<NodeState> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "node", s.node);
    v(2, "down", s.down);
    v(3, "draining", s.draining);
    v(4, "spot_notice", s.spot_notice);
    v(5, "external", s.external);
    VisitAdded(6, "unnamed", s.unnamed.word(0), v);
    VisitAdded(7, "unnamed_from_64", s.unnamed.word(1), v);
  }
};

template <>
struct FieldsOf<SchedulerState> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "config", s.config);
    v(2, "now", s.now);
    v(3, "version", s.version);
    v(4, "next_seq", s.next_seq);
    v(5, "nodes", s.nodes);
    v(6, "node_sets", s.node_sets);
    v(7, "queues", s.queues);
    v(8, "priority_classes", s.priority_classes);
    v(9, "gangs", s.gangs);
    v(10, "gang_classes", s.gang_classes);
    v(11, "round_seq", s.round_seq);
    v(12, "disruption_budgets", s.disruption_budgets);
    v(13, "round_open", s.round_open);
    v(14, "round_grew", s.round_grew);
    VisitAdded(15, "external_seq", s.external_seq, v);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_STATE_H_
