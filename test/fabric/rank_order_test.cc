// Rings through a placement, against the best ring there is.
#include <algorithm>
#include <limits>

#include "test/fabric/fabrics.h"

namespace muster {
namespace {

// The shortest ring through all of `set` (M. Held and R. M. Karp, 1962).
int64_t BestRing(const Fabric& fabric, const std::vector<uint32_t>& set) {
  const size_t n = set.size();
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  std::vector<std::vector<int64_t>> way(size_t{1} << n,
                                        std::vector<int64_t>(n, kFar));
  way[1][0] = 0;
  for (size_t seen = 1; seen < way.size(); seen += 2) {
    for (size_t last = 0; last < n; ++last) {
      if (way[seen][last] == kFar) continue;
      for (size_t next = 1; next < n; ++next) {
        if (seen >> next & 1) continue;
        int64_t& to = way[seen | size_t{1} << next][next];
        to = std::min(to, way[seen][last] + fabric.Hops(set[last], set[next]));
      }
    }
  }
  int64_t best = kFar;
  for (size_t last = 0; last < n; ++last) {
    best = std::min(best, way.back()[last] + fabric.Hops(set[last], set[0]));
  }
  return best;
}

void ExpectSame(std::vector<uint32_t> a, std::vector<uint32_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  EXPECT_EQ(a, b);
}

// Visits every box shape of every torus with axes up to `axis`.
template <class Visit>
void EachBox(uint32_t axis, Visit&& visit) {
  for (uint32_t code = 0; code < axis * axis * axis; ++code) {
    const std::array<uint32_t, 3> dims = {
        code / axis / axis + 1, code / axis % axis + 1, code % axis + 1};
    if (dims[0] < dims[1] || dims[1] < dims[2]) continue;
    const Fabric torus = MakeTorus(dims[0], dims[1], dims[2]);
    const std::vector<uint8_t> all(torus.nodes(), 1);
    for (uint32_t cell = 0; cell < torus.nodes(); ++cell) {
      const std::array<uint32_t, 3> size = {cell / dims[2] / dims[1] + 1,
                                            cell / dims[2] % dims[1] + 1,
                                            cell % dims[2] + 1};
      visit(torus, *torus.FindBox(all, size));
    }
  }
}

TEST(RankOrderTest, BoxesOfATorusHaveTheShortestRing) {
  int boxes = 0;
  EachBox(5, [&](const Fabric& torus, const FabricPlacement& placed) {
    const std::vector<uint32_t>& ring = placed.nodes;
    if (ring.size() < 2 || ring.size() > 12) return;
    ASSERT_EQ(torus.RingHops(ring), BestRing(torus, ring)) << torus.ToText();
    ++boxes;
  });
  EXPECT_GT(boxes, 200);
}

TEST(RankOrderTest, RanksOfABoxAreNeighbours) {
  EachBox(7, [&](const Fabric& torus, const FabricPlacement& placed) {
    const std::vector<uint32_t>& ring = placed.nodes;
    ExpectSame(*torus.RingThrough(ring), ring);
    if (ring.size() < 2) return;
    int far = 0;
    for (size_t i = 0; i + 1 < ring.size(); ++i) {
      far += torus.Hops(ring[i], ring[i + 1]) > 1;
    }
    // A step of two, where the box is odd and closes nowhere.
    ASSERT_LE(far, static_cast<int>(ring.size() % 2)) << torus.ToText();
    const auto& size = placed.box->size;
    if (*std::max_element(size.begin(), size.end()) == ring.size()) return;
    ASSERT_LE(torus.RingHops(ring),
              static_cast<int64_t>(ring.size() + ring.size() % 2));
  });
}

TEST(RankOrderTest, RailsGoUnitByUnitWhichIsTheShortestRing) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Dice dice(seed);
    const Fabric rails = MakeRails(2 + dice.Below(4), 2 + dice.Below(5));
    std::vector<uint32_t> set;
    for (uint32_t node = 0; node < rails.nodes() && set.size() < 10; ++node) {
      if (dice.OneIn(2)) set.push_back(node);
    }
    if (set.size() < 2) continue;
    std::reverse(set.begin(), set.end());
    const std::vector<uint32_t> ring = *rails.RingThrough(set);
    ExpectSame(ring, set);
    ASSERT_EQ(rails.RingHops(ring), BestRing(rails, set)) << "seed " << seed;
    ASSERT_TRUE(std::is_sorted(ring.begin(), ring.end())) << "seed " << seed;
  }
}

TEST(RankOrderTest, ElsewhereRingsAreNearTheShortest) {
  int64_t hops = 0, best = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Dice dice(seed);
    const Fabric fabric = seed % 2 == 0 ? MakeDragonfly(4, 3, 2)
                                        : RandomGraph(dice, 16, dice.Below(12));
    std::vector<uint32_t> set;
    for (uint32_t node = 0; node < fabric.nodes() && set.size() < 10; ++node) {
      if (dice.OneIn(2)) set.push_back(node);
    }
    if (set.size() < 2) continue;
    const std::vector<uint32_t> ring = *fabric.RingThrough(set);
    ExpectSame(ring, set);
    const int64_t shortest = BestRing(fabric, set);
    ASSERT_GE(fabric.RingHops(ring), shortest);
    hops += fabric.RingHops(ring);
    best += shortest;
  }
  RecordProperty("hops", static_cast<int>(hops));
  RecordProperty("best", static_cast<int>(best));
  EXPECT_LE(hops * 100, best * 105);
}

}  // namespace
}  // namespace muster
