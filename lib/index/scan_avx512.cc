#include "lib/index/scan_avx512.h"

#ifdef MUSTER_SCAN_X86
#include <algorithm>
#include <bit>

// GCC 12 takes the undefined lanes of its own intrinsics for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

namespace muster::index::avx512 {
namespace {

// The lanes of a vector of `lanes` from position i on that lie below n.
template <class Mask>
[[gnu::always_inline]] inline Mask LanesBelow(size_t i, size_t n) {
  constexpr size_t kLanes = 8 * sizeof(Mask);
  const Mask all = static_cast<Mask>(~Mask{0});
  return n - i >= kLanes ? all : static_cast<Mask>(~(all << (n - i)));
}

MUSTER_AVX512 [[gnu::always_inline]] inline AboveCount Above(const uint32_t* v,
                                                             size_t n,
                                                             uint32_t limit) {
  const __m512i limits = _mm512_set1_epi32(static_cast<int32_t>(limit));
  // What is left over first, the rest in whole vectors.
  size_t i = n % 16;
  __m512i values = _mm512_maskz_loadu_epi32(LanesBelow<__mmask16>(0, i), v);
  __mmask16 above = _mm512_cmpgt_epu32_mask(values, limits);
  __m512i sum = _mm512_maskz_mov_epi32(above, values);
  auto count = static_cast<uint32_t>(std::popcount(above));
  for (; i < n; i += 16) {
    values = _mm512_loadu_si512(v + i);
    above = _mm512_cmpgt_epu32_mask(values, limits);
    sum = _mm512_mask_add_epi32(sum, above, sum, values);
    count += static_cast<uint32_t>(std::popcount(above));
  }
  return {static_cast<uint32_t>(_mm512_reduce_add_epi32(sum)), count};
}

// The sums of 16-bit values are made of pairs in 32 bits: values are less than
// 2^15, as ShapeSlots counts them.
MUSTER_AVX512 [[gnu::always_inline]] inline AboveCount Above(const uint16_t* v,
                                                             size_t n,
                                                             uint32_t limit) {
  // No value is above the greatest.
  const auto low = static_cast<int16_t>(std::min<uint32_t>(limit, 0xffff));
  const __m512i limits = _mm512_set1_epi16(low);
  const __m512i ones = _mm512_set1_epi16(1);
  size_t i = n % 32;
  __m512i values = _mm512_maskz_loadu_epi16(LanesBelow<__mmask32>(0, i), v);
  __mmask32 above = _mm512_cmpgt_epu16_mask(values, limits);
  __m512i sum = _mm512_madd_epi16(_mm512_maskz_mov_epi16(above, values), ones);
  auto count = static_cast<uint32_t>(std::popcount(above));
  for (; i < n; i += 32) {
    values = _mm512_loadu_si512(v + i);
    above = _mm512_cmpgt_epu16_mask(values, limits);
    const __m512i taken = _mm512_maskz_mov_epi16(above, values);
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(taken, ones));
    count += static_cast<uint32_t>(std::popcount(above));
  }
  return {static_cast<uint32_t>(_mm512_reduce_add_epi32(sum)), count};
}

}  // namespace

uint32_t LeastWhere(const uint32_t* v, size_t n, uint64_t where) {
  __m512i least = _mm512_set1_epi32(-1);
  for (size_t i = 0; i < n; i += 16) {
    const auto here = static_cast<__mmask16>(LanesBelow<__mmask16>(i, n) &
                                             static_cast<uint16_t>(where >> i));
    least = _mm512_mask_min_epu32(least, here, least,
                                  _mm512_maskz_loadu_epi32(here, v + i));
  }
  return _mm512_reduce_min_epu32(least);
}

AboveCount SumAbove(const uint32_t* v, size_t n, uint32_t limit) {
  return Above(v, n, limit);
}

AboveCount SumAbove(const uint16_t* v, size_t n, uint32_t limit) {
  return Above(v, n, limit);
}

void SumRuns(const uint32_t* v, const uint32_t* first, size_t runs,
             uint32_t limit, AboveCount* above) {
  for (size_t r = 0; r < runs; ++r) {
    above[r] = Above(v + first[r], first[r + 1] - first[r], limit);
  }
}

void SumRuns(const uint16_t* v, const uint32_t* first, size_t runs,
             uint32_t limit, AboveCount* above) {
  for (size_t r = 0; r < runs; ++r) {
    above[r] = Above(v + first[r], first[r + 1] - first[r], limit);
  }
}

void AtLeast(const uint8_t* v, size_t n, uint32_t levels, uint64_t* at_least) {
  const __m512i values =
      _mm512_maskz_loadu_epi8(LanesBelow<__mmask64>(0, n), v);
  __m512i k = _mm512_setzero_si512();
  const __m512i one = _mm512_set1_epi8(1);
  for (uint32_t level = 0; level < levels; ++level) {
    at_least[level] = _mm512_cmpgt_epu8_mask(values, k);
    k = _mm512_add_epi8(k, one);
  }
}

void Divide(const uint8_t* v, size_t n, uint32_t inverse, uint64_t admits,
            uint16_t* slots) {
  if (n == 0) return;
  const __mmask64 here = LanesBelow<__mmask64>(0, n);
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
}

}  // namespace muster::index::avx512
#endif
