#include "lib/index/scan.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include "lib/index/scan_avx512.h"

// The compiler makes vector code of these: reductions without a branch. A
// search is a reduction over positions. This file is compiled with -O3.
namespace muster::index {
namespace {

// Behind positions: positions of spans fit into 32 bits.
constexpr uint32_t kNone = 0xffffffff;

template <class T>
[[gnu::always_inline]] inline T LeastOf(const T* v, size_t n) {
  T least = std::numeric_limits<T>::max();
  for (size_t i = 0; i < n; ++i) least = v[i] < least ? v[i] : least;
  return least;
}

template <class T>
[[gnu::always_inline]] inline uint32_t FindIn(const T* v, size_t n, T value) {
  // Blocks of a size that is known here: what is found early ends it early.
  constexpr size_t kBlock = 64;
  size_t from = 0;
  for (; from + kBlock <= n; from += kBlock) {
    uint32_t equal = 0;
    for (size_t i = 0; i < kBlock; ++i) equal += v[from + i] == value ? 1 : 0;
    if (equal != 0) break;
  }
  for (; from < n; ++from) {
    if (v[from] == value) return static_cast<uint32_t>(from);
  }
  return kNone;
}

// The least v[i] - floor, modulo 2^32: what is below the floor wraps to above
// all that is not.
[[gnu::always_inline]] inline uint32_t LeastAboveOf(const uint32_t* v, size_t n,
                                                    uint32_t floor) {
  uint32_t least = kNone;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t above = v[i] - floor;
    least = above < least ? above : least;
  }
  return least;
}

template <class T>
[[gnu::always_inline]] inline T GreatestOf(const T* v, size_t n) {
  T most = 0;
  for (size_t i = 0; i < n; ++i) most = v[i] > most ? v[i] : most;
  return most;
}

[[gnu::always_inline]] inline uint32_t LeastWhereOf(const uint32_t* v, size_t n,
                                                    uint64_t where) {
  uint32_t least = kNone;
  for (size_t from = 0; from < n; from += 32) {
    const auto bits = static_cast<uint32_t>(where >> from);
    const uint32_t count = n - from < 32 ? static_cast<uint32_t>(n - from) : 32;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t value = v[from + i] | ((bits >> i & 1) - 1);
      least = value < least ? value : least;
    }
  }
  return least;
}

template <class T>
[[gnu::always_inline]] inline AboveCount SumAboveOf(const T* v, size_t n,
                                                    uint32_t limit) {
  uint32_t sum = 0, count = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += v[i] > limit ? v[i] : 0;
    count += v[i] > limit ? 1 : 0;
  }
  return {sum, count};
}

template <class T>
[[gnu::always_inline]] inline void SumRunsOf(const T* v, const uint32_t* first,
                                             size_t runs, uint32_t limit,
                                             AboveCount* above) {
  for (size_t r = 0; r < runs; ++r) {
    above[r] = SumAboveOf(v + first[r], first[r + 1] - first[r], limit);
  }
}

[[gnu::always_inline]] inline void AtLeastOf(const uint8_t* v, size_t n,
                                             uint32_t levels, uint64_t* out) {
  for (uint32_t k = 0; k < levels; ++k) out[k] = 0;
  for (size_t i = 0; i < n; ++i) {
    for (uint32_t k = 0; k < v[i]; ++k) out[k] |= uint64_t{1} << i;
  }
}

[[gnu::always_inline]] inline SlotCount CountSlotsOf(const uint64_t* at_least,
                                                     size_t levels,
                                                     uint32_t divisor,
                                                     uint64_t admits) {
  SlotCount count;
  if (divisor > levels) return count;
  count.any = at_least[divisor - 1] & admits;
  uint64_t nodes = count.any;
  for (size_t k = divisor; nodes != 0; nodes = at_least[k - 1] & admits) {
    count.sum += static_cast<uint32_t>(std::popcount(nodes));
    ++count.most;
    k += divisor;
    if (k > levels) break;
  }
  return count;
}

