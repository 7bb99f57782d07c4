// Forms of fabrics, and the plain graphs that they are.
#include <initializer_list>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

struct Size {
  const char* name_is;
  uint32_t value;
};

absl::Status CheckSize(const char* what, const Size& size) {
  if (size.value > 0 && size.value <= Fabric::kMaxVertices) {
    return absl::OkStatus();
  }
  return Invalid(what, ": ", size.name_is, " ", size.value, ", not 1..",
                 Fabric::kMaxVertices);
}

// Sizes of 1 or more whose product, the number of nodes, is `nodes`.
absl::Status CheckSizes(const char* what, std::initializer_list<Size> sizes,
                        size_t nodes) {
  uint64_t product = 1;
  for (const Size& size : sizes) {
    MUSTER_RETURN_IF_ERROR(CheckSize(what, size));
    product *= size.value;
    if (product > Fabric::kMaxVertices) {
      return Invalid(what, ": more than ", Fabric::kMaxVertices, " nodes");
    }
  }
  if (product != nodes) {
    return Invalid(what, ": ", nodes, " nodes given, its sizes make ", product);
  }
  return absl::OkStatus();
}

absl::Status CheckLinks(const char* what, uint64_t links) {
  if (links <= Fabric::kMaxLinks) return absl::OkStatus();
  return Invalid(what, ": more than ", Fabric::kMaxLinks, " links");
}

absl::StatusOr<FabricGraph> Expand(const FabricGraph& graph) { return graph; }

absl::StatusOr<FabricGraph> Expand(const Torus3d& torus) {
  MUSTER_RETURN_IF_ERROR(CheckSizes(
      "torus", {{"x is", torus.x}, {"y is", torus.y}, {"z is", torus.z}},
      torus.nodes.size()));
  FabricGraph graph{.nodes = torus.nodes};
  const Triple dims = {torus.x, torus.y, torus.z};
  for (uint32_t cell = 0; cell < torus.nodes.size(); ++cell) {
    const Triple at = PlaceOf(cell, dims);
    for (size_t axis = 0; axis < 3; ++axis) {
      // An axis of 2 has no second link back.
      if (dims[axis] < 2 || (dims[axis] == 2 && at[axis] == 1)) continue;
      Triple next = at;
      next[axis] = (at[axis] + 1) % dims[axis];
      graph.links.push_back({torus.nodes[cell], torus.nodes[CellAt(next, dims)],
                             torus.bandwidth});
    }
  }
  return graph;
}

// Which of a group's routers holds the link number `copy` to `other`.
uint32_t Gateway(const Dragonfly& fly, uint32_t group, uint32_t other,
                 uint32_t copy) {
  const uint64_t place = other < group ? other : other - 1;
  return static_cast<uint32_t>((place * fly.global_links + copy) % fly.routers);
}

absl::StatusOr<FabricGraph> Expand(const Dragonfly& fly) {
  MUSTER_RETURN_IF_ERROR(
      CheckSizes("dragonfly",
                 {{"groups is", fly.groups},
                  {"routers is", fly.routers},
                  {"nodes per router is", fly.nodes_per_router}},
                 fly.nodes.size()));
  const uint64_t pairs = uint64_t{fly.groups} * (fly.groups - 1) / 2;
  const uint64_t local =
      uint64_t{fly.groups} * fly.routers * (fly.routers - 1) / 2;
  MUSTER_RETURN_IF_ERROR(CheckLinks("dragonfly", fly.global_links));
  MUSTER_RETURN_IF_ERROR(
      CheckLinks("dragonfly", pairs * fly.global_links + local));
  if (pairs > 0 && fly.global_links == 0) {
    return absl::InvalidArgumentError("dragonfly: global links are 0");
  }
  FabricGraph graph{.nodes = fly.nodes};
  auto router = [&](uint32_t g, uint32_t r) -> const std::string& {
    return graph.switches[size_t{g} * fly.routers + r];
  };
  for (uint32_t g = 0; g < fly.groups; ++g) {
    for (uint32_t r = 0; r < fly.routers; ++r) {
      graph.switches.push_back(absl::StrCat("group-", g, "/router-", r));
    }
  }
  for (size_t i = 0; i < fly.nodes.size(); ++i) {
    graph.links.push_back({fly.nodes[i],
                           graph.switches[i / fly.nodes_per_router],
                           fly.node_bandwidth});
  }
  for (uint32_t g = 0; g < fly.groups; ++g) {
    for (uint32_t a = 0; a < fly.routers; ++a) {
      for (uint32_t b = a + 1; b < fly.routers; ++b) {
        graph.links.push_back(
            {router(g, a), router(g, b), fly.local_bandwidth});
      }
    }
    for (uint32_t h = g + 1; h < fly.groups; ++h) {
      for (uint32_t copy = 0; copy < fly.global_links; ++copy) {
        graph.links.push_back({router(g, Gateway(fly, g, h, copy)),
                               router(h, Gateway(fly, h, g, copy)),
                               fly.global_bandwidth});
      }
    }
  }
  return graph;
}

absl::StatusOr<FabricGraph> Expand(const RailFatTree& tree) {
  MUSTER_RETURN_IF_ERROR(CheckSizes(
      "rails",
      {{"units is", tree.units}, {"nodes per unit is", tree.nodes_per_unit}},
      tree.nodes.size()));
  MUSTER_RETURN_IF_ERROR(CheckSize("rails", {"rails are", tree.rails}));
  MUSTER_RETURN_IF_ERROR(CheckSize("rails", {"spines are", tree.spines}));
  const uint64_t leaves = uint64_t{tree.units} * tree.rails;
  MUSTER_RETURN_IF_ERROR(CheckLinks(
      "rails", tree.nodes.size() * tree.rails + leaves * tree.spines));
  FabricGraph graph{.nodes = tree.nodes};
  for (uint32_t u = 0; u < tree.units; ++u) {
    for (uint32_t r = 0; r < tree.rails; ++r) {
      graph.switches.push_back(absl::StrCat("unit-", u, "/rail-", r));
    }
  }
  for (uint32_t s = 0; s < tree.spines; ++s) {
    graph.switches.push_back(absl::StrCat("spine-", s));
  }
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    for (uint32_t r = 0; r < tree.rails; ++r) {
      const size_t leaf = i / tree.nodes_per_unit * tree.rails + r;
      graph.links.push_back(
          {tree.nodes[i], graph.switches[leaf], tree.node_bandwidth});
    }
  }
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    for (size_t s = 0; s < tree.spines; ++s) {
      graph.links.push_back({graph.switches[leaf], graph.switches[leaves + s],
                             tree.spine_bandwidth});
    }
  }
  return graph;
}

}  // namespace

absl::StatusOr<FabricGraph> GraphOf(const FabricDescription& description) {
  return std::visit([](const auto& form) { return Expand(form); }, description);
}

absl::Status CheckFabricKey(std::string_view key) {
  if (key.empty() || key.size() > kMaxKeyLength) {
    return Invalid("a key of ", key.size(), " bytes, not 1..", kMaxKeyLength);
  }
  const bool odd = absl::c_any_of(key, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f;
  });
  if (odd || key[0] == '#') {
    return absl::InvalidArgumentError(
        odd ? "a key with a blank or control character"
            : "a key that begins with '#'");
  }
  return absl::OkStatus();
}

}  // namespace muster
