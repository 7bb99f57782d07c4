// Free boxes of a torus, through a table of sums.
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

struct Shape {
  Triple size{};
  int64_t bisection = 0, hop_sum = 0;
  uint32_t diameter = 0;

  auto Rank() const { return std::tuple(-bisection, diameter, hop_sum); }
};

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

// The best place of the best of `shapes` that has any. `held` nodes, which are
// free as well, are in it; empty: there are none.
template <class Sum>
FabricPlacement BestBoxBy(const Fabric::Rep& rep, std::span<const uint8_t> free,
                          std::span<const uint8_t> held,
                          std::vector<Shape> shapes) {
  FabricPlacement best;
  rep.nanos = 0;
  if (shapes.empty()) return best;
  Triple reach{};
  for (Shape& shape : shapes) {
    shape.bisection = BoxBisection(rep, shape.size);
    shape.diameter = BoxDiameter(rep, shape.size);
    shape.hop_sum = BoxHopSum(rep, shape.size);
    for (size_t i = 0; i < 3; ++i) {
      reach[i] = std::max(reach[i], shape.size[i] + 2);
    }
  }
  std::sort(shapes.begin(), shapes.end(), [](const Shape& a, const Shape& b) {
    return std::tuple(a.Rank(), a.size) < std::tuple(b.Rank(), b.size);
  });
  const SumTable<Sum> table(rep, free, reach);
  std::optional<SumTable<Sum>> held_table;
  if (!held.empty()) held_table.emplace(rep, held, reach);
  const auto all_held = static_cast<Sum>(
      std::count_if(held.begin(), held.end(), [](uint8_t h) { return h; }));
  uint32_t least_around = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (i > 0 && best.box && shapes[i - 1].Rank() < shapes[i].Rank()) break;
    rep.Charge(rep.nodes, kLookNs);
    table.EachFreeBox(shapes[i].size, [&](const Triple& at) {
      const TorusBox box{at, shapes[i].size};
      if (held_table && held_table->CountIn(at, box.size) < all_held) return;
      const uint32_t around = table.Around(at, box.size);
      if (!best.box ||
          std::tie(around, box.at, box.size) <
              std::tie(least_around, best.box->at, best.box->size)) {
        least_around = around;
        best.box = box;
        best.hop_sum = shapes[i].hop_sum;
      }
    });
  }
  if (best.box) best.nodes = BoxRing(rep, *best.box);
  best.nanos = rep.nanos;
  return best;
}

FabricPlacement BestBox(const Fabric::Rep& rep, std::span<const uint8_t> free,
                        std::span<const uint8_t> held,
                        std::vector<Shape> shapes) {
  constexpr uint32_t kNarrow = std::numeric_limits<uint16_t>::max();
  return rep.nodes <= kNarrow
             ? BestBoxBy<uint16_t>(rep, free, held, std::move(shapes))
             : BestBoxBy<uint32_t>(rep, free, held, std::move(shapes));
}

absl::Status NoTorus() { return NotNow("boxes are asked of a torus only"); }

}  // namespace

absl::StatusOr<FabricPlacement> Fabric::FindBox(
    std::span<const uint8_t> free, uint32_t count,
    std::span<const uint8_t> held) const {
  MUSTER_RETURN_IF_ERROR(rep_->Check(free, count));
  if (!held.empty()) MUSTER_RETURN_IF_ERROR(rep_->Check(held, count));
  if (!rep_->is_torus()) return NoTorus();
  const Triple& dims = rep_->dims;
  std::vector<Shape> shapes;
  for (uint32_t x = 1; x <= dims[0] && x <= count; ++x) {
    if (count % x != 0) continue;
    for (uint32_t y = 1; y <= dims[1] && y <= count / x; ++y) {
      const uint32_t z = count / x / y;
      if (count / x % y != 0 || z > dims[2]) continue;
      shapes.push_back({.size = {x, y, z}});
    }
  }
  if (held.empty()) return BestBox(*rep_, free, {}, std::move(shapes));
  std::vector<uint8_t> all(free.begin(), free.end());
  for (size_t n = 0; n < all.size(); ++n) all[n] |= held[n];
  return BestBox(*rep_, all, held, std::move(shapes));
}

absl::StatusOr<FabricPlacement> Fabric::FindBox(
    std::span<const uint8_t> free, std::array<uint32_t, 3> size) const {
  MUSTER_RETURN_IF_ERROR(rep_->Check(free, 1));
  if (!rep_->is_torus()) return NoTorus();
  if (std::find(size.begin(), size.end(), 0u) != size.end()) {
    return Invalid("a box of ", size[0], " x ", size[1], " x ", size[2]);
  }
  std::sort(size.begin(), size.end());
  std::vector<Shape> shapes;
  do {
    const Triple& dims = rep_->dims;
    if (size[0] <= dims[0] && size[1] <= dims[1] && size[2] <= dims[2]) {
      shapes.push_back({.size = size});
    }
  } while (std::next_permutation(size.begin(), size.end()));
  return BestBox(*rep_, free, {}, std::move(shapes));
}

}  // namespace muster
