// Loops over flat arrays that a placement waits for. Each exists for the wider
// vector units too; which one runs is chosen once, and never seen in results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace muster::index {

inline constexpr size_t kNowhere = ~size_t{0};

// The first position of the least value; kNowhere for an empty span.
size_t LeastAt(std::span<const uint64_t> values);
// The first position of a value; kNowhere if there is none.
size_t FindFirst(std::span<const uint32_t> values, uint32_t value);
// The first position of the least value that is at least `floor`.
size_t LeastAbove(std::span<const uint32_t> values, uint32_t floor);
// The greatest; 0 for an empty span.
uint32_t Greatest(std::span<const uint32_t> values);
uint16_t Greatest(std::span<const uint16_t> values);
// What is above a limit: the sum of these values, and how many there are.
// Values of 16 bits are less than 2^15.
struct AboveCount {
  uint32_t sum = 0;
  uint32_t count = 0;

  friend bool operator==(const AboveCount&, const AboveCount&) = default;
};
AboveCount SumAbove(std::span<const uint32_t> values, uint32_t limit);
AboveCount SumAbove(std::span<const uint16_t> values, uint32_t limit);
// The same of each run of values, [first[i], first[i + 1]); `first` has one
// entry more than there are runs.
void SumAbove(std::span<const uint32_t> values, std::span<const uint32_t> first,
              uint32_t limit, AboveCount* above);
void SumAbove(std::span<const uint16_t> values, std::span<const uint32_t> first,
              uint32_t limit, AboveCount* above);

// What the nodes of a chunk can take.
struct SlotCount {
  uint64_t any = 0;  // Bit i: node i takes some.
  uint32_t sum = 0;
  uint16_t most = 0;  // Of one node.

  friend bool operator==(const SlotCount&, const SlotCount&) = default;
};
// A divisor, 1 to 255, as `divide` wants it. Exact for a dividend up to 255:
// the product is off by less than 1 / divisor.
constexpr uint32_t Inverse(uint32_t divisor) {
  return 65536 / divisor + (divisor > 1 ? 1 : 0);
}

// The loops themselves, for those who call one often. The first arguments are
// the values and their number.
struct ScanTable {
  uint64_t (*least64)(const uint64_t*, size_t);
  uint32_t (*find64)(const uint64_t*, size_t, uint64_t);
  uint32_t (*find32)(const uint32_t*, size_t, uint32_t);
  // The least excess over the floor, modulo 2^32.
  uint32_t (*least_above)(const uint32_t*, size_t, uint32_t);
  uint32_t (*greatest32)(const uint32_t*, size_t);
  uint16_t (*greatest16)(const uint16_t*, size_t);
  // The least of the values i, at most 64, of which bit i of the last argument
  // is set; ~0 if there is none.
  uint32_t (*least_where)(const uint32_t*, size_t, uint64_t);
  AboveCount (*sum_above32)(const uint32_t*, size_t, uint32_t);
  AboveCount (*sum_above16)(const uint16_t*, size_t, uint32_t);
  // The values alone; the runs' bounds, and how many runs.
  void (*sum_runs32)(const uint32_t*, const uint32_t*, size_t, uint32_t,
                     AboveCount*);
  void (*sum_runs16)(const uint16_t*, const uint32_t*, size_t, uint32_t,
                     AboveCount*);
  // at_least[k - 1], for each k from 1 to `levels`: bit i says whether value i
  // is at least k. At most 64 values.
  void (*at_least)(const uint8_t*, size_t, uint32_t levels, uint64_t* at_least);
  // From at_least and its length: node i has values[i] / divisor slots where
  // bit i of `admits` is set, else none.
  SlotCount (*count_slots)(const uint64_t* at_least, size_t levels,
                           uint32_t divisor, uint64_t admits);
  // The same, written down: slots[i]. At most 64 values, each at most 255.
  void (*divide)(const uint8_t*, size_t, uint32_t inverse, uint64_t admits,
                 uint16_t* slots);
};
// This machine's.
const ScanTable& Scans();
// "avx512", "avx2" or "portable", for tests that compare them; null if this
// machine has none such.
const ScanTable* ScansNamed(std::string_view name);

}  // namespace muster::index
