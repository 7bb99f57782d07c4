#include <algorithm>

#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

constexpr size_t kMostTurned = 256;  // Nodes: a sweep looks at all pairs.

// From the first node always to the nearest one left; ties by key.
std::vector<uint32_t> NearestNext(const Fabric::Rep& rep,
                                  std::vector<uint32_t> ring) {
  std::sort(ring.begin(), ring.end());
  rep.Charge(ring.size() * ring.size(), kHopNs);
  for (size_t i = 1; i < ring.size(); ++i) {
    const auto next = std::min_element(
        ring.begin() + i, ring.end(), [&](uint32_t a, uint32_t b) {
          return std::pair(rep.Hops(ring[i - 1], a), a) <
                 std::pair(rep.Hops(ring[i - 1], b), b);
        });
    std::swap(ring[i], *next);
  }
  return ring;
}

// 2-opt: turns stretches round as long as that makes the ring shorter.
void TurnStretches(const Fabric::Rep& rep, std::vector<uint32_t>* ring) {
  const size_t n = ring->size();
  const std::vector<uint32_t>& at = *ring;
  for (bool shorter = true; shorter;) {
    shorter = false;
    rep.Charge(n * n * 2, kHopNs);
    for (size_t i = 0; i + 2 < n; ++i) {
      for (size_t j = i + 2; j < n; ++j) {
        const uint32_t after = at[(j + 1) % n];
        if (after == at[i]) continue;
        const uint64_t now =
            uint64_t{rep.Hops(at[i], at[i + 1])} + rep.Hops(at[j], after);
        const uint64_t turned =
            uint64_t{rep.Hops(at[i], at[j])} + rep.Hops(at[i + 1], after);
        if (turned >= now) continue;
        std::reverse(ring->begin() + static_cast<ptrdiff_t>(i) + 1,
                     ring->begin() + static_cast<ptrdiff_t>(j) + 1);
        shorter = true;
      }
    }
  }
}

}  // namespace

std::vector<uint32_t> RankOrderOf(const Fabric::Rep& rep,
                                  std::span<const uint32_t> set) {
  if (const std::optional<TorusBox> box = AsBox(rep, set)) {
    return BoxRing(rep, *box);
  }
  std::vector<uint32_t> ring(set.begin(), set.end());
  if (rep.homes.empty()) {
    ring = NearestNext(rep, std::move(ring));
  } else {
    std::sort(ring.begin(), ring.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(rep.homes[a], a) < std::pair(rep.homes[b], b);
    });
  }
  if (ring.size() <= kMostTurned) TurnStretches(rep, &ring);
  return ring;
}

}  // namespace muster
