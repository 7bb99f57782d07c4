#include "adapters/kubernetes/model/checkpoint.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/api/unix_time.h"
#include "adapters/kubernetes/model/unix_time.h"

namespace muster::kubernetes {

absl::StatusOr<std::optional<Time>> CheckpointOf(
    const api::StringMap& annotations) {
  const auto it = annotations.find(kCheckpointAnnotation);
  if (it == annotations.end()) return std::nullopt;
  constexpr int64_t kMostSeconds = kMaxTime / kSecond;
  int64_t seconds = 0;
  if (absl::SimpleAtoi(it->second, &seconds) && seconds >= 0 &&
      seconds <= kMostSeconds) {
    return seconds * kSecond;
  }
  const auto time = api::ParseTime(it->second);
  if (time.ok()) return ToTime(*time);
  return absl::InvalidArgumentError(
      absl::StrCat("metadata.annotations[", kCheckpointAnnotation,
                   "]: expected an RFC 3339 time or seconds since 1970, got '",
                   it->second.substr(0, 100), "'"));
}

}  // namespace muster::kubernetes
