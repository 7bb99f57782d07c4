// Parts in bins: small questions against all ways there are, large ones that
// have a packing by construction.
#include "lib/solver/bin_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "lib/solver/failed_states.h"

namespace muster::solver {
namespace {

constexpr uint64_t kEnough = 10'000'000;

struct Instance {
  uint32_t dims = 1;
  std::vector<int64_t> need{};
  std::vector<uint32_t> parts{};
  std::vector<int64_t> room{};

  BinPacking::PackingQuestion Question() const {
    return {dims, need, parts, room};
  }
  size_t bins() const { return room.size() / dims; }
};

Instance RandomInstance(std::mt19937_64& random) {
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  Instance instance;
  instance.dims = 1 + below(3);
  const uint32_t unit = 1 + below(3);
  const uint32_t types = 1 + below(4);
  for (uint32_t t = 0; t < types; ++t) {
    for (uint32_t d = 0; d < instance.dims; ++d) {
      instance.need.push_back((d == 0 ? 1 : 0) + below(5) * unit);
    }
    instance.parts.push_back(1 + below(3));
  }
  const uint32_t bins = 1 + below(4);
  for (uint32_t i = 0; i < bins * instance.dims; ++i) {
    instance.room.push_back(below(12 * unit));
  }
  return instance;
}

// Puts the parts from `type` on, of which `left` of the first are left, into
// `room`: into every bin in turn.
bool Packs(const Instance& instance, size_t type, uint32_t left,
           std::vector<int64_t>& room) {
  if (left == 0) {
    if (++type == instance.parts.size()) return true;
    left = instance.parts[type];
  }
  const int64_t* need = instance.need.data() + type * instance.dims;
  for (size_t b = 0; b < instance.bins(); ++b) {
    int64_t* bin = room.data() + b * instance.dims;
    bool fits = true;
    for (uint32_t d = 0; d < instance.dims; ++d) fits &= need[d] <= bin[d];
    if (!fits) continue;
    for (uint32_t d = 0; d < instance.dims; ++d) bin[d] -= need[d];
    if (Packs(instance, type, left - 1, room)) return true;
    for (uint32_t d = 0; d < instance.dims; ++d) bin[d] += need[d];
  }
  return false;
}

bool Packs(const Instance& instance) {
  std::vector<int64_t> room = instance.room;
  return Packs(instance, 0, instance.parts[0], room);
}

// That the packing found is one.
void ExpectPacking(const Instance& instance, const BinPacking& packing) {
  std::vector<int64_t> room = instance.room;
  std::vector<uint32_t> left = instance.parts;
  for (size_t load = 0; load < packing.loads(); ++load) {
    for (uint32_t t = 0; t < left.size(); ++t) {
      const uint32_t parts = packing.PartsOf(load, t);
      left[t] -= parts;
      for (uint32_t d = 0; d < instance.dims; ++d) {
        room[packing.BinOf(load) * instance.dims + d] -=
            parts * instance.need[t * instance.dims + d];
      }
    }
  }
  for (const uint32_t parts : left) EXPECT_EQ(parts, 0u);
  EXPECT_GE(*std::ranges::min_element(room), 0);
}

TEST(BinPacking, FindsAPackingIfAndOnlyIfThereIsOne) {
  std::mt19937_64 random(1);
  BinPacking packing;
  int found = 0, refuted = 0, searched = 0;
  for (int i = 0; i < 20'000; ++i) {
    SCOPED_TRACE("question " + std::to_string(i));
    const Instance instance = RandomInstance(random);
    const bool packs = Packs(instance);
    packing.Start(instance.Question());
    ASSERT_FALSE(packing.refuted() && packs);
    ASSERT_EQ(packing.Solve(kEnough),
              packs ? SearchOutcome::kFound : SearchOutcome::kNone);
    if (packs) ExpectPacking(instance, packing);
    ++(packs ? found : packing.refuted() ? refuted : searched);
  }
  // All three are common enough to mean something.
  EXPECT_GT(found, 2'000);
  EXPECT_GT(refuted, 2'000);
  EXPECT_GT(searched, 50);
}

TEST(BinPacking, NeverSaysNoBecauseItsStepsEnd) {
  std::mt19937_64 random(2);
  BinPacking packing;
  int cut_short = 0;
  for (int i = 0; i < 5'000; ++i) {
    const Instance instance = RandomInstance(random);
    packing.Start(instance.Question());
    const SearchOutcome outcome = packing.Solve(random() % 8);
    cut_short += outcome == SearchOutcome::kCutShort;
    ASSERT_FALSE(outcome == SearchOutcome::kNone && Packs(instance)) << i;
    if (outcome == SearchOutcome::kFound) ExpectPacking(instance, packing);
  }
  EXPECT_GT(cut_short, 100);
}

TEST(BinPacking, WhatIsForbiddenIsNotFoundAndProvesNothing) {
  std::mt19937_64 random(3);
  BinPacking packing;
  int others = 0;
  for (int i = 0; i < 5'000; ++i) {
    const Instance instance = RandomInstance(random);
    packing.Start(instance.Question());
    if (packing.Solve(kEnough) != SearchOutcome::kFound) continue;
    std::vector<uint32_t> forbidden;
    for (uint32_t t = 0; t < instance.parts.size(); ++t) {
      forbidden.push_back(packing.PartsOf(0, t));
    }
    const uint32_t bin = packing.BinOf(0);
    packing.Forbid(0);
    const SearchOutcome outcome = packing.Solve(kEnough);
    ASSERT_NE(outcome, SearchOutcome::kNone);
    if (outcome != SearchOutcome::kFound) continue;
    ++others;
    ExpectPacking(instance, packing);
    for (size_t load = 0; load < packing.loads(); ++load) {
      bool same = packing.BinOf(load) == bin;
      for (uint32_t t = 0; t < forbidden.size(); ++t) {
        same &= packing.PartsOf(load, t) == forbidden[t];
      }
      ASSERT_FALSE(same);
    }
  }
  EXPECT_GT(others, 500);
}

// Bins cut up at random into parts of `least` to `most`.
Instance CutUp(uint32_t bins, uint32_t room, uint32_t least, uint32_t most,
               uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<int64_t, uint32_t> parts;
  for (uint32_t b = 0; b < bins; ++b) {
    for (uint32_t left = room; left > 0;) {
      const uint32_t part =
          std::min<uint32_t>(left, least + random() % (most - least + 1));
      if (left > part && left - part < least) continue;
      ++parts[part];
      left -= part;
    }
  }
  Instance instance;
  for (const auto& [need, count] : parts) {
    instance.need.push_back(need);
    instance.parts.push_back(count);
  }
  instance.room.assign(bins, room);
  return instance;
}

TEST(BinPacking, FillsBinsWithoutAGapInFewSteps) {
  BinPacking packing;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const uint32_t bins : {5u, 6u, 7u, 8u, 9u, 10u, 20u, 50u, 200u}) {
      const Instance instance = CutUp(bins, 16, 2, 7, seed);
      packing.Start(instance.Question());
      ASSERT_EQ(packing.Solve(20'000), SearchOutcome::kFound)
          << bins << " bins, seed " << seed;
      ExpectPacking(instance, packing);
    }
    const Instance instance = CutUp(10, 72, 5, 40, seed);
    packing.Start(instance.Question());
    ASSERT_EQ(packing.Solve(65'536), SearchOutcome::kFound) << seed;
    ExpectPacking(instance, packing);
  }
}

// 10 and 2 x 2 fill 14 of 15: in all there is room enough, but a bin holds one
// part of 10.
TEST(BinPacking, CountsPlacesForLargeParts) {
  Instance instance{.need = {10, 2}, .parts = {50, 30}};
  instance.room.assign(49, 15);
  BinPacking packing;
  packing.Start(instance.Question());
  EXPECT_TRUE(packing.refuted());
  EXPECT_EQ(packing.shortage().needed, 0);
  instance.room.push_back(10);
  packing.Start(instance.Question());
  EXPECT_EQ(packing.Solve(kEnough), SearchOutcome::kFound);
}

TEST(BinPacking, TellsHowMuchWholePartsCanFill) {
  Instance instance{.need = {20, 20}, .parts = {3, 4}};
  instance.room = {39, 59, 19, 60};
  BinPacking packing;
  packing.Start(instance.Question());
  EXPECT_TRUE(packing.refuted());
  EXPECT_EQ(packing.shortage().needed, 140);
  EXPECT_EQ(packing.shortage().available, 120);
}

// By size (70 of 72) and by count (13 of 18) there is room. But each 7 has a
// bin for itself, and beside it goes one 4.
TEST(BinPacking, PricesFoundOnTheSlopeProveWhatSizesAndCountsDoNot) {
  Instance instance{.need = {7, 4}, .parts = {6, 7}};
  instance.room.assign(6, 12);
  BinPacking packing;
  packing.Start(instance.Question());
  EXPECT_TRUE(packing.refuted());
  instance.parts[1] = 6;
  packing.Start(instance.Question());
  EXPECT_EQ(packing.Solve(kEnough), SearchOutcome::kFound);
}

TEST(FailedStates, RemembersRowsAndNothingElse) {
  std::mt19937_64 random(4);
  FailedStates states;
  for (int round = 0; round < 3; ++round) {
    states.Start(3);
    std::map<std::vector<uint32_t>, bool> added;
    for (int i = 0; i < 2'000; ++i) {
      std::vector<uint32_t> row;
      for (int k = 0; k < 3; ++k) row.push_back(random() % 12);
      EXPECT_EQ(states.Contains(row), added[row]);
      if (random() % 2 == 0) continue;
      states.Add(row);
      added[row] = true;
    }
  }
}

}  // namespace
}  // namespace muster::solver
