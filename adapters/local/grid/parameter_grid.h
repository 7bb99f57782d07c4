// ParameterGrid: the points of parameters that jobs of one array are run with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/grid/parameter_point.h"

namespace muster::local {

// Parameters that are varied together: a row of values at a time.
struct ParameterAxis {
  std::vector<std::string> names{};
  std::vector<std::vector<std::string>> rows{};  // As long as `names`.

  friend bool operator==(const ParameterAxis&, const ParameterAxis&) = default;
};

// The product of its axes, the last of which varies fastest. A value; without
// axes it is no grid.
class ParameterGrid {
 public:
  static constexpr uint64_t kMostPoints = 10'000;
  static constexpr size_t kMostBytes = 4'096;  // Of a point.
  static constexpr size_t kLongestName = 64;

  ParameterGrid() = default;
  // INVALID_ARGUMENT names the parameter: it is no name
  // ([A-Za-z_][A-Za-z_0-9]*) or given twice, or a value has a control character
  // or is not there. RESOURCE_EXHAUSTED: there are too many points, or one is
  // too long. O(bytes).
  static absl::StatusOr<ParameterGrid> Make(std::vector<ParameterAxis> axes);
  // Of [{"names": ["lr", "bs"], "rows": [["0.1", "32"]]}], one object an axis.
  // Errors as above, and for what is no such list.
  static absl::StatusOr<ParameterGrid> FromJson(std::string_view text);
  std::string ToJson() const;

  bool empty() const { return axes_.empty(); }
  // Points.
  uint32_t size() const { return size_; }
  // `index` < size(). O(parameters).
  ParameterPoint At(uint32_t index) const;

  friend bool operator==(const ParameterGrid&, const ParameterGrid&) = default;

 private:
  static absl::Status CheckAxis(const ParameterAxis& axis, size_t* longest);

  std::vector<ParameterAxis> axes_{};
  uint32_t size_ = 0;
};

}  // namespace muster::local
