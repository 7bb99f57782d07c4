// The loops for wider vector units against plain ones.
#include "lib/index/scan.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace muster::index {
namespace {

template <class T>
std::vector<T> Random(std::mt19937_64& random, size_t size, T below) {
  std::vector<T> values(size);
  for (T& v : values) v = static_cast<T>(random() % below);
  return values;
}

class ScanTest : public testing::TestWithParam<const char*> {};

TEST_P(ScanTest, EqualsThePortableTwin) {
  const ScanTable* scans = ScansNamed(GetParam());
  if (scans == nullptr) GTEST_SKIP() << "this machine has no " << GetParam();
  const ScanTable& plain = *ScansNamed("portable");
  std::mt19937_64 random(1);
  for (size_t size = 0; size < 300; ++size) {
    const auto wide = Random<uint64_t>(random, size, 1 + random() % 1000);
    const auto word = Random<uint32_t>(random, size, 1 + random() % 1000);
    const auto half = Random<uint16_t>(random, size, 1000);
    const uint32_t x = random() % 1000;
    EXPECT_EQ(scans->least64(wide.data(), size),
              plain.least64(wide.data(), size));
    EXPECT_EQ(scans->find64(wide.data(), size, x),
              plain.find64(wide.data(), size, x));
    EXPECT_EQ(scans->find32(word.data(), size, x),
              plain.find32(word.data(), size, x));
    EXPECT_EQ(scans->least_above(word.data(), size, x),
              plain.least_above(word.data(), size, x));
    EXPECT_EQ(scans->greatest16(half.data(), size),
              plain.greatest16(half.data(), size));
    EXPECT_EQ(scans->greatest32(word.data(), size),
              plain.greatest32(word.data(), size));
    for (const uint32_t limit : {x, 0xffffu, 0x10000u}) {
      EXPECT_EQ(scans->sum_above32(word.data(), size, limit),
                plain.sum_above32(word.data(), size, limit));
      EXPECT_EQ(scans->sum_above16(half.data(), size, limit),
                plain.sum_above16(half.data(), size, limit));
    }
    const size_t few = std::min<size_t>(size, 64);
    const uint64_t where = random() & random();
    EXPECT_EQ(scans->least_where(word.data(), few, where),
              plain.least_where(word.data(), few, where));
  }
}

TEST_P(ScanTest, SumsWhatIsAboveOfEachRun) {
  const ScanTable* scans = ScansNamed(GetParam());
  if (scans == nullptr) GTEST_SKIP() << "this machine has no " << GetParam();
  std::mt19937_64 random(4);
  for (int i = 0; i < 200; ++i) {
    std::vector<uint32_t> first{static_cast<uint32_t>(random() % 5)};
    for (uint64_t runs = random() % 20; runs > 0; --runs) {
      first.push_back(first.back() + static_cast<uint32_t>(random() % 40));
    }
    const auto values = Random<uint32_t>(random, first.back(), 50);
    const auto limit = static_cast<uint32_t>(random() % 52);
    std::vector<AboveCount> above(first.size() - 1);
    scans->sum_runs32(values.data(), first.data(), above.size(), limit,
                      above.data());
    for (size_t r = 0; r < above.size(); ++r) {
      AboveCount expected;
      for (uint32_t k = first[r]; k < first[r + 1]; ++k) {
        if (values[k] <= limit) continue;
        expected.sum += values[k];
        ++expected.count;
      }
      ASSERT_EQ(above[r], expected);
    }
  }
}

TEST_P(ScanTest, DividesAChunk) {
  const ScanTable* scans = ScansNamed(GetParam());
  if (scans == nullptr) GTEST_SKIP() << "this machine has no " << GetParam();
  std::mt19937_64 random(3);
  for (uint32_t divisor = 1; divisor < 256; ++divisor) {
    for (size_t size = 0; size <= 64; ++size) {
      const auto values = Random<uint8_t>(random, size, 255);
      const uint64_t admits = random() | random();
      std::vector<uint16_t> slots(size + 1, 7);
      scans->divide(values.data(), size, Inverse(divisor), admits,
                    slots.data());
      for (size_t i = 0; i < size; ++i) {
        ASSERT_EQ(slots[i], (admits >> i & 1) != 0 ? values[i] / divisor : 0);
      }
      ASSERT_EQ(slots[size], 7);
    }
  }
}

TEST_P(ScanTest, CountsAChunk) {
  const ScanTable* scans = ScansNamed(GetParam());
  if (scans == nullptr) GTEST_SKIP() << "this machine has no " << GetParam();
  std::mt19937_64 random(4);
  for (uint32_t most = 0; most <= 64; ++most) {
    for (size_t size = 1; size <= 64; ++size) {
      const auto values = Random<uint8_t>(random, size, most + 1);
      const uint64_t admits = random() | random();
      const uint32_t levels = most + static_cast<uint32_t>(random() % 3);
      std::vector<uint64_t> at_least(levels + 1, 7);
      scans->at_least(values.data(), size, levels, at_least.data());
      ASSERT_EQ(at_least[levels], 7u);
      for (uint32_t k = 1; k <= levels; ++k) {
        for (size_t i = 0; i < 64; ++i) {
          ASSERT_EQ(at_least[k - 1] >> i & 1,
                    i < size && values[i] >= k ? 1u : 0u);
        }
      }
      const auto divisor = static_cast<uint32_t>(1 + random() % 9);
      SlotCount expected;
      for (size_t i = 0; i < size; ++i) {
        const auto slots = static_cast<uint16_t>(
            (admits >> i & 1) != 0 ? values[i] / divisor : 0);
        expected.any |= uint64_t{slots > 0} << i;
        expected.sum += slots;
        expected.most = std::max(expected.most, slots);
      }
      ASSERT_EQ(scans->count_slots(at_least.data(), levels, divisor, admits),
                expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScanTest,
                         testing::Values("portable", "avx2", "avx512"));

TEST(Scan, FindsWhatALoopFinds) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    const auto word = Random<uint32_t>(random, random() % 200, 20);
    const uint32_t x = random() % 22;
    const auto equal = std::find(word.begin(), word.end(), x);
    EXPECT_EQ(FindFirst(word, x),
              equal == word.end() ? kNowhere
                                  : static_cast<size_t>(equal - word.begin()));
    size_t best = kNowhere;
    for (size_t k = 0; k < word.size(); ++k) {
      if (word[k] >= x && (best == kNowhere || word[k] < word[best])) best = k;
    }
    EXPECT_EQ(LeastAbove(word, x), best);
    const std::span<const uint32_t> few(word.data(),
                                        std::min<size_t>(word.size(), 64));
    const uint64_t where = random() & random();
    uint32_t least = 0xffffffff;
    for (size_t k = 0; k < few.size(); ++k) {
      if ((where >> k & 1) != 0) least = std::min(least, few[k]);
    }
    EXPECT_EQ(Scans().least_where(few.data(), few.size(), where), least);
    AboveCount above;
    for (const uint32_t v : word) {
      if (v <= x) continue;
      above.sum += v;
      ++above.count;
    }
    EXPECT_EQ(SumAbove(word, x), above);
  }
}

TEST(Scan, NothingIsNowhere) {
  EXPECT_EQ(LeastAt({}), kNowhere);
  EXPECT_EQ(FindFirst({}, 0), kNowhere);
  EXPECT_EQ(LeastAbove({}, 0), kNowhere);
  EXPECT_EQ(Greatest(std::span<const uint16_t>()), 0);
  EXPECT_EQ(Greatest(std::span<const uint32_t>()), 0u);
  EXPECT_EQ(Scans().least_where(nullptr, 0, ~uint64_t{0}), 0xffffffff);
}

}  // namespace
}  // namespace muster::index
