// metav1.Status: what the API server answers in place of an object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace muster::kubernetes::api {

struct ApiStatus {
  std::string status{};  // "Success", "Failure".
  int32_t code = 0;      // As of HTTP; 0: not said.
  std::string reason{};  // "Conflict", "Expired", "AlreadyExists", ...
  // Of the server, at most 4096 bytes; not to be trusted.
  std::string message{};
  std::string name{};  // details: whom it is about.
  std::string kind{};
  std::string uid{};
  std::optional<int32_t> retry_after_seconds{};

  friend bool operator==(const ApiStatus&, const ApiStatus&) = default;
};

}  // namespace muster::kubernetes::api
