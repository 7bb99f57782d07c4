// Boxes of a torus: their cost in closed form, and free ones, through a table
// of sums.
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"

namespace muster {

bool Closes(const Fabric::Rep& rep, const Triple& size, size_t axis) {
  return size[axis] == rep.dims[axis] && size[axis] >= 3;
}

// A box is a product of paths and rings. With the axes in the order of their
// length per link cut, cutting the axes one after the other until one is even
// is the least cut: M. C. Azizoglu and O. Egecioglu, "The bisection width and
// the isoperimetric number of arrays" (2004) and, for rings, "The isoperimetric
// number and the bisection width of generalized cylinders" (2003). Where two
// axes are equally long the order matters, so all orders are tried; a test
// compares with every split of small boxes.
int64_t BoxBisection(const Fabric::Rep& rep, const Triple& size) {
  if (Volume(size) < 2) return 0;
  int64_t least = 0;
  Triple axes = {0, 1, 2};
  do {
    int64_t cut = 0, rest = Volume(size);
    for (size_t axis : axes) {
      if (size[axis] == 1) continue;
      rest /= size[axis];
      cut += rest * (Closes(rep, size, axis) ? 2 : 1);
      if (size[axis] % 2 == 0) break;
    }
    if (least == 0 || cut < least) least = cut;
  } while (std::next_permutation(axes.begin(), axes.end()));
  return least * std::get<Torus3d>(rep.description).bandwidth;
}

std::optional<TorusBox> AsBox(const Fabric::Rep& rep,
                              std::span<const uint32_t> set) {
  if (!rep.is_torus() || set.empty()) return std::nullopt;
  TorusBox box;
  for (size_t axis = 0; axis < 3; ++axis) {
    const uint32_t length = rep.dims[axis];
    std::vector<uint8_t> used(length);
    for (uint32_t node : set) used[rep.Place(node)[axis]] = 1;
    uint32_t starts = 0;
    for (uint32_t i = 0; i < length; ++i) {
      box.size[axis] += used[i];
      if (used[i] && !used[(i + length - 1) % length]) {
        box.at[axis] = i;
        ++starts;
      }
    }
    if (starts > 1) return std::nullopt;
  }
  if (Volume(box.size) != static_cast<int64_t>(set.size())) return std::nullopt;
  return box;
}

namespace {

uint32_t BoxDiameter(const Fabric::Rep& rep, const Triple& size) {
  uint32_t sum = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    sum += std::min(size[axis] - 1, rep.dims[axis] / 2);
  }
  return sum;
}

int64_t BoxHopSum(const Fabric::Rep& rep, const Triple& size) {
  int64_t sum = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t lines = Volume(size) / size[axis];
    for (int64_t way = 1; way < size[axis]; ++way) {
      sum += std::min<int64_t>(way, rep.dims[axis] - way) * (size[axis] - way) *
             lines * lines;
    }
  }
  return sum;
}

// Free cells in any box, wrapped or not, from eight numbers: sums over all
// boxes that begin at the origin (F. C. Crow, "Summed-area tables for texture
// mapping", 1984, in three dimensions). The torus is repeated beyond its edges
// as far as boxes of size `reach` get. Sums may wrap round in Sum, as long as
// no box has that many cells: a narrow Sum is added up in larger strides.
template <class Sum>
class SumTable {
 public:
  SumTable(const Fabric::Rep& rep, std::span<const uint8_t> free,
           const Triple& reach)
      : dims_(rep.dims) {
    Triple end{};  // Of the repeated torus.
    for (size_t axis = 0; axis < 3; ++axis) {
      end[axis] = dims_[axis] + std::min(reach[axis], dims_[axis]);
    }
    row_ = end[2] + 1;
    plane_ = row_ * (end[1] + 1);
    rep.Charge(plane_ * end[0], kCellNs);
    sums_.assign(plane_ * (end[0] + 1), 0);
    for (uint32_t x = 0; x < end[0]; ++x) {
      for (uint32_t y = 0; y < end[1]; ++y) {
        const uint32_t* nodes =
            &rep.node_at[(x % dims_[0] * dims_[1] + y % dims_[1]) * dims_[2]];
        Sum* out = &sums_[(x + 1) * plane_ + (y + 1) * row_ + 1];
        const Sum *left = out - plane_, *above = out - row_;
        const Sum* corner = left - row_;
        Sum line = 0;
        for (uint32_t z = 0, cell = 0; z < end[2]; ++z) {
          line = static_cast<Sum>(line + (free[nodes[cell]] != 0));
          if (++cell == dims_[2]) cell = 0;
          out[z] = static_cast<Sum>(line + left[z] + above[z] - corner[z]);
        }
      }
    }
  }

