// Times as the API writes them: RFC 3339. Pure functions: any thread.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes::api {

// metav1.Time and MicroTime: "2026-11-25T18:40:33Z", with a fraction, which is
// cut off behind the milliseconds, or with another zone. InvalidArgument for
// anything else.
absl::StatusOr<UnixMillis> ParseTime(std::string_view text);

// "2026-11-25T18:40:33Z": metav1.Time.
std::string FormatTime(UnixMillis time);
// "2026-11-25T18:40:33.123000Z": metav1.MicroTime.
std::string FormatMicroTime(UnixMillis time);

}  // namespace muster::kubernetes::api
