// The grid that options of `muster submit` mean.
#pragma once

#include "absl/status/statusor.h"
#include "adapters/local/client/job_manifest.h"
#include "adapters/local/client/session.h"
#include "adapters/local/grid/parameter_grid.h"

namespace muster::local {

// The product of --grid, in their order, and of --grid-file, whose points vary
// fastest; "-" is the standard input. Empty: neither was said. INVALID_ARGUMENT
// and RESOURCE_EXHAUSTED as ParameterGrid; NOT_FOUND: the file cannot be read.
absl::StatusOr<ParameterGrid> ReadGrid(Session* session,
                                       const SubmitOptions& options);

}  // namespace muster::local
