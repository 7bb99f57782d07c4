// Cores by a table, and by an oracle that tries all choices.
#include "adapters/local/controller/core_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <random>
#include <tuple>

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Cpus = std::vector<uint32_t>;

// Nodes 0, 1, ... of so many cores, each of so many threads, numbered as they
// lie.
CpuPool Pool(const std::vector<size_t>& nodes, size_t threads,
             CpuUnit unit = CpuUnit::kCore) {
  CpuPool pool{.unit = unit};
  uint32_t next = 0;
  for (size_t node = 0; node < nodes.size(); ++node) {
    for (size_t core = 0; core < nodes[node]; ++core) {
      CpuCore& added = pool.cores.emplace_back();
      added.numa = static_cast<int32_t>(node);
      for (size_t t = 0; t < threads; ++t) added.threads.push_back(next++);
    }
  }
  return pool;
}

TEST(CoreAllocatorTest, ACoreComesWithAllOfItsThreads) {
  CoreAllocator cores(Pool({2}, 2));
  EXPECT_THAT(cores.all(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(cores.Take(1, {}), ElementsAre(0, 1));
  EXPECT_THAT(cores.Free(), ElementsAre(2, 3));
  EXPECT_THAT(cores.Take(2, {}), IsEmpty());
  EXPECT_THAT(cores.Take(1, {}), ElementsAre(2, 3));
  EXPECT_THAT(cores.Free(), IsEmpty());
  cores.Return(Cpus{0, 1});
  EXPECT_THAT(cores.Take(1, {}), ElementsAre(0, 1));
}

TEST(CoreAllocatorTest, WhereThreadsCountCoresArePackedFull) {
  CoreAllocator cores(Pool({3}, 2, CpuUnit::kThread));
  EXPECT_THAT(cores.Take(1, {}), ElementsAre(0));
  EXPECT_THAT(cores.Take(2, {}), ElementsAre(2, 3)) << "a core of its own";
  EXPECT_THAT(cores.Take(1, {}), ElementsAre(1)) << "of the one in use";
  EXPECT_THAT(cores.Take(2, {}), ElementsAre(4, 5));
}

TEST(CoreAllocatorTest, ATaskGoesIntoOneNodeAndTheFullestThatHasRoom) {
  CoreAllocator cores(Pool({4, 3, 2}, 1));
  EXPECT_THAT(cores.Take(2, {}), ElementsAre(7, 8));
  EXPECT_THAT(cores.Take(2, {}), ElementsAre(4, 5));
  EXPECT_THAT(cores.Take(1, {}), ElementsAre(6));
  EXPECT_THAT(cores.Take(4, {}), ElementsAre(0, 1, 2, 3));
}

TEST(CoreAllocatorTest, ItIsNearItsGpusIfItFitsThere) {
  CoreAllocator cores(Pool({2, 4}, 1));
  const int32_t far[] = {0};
  EXPECT_THAT(cores.Take(3, far), ElementsAre(2, 3, 4))
      << "one node goes before nearness";
  EXPECT_THAT(cores.Take(1, far), ElementsAre(0));
  const int32_t other[] = {1, 7};
  EXPECT_THAT(cores.Take(1, other), ElementsAre(5));
  EXPECT_THAT(cores.Take(1, other), ElementsAre(1));
}

TEST(CoreAllocatorTest, WhatFitsIntoNoNodeHasTheNearOneAsAWhole) {
  CoreAllocator cores(Pool({3, 4, 3}, 1));
  const int32_t near[] = {2};
  EXPECT_THAT(cores.Take(5, near), ElementsAre(0, 1, 7, 8, 9));
}

TEST(CoreAllocatorTest, WhatWasHeldBeforeIsNobodyElses) {
  CoreAllocator cores(Pool({2}, 2));
  // Also where it was counted otherwise; and what is not of the pool.
  cores.Claim(Cpus{1, 17});
  EXPECT_THAT(cores.Free(), ElementsAre(0, 2, 3));
  EXPECT_THAT(cores.Take(1, {}), ElementsAre(2, 3));
  EXPECT_THAT(cores.Take(1, {}), IsEmpty());
  cores.Return(Cpus{1, 17});
  EXPECT_THAT(cores.Take(1, {}), ElementsAre(0, 1));
}

TEST(CoreAllocatorTest, WithoutCoresNothingIsGiven) {
  CoreAllocator cores{CpuPool()};
  EXPECT_TRUE(cores.empty());
  EXPECT_THAT(cores.Take(1, {}), IsEmpty());
  EXPECT_THAT(cores.Free(), IsEmpty());
}

// --- The oracle --------------------------------------------------------------

// What is given as a whole, and how good a choice of these is: the less, the
// better.
struct Piece {
  int32_t numa = 0;
  size_t core = 0;
  Cpus threads{};
};
// Nodes; cpus that are not near; room that stays in the node, if it is one;
// cores.
using Cost = std::tuple<size_t, size_t, size_t, size_t>;

class Oracle {
 public:
  Oracle(const CpuPool& pool, const Cpus& free, std::vector<int32_t> near)
      : near_(std::move(near)) {
    const auto is_free = [&](uint32_t t) {
      return std::ranges::binary_search(free, t);
    };
    for (size_t i = 0; i < pool.cores.size(); ++i) {
      const CpuCore& core = pool.cores[i];
      if (pool.unit == CpuUnit::kThread) {
        for (const uint32_t t : core.threads) {
          if (is_free(t)) pieces_.push_back({core.numa, i, {t}});
        }
      } else if (std::ranges::all_of(core.threads, is_free)) {
        pieces_.push_back({core.numa, i, core.threads});
      }
    }
  }
  size_t size() const { return pieces_.size(); }
  // Of the pieces whose bits are set.
  Cost CostOf(uint32_t chosen) const {
    std::map<int32_t, size_t> nodes, room;
    std::map<size_t, size_t> cores;
    size_t far = 0;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      ++room[piece.numa];
      if ((chosen >> i & 1) == 0) continue;
      ++nodes[piece.numa];
      ++cores[piece.core];
      const bool is_near =
          near_.empty() || std::ranges::find(near_, piece.numa) != near_.end();
      far += is_near ? 0 : 1;
    }
    const size_t left =
        nodes.size() == 1 ? room[nodes.begin()->first] : size_t{0};
    // Of several nodes, which of equal ones are taken is not told apart.
    return {nodes.size(), far, left, nodes.size() == 1 ? cores.size() : 0};
  }
  Cost Best(size_t count) const {
    Cost best{std::numeric_limits<size_t>::max(), 0, 0, 0};
    for (uint32_t chosen = 0; chosen < 1u << pieces_.size(); ++chosen) {
      if (static_cast<size_t>(std::popcount(chosen)) != count) continue;
      best = std::min(best, CostOf(chosen));
    }
    return best;
  }
  // Which pieces these CPUs are; nothing: they are no pieces.
  std::optional<uint32_t> Chosen(const Cpus& cpus) const {
    uint32_t chosen = 0;
    size_t threads = 0;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (!std::ranges::includes(cpus, pieces_[i].threads)) continue;
      chosen |= 1u << i;
      threads += pieces_[i].threads.size();
    }
    if (threads != cpus.size()) return std::nullopt;
    return chosen;
  }

 private:
  std::vector<Piece> pieces_;
  std::vector<int32_t> near_;
};

