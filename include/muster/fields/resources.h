// The fields of muster/resources.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_RESOURCES_H_
#define MUSTER_FIELDS_RESOURCES_H_

#include "muster/fields/protocol.h"
#include "muster/resources.h"

namespace muster {

template <>
struct FieldsOf<Resources> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "amount", s.amount_);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_RESOURCES_H_
