#include "adapters/local/grid/parameter_grid.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

using Json = nlohmann::ordered_json;

bool IsName(std::string_view text) {
  const auto fits = [](char c) {
    return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
  };
  return !text.empty() && text.size() <= ParameterGrid::kLongestName &&
         !absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, fits);
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
}

absl::Status TooMany() {
  return absl::ResourceExhaustedError(
      absl::StrCat("parameters: more than ", ParameterGrid::kMostPoints,
                   " points, which is the most"));
}

// A list of strings; false: it is none.
bool ReadTexts(const Json& json, std::vector<std::string>* to) {
  if (!json.is_array()) return false;
  for (const Json& one : json) {
    if (!one.is_string()) return false;
    to->push_back(one.get<std::string>());
  }
  return true;
}

bool ReadAxis(const Json& json, ParameterAxis* axis) {
  if (!json.is_object() || json.size() != 2 || !json.contains("names") ||
      !json.contains("rows") || !json["rows"].is_array() ||
      !ReadTexts(json["names"], &axis->names)) {
    return false;
  }
  return std::ranges::all_of(json["rows"], [&](const Json& row) {
    return ReadTexts(row, &axis->rows.emplace_back());
  });
}

}  // namespace

absl::Status ParameterGrid::CheckAxis(const ParameterAxis& axis,
                                      size_t* longest) {
  const std::string first = axis.names.empty() ? "" : axis.names[0];
  if (axis.names.empty() || axis.rows.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parameters: '", first, "': there are no values, or no names"));
  }
  size_t most = 0;
  for (const std::vector<std::string>& row : axis.rows) {
    if (row.size() != axis.names.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameters: a point has ", row.size(), " values for ",
                       axis.names.size(), " names from '", first, "' on"));
    }
    size_t bytes = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (HasControl(row[i])) {
        return absl::InvalidArgumentError(
            absl::StrCat("parameters: '", axis.names[i],
                         "': a value has a control character"));
      }
      bytes += axis.names[i].size() + row[i].size();
    }
    most = std::max(most, bytes);
  }
  *longest += most;
  return absl::OkStatus();
}

absl::StatusOr<ParameterGrid> ParameterGrid::Make(
    std::vector<ParameterAxis> axes) {
  std::set<std::string> names;
  uint64_t size = axes.empty() ? 0 : 1;
  size_t longest = 0;
  for (const ParameterAxis& axis : axes) {
    for (const std::string& name : axis.names) {
      if (!IsName(name)) {
        return absl::InvalidArgumentError(
            absl::StrCat("parameters: '", name,
                         "': expected a name of letters, digits and "
                         "'_', at most ",
                         kLongestName));
      }
      if (!names.insert(name).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("parameters: '", name, "' is there twice"));
      }
    }
    absl::Status s = CheckAxis(axis, &longest);
    if (!s.ok()) return s;
    if (axis.rows.size() > kMostPoints) return TooMany();
    size *= axis.rows.size();
    if (size > kMostPoints) return TooMany();
  }
  if (longest > kMostBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "parameters: a point has ", longest, " bytes; at most ", kMostBytes));
  }
  ParameterGrid grid;
  grid.axes_ = std::move(axes);
  grid.size_ = static_cast<uint32_t>(size);
  return grid;
}

absl::StatusOr<ParameterGrid> ParameterGrid::FromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<ParameterAxis> axes;
  const bool good =
      json.is_array() && std::ranges::all_of(json, [&](const Json& axis) {
        return ReadAxis(axis, &axes.emplace_back());
      });
  if (!good) {
    return absl::InvalidArgumentError(
        "parameters: expected a list of {\"names\": [...], \"rows\": [[...]]}");
  }
  return Make(std::move(axes));
}

std::string ParameterGrid::ToJson() const {
  Json json = Json::array();
  for (const ParameterAxis& axis : axes_) {
    json.push_back({{"names", axis.names}, {"rows", axis.rows}});
  }
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

ParameterPoint ParameterGrid::At(uint32_t index) const {
  std::vector<size_t> rows(axes_.size());
  uint64_t rest = index;
  for (size_t a = axes_.size(); a-- > 0;) {
    rows[a] = rest % axes_[a].rows.size();
    rest /= axes_[a].rows.size();
  }
  ParameterPoint point;
  for (size_t a = 0; a < axes_.size(); ++a) {
    const ParameterAxis& axis = axes_[a];
    for (size_t i = 0; i < axis.names.size(); ++i) {
      point.emplace_back(axis.names[i], axis.rows[rows[a]][i]);
    }
  }
  return point;
}

}  // namespace muster::local
