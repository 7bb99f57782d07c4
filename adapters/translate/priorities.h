// Priorities and preemption policies. Pure functions: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "muster/priority_class.h"

namespace muster::translate {

// Whether a gang may preempt whose pods have these preemptionPolicies: one that
// is empty is that of the priority class, `of_class`; only "Never" may not. A
// gang without pods may. UNIMPLEMENTED where its pods differ: a gang preempts
// as a whole. O(pods).
absl::StatusOr<bool> MayPreempt(std::string_view of_class,
                                std::span<const std::string> of_pods);

// The class of all gangs with this value that may, or may not, preempt: the two
// tell its key, since pods may differ from their class in both. UNIMPLEMENTED
// beyond 32 bits.
absl::StatusOr<PriorityClass> ToPriorityClass(int64_t value, bool may_preempt);

}  // namespace muster::translate
