// How many of a gang's pods are required.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adapters/kubernetes/model/group.h"
#include "muster/gang.h"

namespace muster::kubernetes {

// The end of what is said of a gang of which some pods are not there yet.
inline constexpr char kPodsLack[] = " pods are there";

// What there is of a gang's pods, or of those of a subgroup.
struct PodTally {
  uint32_t tasks = 0;
  uint32_t placed = 0;  // Of these: they have places, and are to keep them.
  uint32_t finished =
      0;  // Beside these: pods that ran, or run, without a task.
};

// Of all pods, and by position in GroupSpec::subgroups.
struct GangTally {
  PodTally all{};
  std::vector<PodTally> subgroups{};
  bool placed = false;  // A task has a place, if only until it is stopped.
};

// The subgroup of that name, as a position; spec.subgroups.size(): there is
// none. O(subgroups).
size_t FindSubgroup(const GroupSpec& spec, const std::string& name);

// Of the pods of a group without subgroups, at least 1: those that are through
// are not needed again.
uint32_t PodsNeeded(const GroupSpec& spec, const PodTally& all);

// Writes the gang's groups below the first, and the minimums of its groups and
// roles. Its roles have as many tasks as there are; `subgroup_of` has the
// position of each one's subgroup. While nothing of the gang has a place and
// pods lack, held_why says so, if it says nothing yet. O(roles x subgroups).
void RequirePods(const GroupSpec& spec, const GangTally& tally,
                 std::span<const size_t> subgroup_of, Gang* gang);

}  // namespace muster::kubernetes
