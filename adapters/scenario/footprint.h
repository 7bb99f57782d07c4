// How much memory a value takes, about.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "muster/fields.h"

namespace muster::inprocess {

template <class T>
int64_t HeapBytes(const T& value);

namespace footprint_internal {
inline int64_t Of(const std::string& s) {
  return static_cast<int64_t>(s.size());
}
template <class T>
int64_t Of(const std::vector<T>& all) {
  int64_t bytes = static_cast<int64_t>(all.size() * sizeof(T));
  for (const T& one : all) bytes += HeapBytes(one);
  return bytes;
}
template <class T>
int64_t Of(const T&) {
  return 0;
}
}  // namespace footprint_internal

// What the value's strings and lists take, beyond sizeof(T).
template <class T>
int64_t HeapBytes(const T& value) {
  if constexpr (HasFields<T>) {
    int64_t bytes = 0;
    VisitFields(value, [&](int, const char*, const auto& member) {
      bytes += HeapBytes(member);
    });
    return bytes;
  } else {
    return footprint_internal::Of(value);
  }
}

template <class T>
int64_t Footprint(const T& value) {
  return static_cast<int64_t>(sizeof(T)) + HeapBytes(value);
}

}  // namespace muster::inprocess
