// Errors as answers.
#pragma once

#include "absl/status/status.h"
#include "adapters/serve/http_server.h"

namespace muster::local {

// {"error": ..., "field": ...}: the message, and the field that it begins with,
// if it does. INVALID_ARGUMENT is 400, PERMISSION_DENIED 403, NOT_FOUND 404,
// FAILED_PRECONDITION 409; what is left is 503, and worth another try. Pure;
// O(bytes).
serve::HttpResponse ErrorAnswer(const absl::Status& status);
// The same of a manifest, or of what else stands in a body of JSON that could
// be read: INVALID_ARGUMENT and UNIMPLEMENTED are 422.
serve::HttpResponse ContentErrorAnswer(const absl::Status& status);
// 405.
serve::HttpResponse MethodErrorAnswer(const absl::Status& status);

// An answer of JSON.
serve::HttpResponse JsonAnswer(std::string json, int status = 200);

}  // namespace muster::local
