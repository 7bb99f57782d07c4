// The fields of muster/plan.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_PLAN_H_
#define MUSTER_FIELDS_PLAN_H_

#include "muster/fields/decision.h"
#include "muster/fields/gang_class_state.h"
#include "muster/fields/ids.h"
#include "muster/fields/protocol.h"
#include "muster/fields/reason.h"
#include "muster/plan.h"

namespace muster {

template <>
struct FieldsOf<PlanRecord> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "now", s.now);
    v(2, "based_on", s.based_on);
    v(3, "decisions", s.decisions);
    v(4, "next_wakeup", s.next_wakeup);
    v(5, "budget_exhausted", s.budget_exhausted);
    v(6, "steps", s.steps);
    v(7, "class_results", s.class_results);
    v(8, "check_due", s.check_due);
    v(9, "grew", s.grew);
    VisitAdded(10, "checked", s.checked, v);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_PLAN_H_
