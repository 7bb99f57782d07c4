// Records: the form of the small files of an attempt. "NAME=VALUE" and a NUL
// for each field, in any order, and "end" and a NUL at the end, so that a file
// of which a part is missing is known. Values are any bytes but NUL, as are
// arguments and environments. Nothing but the standard library: muster-shim
// reads them, too. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace muster::local {

class RecordWriter {
 public:
  // `value` has no NUL. O(bytes).
  void Add(std::string_view name, std::string_view value);
  void Add(std::string_view name, int64_t value);
  // All of it, closed. Once.
  std::string Take();

 private:
  std::string bytes_;
};

// Each field in turn. False: the end is missing, or `field` gave false.
// O(bytes).
bool ReadRecords(std::string_view bytes,
                 const std::function<bool(std::string_view name,
                                          std::string_view value)>& field);

// What no value of a record can have.
inline bool HasNul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

// A decimal number, and nothing else, that the type has room for.
bool ParseNumber(std::string_view text, int64_t* number);
bool ParseNumber(std::string_view text, uint64_t* number);
bool ParseNumber(std::string_view text, int32_t* number);
bool ParseNumber(std::string_view text, uint32_t* number);

}  // namespace muster::local
