// Addresses to listen on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::serve {

struct Address {
  std::string host{};  // An IP address; IPv6 without brackets.
  uint16_t port = 0;   // 0: any that is free.

  friend bool operator==(const Address&, const Address&) = default;
};

// "127.0.0.1:8080", "[::1]:8080", ":8080" (all IPv4 addresses); no names, so
// that nobody's DNS decides who may ask. INVALID_ARGUMENT says what is
// expected. Pure; O(bytes).
absl::StatusOr<Address> ParseAddress(std::string_view text);

}  // namespace muster::serve
