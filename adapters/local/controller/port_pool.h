// PortPool: which ports are given to tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace muster::local {

// Not synchronised.
class PortPool {
 public:
  // Ports first..last; `is_free` as ControllerConfig::port_is_free.
  PortPool(uint16_t first, uint16_t last,
           std::function<bool(uint16_t)> is_free);

  // A port that nobody has, the first at or behind the `start`-th, in a circle:
  // equal pools and starts, equal ports. None: there is none. O(ports).
  std::optional<uint16_t> Take(uint64_t start);
  // It was given before a restart. False: it is none of these, or taken.
  bool Claim(uint16_t port);
  void Return(uint16_t port);
  uint32_t taken() const { return count_; }

 private:
  uint16_t first_;
  std::vector<bool> taken_;
  uint32_t count_ = 0;
  std::function<bool(uint16_t)> is_free_;
};

}  // namespace muster::local
