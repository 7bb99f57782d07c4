#include "adapters/local/controller/own_cpus.h"

#include <algorithm>
#include <utility>

#include "nlohmann/json.hpp"

namespace muster::local {
namespace {

bool IsNumber(const nlohmann::json& json) {
  return json.is_number_unsigned() &&
         std::in_range<uint32_t>(json.get<uint64_t>());
}

// [role, place, [CPU, ...]]
bool IsEntry(const nlohmann::json& json) {
  return json.is_array() && json.size() == 3 && IsNumber(json[0]) &&
         IsNumber(json[1]) && json[2].is_array() &&
         std::ranges::all_of(json[2], IsNumber);
}

}  // namespace

std::string ToJson(const OwnCpus& cpus) {
  if (cpus.empty()) return "";
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [place, own] : cpus) {
    list.push_back({place.role, place.index, own});
  }
  return list.dump();
}

absl::StatusOr<OwnCpus> OwnCpusFromJson(std::string_view text) {
  OwnCpus cpus;
  if (text.empty()) return cpus;
  const auto list =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array() || !std::ranges::all_of(list, IsEntry)) {
    return absl::InvalidArgumentError("cpus: are none");
  }
  for (const nlohmann::json& entry : list) {
    cpus[{entry[0].get<uint32_t>(), entry[1].get<uint32_t>()}] =
        entry[2].get<std::vector<uint32_t>>();
  }
  return cpus;
}

}  // namespace muster::local
