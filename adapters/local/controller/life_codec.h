// Events in the life of a job, as JSON: LifeRow::event. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "muster/workload/life_event.h"

namespace muster::local {

// An array: the event's name, then its members in their order; tasks and places
// as [role, index].
std::string ToJson(const workload::LifeEvent& event);
// INVALID_ARGUMENT for what is none, and why.
absl::StatusOr<workload::LifeEvent> LifeEventFromJson(std::string_view text);

}  // namespace muster::local
