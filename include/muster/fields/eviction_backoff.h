// The fields of muster/eviction_backoff.h's values, by the protocol of
// protocol.h.
#ifndef MUSTER_FIELDS_EVICTION_BACKOFF_H_
#define MUSTER_FIELDS_EVICTION_BACKOFF_H_

#include "muster/eviction_backoff.h"
#include "muster/fields/protocol.h"

namespace muster {

template <>
struct FieldsOf<EvictionBackoff> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "wait_base", s.wait_base);
    v(2, "wait_max", s.wait_max);
    v(3, "protection_base", s.protection_base);
    v(4, "protection_max", s.protection_max);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_EVICTION_BACKOFF_H_
