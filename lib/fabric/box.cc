// Boxes of a torus: their cost in closed form, and the ring through them.
#include <algorithm>
#include <optional>

#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

int64_t Volume(const Triple& size) {
  return int64_t{size[0]} * size[1] * size[2];
}

}  // namespace

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

}  // namespace muster