  // Calls visit(at) for each place of a box without a cell that is taken.
  template <class Visit>
  void EachFreeBox(const Triple& size, Visit&& visit) const {
    const auto volume = static_cast<Sum>(size[0] * size[1] * size[2]);
    for (uint32_t x = 0; x < dims_[0]; ++x) {
      for (uint32_t y = 0; y < dims_[1]; ++y) {
        const Corners at(*this, x, y, size);
        if (at.Count(0, dims_[2]) < volume) continue;  // Not in all of the row.
        Sum any = 0;  // No branch: the compiler takes several at once.
        for (uint32_t z = 0; z < dims_[2]; ++z) {
          any |= static_cast<Sum>(at.Count(z, size[2]) == volume);
        }
        for (uint32_t z = 0; any && z < dims_[2]; ++z) {
          if (at.Count(z, size[2]) == volume) visit(Triple{x, y, z});
        }
      }
    }
  }

  // Free cells in a box.
  Sum CountIn(const Triple& at, const Triple& size) const {
    return Corners(*this, at[0], at[1], size).Count(at[2], size[2]);
  }

  // Free cells in the shell of one cell round a free box.
  uint32_t Around(Triple at, Triple size) const {
    const uint32_t volume = size[0] * size[1] * size[2];
    for (size_t axis = 0; axis < 3; ++axis) {
      at[axis] = at[axis] == 0 ? dims_[axis] - 1 : at[axis] - 1;
      size[axis] = std::min(size[axis] + 2, dims_[axis]);
    }
    return CountIn(at, size) - volume;
  }

 private:
  // The four lines of the table that a box's corners lie on.
  struct Corners {
    Corners(const SumTable& table, uint32_t x, uint32_t y, const Triple& size)
        : near_near(&table.sums_[x * table.plane_ + y * table.row_]),
          near_far(near_near + size[1] * table.row_),
          far_near(near_near + size[0] * table.plane_),
          far_far(far_near + size[1] * table.row_) {}
    Sum Count(uint32_t z, uint32_t depth) const {
      return static_cast<Sum>(Column(z + depth) - Column(z));
    }
    Sum Column(uint32_t z) const {
      return static_cast<Sum>(far_far[z] - far_near[z] - near_far[z] +
                              near_near[z]);
    }
    const Sum *near_near, *near_far, *far_near, *far_far;
  };

  Triple dims_;
  size_t row_ = 0, plane_ = 0;
  std::vector<Sum> sums_{};
};

