// The fields of muster/gang_class_state.h's values, by the protocol of
// protocol.h.
#ifndef MUSTER_FIELDS_GANG_CLASS_STATE_H_
#define MUSTER_FIELDS_GANG_CLASS_STATE_H_

#include "muster/fields/ids.h"
#include "muster/fields/protocol.h"
#include "muster/fields/reason.h"
#include "muster/gang_class_state.h"

namespace muster {

template <>
struct FieldsOf<GangClassState> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gang", s.gang);
    v(2, "grows", s.grows);
    v(3, "active", s.active);
    v(4, "code", s.code);
    v(5, "object_kind", s.object_kind);
    v(6, "object", s.object);
    v(7, "position", s.position);
    v(8, "resource", s.resource);
    v(9, "retry_at", s.retry_at);
    v(10, "effort", s.effort);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_GANG_CLASS_STATE_H_
