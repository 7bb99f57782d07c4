// The fields of muster/device.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_DEVICE_H_
#define MUSTER_FIELDS_DEVICE_H_

#include "muster/device.h"
#include "muster/fields/partition.h"
#include "muster/fields/protocol.h"

namespace muster {

template <>
struct FieldsOf<Device> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "model", s.model);
    v(2, "memory_bytes", s.memory_bytes);
    v(3, "island", s.island);
    v(4, "numa", s.numa);
    v(5, "healthy", s.healthy);
    v(6, "partition_scheme", s.partition_scheme);
    v(7, "partitions", s.partitions);
    v(8, "rail", s.rail);
  }
};

template <>
struct FieldsOf<DeviceRequest> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "count", s.count);
    v(2, "milli", s.milli);
    v(3, "memory_bytes", s.memory_bytes);
    v(4, "models", s.models);
    v(5, "partition", s.partition);
  }
};

template <>
struct FieldsOf<DeviceShare> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "device", s.device);
    v(2, "milli", s.milli);
    v(3, "memory_bytes", s.memory_bytes);
    v(4, "partition", s.partition);
    v(5, "first_slice", s.first_slice);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_DEVICE_H_
