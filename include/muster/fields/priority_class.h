// The fields of muster/priority_class.h's values, by the protocol of
// protocol.h.
#ifndef MUSTER_FIELDS_PRIORITY_CLASS_H_
#define MUSTER_FIELDS_PRIORITY_CLASS_H_

#include "muster/fields/ids.h"
#include "muster/fields/protocol.h"
#include "muster/priority_class.h"

namespace muster {

template <>
struct FieldsOf<PriorityClass> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "value", s.value);
    v(3, "may_preempt", s.may_preempt);
    v(4, "on_preempted", s.on_preempted);
    v(5, "min_runtime", s.min_runtime);
    v(6, "grace", s.grace);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_PRIORITY_CLASS_H_
