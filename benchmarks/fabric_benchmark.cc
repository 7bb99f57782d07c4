// Questions to fabrics: boxes of a 16 x 16 x 16 torus, choices on the others.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "muster/fabric/fabric.h"
#include "test/property/dice.h"

namespace muster {
namespace {

std::vector<std::string> Keys(uint32_t count) {
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < count; ++i) {
    keys.push_back("node-" + std::to_string(100000 + i));
  }
  return keys;
}

Fabric Made(FabricDescription description) {
  absl::StatusOr<Fabric> fabric = Fabric::Make(std::move(description));
  if (!fabric.ok()) std::abort();
  return *std::move(fabric);
}

// Of the nodes, `percent` are free: here and there.
std::vector<uint8_t> Scattered(uint32_t nodes, uint32_t percent) {
  Dice dice(1);
  std::vector<uint8_t> free(nodes);
  for (uint8_t& flag : free) flag = dice.Below(100) < percent;
  return free;
}

// All but the nodes of boxes of 64 that cover about half of the torus.
std::vector<uint8_t> HalfInBoxes(const Fabric& torus) {
  Dice dice(1);
  std::vector<uint8_t> free(torus.nodes(), 1);
  for (int i = 0; i < 32; ++i) {
    const auto placed = torus.FindBox(free, i % 2 == 0 ? 64 : 96);
    for (uint32_t node : placed->nodes) free[node] = dice.OneIn(8);
  }
  return free;
}

template <class Question>
void Measure(benchmark::State& state, const Question& ask) {
  size_t found = 0;
  for (auto _ : state) {
    const auto placed = ask();
    benchmark::DoNotOptimize(found = placed->nodes.size());
  }
  state.counters["found"] = static_cast<double>(found);
}

void Ask(benchmark::State& state, const Fabric& fabric,
         const std::vector<uint8_t>& free, uint32_t count) {
  Measure(state, [&] { return fabric.Select(free, count); });
}

void AskBox(benchmark::State& state, const Fabric& torus,
            const std::vector<uint8_t>& free, uint32_t count) {
  Measure(state, [&] { return torus.FindBox(free, count); });
}

const Fabric& Torus16() {
  static const Fabric& torus =
      *new Fabric(Made(Torus3d{16, 16, 16, 1, Keys(4096)}));
  return torus;
}

void BM_BoxEmptyTorus(benchmark::State& state) {
  AskBox(state, Torus16(), std::vector<uint8_t>(4096, 1),
         static_cast<uint32_t>(state.range(0)));
}
BENCHMARK(BM_BoxEmptyTorus)->Arg(8)->Arg(64)->Arg(512);

void BM_BoxHalfInBoxes(benchmark::State& state) {
  AskBox(state, Torus16(), HalfInBoxes(Torus16()),
         static_cast<uint32_t>(state.range(0)));
}
BENCHMARK(BM_BoxHalfInBoxes)->Arg(8)->Arg(64)->Arg(144)->Arg(512);

// "No": every shape is looked for everywhere.
void BM_BoxNowhere(benchmark::State& state) {
  AskBox(state, Torus16(), Scattered(4096, 50),
         static_cast<uint32_t>(state.range(0)));
}
BENCHMARK(BM_BoxNowhere)->Arg(64)->Arg(144)->Arg(720);

void BM_SelectDragonfly(benchmark::State& state) {
  const Fabric fly = Made(Dragonfly{32, 16, 8, 1, 1, 1, 1, Keys(32 * 16 * 8)});
  Ask(state, fly, Scattered(fly.nodes(), 30),
      static_cast<uint32_t>(state.range(0)));
}
BENCHMARK(BM_SelectDragonfly)->Arg(16)->Arg(256);

void BM_SelectRails(benchmark::State& state) {
  const Fabric rails = Made(RailFatTree{32, 32, 8, 32, 1, 1, Keys(32 * 32)});
  Ask(state, rails, Scattered(rails.nodes(), 30),
      static_cast<uint32_t>(state.range(0)));
}
BENCHMARK(BM_SelectRails)->Arg(8)->Arg(64);

void BM_SelectAnyGraph(benchmark::State& state) {
  // A torus that does not know that it is one.
  const Fabric graph = Made(Made(Torus3d{8, 8, 8, 1, Keys(512)}).graph());
  Ask(state, graph, Scattered(512, 30), static_cast<uint32_t>(state.range(0)));
}
BENCHMARK(BM_SelectAnyGraph)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster
