#include "adapters/translate/priorities.h"

#include <limits>

#include "absl/status/status.h"

namespace muster::translate {

absl::StatusOr<bool> MayPreempt(std::string_view of_class,
                                std::span<const std::string> of_pods) {
  bool any_may = false, any_may_not = false;
  for (const std::string& of_pod : of_pods) {
    const std::string_view policy = of_pod.empty() ? of_class : of_pod;
    (policy == "Never" ? any_may_not : any_may) = true;
  }
  if (any_may && any_may_not) {
    return absl::UnimplementedError(
        "preemption policies that differ inside a gang");
  }
  return !any_may_not;
}

absl::StatusOr<PriorityClass> ToPriorityClass(int64_t value, bool may_preempt) {
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max()) {
    return absl::UnimplementedError("a priority beyond 32 bits");
  }
  return PriorityClass{
      .key = std::to_string(value) + (may_preempt ? "" : " (does not preempt)"),
      .value = static_cast<int32_t>(value),
      .may_preempt = may_preempt};
}

}  // namespace muster::translate
