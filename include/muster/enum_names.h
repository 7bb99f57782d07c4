// Names of enum values: one table an enum, used by messages, text formats and
// the wire, so that a value and its name cannot drift apart.
#ifndef MUSTER_ENUM_NAMES_H_
#define MUSTER_ENUM_NAMES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace muster {

// Every public enum E starts at 0, has no gaps, and comes with
//   std::span<const std::string_view> EnumNames(E);
// found by argument-dependent lookup; the argument's value is not looked at.
// The i-th name is that of the value i. Names are lower case with hyphens, but
// for those that Kubernetes gave ("NotIn"). Journals hold the numbers, scenario
// files the names: a later version adds values at the end and changes none.
//
// Any thread may call these. They allocate nothing, and what it returns lives
// as long as the program.

// The value's name, or "?" for a value outside the enum. O(1).
template <class E>
  requires std::is_enum_v<E>
std::string_view Name(E value) {
  std::span<const std::string_view> names = EnumNames(value);
  const size_t i = static_cast<size_t>(value);
  return i < names.size() ? names[i] : "?";
}

// The value with this name, compared bytewise; nothing for a name the enum does
// not have. O(values).
template <class E>
  requires std::is_enum_v<E>
std::optional<E> FromName(std::string_view name) {
  std::span<const std::string_view> names = EnumNames(E{});
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

// Whether the integer is a value of the enum: to be asked before a cast of what
// came from outside. O(1).
template <class E>
  requires std::is_enum_v<E>
bool IsValue(int64_t i) {
  return i >= 0 && static_cast<size_t>(i) < EnumNames(E{}).size();
}

// Defines EnumNames for an enum, right behind it in the same namespace.
#define MUSTER_ENUM_NAMES(E, ...)                               \
  inline std::span<const std::string_view> EnumNames(E) {       \
    static constexpr std::string_view kNames[] = {__VA_ARGS__}; \
    return kNames;                                              \
  }                                                             \
  static_assert(true, "")

}  // namespace muster

#endif  // MUSTER_ENUM_NAMES_H_
