// What is in the bodies of requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/local/controller/job_change.h"
#include "adapters/local/controller/submission.h"

namespace muster::local {

// {"manifest": "...", "directory": "/...", "environment": ["K=V"], "name",
// "queue", "priority", "hold", "array": [1, 2], "parameters": (as
// ParameterGrid::FromJson)}: all but the manifest may be left out. Who submits
// it is set by the caller. INVALID_ARGUMENT: it is no JSON object, or names the
// member and what is expected. Pure; O(bytes).
absl::StatusOr<Submission> ReadSubmission(std::string_view body);

// {"NAME": "text"}, and nothing else. Errors as above.
absl::StatusOr<std::string> ReadText(std::string_view body,
                                     const std::string& name);

struct ResizeBody {
  std::string role{};
  uint32_t size = 0;
};
// {"size": 3, "role": "worker"}; the role may be left out.
absl::StatusOr<ResizeBody> ReadResize(std::string_view body);

// {"name", "queue", "priority", "time": 3600, "roles": (as JobEditsFromJson)},
// of which each may be left out. Errors as above.
absl::StatusOr<JobChange> ReadChange(std::string_view body);

struct OrderBody {
  MoveTo to = MoveTo::kFirst;
  uint64_t job = 0;
};
// {"to": "first"}, or "last"; {"to": "before", "job": 7}, or "after".
absl::StatusOr<OrderBody> ReadOrder(std::string_view body);

// "" and {} are no content.
// {"node": "box", "device": 3, "reason": "fan"}
struct NodeBody {
  std::string node{};
  std::optional<uint32_t> device{};
  std::string reason{};
};
absl::StatusOr<NodeBody> ReadNodeBody(std::string_view body);

absl::Status ExpectNoContent(std::string_view body);

}  // namespace muster::local
