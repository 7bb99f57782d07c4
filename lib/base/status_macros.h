#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

// Returns the status of `expr` from the function unless it is OK.
#define MUSTER_RETURN_IF_ERROR(expr)                                  \
  do {                                                                \
    if (::absl::Status muster_status = (expr); !muster_status.ok()) { \
      return muster_status;                                           \
    }                                                                 \
  } while (false)

// Declares `declaration` with the value of `expr`, an absl::StatusOr, or
// returns its status from the function.
#define MUSTER_ASSIGN_OR_RETURN(declaration, expr) \
  MUSTER_ASSIGN_OR_RETURN_(MUSTER_LINE_NAME(__LINE__), declaration, expr)
#define MUSTER_ASSIGN_OR_RETURN_(result, declaration, expr) \
  auto result = (expr);                                     \
  if (!result.ok()) return result.status();                 \
  declaration = *std::move(result)
#define MUSTER_LINE_NAME(line) MUSTER_LINE_NAME_(line)
#define MUSTER_LINE_NAME_(line) muster_result_##line

namespace muster {

// Errors, of what the parts say together.
template <class... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}
// OK if it holds; else that.
template <class... Parts>
absl::Status Require(bool holds, const Parts&... parts) {
  return holds ? absl::OkStatus() : Invalid(parts...);
}
template <class... Parts>
absl::Status NotFound(const Parts&... parts) {
  return absl::NotFoundError(absl::StrCat(parts...));
}
template <class... Parts>
absl::Status NotNow(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}

}  // namespace muster
