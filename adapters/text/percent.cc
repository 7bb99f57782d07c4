#include "adapters/text/percent.h"

#include "absl/strings/ascii.h"

namespace muster::text {
namespace {

bool IsUnreserved(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

void AppendPercentEncoded(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (size_t i = 0; i < text.size();) {
    size_t end = i;  // Of those that are themselves.
    while (end < text.size() && IsUnreserved(text[end])) ++end;
    out->append(text, i, end - i);
    if (end == text.size()) return;
    const auto byte = static_cast<unsigned char>(text[end]);
    *out += '%';
    *out += kHex[byte >> 4];
    *out += kHex[byte & 15];
    i = end + 1;
  }
}

std::string PercentEncoded(std::string_view text) {
  std::string out;
  AppendPercentEncoded(text, &out);
  return out;
}

}  // namespace muster::text
