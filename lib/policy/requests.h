// Requests by number, whatever cluster they come from.
#ifndef MUSTER_LIB_POLICY_REQUESTS_H_
#define MUSTER_LIB_POLICY_REQUESTS_H_

#include <cstdint>
#include <vector>

#include "muster/cluster.h"

namespace muster::policy {

class Requests {
 public:
  // Equal only for shapes that ask for the same. What was found for the shape
  // last is compared before use. O(1) amortised for few shapes.
  uint64_t SerialOf(const Cluster& cluster, ShapeId shape) {
    const Resources& demand = cluster.demand(shape);
    const DeviceRequest& devices = cluster.device_request(shape);
    if (shape >= found_.size()) found_.resize(shape + 1, 0);
    uint32_t& found = found_[shape];
    if (found < known_.size() && known_[found].Is(demand, devices)) {
      return known_[found].serial;
    }
    for (found = 0; found < known_.size(); ++found) {
      if (known_[found].Is(demand, devices)) return known_[found].serial;
    }
    if (known_.size() == kMostKnown) known_.clear();
    found = static_cast<uint32_t>(known_.size());
    known_.push_back({demand, devices, ++last_serial_});
    return last_serial_;
  }

 private:
  static constexpr size_t kMostKnown = 1024;

  struct Known {
    Resources demand{};
    DeviceRequest devices{};
    uint64_t serial = 0;

    bool Is(const Resources& d, const DeviceRequest& r) const {
      return demand == d && devices == r;
    }
  };

  std::vector<Known> known_{};
  std::vector<uint32_t> found_{};  // By shape.
  uint64_t last_serial_ = 0;
};

}  // namespace muster::policy

#endif  // MUSTER_LIB_POLICY_REQUESTS_H_
