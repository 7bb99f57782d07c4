// The fields of muster/event.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_EVENT_H_
#define MUSTER_FIELDS_EVENT_H_

#include "muster/event.h"
#include "muster/fields/config.h"
#include "muster/fields/disruption_budget.h"
#include "muster/fields/gang.h"
#include "muster/fields/ids.h"
#include "muster/fields/node.h"
#include "muster/fields/priority_class.h"
#include "muster/fields/protocol.h"
#include "muster/fields/queue.h"

namespace muster {

template <>
struct FieldsOf<NodeChanged> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "node", s.node);
  }
};

template <>
struct FieldsOf<NodeDown> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "node", s.node);
  }
};

template <>
struct FieldsOf<NodeUp> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "node", s.node);
  }
};

template <>
struct FieldsOf<NodeRemoved> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "node", s.node);
  }
};

template <>
struct FieldsOf<NodeDrained> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "node", s.node);
    v(2, "drain", s.drain);
  }
};

template <>
struct FieldsOf<SpotNotice> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "node", s.node);
    v(2, "at", s.at);
  }
};

template <>
struct FieldsOf<ExternalUsageChanged> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "usage", s.usage);
  }
};

template <>
struct FieldsOf<NodeSetChanged> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "set", s.set);
  }
};

template <>
struct FieldsOf<NodeSetRemoved> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "set", s.set);
  }
};

template <>
struct FieldsOf<ConfigChanged> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "config", s.config);
  }
};

template <>
struct FieldsOf<QueueChanged> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "queue", s.queue);
  }
};

template <>
struct FieldsOf<QueueRemoved> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "queue", s.queue);
  }
};

template <>
struct FieldsOf<PriorityClassChanged> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "priority_class", s.priority_class);
  }
};

template <>
struct FieldsOf<PriorityClassRemoved> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "priority_class", s.priority_class);
  }
};

template <>
struct FieldsOf<DisruptionBudgetChanged> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "budget", s.budget);
  }
};

template <>
struct FieldsOf<GangSubmitted> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
  }
};

template <>
struct FieldsOf<GangChanged> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
  }
};

template <>
struct FieldsOf<GangMoved> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "queue", s.queue);
  }
};

template <>
struct FieldsOf<GangHeld> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "held", s.held);
    v(3, "why", s.why);
  }
};

template <>
struct FieldsOf<GangReprioritized> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "priority_class", s.priority_class);
  }
};

template <>
struct FieldsOf<GangCancelled> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
  }
};

template <>
struct FieldsOf<GangFinished> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "outcome", s.outcome);
  }
};

template <>
struct FieldsOf<GangYielded> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
  }
};

template <>
struct FieldsOf<CheckpointTaken> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "at", s.at);
  }
};

template <>
struct FieldsOf<TaskAnswer> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "task", s.task);
    v(2, "attempt", s.attempt);
    v(3, "outcome", s.outcome);
    v(4, "node", s.node);
    v(5, "devices", s.devices);
    v(6, "first_slice", s.first_slice);
  }
};

template <>
struct FieldsOf<TasksAnswered> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "tasks", s.tasks);
  }
};

template <>
struct FieldsOf<DecisionApplied> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "seq", s.seq);
  }
};

template <>
struct FieldsOf<DecisionRefused> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "seq", s.seq);
  }
};

template <>
struct FieldsOf<RealTask> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "task", s.task);
    v(3, "node", s.node);
    v(4, "devices", s.devices);
    v(5, "alternative", s.alternative);
    v(6, "releasing", s.releasing);
    v(7, "first_slice", s.first_slice);
    v(8, "suspended", s.suspended);
    v(9, "started", s.started);
  }
};

template <>
struct FieldsOf<RealGang> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "started", s.started);
    v(3, "checkpoint", s.checkpoint);
    v(4, "run_time", s.run_time);
    v(5, "saved", s.saved);
  }
};

template <>
struct FieldsOf<Reconciled> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "nodes", s.nodes);
    v(2, "external", s.external);
    v(3, "down", s.down);
    v(4, "tasks", s.tasks);
    v(5, "gangs", s.gangs);
  }
};

template <>
struct FieldsOf<Event> {
  // The variant's fields are numbered 2, 3, ... in the order of EventBody;
  // new kinds are added at the end.
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "at", s.at);
    v(2, "what", s.what);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_EVENT_H_