// The best place of the best of the shapes that has any. `fixed` nodes, which
// are free as well, are in it; empty: there are none.
template <class Sum>
FabricPlacement BestBoxBy(const Fabric::Rep& rep, std::span<const uint8_t> free,
                          std::span<const uint8_t> fixed,
                          const std::vector<Triple>& shapes) {
  FabricPlacement best;
  rep.nanos = 0;
  if (shapes.empty()) return best;
  Triple reach{};
  absl::btree_map<std::tuple<int64_t, uint32_t, int64_t>, std::vector<Triple>>
      by_rank;
  for (const Triple& size : shapes) {
    by_rank[{-BoxBisection(rep, size), BoxDiameter(rep, size),
             BoxHopSum(rep, size)}]
        .push_back(size);
    for (size_t i = 0; i < 3; ++i) reach[i] = std::max(reach[i], size[i] + 2);
  }
  const SumTable<Sum> table(rep, free, reach);
  std::optional<SumTable<Sum>> fixed_table;
  if (!fixed.empty()) fixed_table.emplace(rep, fixed, reach);
  const auto all_held =
      static_cast<Sum>(absl::c_count_if(fixed, [](uint8_t h) { return h; }));
  uint32_t least_around = 0;
  for (const auto& [rank, sizes] : by_rank) {
    for (const Triple& size : sizes) {
      rep.Charge(rep.nodes, kLookNs);
      table.EachFreeBox(size, [&](const Triple& at) {
        if (fixed_table && fixed_table->CountIn(at, size) < all_held) return;
        const uint32_t around = table.Around(at, size);
        if (!best.box ||
            std::tie(around, at, size) <
                std::tie(least_around, best.box->at, best.box->size)) {
          least_around = around;
          best.box = TorusBox{at, size};
        }
      });
    }
    if (best.box) break;
  }
  if (best.box) {
    best.nodes = BoxRing(rep, *best.box);
    best.hop_sum = BoxHopSum(rep, best.box->size);
  }
  best.nanos = rep.nanos;
  return best;
}

FabricPlacement BestBox(const Fabric::Rep& rep, std::span<const uint8_t> free,
                        std::span<const uint8_t> fixed,
                        const std::vector<Triple>& shapes) {
  constexpr uint32_t kNarrow = std::numeric_limits<uint16_t>::max();
  return rep.nodes <= kNarrow ? BestBoxBy<uint16_t>(rep, free, fixed, shapes)
                              : BestBoxBy<uint32_t>(rep, free, fixed, shapes);
}

absl::Status NoTorus() { return NotNow("boxes are asked of a torus only"); }

}  // namespace

absl::StatusOr<FabricPlacement> Fabric::FindBox(
    std::span<const uint8_t> free, uint32_t count,
    std::span<const uint8_t> fixed) const {
  MUSTER_RETURN_IF_ERROR(rep_->Check(free, count));
  if (!fixed.empty()) MUSTER_RETURN_IF_ERROR(rep_->Check(fixed, count));
  if (!rep_->is_torus()) return NoTorus();
  const Triple& dims = rep_->dims;
  std::vector<Triple> shapes;
  for (uint32_t x = 1; x <= dims[0] && x <= count; ++x) {
    if (count % x != 0) continue;
    for (uint32_t y = 1; y <= dims[1] && y <= count / x; ++y) {
      const uint32_t z = count / x / y;
      if (count / x % y != 0 || z > dims[2]) continue;
      shapes.push_back({x, y, z});
    }
  }
  if (fixed.empty()) return BestBox(*rep_, free, {}, shapes);
  std::vector<uint8_t> all(free.begin(), free.end());
  for (size_t n = 0; n < all.size(); ++n) all[n] |= fixed[n];
  return BestBox(*rep_, all, fixed, shapes);
}

absl::StatusOr<FabricPlacement> Fabric::FindBox(
    std::span<const uint8_t> free, std::array<uint32_t, 3> size) const {
  MUSTER_RETURN_IF_ERROR(rep_->Check(free, 1));
  if (!rep_->is_torus()) return NoTorus();
  if (std::find(size.begin(), size.end(), 0u) != size.end()) {
    return Invalid("a box of ", size[0], " x ", size[1], " x ", size[2]);
  }
  std::sort(size.begin(), size.end());
  std::vector<Triple> shapes;
  do {
    const Triple& dims = rep_->dims;
    if (size[0] <= dims[0] && size[1] <= dims[1] && size[2] <= dims[2]) {
      shapes.push_back(size);
    }
  } while (std::next_permutation(size.begin(), size.end()));
  return BestBox(*rep_, free, {}, shapes);
}

}  // namespace muster
