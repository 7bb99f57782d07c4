#include "adapters/local/controller/port_pool.h"

#include <utility>

namespace muster::local {

PortPool::PortPool(uint16_t first, uint16_t last,
                   std::function<bool(uint16_t)> is_free)
    : first_(first),
      taken_(last < first ? 0 : last - first + 1, false),
      is_free_(std::move(is_free)) {}

std::optional<uint16_t> PortPool::Take(uint64_t start) {
  for (size_t i = 0; i < taken_.size(); ++i) {
    const size_t at = (start + i) % taken_.size();
    const auto port = static_cast<uint16_t>(first_ + at);
    if (taken_[at] || (is_free_ && !is_free_(port))) continue;
    taken_[at] = true;
    ++count_;
    return port;
  }
  return std::nullopt;
}

bool PortPool::Claim(uint16_t port) {
  const size_t at = size_t{port} - first_;
  if (port < first_ || at >= taken_.size() || taken_[at]) return false;
  taken_[at] = true;
  ++count_;
  return true;
}

void PortPool::Return(uint16_t port) {
  const size_t at = size_t{port} - first_;
  if (port < first_ || at >= taken_.size() || !taken_[at]) return;
  taken_[at] = false;
  --count_;
}

}  // namespace muster::local
