// Quantities and spans of time as people and Kubernetes write them.
#ifndef MUSTER_QUANTITY_H_
#define MUSTER_QUANTITY_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "muster/export.h"
#include "muster/ids.h"

namespace muster {

// All are pure, for any thread, and O(text). An InvalidArgumentError quotes the
// text and says what is wrong with it.

// A decimal number with one of Kubernetes' suffixes (n u m; k M G T P E;
// Ki Mi Gi Ti Pi Ei) or an exponent (1e3), times `scale`, which is positive:
// ParseQuantity("1.5", 1000) = 1500, ParseQuantity("500m", 1000) = 500,
// ParseQuantity("16Gi", 1) = 2^34. Nothing is rounded: a negative, overflowing
// or fractional result is an error that says which.
MUSTER_API absl::StatusOr<int64_t> ParseQuantity(std::string_view text,
                                                 int64_t scale);

// The same as the API server reads it: a sign may stand before the number, a
// fraction is rounded away from zero, and what does not fit in 64 bits is the
// most that does.
MUSTER_API absl::StatusOr<int64_t> ParseQuantityRoundedUp(std::string_view text,
                                                          int64_t scale);

// "100s", "2h", "1h30m", "1.5h", "250ms", "7d", "0". Units: ns us ms s m h d;
// only 0 may lack one. Errors as above.
MUSTER_API absl::StatusOr<Duration> ParseDuration(std::string_view text);

}  // namespace muster

#endif  // MUSTER_QUANTITY_H_
