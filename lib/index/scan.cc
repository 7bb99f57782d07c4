#include "lib/index/scan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

// The compiler makes vector code of these: reductions without a branch. A
// search is a reduction over positions. This file is compiled with -O3.
#if defined(__x86_64__) && defined(__GNUC__)
#define MUSTER_SCAN_X86 1
// GCC 12 takes the undefined lanes of its own intrinsics for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

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

[[gnu::always_inline]] inline uint32_t LeastWhereOf(const uint32_t* v,
                                                    const uint16_t* where,
                                                    size_t n) {
  uint32_t least = kNone;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t value = v[i] | (where[i] > 0 ? 0 : kNone);
    least = value < least ? value : least;
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

// 64 bits of one byte each: bit i is set where byte i is not 0.
[[gnu::always_inline]] inline uint64_t NonZero(const uint8_t* bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < 64; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, bytes + i, 8);
    // The top bit of each byte, then all of them moved into the top byte.
    eight = ((eight & 0x7f7f7f7f7f7f7f7f) + 0x7f7f7f7f7f7f7f7f) | eight;
    eight = (eight & 0x8080808080808080) >> 7;
    bits |= (eight * 0x0102040810204080 >> 56) << i;
  }
  return bits;
}

[[gnu::always_inline]] inline SlotCount DivideOf(const uint8_t* v, size_t n,
                                                 uint32_t inverse,
                                                 uint64_t admits,
                                                 uint16_t* slots) {
  alignas(64) uint8_t bytes[64] = {};
  for (size_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<uint8_t>(v[i] * inverse >> 16);
  }
  uint64_t any = NonZero(bytes);
  for (uint64_t mask = any & ~admits; mask != 0; mask &= mask - 1) {
    bytes[std::countr_zero(mask)] = 0;
  }
  any &= admits;
  uint32_t sum = 0;
  uint8_t most = 0;
  for (size_t i = 0; i < 64; ++i) {
    sum += bytes[i];
    most = bytes[i] > most ? bytes[i] : most;
  }
  for (size_t i = 0; i < n; ++i) slots[i] = bytes[i];
  return {any, sum, most};
}

#ifdef MUSTER_SCAN_X86
#define MUSTER_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]]

// By hand: masks instead of loops over what is left, which would write bytes
// that the next load of a whole vector has to wait for.
MUSTER_AVX512 inline SlotCount DivideByMasks(const uint8_t* v, size_t n,
                                             uint32_t inverse, uint64_t admits,
                                             uint16_t* slots) {
  if (n == 0) return {};
  const __mmask64 here = ~uint64_t{0} >> (64 - n);
  const __m512i bytes = _mm512_maskz_loadu_epi8(here & admits, v);
  __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(bytes));
  __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(bytes, 1));
  if (inverse < 65536) {  // Not a division by 1.
    const __m512i factor = _mm512_set1_epi16(static_cast<int16_t>(inverse));
    low = _mm512_mulhi_epu16(low, factor);
    high = _mm512_mulhi_epu16(high, factor);
  }
  _mm512_mask_storeu_epi16(slots, static_cast<__mmask32>(here), low);
  _mm512_mask_storeu_epi16(slots + 32, static_cast<__mmask32>(here >> 32),
                           high);
  const uint64_t any = _mm512_test_epi16_mask(low, low) |
                       uint64_t{_mm512_test_epi16_mask(high, high)} << 32;
  const __m512i ones = _mm512_set1_epi16(1);
  const __m512i sums = _mm512_madd_epi16(_mm512_add_epi16(low, high), ones);
  const __m512i most = _mm512_max_epu16(low, high);
  const __m256i half = _mm256_max_epu16(_mm512_castsi512_si256(most),
                                        _mm512_extracti64x4_epi64(most, 1));
  const __m128i eight = _mm_max_epu16(_mm256_castsi256_si128(half),
                                      _mm256_extracti128_si256(half, 1));
  const __m128i least =
      _mm_minpos_epu16(_mm_xor_si128(eight, _mm_set1_epi16(-1)));
  return {any, static_cast<uint32_t>(_mm512_reduce_add_epi32(sums)),
          static_cast<uint16_t>(~_mm_cvtsi128_si32(least))};
}
#endif

#define MUSTER_SCANS(NAME, ATTRIBUTE, DIVIDE)                                  \
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
  ATTRIBUTE uint32_t LeastWhere##NAME(const uint32_t* v, const uint16_t* w,    \
                                      size_t n) {                              \
    return LeastWhereOf(v, w, n);                                              \
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
  ATTRIBUTE SlotCount Divide##NAME(const uint8_t* v, size_t n, uint32_t x,     \
                                   uint64_t admits, uint16_t* slots) {         \
    return DIVIDE(v, n, x, admits, slots);                                     \
  }                                                                            \
  constexpr ScanTable k##NAME = {                                              \
      Least64##NAME,    Find64##NAME,     Find32##NAME,     Above##NAME,       \
      Greatest32##NAME, Greatest16##NAME, LeastWhere##NAME, SumAbove32##NAME,  \
      SumAbove16##NAME, SumRuns32##NAME,  SumRuns16##NAME,  Divide##NAME};

MUSTER_SCANS(Portable, , DivideOf)
#ifdef MUSTER_SCAN_X86
MUSTER_SCANS(Avx2, [[gnu::target("avx2")]], DivideOf)
MUSTER_SCANS(Avx512, MUSTER_AVX512, DivideByMasks)
#undef MUSTER_AVX512
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

uint32_t LeastWhere(std::span<const uint32_t> values, const uint16_t* where) {
  return Best().table->least_where(values.data(), where, values.size());
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

SlotCount Divide(std::span<const uint8_t> values, uint32_t divisor,
                 uint64_t admits, uint16_t* slots) {
  // Exact for a dividend up to 255: the product is off by less than 1 /
  // divisor.
  const uint32_t inverse = 65536 / divisor + (divisor > 1 ? 1 : 0);
  return Best().table->divide(values.data(), values.size(), inverse, admits,
                              slots);
}

uint32_t Greatest(std::span<const uint32_t> values) {
  return Best().table->greatest32(values.data(), values.size());
}

uint16_t Greatest(std::span<const uint16_t> values) {
  return Best().table->greatest16(values.data(), values.size());
}

const char* ScanName() { return Best().name; }

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
