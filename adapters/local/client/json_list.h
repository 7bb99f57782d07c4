// Lists in answers, without copies of them.
#pragma once

#include <nlohmann/json.hpp>

namespace muster::local {

// The member, or an empty list if there is none that is a list.
inline const nlohmann::ordered_json& ListOf(const nlohmann::ordered_json& of,
                                            const char* name) {
  static const nlohmann::ordered_json empty = nlohmann::ordered_json::array();
  const auto it = of.find(name);
  return it != of.end() && it->is_array() ? *it : empty;
}

}  // namespace muster::local
