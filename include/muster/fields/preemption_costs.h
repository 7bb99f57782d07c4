// The fields of muster/preemption_costs.h's values, by the protocol of
// protocol.h.
#ifndef MUSTER_FIELDS_PREEMPTION_COSTS_H_
#define MUSTER_FIELDS_PREEMPTION_COSTS_H_

#include "muster/fields/protocol.h"
#include "muster/preemption_costs.h"

namespace muster {

template <>
struct FieldsOf<PreemptionCosts> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "restart", s.restart);
    v(2, "gang", s.gang);
    v(3, "surplus_first", s.surplus_first);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_PREEMPTION_COSTS_H_
