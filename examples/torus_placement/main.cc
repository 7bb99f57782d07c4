// Places boxes on a 4 x 4 x 4 torus and prints it slice by slice: a letter for
// each gang, a dot for each free node.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "muster/fabric/fabric.h"

namespace {

constexpr uint32_t kSide = 4;

void PrintSlices(const std::string& owner) {
  for (uint32_t y = 0; y < kSide; ++y) {
    for (uint32_t x = 0; x < kSide; ++x) {
      const uint32_t line = (x * kSide + y) * kSide;
      std::printf("  %s", owner.substr(line, kSide).c_str());
    }
    std::printf("\n");
  }
}

}  // namespace

int main() {
  muster::Torus3d torus{kSide, kSide, kSide, 100, {}};
  for (uint32_t cell = 0; cell < kSide * kSide * kSide; ++cell) {
    torus.nodes.push_back("node-" + std::to_string(100 + cell));
  }
  absl::StatusOr<muster::Fabric> fabric = muster::Fabric::Make(torus);
  if (!fabric.ok()) {
    std::printf("%s\n", std::string(fabric.status().message()).c_str());
    return 1;
  }
  // The keys are in the order of the cells: so node numbers are cell numbers.
  std::vector<uint8_t> free(fabric->nodes(), 1);
  std::string owner(fabric->nodes(), '.');
  char name = 'A';
  for (uint32_t count : {8, 12, 16, 6, 16, 4, 8}) {
    const auto placed = fabric->FindBox(free, count);
    if (!placed.ok() || !placed->box) {
      std::printf("%u nodes: no box is free\n\n", count);
      continue;
    }
    for (uint32_t node : placed->nodes) {
      free[node] = 0;
      owner[node] = name;
    }
    const auto& size = placed->box->size;
    const auto cost = fabric->Cost(placed->nodes);
    std::printf("%c: %u x %u x %u, bisection %lld, ring of %lld hops\n", name++,
                size[0], size[1], size[2],
                static_cast<long long>(cost->bisection),
                static_cast<long long>(fabric->RingHops(placed->nodes)));
    PrintSlices(owner);
    std::printf("\n");
  }
  return 0;
}
