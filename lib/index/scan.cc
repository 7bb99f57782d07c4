#include "lib/index/scan.h"

#include <bit>
#include <limits>

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

// A loop compiled for one vector unit: kLoop is inlined into Run.
#define MUSTER_LOOP_ON(UNIT, ATTRIBUTE)                    \
  template <auto kLoop>                                    \
  struct UNIT;                                             \
  template <class R, class... A, R (*kLoop)(A...)>         \
  struct UNIT<kLoop> {                                     \
    ATTRIBUTE static R Run(A... a) { return kLoop(a...); } \
  };
MUSTER_LOOP_ON(Portable, )
#ifdef MUSTER_SCAN_X86
MUSTER_LOOP_ON(Avx2, [[gnu::target("avx2")]])
MUSTER_LOOP_ON(Avx512, MUSTER_AVX512)
#endif
#undef MUSTER_LOOP_ON

template <template <auto> class On>
constexpr ScanTable kLoops = {
    .least64 = On<LeastOf<uint64_t>>::Run,
    .find64 = On<FindIn<uint64_t>>::Run,
    .find32 = On<FindIn<uint32_t>>::Run,
    .least_above = On<LeastAboveOf>::Run,
    .greatest32 = On<GreatestOf<uint32_t>>::Run,
    .greatest16 = On<GreatestOf<uint16_t>>::Run,
    .least_where = On<LeastWhereOf>::Run,
    .sum_above32 = On<SumAboveOf<uint32_t>>::Run,
    .sum_above16 = On<SumAboveOf<uint16_t>>::Run,
    .sum_runs32 = On<SumRunsOf<uint32_t>>::Run,
    .sum_runs16 = On<SumRunsOf<uint16_t>>::Run,
    .at_least = On<AtLeastOf>::Run,
    .count_slots = On<CountSlotsOf>::Run,
    .divide = On<DivideOf>::Run,
};

#ifdef MUSTER_SCAN_X86
constexpr ScanTable kAvx512 = [] {
  ScanTable scans = kLoops<Avx512>;
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

size_t Wide(uint32_t position) {
  return position == kNone ? kNowhere : position;
}

}  // namespace

const ScanTable* ScansNamed(std::string_view name) {
  if (name == "portable") return &kLoops<Portable>;
#ifdef MUSTER_SCAN_X86
  __builtin_cpu_init();
  if (name == "avx2" && __builtin_cpu_supports("avx2")) return &kLoops<Avx2>;
  if (name == "avx512" && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    return &kAvx512;
  }
#endif
  return nullptr;
}

const ScanTable& Scans() {
  // Constant once made: no state that callers could share.
  static const ScanTable* const best = [] {
    const ScanTable* widest = ScansNamed("avx512");
    if (widest == nullptr) widest = ScansNamed("avx2");
    return widest != nullptr ? widest : &kLoops<Portable>;
  }();
  return *best;
}

size_t LeastAt(std::span<const uint64_t> values) {
  const ScanTable& scans = Scans();
  return Wide(scans.find64(values.data(), values.size(),
                           scans.least64(values.data(), values.size())));
}

size_t FindFirst(std::span<const uint32_t> values, uint32_t value) {
  return Wide(Scans().find32(values.data(), values.size(), value));
}

size_t LeastAbove(std::span<const uint32_t> values, uint32_t floor) {
  const ScanTable& scans = Scans();
  const uint32_t above = scans.least_above(values.data(), values.size(), floor);
  if (above > kNone - floor) return kNowhere;
  return Wide(scans.find32(values.data(), values.size(), floor + above));
}

uint32_t Greatest(std::span<const uint32_t> values) {
  return Scans().greatest32(values.data(), values.size());
}

uint16_t Greatest(std::span<const uint16_t> values) {
  return Scans().greatest16(values.data(), values.size());
}

AboveCount SumAbove(std::span<const uint32_t> values, uint32_t limit) {
  return Scans().sum_above32(values.data(), values.size(), limit);
}

AboveCount SumAbove(std::span<const uint16_t> values, uint32_t limit) {
  return Scans().sum_above16(values.data(), values.size(), limit);
}

void SumAbove(std::span<const uint32_t> values, std::span<const uint32_t> first,
              uint32_t limit, AboveCount* above) {
  Scans().sum_runs32(values.data(), first.data(), first.size() - 1, limit,
                     above);
}

void SumAbove(std::span<const uint16_t> values, std::span<const uint32_t> first,
              uint32_t limit, AboveCount* above) {
  Scans().sum_runs16(values.data(), first.data(), first.size() - 1, limit,
                     above);
}

}  // namespace muster::index
