// The policies of preemption that hold for a queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "muster/preemption_policy.h"

namespace muster {

// A PreemptionPolicy with what it inherits.
struct PreemptionLaw {
  PreemptWithin within = PreemptWithin::kLower;
  PreemptAcross across = PreemptAcross::kAny;
  PreemptBorrowing borrowing = PreemptBorrowing::kNever;
  int32_t borrowing_threshold = std::numeric_limits<int32_t>::max();

  // Of a queue right below.
  PreemptionLaw With(const PreemptionPolicy& own) const {
    return {.within = own.within.value_or(within),
            .across = own.across.value_or(across),
            .borrowing = own.borrowing.value_or(borrowing),
            .borrowing_threshold =
                own.borrowing_threshold.value_or(borrowing_threshold)};
  }

  // The highest priority of gangs of other queues that one of this priority may
  // stop: for what its queue is owed, and for what that borrows. Nothing: of
  // none.
  std::optional<int32_t> MostAcross(int32_t priority) const {
    if (across == PreemptAcross::kAny) {
      return std::numeric_limits<int32_t>::max();
    }
    if (across == PreemptAcross::kNever) return std::nullopt;
    return Below(priority);
  }
  std::optional<int32_t> MostBorrowing(int32_t priority) const {
    if (borrowing == PreemptBorrowing::kNever) return std::nullopt;
    const std::optional<int32_t> most = Below(priority);
    return most ? std::min(*most, borrowing_threshold) : most;
  }

  friend bool operator==(const PreemptionLaw&, const PreemptionLaw&) = default;

 private:
  static std::optional<int32_t> Below(int32_t priority) {
    if (priority == std::numeric_limits<int32_t>::min()) return std::nullopt;
    return priority - 1;
  }
};

}  // namespace muster
