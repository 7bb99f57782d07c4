// Boxes of a torus, against all boxes one by one.
#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "test/fabric/fabrics.h"

namespace muster {

void PrintTo(const TorusBox& box, std::ostream* out) {
  *out << ::testing::PrintToString(box.size) << " at "
       << ::testing::PrintToString(box.at);
}

namespace {

using Size = std::array<uint32_t, 3>;

std::vector<uint32_t> Cells(const Size& dims, const TorusBox& box) {
  std::vector<uint32_t> cells;
  for (uint32_t i = 0; i < box.size[0]; ++i) {
    for (uint32_t j = 0; j < box.size[1]; ++j) {
      for (uint32_t k = 0; k < box.size[2]; ++k) {
        const uint32_t x = (box.at[0] + i) % dims[0];
        const uint32_t y = (box.at[1] + j) % dims[1];
        const uint32_t z = (box.at[2] + k) % dims[2];
        cells.push_back((x * dims[1] + y) * dims[2] + z);
      }
    }
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

// Free cells next to the box (faces, edges and corners), each counted once.
int FreeAround(const Size& dims, const TorusBox& box,
               const std::vector<uint8_t>& free) {
  std::set<uint32_t> around;
  const std::vector<uint32_t> inside = Cells(dims, box);
  for (uint32_t cell : inside) {
    const uint32_t z = cell % dims[2], y = cell / dims[2] % dims[1];
    const uint32_t x = cell / dims[2] / dims[1];
    for (uint32_t move = 0; move < 27; ++move) {
      const uint32_t nx = (x + dims[0] + move / 9 - 1) % dims[0];
      const uint32_t ny = (y + dims[1] + move / 3 % 3 - 1) % dims[1];
      const uint32_t nz = (z + dims[2] + move % 3 - 1) % dims[2];
      around.insert((nx * dims[1] + ny) * dims[2] + nz);
    }
  }
  for (uint32_t cell : inside) around.erase(cell);
  return static_cast<int>(std::count_if(around.begin(), around.end(),
                                        [&](uint32_t c) { return free[c]; }));
}

// The rule of FindBox, word by word, over all sizes that `wanted` accepts.
template <class Wanted>
std::optional<TorusBox> Oracle(const Fabric& fabric, const Size& dims,
                               const std::vector<uint8_t>& free,
                               Wanted&& wanted) {
  using Rank = std::tuple<int64_t, uint32_t, int64_t, int, Size, Size>;
  std::optional<std::pair<Rank, TorusBox>> best;
  TorusBox box;
  auto each = [](const Size& limit, Size& value, uint32_t from, auto&& visit) {
    for (value[0] = from; value[0] < limit[0] + from; ++value[0]) {
      for (value[1] = from; value[1] < limit[1] + from; ++value[1]) {
        for (value[2] = from; value[2] < limit[2] + from; ++value[2]) visit();
      }
    }
  };
  each(dims, box.size, 1, [&] {
    if (!wanted(box.size)) return;
    each(dims, box.at, 0, [&] {
      const std::vector<uint32_t> cells = Cells(dims, box);
      for (uint32_t cell : cells) {
        if (!free[cell]) return;
      }
      const absl::StatusOr<FabricCost> cost = fabric.Cost(cells);
      const Rank rank(-cost->bisection, cost->diameter, cost->hop_sum,
                      FreeAround(dims, box, free), box.at, box.size);
      if (!best || rank < best->first) best.emplace(rank, box);
    });
  });
  if (!best) return std::nullopt;
  return best->second;
}

TEST(FindBoxTest, AnEmptyTorusGivesACubeAtItsOrigin) {
  const Fabric torus = MakeTorus(6, 6, 6);
  const auto found = torus.FindBox(std::vector<uint8_t>(216, 1), 8);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->box, (TorusBox{{0, 0, 0}, {2, 2, 2}}));
  EXPECT_EQ(found->nodes.size(), 8u);
  EXPECT_EQ(found->hop_sum, 12 * 1 + 12 * 2 + 4 * 3);
}

TEST(FindBoxTest, OfEqualShapesTheOneWithTheLeastAroundItIsTaken) {
  // 1 x 2 x 4 closes along its last axis: cut, diameter and hops are those of
  // the cube, but it has no free node before and behind it.
  const Fabric torus = MakeTorus(4, 4, 4);
  const auto found = torus.FindBox(std::vector<uint8_t>(64, 1), 8);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->box, (TorusBox{{0, 0, 0}, {1, 2, 4}}));
}

TEST(FindBoxTest, ABoxReachesOverTheEdge) {
  const Fabric torus = MakeTorus(4, 1, 1);
  const auto found = torus.FindBox(std::vector<uint8_t>{1, 0, 0, 1}, 2);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->box, (TorusBox{{3, 0, 0}, {2, 1, 1}}));
  EXPECT_EQ(found->nodes, (std::vector<uint32_t>{3, 0}));
}

TEST(FindBoxTest, TheNarrowestGapIsFilledFirst) {
  const Fabric torus = MakeTorus(8, 1, 1);
  // Two free at 1, four free at 4.
  const auto found =
      torus.FindBox(std::vector<uint8_t>{0, 1, 1, 0, 1, 1, 1, 1}, 2);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->box, (TorusBox{{1, 0, 0}, {2, 1, 1}}));
}

