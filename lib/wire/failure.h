// Why a value cannot be written or read, and where in it.
#ifndef MUSTER_LIB_WIRE_FAILURE_H_
#define MUSTER_LIB_WIRE_FAILURE_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster::wire::internal {

// The path grows at its front while the failing calls return, so that it costs
// nothing where nothing fails.
struct Failure {
  std::string path{};
  std::string what{};

  void Within(const std::string& member) {
    const bool dot = !path.empty() && path[0] != '[';
    path = absl::StrCat(member, dot ? "." : "", path);
  }
  void WithinElement(size_t i) { Within(absl::StrCat("[", i, "]")); }
  // "roles[1].name: WHAT"
  std::string ToString() const {
    return path.empty() ? what : absl::StrCat(path, ": ", what);
  }
};

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_FAILURE_H_
