#include <algorithm>

#include "fuzz/targets.h"
#include "test/property/world.h"

namespace muster::fuzz {
namespace {

constexpr size_t kMaxSteps = 40;

uint64_t Number(std::string_view bytes) {
  uint64_t n = 0;
  for (const char c : bytes) n = n << 8 | static_cast<unsigned char>(c);
  return n;
}

}  // namespace

std::string History(std::string_view input) {
  const uint64_t seed = Number(input.substr(0, 8));
  input.remove_prefix(std::min<size_t>(8, input.size()));
  World world(seed, false);
  for (size_t i = 0; i < kMaxSteps && input.size() >= 3; ++i) {
    world.Step({static_cast<OpKind>(Number(input.substr(0, 1)) % kOpKinds),
                Number(input.substr(1, 2))});
    input.remove_prefix(3);
  }
  world.Finish();
  return world.failure();
}

}  // namespace muster::fuzz
