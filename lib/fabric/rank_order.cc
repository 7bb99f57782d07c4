// Rings of nodes: the best ones of boxes, good ones of anything else.
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
    const auto next = std::ranges::min_element(
        ring.begin() + i, ring.end(), {},
        [&](uint32_t v) { return std::pair(rep.Hops(ring[i - 1], v), v); });
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

// The box as a grid of p rows and q columns: the rows are one axis, the columns
// a path to and fro through the other two, so neighbours are neighbours.
class Ring {
 public:
  Ring(const Fabric::Rep& rep, const TorusBox& box, size_t axis)
      : rep_(rep),
        box_(box),
        rows_(axis),
        wide_(axis == 0 ? 1 : 0),
        deep_(axis == 2 ? 1 : 2),
        p_(box.size[axis]),
        q_(static_cast<uint32_t>(Volume(box.size) / p_)) {
    nodes_.reserve(size_t{p_} * q_);
  }

  // Row 0 is the way back; the other rows are gone through column by column.
  // A ring if there are 2 rows, or q is even, or the rows close.
  std::vector<uint32_t> ThereAndBack() && {
    Add(0, 0);
    for (uint32_t c = 0; c < q_; ++c) {
      for (uint32_t r = 1; r < p_; ++r) Add(c % 2 == 0 ? r : p_ - r, c);
    }
    for (uint32_t c = q_ - 1; c > 0; --c) Add(0, c);
    return std::move(nodes_);
  }

  // p and q odd, nothing closes: cells are black and white as on a chessboard,
  // so a ring has one step of 2. Column 0 is the way back over the first p - 1
  // rows; the last row is visited in pairs from the row before it.
  std::vector<uint32_t> Odd() && {
    Add(0, 0);
    for (uint32_t r = 0; r + 2 < p_; ++r) {
      for (uint32_t c = 1; c < q_; ++c) Add(r, r % 2 == 0 ? c : q_ - c);
    }
    for (uint32_t c = q_ - 1; c > 0; c -= 2) {
      Add(p_ - 2, c);
      Add(p_ - 1, c);
      Add(p_ - 1, c - 1);
      Add(p_ - 2, c - 1);
    }
    Add(p_ - 1, 0);
    for (uint32_t r = p_ - 2; r > 0; --r) Add(r, 0);
    return std::move(nodes_);
  }

 private:
  void Add(uint32_t row, uint32_t column) {
    Triple at{};
    const uint32_t depth = box_.size[deep_];
    at[rows_] = row;
    at[wide_] = column / depth;
    at[deep_] = column % depth;
    if (at[wide_] % 2 == 1) at[deep_] = depth - 1 - at[deep_];
    for (size_t axis = 0; axis < 3; ++axis) {
      at[axis] += box_.at[axis];
      if (at[axis] >= rep_.dims[axis]) at[axis] -= rep_.dims[axis];
    }
    nodes_.push_back(rep_.NodeAt(at));
  }

  const Fabric::Rep& rep_;
  const TorusBox& box_;
  size_t rows_, wide_, deep_;
  uint32_t p_, q_;
  std::vector<uint32_t> nodes_{};
};

}  // namespace

std::vector<uint32_t> BoxRing(const Fabric::Rep& rep, const TorusBox& box) {
  const Triple& size = box.size;
  size_t longest = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t columns = Volume(size) / size[axis];
    if (size[axis] >= 2 &&
        (Closes(rep, size, axis) || size[axis] == 2 || columns % 2 == 0)) {
      return Ring(rep, box, axis).ThereAndBack();
    }
    if (size[axis] > size[longest]) longest = axis;
  }
  // One axis alone: there in steps of 1, and back as it can be.
  if (Volume(size) == size[longest]) {
    return Ring(rep, box, longest).ThereAndBack();
  }
  return Ring(rep, box, longest).Odd();
}

std::vector<uint32_t> RingOf(const Fabric::Rep& rep,
                             std::span<const uint32_t> set) {
  if (const std::optional<TorusBox> box = AsBox(rep, set)) {
    return BoxRing(rep, *box);
  }
  std::vector<uint32_t> ring(set.begin(), set.end());
  if (rep.has_routers()) {
    std::ranges::sort(ring, {}, [&](uint32_t node) {
      return std::pair(rep.Router(node), node);
    });
  } else {
    ring = NearestNext(rep, std::move(ring));
  }
  if (ring.size() <= kMostTurned) TurnStretches(rep, &ring);
  return ring;
}

}  // namespace muster
