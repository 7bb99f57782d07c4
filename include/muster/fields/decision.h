// The fields of muster/decision.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_DECISION_H_
#define MUSTER_FIELDS_DECISION_H_

#include "muster/decision.h"
#include "muster/fields/ids.h"
#include "muster/fields/protocol.h"
#include "muster/fields/reason.h"

namespace muster {

template <>
struct FieldsOf<PlannedTaskRecord> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "task", s.task);
    v(2, "attempt", s.attempt);
    v(3, "node", s.node);
    v(4, "devices", s.devices.word(0));
    v(5, "alternative", s.alternative);
    v(6, "wave", s.wave);
    v(7, "first_slice", s.first_slice);
    VisitAdded(8, "devices_from_64", s.devices.word(1), v);
  }
};

template <>
struct FieldsOf<DecisionRecord> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "seq", s.seq);
    v(2, "kind", s.kind);
    v(3, "reason", s.reason);
    v(4, "gang", s.gang);
    v(5, "on_behalf_of", s.on_behalf_of);
    v(6, "grace", s.grace);
    v(7, "tasks", s.tasks);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_DECISION_H_
