// The fields of muster/reason.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_REASON_H_
#define MUSTER_FIELDS_REASON_H_

#include "muster/fields/protocol.h"
#include "muster/reason.h"

namespace muster {

template <>
struct FieldsOf<NamedReason> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "code", s.code);
    v(2, "object_kind", s.object_kind);
    v(3, "object", s.object);
    v(4, "resource", s.resource);
    v(5, "needed", s.needed);
    v(6, "available", s.available);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_REASON_H_
