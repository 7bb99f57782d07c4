// Where the pods of pod sets are as a scenario begins.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "test/conformance/scenario.h"

namespace muster::conformance {

// Scenarios tell it in three words: the assignment of a gang that runs, the
// current one of a gang of which some pods are to be placed again, and the
// previous one of a gang that had another size before. Null: in none.
const AssignmentSpec* PlacesOf(const PodSpec& pod);

// So many of the set's pods, its first ones, have places and run, whatever the
// state of their gang: it is what remains to be placed that is pending.
int64_t RunningOf(const PodSpec& pod);

// A pod set that runs is as large as what was admitted of it.
Scenario WithAdmittedCounts(Scenario scenario);

// UNIMPLEMENTED where places and numbers of pods contradict each other, or the
// places ask for what the library is never asked.
absl::Status CheckPlaces(const GangSpec& gang);

}  // namespace muster::conformance
