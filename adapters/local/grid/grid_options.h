// Grids as people write them: options of a command line, and files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/grid/parameter_grid.h"

namespace muster::local {

// "lr=0.1,0.01": a parameter and its values. INVALID_ARGUMENT. O(bytes).
absl::StatusOr<ParameterAxis> AxisOfOption(std::string_view text);

// Points that are no product, a line each; empty lines and those that begin
// with "#" are none. Either "lr=0.1 bs=32", each with the same names in any
// order, or a first line with names and then values, with commas between them;
// a value in double quotes may have commas. INVALID_ARGUMENT begins with `name`
// and the line. O(bytes).
absl::StatusOr<ParameterAxis> AxisOfFile(const std::string& name,
                                         std::string_view text);

}  // namespace muster::local
