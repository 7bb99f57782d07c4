// The fields of muster/preemption_policy.h's values, by the protocol of
// protocol.h.
#ifndef MUSTER_FIELDS_PREEMPTION_POLICY_H_
#define MUSTER_FIELDS_PREEMPTION_POLICY_H_

#include "muster/fields/protocol.h"
#include "muster/preemption_policy.h"

namespace muster {

template <>
struct FieldsOf<PreemptionPolicy> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "within", s.within);
    v(2, "across", s.across);
    v(3, "borrowing", s.borrowing);
    v(4, "borrowing_threshold", s.borrowing_threshold);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_PREEMPTION_POLICY_H_
