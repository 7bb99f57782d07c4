#include "adapters/text/utf8.h"

#include <nlohmann/json.hpp>

namespace muster::text {

std::string_view Truncated(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  constexpr size_t kMostContinuation = 3;  // Bytes behind a character's first.
  size_t end = most;
  while (end > 0 && most - end < kMostContinuation &&
         (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  if ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end = most;
  return text.substr(0, end);
}

std::string BoundedUtf8(std::string_view text, size_t most) {
  using Json = nlohmann::json;  // Which replaces what is no UTF-8.
  const std::string json = Json(std::string(Truncated(text, most)))
                               .dump(-1, ' ', /*ensure_ascii=*/false,
                                     Json::error_handler_t::replace);
  const std::string valid = Json::parse(json).get<std::string>();
  return std::string(Truncated(valid, most));
}

}  // namespace muster::text
