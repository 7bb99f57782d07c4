#include "adapters/serve/query.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::serve {
namespace {

constexpr size_t kMostParameters = 16;

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

absl::StatusOr<std::string> Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? DigitOf(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? DigitOf(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return absl::InvalidArgumentError(
          "query: '%' is to be followed by two hexadecimal digits");
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ParseQuery(
    std::string_view query) {
  std::map<std::string, std::string> parameters;
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(query), '&', absl::SkipEmpty());
  if (parts.size() > kMostParameters) {
    return absl::InvalidArgumentError(absl::StrCat(
        "query: expected at most ", kMostParameters, " parameters"));
  }
  for (const std::string& part : parts) {
    const size_t equals = part.find('=');
    const auto name = Decoded(std::string_view(part).substr(0, equals));
    const auto value = Decoded(equals == std::string::npos
                                   ? std::string_view()
                                   : std::string_view(part).substr(equals + 1));
    if (!name.ok()) return name.status();
    if (!value.ok()) return value.status();
    if (!parameters.emplace(*name, *value).second) {
      return absl::InvalidArgumentError("query: a parameter is there twice");
    }
  }
  return parameters;
}

}  // namespace muster::serve
