#include "adapters/local/controller/meeting.h"

#include <utility>

#include "nlohmann/json.hpp"

namespace muster::local {
namespace {

using Json = nlohmann::json;

template <class I>
bool ReadRows(const Json& json, std::vector<std::vector<I>>* rows) {
  if (!json.is_array()) return false;
  for (const Json& row : json) {
    if (!row.is_array()) return false;
    std::vector<I> numbers;
    for (const Json& n : row) {
      if (!n.is_number_integer() || !std::in_range<I>(n.get<int64_t>())) {
        return false;
      }
      numbers.push_back(n.get<I>());
    }
    rows->push_back(std::move(numbers));
  }
  return true;
}

}  // namespace

std::string ToJson(const Meeting& meeting) {
  if (meeting.empty()) return "";
  return Json::array({meeting.ports, meeting.numbers}).dump();
}

absl::StatusOr<Meeting> MeetingFromJson(std::string_view text) {
  Meeting meeting;
  if (text.empty()) return meeting;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array() || json.size() != 2 ||
      !ReadRows(json[0], &meeting.ports) ||
      !ReadRows(json[1], &meeting.numbers)) {
    return absl::InvalidArgumentError("endpoints: are none");
  }
  return meeting;
}

}  // namespace muster::local
