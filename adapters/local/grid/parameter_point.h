// ParameterPoint: what one job of a grid is run with.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::local {

// Names and values, in the order of their grid. A value.
using ParameterPoint = std::vector<std::pair<std::string, std::string>>;

// {"lr":"0.1","bs":"32"}; "" of no parameters. O(bytes).
std::string ToJson(const ParameterPoint& point);
// Back, in the same order. INVALID_ARGUMENT for what is none. O(bytes).
absl::StatusOr<ParameterPoint> ParameterPointFromJson(std::string_view text);
// "lr=0.1 bs=32", for people.
std::string TextOf(const ParameterPoint& point);

// The text with the value of each "{name}" in its place. Names that are no
// parameter's stay, and so does "${name}", which is the shell's. What a value
// brings is not looked at again. O(bytes x parameters).
std::string WithParameters(std::string_view text, const ParameterPoint& point);

}  // namespace muster::local
