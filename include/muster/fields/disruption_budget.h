// The fields of muster/disruption_budget.h's values, by the protocol of
// protocol.h.
#ifndef MUSTER_FIELDS_DISRUPTION_BUDGET_H_
#define MUSTER_FIELDS_DISRUPTION_BUDGET_H_

#include "muster/disruption_budget.h"
#include "muster/fields/protocol.h"

namespace muster {

template <>
struct FieldsOf<DisruptionBudget> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "gangs", s.gangs);
    v(3, "allowed", s.allowed);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_DISRUPTION_BUDGET_H_
