#include "adapters/kubernetes/api/json_value.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "adapters/text/utf8.h"

namespace muster::kubernetes::api::json {
namespace {

bool IsPlain(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '-';
  });
}

}  // namespace

std::string Path::ToString() const {
  constexpr size_t kMostKey = 96;
  std::string text = above == nullptr ? "" : above->ToString();
  if (index >= 0) return text + "[" + std::to_string(index) + "]";
  if (above == nullptr) return text;
  if (IsPlain(key) && key.size() <= kMostKey) {
    if (!text.empty()) text += '.';
    return text.append(key);
  }
  return text + "[\"" +
         absl::CHexEscape(std::string(text::Truncated(key, kMostKey))) + "\"]";
}

bool Value::Fail(std::string_view why) {
  std::string message = path_->ToString();
  if (!message.empty()) message += ": ";
  outcome_->status = absl::InvalidArgumentError(message.append(why));
  return false;
}

bool Value::FailAt(std::string_view field, std::string_view why) {
  const Path path{path_, field, -1};
  return Value(value_, &path, outcome_).Fail(why);
}

bool Value::WrongType(std::string_view expected) {
  return IsNull() || Fail("must be " + std::string(expected));
}

bool Value::Broken(simdjson::error_code error) {
  outcome_->broken = true;
  return Fail(std::string("is no JSON: ") + simdjson::error_message(error));
}

bool Value::Read(std::string_view* out, size_t most) {
  if (const auto error = value_.get_string().get(*out)) {
    return Refused(error, "a string");
  }
  if (out->size() <= most) return true;
  return Fail("is longer than " + std::to_string(most) + " bytes");
}

bool Value::Read(bool* out) {
  bool read = false;
  if (value_.get_bool().get(read) != simdjson::SUCCESS) {
    return WrongType("true or false");
  }
  *out = read;
  return true;
}

bool Value::Read(int64_t* out) {
  int64_t read = 0;
  if (value_.get_int64().get(read) != simdjson::SUCCESS) {
    return WrongType("a whole number of 64 bits");
  }
  *out = read;
  return true;
}

bool Value::Read(int32_t* out) {
  int64_t read = 0;
  if (value_.get_int64().get(read) != simdjson::SUCCESS ||
      read < std::numeric_limits<int32_t>::min() ||
      read > std::numeric_limits<int32_t>::max()) {
    return WrongType("a whole number of 32 bits");
  }
  *out = static_cast<int32_t>(read);
  return true;
}

bool Value::ReadScalar(std::string_view* out) {
  if (IsString()) return Read(out);
  // Up to the next token, so with the blanks between.
  std::string_view token = value_.raw_json_token();
  token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty() || !(token[0] == '-' || absl::ascii_isdigit(token[0]))) {
    return WrongType("a string or a number");
  }
  *out = token;
  return true;
}

bool Value::ReadIsSet(bool* out) {
  bool any = false;
  simdjson::ondemand::json_type type{};
  if (const auto error = value_.type().get(type)) return Broken(error);
  if (type == simdjson::ondemand::json_type::array) {
    if (!Array([&](Value) { return any = true; })) return false;
  } else if (!Members([&](std::string_view, Value) { return any = true; })) {
    return false;
  }
  *out = any;
  return true;
}

}  // namespace muster::kubernetes::api::json
