#include "lib/topology/shape_table.h"

#include "lib/base/hash.h"

namespace muster {

Needs NeedsOf(const Resources& resources, const DeviceRequest& request,
              uint32_t kinds, ResourceKind device_kind) {
  Needs needs;
  for (ResourceKind k = 0; k < kinds; ++k) {
    const int64_t amount = resources[k];
    if (amount > 0 && k != device_kind) needs.amounts.push_back({k, amount});
  }
  if (request.count == 0) return needs;
  needs.count = request.count;
  needs.form = FormOf(request);
  if (needs.form == DeviceForm::kMemory) needs.memory = request.memory_bytes;
  if (needs.form == DeviceForm::kFraction) needs.milli = request.milli;
  return needs;
}

ShapeId ShapeTable::Intern(const Resources& resources,
                           const DeviceRequest& request, FilterId filter,
                           bool* added) {
  StableHash hash;
  hash.Add(filter);
  hash.Add(resources);
  hash.Add(request);
  std::vector<ShapeId>& same = by_hash_[hash.value()];
  *added = false;
  for (const ShapeId id : same) {
    ShapeRecord& known = records_[id];
    if (shapes_[id].filter == filter && known.resources == resources &&
        known.request == request) {
      ++known.refs;
      return id;
    }
  }
  auto id = static_cast<ShapeId>(shapes_.size());
  if (unused_.empty()) {
    shapes_.emplace_back();
    records_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  *added = true;
  shapes_[id].filter = filter;
  ShapeRecord& record = records_[id];
  record.refs = 1;
  record.request = request;
  record.resources = resources;
  record.hash = hash.value();
  record.serial = ++last_serial_;
  same.push_back(id);
  return id;
}

bool ShapeTable::Unref(ShapeId id) {
  if (--records_[id].refs > 0) return false;
  const auto it = by_hash_.find(records_[id].hash);
  std::erase(it->second, id);
  if (it->second.empty()) by_hash_.erase(it);
  records_[id] = {};
  unused_.push_back(id);
  return true;
}

}  // namespace muster
