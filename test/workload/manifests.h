// Manifests for tests. Without GoogleTest: the fuzzers start from them too.
#pragma once

#include <span>
#include <string_view>

namespace muster::workload {

// One of each kind and dialect, in the form of its own documentation.
struct Manifest {
  std::string_view name{};
  std::string_view text{};
};
std::span<const Manifest> AllManifests();
std::string_view ManifestOf(std::string_view name);

}  // namespace muster::workload
