#include "adapters/local/shim/record.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace muster::local {
namespace {

constexpr std::string_view kEnd = "end";

template <typename Number>
bool Parse(std::string_view text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && last == end;
}

}  // namespace

void RecordWriter::Add(std::string_view name, std::string_view value) {
  bytes_.append(name).append("=").append(value).push_back('\0');
}

void RecordWriter::Add(std::string_view name, int64_t value) {
  Add(name, std::to_string(value));
}

std::string RecordWriter::Take() {
  bytes_.append(kEnd).push_back('\0');
  return std::move(bytes_);
}

bool ReadRecords(std::string_view bytes,
                 const std::function<bool(std::string_view name,
                                          std::string_view value)>& field) {
  for (size_t end = 0; (end = bytes.find('\0')) != std::string_view::npos;) {
    const std::string_view record = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (record == kEnd) return bytes.empty();
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos ||
        !field(record.substr(0, equals), record.substr(equals + 1))) {
      return false;
    }
  }
  return false;
}

bool ParseNumber(std::string_view text, int64_t* number) {
  return Parse(text, number);
}
bool ParseNumber(std::string_view text, uint64_t* number) {
  return Parse(text, number);
}
bool ParseNumber(std::string_view text, int32_t* number) {
  return Parse(text, number);
}
bool ParseNumber(std::string_view text, uint32_t* number) {
  return Parse(text, number);
}

}  // namespace muster::local
