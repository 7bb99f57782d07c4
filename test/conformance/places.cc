#include "test/conformance/places.h"

#include <algorithm>
#include <string>
#include <utility>

namespace muster::conformance {
namespace {

int64_t Count(const AssignmentSpec& assignment) {
  int64_t count = 0;
  for (const DomainCountSpec& domain : assignment.domains) {
    count += domain.count;
  }
  return count;
}

}  // namespace

const AssignmentSpec* PlacesOf(const PodSpec& pod) {
  for (const auto* places :
       {&pod.assignment, &pod.current_assignment, &pod.previous_assignment}) {
    if (*places) return &**places;
  }
  return nullptr;
}

int64_t RunningOf(const PodSpec& pod) {
  const bool told = pod.current_assignment || pod.previous_assignment;
  return told ? Count(*PlacesOf(pod)) : 0;
}

Scenario WithAdmittedCounts(Scenario s) {
  for (GangSpec& gang : s.gangs) {
    for (PodSpec& pod : gang.pods) {
      if (gang.state != "running" || !pod.admitted_count) continue;
      pod.count = *std::exchange(pod.admitted_count, std::nullopt);
      if (pod.min_count) pod.min_count = std::min(*pod.min_count, pod.count);
    }
  }
  return s;
}

absl::Status CheckPlaces(const GangSpec& gang) {
  for (const PodSpec& pod : gang.pods) {
    if (pod.admitted_count) {
      return absl::UnimplementedError(
          "pods admitted of a gang that does not run");
    }
    if (pod.previous_assignment && gang.state != "pending") {
      return absl::UnimplementedError("a gang that runs and was resized");
    }
    const AssignmentSpec* places = PlacesOf(pod);
    if (places == nullptr) continue;
    const int64_t count = Count(*places);
    if (pod.previous_assignment && count < pod.count) continue;
    if (pod.previous_assignment && count > pod.count) {
      return absl::UnimplementedError(
          "a gang made smaller: its host says which tasks go");
    }
    if (count != pod.count) {
      return absl::UnimplementedError(std::to_string(count) + " places for " +
                                      std::to_string(pod.count) + " pods");
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::conformance
