// Small files: configuration, certificates, tokens.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace muster::kubernetes::client {

// The whole file, at most 4 MiB. NOT_FOUND or INVALID_ARGUMENT with the file's
// name; never a part of its text.
absl::StatusOr<std::string> ReadFile(const std::string& file);

}  // namespace muster::kubernetes::client