[[gnu::always_inline]] inline void DivideOf(const uint8_t* v, size_t n,
                                            uint32_t inverse, uint64_t admits,
                                            uint16_t* slots) {
  for (size_t i = 0; i < n; ++i) {
    slots[i] =
        static_cast<uint16_t>((admits >> i & 1) * (v[i] * inverse >> 16));
  }
}

#define MUSTER_SCANS(NAME, ATTRIBUTE)                                          \
  ATTRIBUTE uint64_t Least64##NAME(const uint64_t* v, size_t n) {              \
    return LeastOf(v, n);                                                      \
  }                                                                            \
  ATTRIBUTE uint32_t Find64##NAME(const uint64_t* v, size_t n, uint64_t x) {   \
    return FindIn(v, n, x);                                                    \
  }                                                                            \
  ATTRIBUTE uint32_t Find32##NAME(const uint32_t* v, size_t n, uint32_t x) {   \
    return FindIn(v, n, x);                                                    \
  }                                                                            \
  ATTRIBUTE uint32_t Above##NAME(const uint32_t* v, size_t n, uint32_t x) {    \
    return LeastAboveOf(v, n, x);                                              \
  }                                                                            \
  ATTRIBUTE uint32_t Greatest32##NAME(const uint32_t* v, size_t n) {           \
    return GreatestOf(v, n);                                                   \
  }                                                                            \
  ATTRIBUTE uint16_t Greatest16##NAME(const uint16_t* v, size_t n) {           \
    return GreatestOf(v, n);                                                   \
  }                                                                            \
  ATTRIBUTE uint32_t LeastWhere##NAME(const uint32_t* v, size_t n,             \
                                      uint64_t where) {                        \
    return LeastWhereOf(v, n, where);                                          \
  }                                                                            \
  ATTRIBUTE AboveCount SumAbove32##NAME(const uint32_t* v, size_t n,           \
                                        uint32_t x) {                          \
    return SumAboveOf(v, n, x);                                                \
  }                                                                            \
  ATTRIBUTE void SumRuns32##NAME(const uint32_t* v, const uint32_t* first,     \
                                 size_t runs, uint32_t x, AboveCount* above) { \
    SumRunsOf(v, first, runs, x, above);                                       \
  }                                                                            \
  ATTRIBUTE AboveCount SumAbove16##NAME(const uint16_t* v, size_t n,           \
                                        uint32_t x) {                          \
    return SumAboveOf(v, n, x);                                                \
  }                                                                            \
  ATTRIBUTE void SumRuns16##NAME(const uint16_t* v, const uint32_t* first,     \
                                 size_t runs, uint32_t x, AboveCount* above) { \
    SumRunsOf(v, first, runs, x, above);                                       \
  }                                                                            \
  ATTRIBUTE void AtLeast##NAME(const uint8_t* v, size_t n, uint32_t levels,    \
                               uint64_t* out) {                                \
    AtLeastOf(v, n, levels, out);                                              \
  }                                                                            \
  ATTRIBUTE SlotCount CountSlots##NAME(const uint64_t* at_least,               \
                                       size_t levels, uint32_t divisor,        \
                                       uint64_t admits) {                      \
    return CountSlotsOf(at_least, levels, divisor, admits);                    \
  }                                                                            \
  ATTRIBUTE void Divide##NAME(const uint8_t* v, size_t n, uint32_t x,          \
                              uint64_t admits, uint16_t* slots) {              \
    DivideOf(v, n, x, admits, slots);                                          \
  }                                                                            \
  constexpr ScanTable k##NAME = {                                              \
      Least64##NAME,    Find64##NAME,     Find32##NAME,     Above##NAME,       \
      Greatest32##NAME, Greatest16##NAME, LeastWhere##NAME, SumAbove32##NAME,  \
      SumAbove16##NAME, SumRuns32##NAME,  SumRuns16##NAME,  AtLeast##NAME,     \
      CountSlots##NAME, Divide##NAME};

