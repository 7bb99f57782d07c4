// A hash of a row of numbers, for the tables of searches.
#pragma once

#include <cstdint>
#include <span>

namespace muster::solver {

// FNV-1a by whole numbers, mixed downwards: tables take its low bits. The same
// on every machine. O(length).
template <class T>
uint64_t HashRow(std::span<const T> row) {
  uint64_t hash = 1469598103934665603u;
  for (const T v : row) {
    hash = (hash ^ static_cast<uint64_t>(v)) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace muster::solver
