// Secrets that let one in over TCP.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::local {

// File names in the state folder.
inline constexpr char kTokenFile[] = "web-token";
inline constexpr char kSessionFile[] = "web-session";

struct WebSecrets {
  std::string token{};    // That people have: `muster web`.
  std::string session{};  // That their browsers have, as a cookie.

  friend bool operator==(const WebSecrets&, const WebSecrets&) = default;
};

// 256 bits of the kernel's, in 64 hexadecimal digits. Errors of the kernel.
absl::StatusOr<std::string> MakeSecret();
// Whether it has the form of one. Pure; O(bytes).
bool HasFormOfSecret(std::string_view text);

// Reads both from the files of this folder, and makes those that are not there,
// for the daemon's user alone to read. FAILED_PRECONDITION: a file has
// something else, is another user's, or may be read by others; errors of the
// file system.
absl::StatusOr<WebSecrets> ReadOrMakeSecrets(const std::string& folder);

// Takes as long wherever the difference is. Pure; O(bytes).
bool IsSecret(std::string_view given, std::string_view secret);

}  // namespace muster::local
