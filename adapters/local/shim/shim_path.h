// Paths in a spec. The standard library alone.
#pragma once

#include <string>

#include "adapters/local/shim/record.h"

namespace muster::local {

inline bool IsAbsolute(const std::string& path) {
  return path.starts_with('/') && !HasNul(path);
}

// Where something can be mounted: absolute, and not the root.
inline bool IsPlace(const std::string& path) {
  return IsAbsolute(path) && path.find_first_not_of('/') != std::string::npos;
}

}  // namespace muster::local
