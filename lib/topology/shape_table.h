// Shapes: interned task shapes, ready for arithmetic.
#ifndef MUSTER_LIB_TOPOLOGY_SHAPE_TABLE_H_
#define MUSTER_LIB_TOPOLOGY_SHAPE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/topology/filter_table.h"
#include "lib/topology/needs.h"
#include "muster/cluster.h"
#include "muster/device.h"
#include "muster/resources.h"

namespace muster {

// What the hot questions need of a shape.
struct Shape {
  FilterId filter = 0;
  Needs needs{};
};

// The rest.
struct ShapeRecord {
  uint32_t refs = 0;
  DeviceRequest request{};
  Resources resources{};  // As asked for.
  uint64_t hash = 0;
  uint64_t serial = 0;  // Never used twice, as ids are.
  // The cache of Cluster::demand: as of this version of the filters.
  mutable uint64_t demand_seen = ~uint64_t{0};
  mutable Resources demand{};
};

// What the request asks of devices, models and profile aside.
Needs NeedsOf(const Resources& resources, const DeviceRequest& request,
              uint32_t kinds, ResourceKind device_kind);

// A value type. References to records hold until the last Unref. Each shape
// holds one reference to its filter, which its caller must have taken and
// gets back.
class ShapeTable {
 public:
  // The shape's id. `filter` is the interned filter of the shape; `*added`
  // tells whether the shape is new and keeps the reference to it.
  ShapeId Intern(const Resources& resources, const DeviceRequest& request,
                 FilterId filter, bool* added);
  // Whether that was the last reference.
  bool Unref(ShapeId id);

  Shape& operator[](ShapeId id) { return shapes_[id]; }
  const Shape& operator[](ShapeId id) const { return shapes_[id]; }
  const ShapeRecord& record(ShapeId id) const { return records_[id]; }
  size_t size() const { return shapes_.size(); }

 private:
  std::vector<Shape> shapes_{};
  std::deque<ShapeRecord> records_{};
  std::vector<ShapeId> unused_{};
  uint64_t last_serial_ = 0;
  absl::flat_hash_map<uint64_t, std::vector<ShapeId>> by_hash_{};
};

}  // namespace muster

#endif  // MUSTER_LIB_TOPOLOGY_SHAPE_TABLE_H_