MUSTER_SCANS(Portable, )
#ifdef MUSTER_SCAN_X86
MUSTER_SCANS(Avx2, [[gnu::target("avx2")]])
MUSTER_SCANS(Wide, MUSTER_AVX512)
constexpr ScanTable kAvx512 = [] {
  ScanTable scans = kWide;
  scans.least_where = avx512::LeastWhere;
  scans.sum_above32 = avx512::SumAbove;
  scans.sum_above16 = avx512::SumAbove;
  scans.sum_runs32 = avx512::SumRuns;
  scans.sum_runs16 = avx512::SumRuns;
  scans.at_least = avx512::AtLeast;
  scans.divide = avx512::Divide;
  return scans;
}();
#endif
#undef MUSTER_SCANS

struct Chosen {
  const ScanTable* table = &kPortable;
  const char* name = "portable";
};

Chosen Choose() {
#ifdef MUSTER_SCAN_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    return {&kAvx512, "avx512"};
  }
  if (__builtin_cpu_supports("avx2")) return {&kAvx2, "avx2"};
#endif
  return {};
}

// Constant once made: no state that callers could share.
const Chosen& Best() {
  static const Chosen chosen = Choose();
  return chosen;
}

size_t Wide(uint32_t position) {
  return position == kNone ? kNowhere : position;
}

}  // namespace

size_t LeastAt(std::span<const uint64_t> values) {
  const ScanTable& scans = *Best().table;
  return Wide(scans.find64(values.data(), values.size(),
                           scans.least64(values.data(), values.size())));
}

size_t FindFirst(std::span<const uint32_t> values, uint32_t value) {
  return Wide(Best().table->find32(values.data(), values.size(), value));
}

size_t LeastAbove(std::span<const uint32_t> values, uint32_t floor) {
  const ScanTable& scans = *Best().table;
  const uint32_t above = scans.least_above(values.data(), values.size(), floor);
  if (above > kNone - floor) return kNowhere;
  return Wide(scans.find32(values.data(), values.size(), floor + above));
}

uint32_t LeastWhere(std::span<const uint32_t> values, uint64_t where) {
  return Best().table->least_where(values.data(), values.size(), where);
}

AboveCount SumAbove(std::span<const uint32_t> values, uint32_t limit) {
  return Best().table->sum_above32(values.data(), values.size(), limit);
}

AboveCount SumAbove(std::span<const uint16_t> values, uint32_t limit) {
  return Best().table->sum_above16(values.data(), values.size(), limit);
}

void SumAbove(std::span<const uint32_t> values, std::span<const uint32_t> first,
              uint32_t limit, AboveCount* above) {
  Best().table->sum_runs32(values.data(), first.data(), first.size() - 1, limit,
                           above);
}

void SumAbove(std::span<const uint16_t> values, std::span<const uint32_t> first,
              uint32_t limit, AboveCount* above) {
  Best().table->sum_runs16(values.data(), first.data(), first.size() - 1, limit,
                           above);
}

void AtLeast(std::span<const uint8_t> values, uint32_t levels,
             uint64_t* at_least) {
  Best().table->at_least(values.data(), values.size(), levels, at_least);
}

void Divide(std::span<const uint8_t> values, uint32_t inverse, uint64_t admits,
            uint16_t* slots) {
  Best().table->divide(values.data(), values.size(), inverse, admits, slots);
}

uint32_t Greatest(std::span<const uint32_t> values) {
  return Best().table->greatest32(values.data(), values.size());
}

uint16_t Greatest(std::span<const uint16_t> values) {
  return Best().table->greatest16(values.data(), values.size());
}

const ScanTable& Scans() { return *Best().table; }

const ScanTable* ScansNamed(const char* name) {
  const std::string_view wanted = name;
  if (wanted == "portable") return &kPortable;
#ifdef MUSTER_SCAN_X86
  const std::string_view best = Best().name;
  if (wanted == "avx512" && best == "avx512") return &kAvx512;
  if (wanted == "avx2" && best != "portable") return &kAvx2;
#endif
  return nullptr;
}

}  // namespace muster::index
