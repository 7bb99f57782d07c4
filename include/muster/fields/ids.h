// The fields of muster/ids.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_IDS_H_
#define MUSTER_FIELDS_IDS_H_

#include "muster/fields/protocol.h"
#include "muster/ids.h"

namespace muster {

template <>
struct FieldsOf<TaskId> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "role", s.role);
    v(2, "index", s.index);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_IDS_H_
