// The fields of muster/partition.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_PARTITION_H_
#define MUSTER_FIELDS_PARTITION_H_

#include "muster/fields/protocol.h"
#include "muster/partition.h"

namespace muster {

template <>
struct FieldsOf<PartitionProfile> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "name", s.name);
    v(2, "memory_slices", s.memory_slices);
    v(3, "milli", s.milli);
    v(4, "starts", s.starts);
  }
};

template <>
struct FieldsOf<PartitionScheme> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "memory_slices", s.memory_slices);
    v(3, "profiles", s.profiles);
  }
};

template <>
struct FieldsOf<DevicePartition> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "profile", s.profile);
    v(2, "start", s.start);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_PARTITION_H_
