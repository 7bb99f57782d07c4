#include "muster/partition.h"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

// NVIDIA devices with 8 slices of memory and 7 of computing power; `names` from
// the smallest to the largest, the second with twice the memory of the first.
PartitionScheme SevenOfEight(std::string key,
                             const std::vector<std::string>& names) {
  return {.key = std::move(key),
          .memory_slices = 8,
          .profiles = {{names[0], 1, 142, {0, 1, 2, 3, 4, 5, 6}},
                       {names[1], 2, 142, {0, 2, 4, 6}},
                       {names[2], 2, 285, {0, 2, 4}},
                       {names[3], 4, 428, {0, 4}},
                       {names[4], 4, 571, {0}},
                       {names[5], 8, 1000, {0}}}};
}

}  // namespace

const PartitionProfile* FindProfile(const PartitionScheme& scheme,
                                    std::string_view name) {
  const auto it =
      std::ranges::find(scheme.profiles, name, &PartitionProfile::name);
  return it == scheme.profiles.end() ? nullptr : &*it;
}

std::vector<PartitionScheme> CommonPartitionSchemes() {
  const std::vector<std::string> of_80gb = {"1g.10gb", "1g.20gb", "2g.20gb",
                                            "3g.40gb", "4g.40gb", "7g.80gb"};
  return {SevenOfEight("a100-40gb", {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb",
                                     "4g.20gb", "7g.40gb"}),
          SevenOfEight("a100-80gb", of_80gb),
          SevenOfEight("h100-80gb", of_80gb)};
}

}  // namespace muster