TEST(FindBoxTest, TheRingAllTheWayRoundHasMoreBandwidth) {
  const Fabric torus = MakeTorus(4, 8, 8);
  const auto found = torus.FindBox(std::vector<uint8_t>(256, 1), 16);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->box->size,
            (Size{4, 2, 2}));  // Cut at 8 links; 2 x 2 x 4 at 4.
}

TEST(FindBoxTest, MistakesAreToldAndNoPlaceIsNoMistake) {
  const Fabric torus = MakeTorus(2, 2, 2);
  const std::vector<uint8_t> all(8, 1), none(8, 0);
  EXPECT_EQ(torus.FindBox(none, 1)->nodes.size(), 0u);
  EXPECT_EQ(torus.FindBox(all, 7)->nodes.size(), 0u);
  EXPECT_EQ(torus.FindBox(all, Size{3, 1, 1})->nodes.size(), 0u);
  EXPECT_EQ(torus.FindBox(all, Size{1u << 31, 2, 2})->nodes.size(), 0u);
  EXPECT_EQ(torus.FindBox(all, 4'000'000'000u)->nodes.size(), 0u);
  EXPECT_EQ(torus.FindBox(all, Size{0, 1, 1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(torus.FindBox(all, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(torus.FindBox(std::vector<uint8_t>(7, 1), 1).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      MakeRails(2, 2).FindBox(std::vector<uint8_t>(4, 1), 1).status().code(),
      absl::StatusCode::kFailedPrecondition);
}

TEST(FindBoxTest, ThousandsOfStatesAgreeWithAllBoxesOneByOne) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Dice dice(seed);
    const Size dims = {1 + dice.Below(5), 1 + dice.Below(4), 1 + dice.Below(4)};
    const uint32_t nodes = dims[0] * dims[1] * dims[2];
    const Fabric torus =
        MakeTorus(dims[0], dims[1], dims[2], 1 + dice.Below(9));
    const auto free = SomeFree(dice, nodes, 2 + dice.Below(9), !dice.OneIn(4));
    const uint32_t count = 1 + dice.Below(std::min(nodes, 12u));
    const auto answer = torus.FindBox(free, count);
    ASSERT_TRUE(answer.ok());
    const auto oracle = Oracle(torus, dims, free, [&](const Size& size) {
      return size[0] * size[1] * size[2] == count;
    });
    ASSERT_EQ(answer->box, oracle) << "seed " << seed;
    Size shape = {1 + dice.Below(3), 1 + dice.Below(3), 1 + dice.Below(2)};
    const auto shaped = torus.FindBox(free, shape);
    ASSERT_TRUE(shaped.ok());
    std::sort(shape.begin(), shape.end());
    ASSERT_EQ(shaped->box, Oracle(torus, dims, free,
                                  [&](Size size) {
                                    std::sort(size.begin(), size.end());
                                    return size == shape;
                                  }))
        << "seed " << seed;
    if (!oracle) continue;
    ++found;
    std::vector<uint32_t> sorted = answer->nodes;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, Cells(dims, *oracle)) << "seed " << seed;
    ASSERT_EQ(answer->hop_sum, PairHops(torus, sorted)) << "seed " << seed;
  }
  EXPECT_GT(found, 1000);
  EXPECT_LT(found, 2900);
}

TEST(FindBoxTest, PositionsFollowTheDescriptionNotTheKeys) {
  std::vector<std::string> keys = Keys(27);
  std::reverse(keys.begin(), keys.end());
  const Fabric torus = Made(Torus3d{3, 3, 3, 1, keys});
  std::vector<uint8_t> free(27, 0);
  for (uint32_t cell : {0u, 1u}) free[torus.Find(keys[cell])] = 1;
  const auto found = torus.FindBox(free, 2);
  EXPECT_EQ(found->box, (TorusBox{{0, 0, 0}, {1, 1, 2}}));
}

}  // namespace
}  // namespace muster
