// Quantities and spans of time as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "muster/ids.h"

namespace muster::inprocess {

// A decimal number with one of Kubernetes' suffixes (n u m; k M G T P E;
// Ki Mi Gi Ti Pi Ei) or an exponent (1e3), times `scale`, which is positive:
// ParseQuantity("1.5", 1000) = 1500, ParseQuantity("500m", 1000) = 500,
// ParseQuantity("16Gi", 1) = 2^34. Nothing is rounded: a negative, overflowing
// or fractional result is an InvalidArgumentError that says which.
absl::StatusOr<int64_t> ParseQuantity(std::string_view text, int64_t scale);

// The same as the API server reads it: a sign may stand before the number, a
// fraction is rounded away from zero, and what does not fit in 64 bits is the
// most that does.
absl::StatusOr<int64_t> ParseQuantityRoundedUp(std::string_view text,
                                               int64_t scale);

// "100s", "2h", "1h30m", "1.5h", "250ms", "7d", "0". Units: ns us ms s m h d;
// only 0 may lack one. Errors as above.
absl::StatusOr<Duration> ParseDuration(std::string_view text);

// Seconds, without needless digits: "150", "0.25".
std::string FormatSeconds(Duration d);

// The same with a unit that suits a reader: "12.5 s", "3.2 h", "1.4 d".
std::string FormatSpan(Duration d);

}  // namespace muster::inprocess
