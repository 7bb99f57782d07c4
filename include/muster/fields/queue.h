// The fields of muster/queue.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_QUEUE_H_
#define MUSTER_FIELDS_QUEUE_H_

#include "muster/fields/preemption_policy.h"
#include "muster/fields/protocol.h"
#include "muster/queue.h"

namespace muster {

template <>
struct FieldsOf<Quota> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "resource", s.resource);
    v(2, "flavor", s.flavor);
    v(3, "guarantee", s.guarantee);
    v(4, "limit", s.limit);
    v(5, "borrow_limit", s.borrow_limit);
    v(6, "lend_limit", s.lend_limit);
  }
};

template <>
struct FieldsOf<Queue> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "parent", s.parent);
    v(3, "weight", s.weight);
    v(4, "ordering", s.ordering);
    v(5, "closed", s.closed);
    v(6, "held", s.held);
    v(7, "quotas", s.quotas);
    VisitAdded(8, "preemption", s.preemption, v);
    VisitAdded(9, "band", s.band, v);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_QUEUE_H_
