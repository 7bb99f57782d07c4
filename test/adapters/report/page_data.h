// What a page shows, as a browser finds it in there.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace muster::inprocess {

// The element ends at the first "</script".
inline nlohmann::json PageDataOf(const std::string& html) {
  const std::string begin = "id=\"muster-data\">";
  const size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(
      html.substr(from, html.find("</script", from) - from));
}

}  // namespace muster::inprocess
