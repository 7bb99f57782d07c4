#include "adapters/local/grid/parameter_point.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster::local {

using Json = nlohmann::ordered_json;

std::string ToJson(const ParameterPoint& point) {
  if (point.empty()) return "";
  Json json = Json::object();
  for (const auto& [name, value] : point) json[name] = value;
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

absl::StatusOr<ParameterPoint> ParameterPointFromJson(std::string_view text) {
  ParameterPoint point;
  if (text.empty()) return point;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  bool good = json.is_object();
  if (good) {
    for (const auto& [name, value] : json.items()) {
      good = good && value.is_string();
      if (good) point.emplace_back(name, value.get<std::string>());
    }
  }
  if (good) return point;
  return absl::InvalidArgumentError(absl::StrCat(
      "parameters: '", std::string(text.substr(0, 80)), "' are none"));
}

std::string TextOf(const ParameterPoint& point) {
  std::string text;
  for (const auto& [name, value] : point) {
    absl::StrAppend(&text, text.empty() ? "" : " ", name, "=", value);
  }
  return text;
}

std::string WithParameters(std::string_view text, const ParameterPoint& point) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t brace = text.find('{', at);
    const size_t end = text.find('}', brace);
    if (end == std::string_view::npos) break;
    const std::string_view name = text.substr(brace + 1, end - brace - 1);
    const bool shells = brace > 0 && text[brace - 1] == '$';
    const auto named = std::ranges::find_if(
        point, [&](const auto& parameter) { return parameter.first == name; });
    out += text.substr(at, brace - at);
    if (shells || named == point.end()) {
      out += '{';
      at = brace + 1;
    } else {
      out += named->second;
      at = end + 1;
    }
  }
  return at < text.size() ? out.append(text.substr(at)) : out;
}

}  // namespace muster::local