class Player {
 public:
  explicit Player(uint32_t seed) : random_(seed) {}

  uint32_t Below(uint32_t n) {
    return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_);
  }
  CpuPool RandomPool() {
    const bool threads = Below(2) == 0;
    std::vector<size_t> nodes(1 + Below(3));
    for (size_t& cores : nodes) cores = 1 + Below(threads ? 2 : 4);
    CpuPool pool =
        Pool(nodes, 1 + Below(2), threads ? CpuUnit::kThread : CpuUnit::kCore);
    // Numbers are in no order, as those of a second thread are behind all.
    Cpus numbers(64);
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::ranges::shuffle(numbers, random_);
    for (CpuCore& core : pool.cores) {
      for (uint32_t& thread : core.threads) thread = numbers[thread];
      std::ranges::sort(core.threads);
    }
    return pool;
  }
  std::vector<int32_t> RandomNear() {
    std::vector<int32_t> near(Below(3));
    for (int32_t& numa : near) numa = static_cast<int32_t>(Below(4));
    return near;
  }

 private:
  std::mt19937 random_;
};

TEST(CoreAllocatorTest, NoChoiceOfAllIsBetter) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Player player(seed);
    const CpuPool pool = player.RandomPool();
    CoreAllocator cores(pool), same(pool);
    std::vector<Cpus> held;
    Cpus free = cores.all();
    for (int step = 0; step < 20; ++step) {
      if (!held.empty() && player.Below(3) == 0) {
        const auto it =
            held.begin() + player.Below(static_cast<uint32_t>(held.size()));
        cores.Return(*it);
        same.Return(*it);
        free.insert(free.end(), it->begin(), it->end());
        std::ranges::sort(free);
        held.erase(it);
      }
      const size_t count = 1 + player.Below(5);
      const std::vector<int32_t> near = player.RandomNear();
      const Oracle oracle(pool, free, near);
      const Cpus taken = cores.Take(count, near);
      ASSERT_EQ(taken, same.Take(count, near));
      ASSERT_EQ(taken.empty(), oracle.size() < count);
      if (taken.empty()) continue;
      ASSERT_TRUE(std::ranges::is_sorted(taken));
      const std::optional<uint32_t> chosen = oracle.Chosen(taken);
      ASSERT_TRUE(chosen.has_value()) << "not whole, or somebody else's";
      ASSERT_EQ(std::popcount(*chosen), static_cast<int>(count));
      ASSERT_EQ(oracle.CostOf(*chosen), oracle.Best(count));
      std::erase_if(free, [&](uint32_t cpu) {
        return std::ranges::binary_search(taken, cpu);
      });
      ASSERT_EQ(cores.Free(), free);
      held.push_back(taken);
    }
  }
}

}  // namespace
}  // namespace muster::local
