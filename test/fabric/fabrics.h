// Fabrics that the tests share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "muster/fabric/fabric.h"
#include "test/property/dice.h"

namespace muster {

// Keys whose order is that of their numbers.
inline std::vector<std::string> Keys(uint32_t count) {
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < count; ++i) {
    keys.push_back("n" + std::to_string(10000 + i));
  }
  return keys;
}

inline Fabric Made(FabricDescription description) {
  absl::StatusOr<Fabric> fabric = Fabric::Make(std::move(description));
  EXPECT_TRUE(fabric.ok()) << fabric.status();
  return *std::move(fabric);
}

inline Fabric MakeTorus(uint32_t x, uint32_t y, uint32_t z,
                        int64_t bandwidth = 1) {
  return Made(Torus3d{x, y, z, bandwidth, Keys(x * y * z)});
}

inline Fabric MakeDragonfly(uint32_t groups, uint32_t routers, uint32_t nodes) {
  return Made(Dragonfly{groups, routers, nodes, 1, 1, 1, 1,
                        Keys(groups * routers * nodes)});
}

inline Fabric MakeRails(uint32_t units, uint32_t nodes) {
  return Made(RailFatTree{units, nodes, 4, 2, 1, 2, Keys(units * nodes)});
}

// A connected graph of nodes alone: a random tree and `more` links.
inline Fabric RandomGraph(Dice& dice, uint32_t nodes, uint32_t more) {
  FabricGraph graph{.nodes = Keys(nodes)};
  auto link = [&](uint32_t a, uint32_t b) {
    graph.links.push_back({graph.nodes[a], graph.nodes[b], dice.In(1, 5)});
  };
  for (uint32_t i = 1; i < nodes; ++i) link(i, dice.Below(i));
  for (uint32_t i = 0; i < more; ++i) {
    const uint32_t a = dice.Below(nodes), b = dice.Below(nodes);
    if (a != b) link(a, b);
  }
  return Made(graph);
}

// Every form, and keys and names of every kind.
inline std::vector<Fabric> OneOfEach() {
  std::vector<Fabric> fabrics;
  Dice dice(7);
  fabrics.push_back(MakeTorus(3, 2, 4, 50));
  fabrics.push_back(MakeDragonfly(3, 2, 2));
  fabrics.push_back(MakeRails(2, 3));
  fabrics.push_back(RandomGraph(dice, 9, 9));
  fabrics.push_back(Made(FabricGraph{{"b<&>\"'", "a", "\xc3\xa9"},
                                     {"s", "r"},
                                     {{"s", "a", 7}, {"s", "b<&>\"'", 1}}}));
  std::vector<std::string> reversed = Keys(8);
  std::reverse(reversed.begin(), reversed.end());
  fabrics.push_back(Made(Torus3d{2, 2, 2, 1, reversed}));
  return fabrics;
}

// Changed here and there.
inline std::string Garbled(Dice& dice, std::string text) {
  constexpr std::string_view kOdd =
      " \n\"'<>/&;#=!-[]0123456789nodelink\x01\xff";
  auto place = [&] {
    return dice.Below(static_cast<uint32_t>(text.size()) + 1);
  };
  for (uint32_t i = 0, edits = 1 + dice.Below(4); i < edits; ++i) {
    const char c = kOdd[dice.Below(static_cast<uint32_t>(kOdd.size()))];
    const uint32_t at = place();
    switch (dice.Below(4)) {
      case 0:
        text.insert(at, 1, c);
        break;
      case 1:
        text.erase(at, 1 + dice.Below(20));
        break;
      case 2:
        text.insert(at, text.substr(place(), dice.Below(60)));
        break;
      default:
        if (at < text.size()) text[at] = c;
    }
  }
  return text;
}

// Why a value is refused.
template <class T>
std::string Complaint(const absl::StatusOr<T>& result) {
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(result.status().message());
}

// Each node free once in `n`, or taken once in `n`.
inline std::vector<uint8_t> SomeFree(Dice& dice, uint32_t nodes, uint32_t n,
                                     bool taken) {
  std::vector<uint8_t> free(nodes);
  for (uint8_t& flag : free) flag = dice.OneIn(n) != taken;
  return free;
}

// Calls visit(set) for each set of `count` of `nodes`.
template <class Visit>
void EachChoice(const std::vector<uint32_t>& nodes, size_t count,
                Visit&& visit) {
  std::vector<uint32_t> chosen;
  auto choose = [&](auto& self, size_t from) -> void {
    if (chosen.size() == count) return visit(std::as_const(chosen));
    for (size_t i = from; i < nodes.size(); ++i) {
      chosen.push_back(nodes[i]);
      self(self, i + 1);
      chosen.pop_back();
    }
  };
  choose(choose, 0);
}

inline int64_t PairHops(const Fabric& fabric,
                        const std::vector<uint32_t>& set) {
  int64_t sum = 0;
  for (uint32_t a : set) {
    for (uint32_t b : set) sum += a < b ? fabric.Hops(a, b) : 0;
  }
  return sum;
}

}  // namespace muster
