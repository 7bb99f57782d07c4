// Loops over flat arrays that a placement waits for. Each exists for the wider
// vector units too; which one runs is chosen once, and never seen in results.
#ifndef MUSTER_LIB_INDEX_SCAN_H_
#define MUSTER_LIB_INDEX_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace muster::index {

inline constexpr size_t kNowhere = ~size_t{0};

// The first position of the least value; kNowhere for an empty span.
size_t LeastAt(std::span<const uint64_t> values);
// The first position of a value; kNowhere if there is none.
size_t FindFirst(std::span<const uint32_t> values, uint32_t value);
// The first position of the least value that is at least `floor`.
size_t LeastAbove(std::span<const uint32_t> values, uint32_t floor);
// The least, and the greatest; the type's last and 0 for an empty span.
uint32_t Least(std::span<const uint32_t> values);
uint16_t Greatest(std::span<const uint16_t> values);

// How this machine's loops are called: "avx512", "avx2" or "portable".
const char* ScanName();
// The loops by name, for tests that compare them; null if this machine has
// none such.
struct ScanTable {
  uint64_t (*least64)(const uint64_t*, size_t);
  uint32_t (*find64)(const uint64_t*, size_t, uint64_t);
  uint32_t (*find32)(const uint32_t*, size_t, uint32_t);
  // The least excess over the floor, modulo 2^32.
  uint32_t (*least_above)(const uint32_t*, size_t, uint32_t);
  uint32_t (*least32)(const uint32_t*, size_t);
  uint16_t (*greatest16)(const uint16_t*, size_t);
};
const ScanTable* ScansNamed(const char* name);

}  // namespace muster::index

#endif  // MUSTER_LIB_INDEX_SCAN_H_
