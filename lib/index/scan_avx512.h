// Loops of scan.h by hand, where compilers leave too much to plain loops: what
// is left over after whole vectors is done by masks.
#pragma once

#include "lib/index/scan.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define MUSTER_SCAN_X86 1
#define MUSTER_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]]

// As the members of ScanTable with these names. Only for machines that have it.
namespace muster::index::avx512 {

MUSTER_AVX512 uint32_t LeastWhere(const uint32_t* v, size_t n, uint64_t where);
MUSTER_AVX512 AboveCount SumAbove(const uint32_t* v, size_t n, uint32_t limit);
MUSTER_AVX512 AboveCount SumAbove(const uint16_t* v, size_t n, uint32_t limit);
MUSTER_AVX512 void SumRuns(const uint32_t* v, const uint32_t* first,
                           size_t runs, uint32_t limit, AboveCount* above);
MUSTER_AVX512 void SumRuns(const uint16_t* v, const uint32_t* first,
                           size_t runs, uint32_t limit, AboveCount* above);
MUSTER_AVX512 void AtLeast(const uint8_t* v, size_t n, uint32_t levels,
                           uint64_t* at_least);
MUSTER_AVX512 void Divide(const uint8_t* v, size_t n, uint32_t inverse,
                          uint64_t admits, uint16_t* slots);

}  // namespace muster::index::avx512
#endif
