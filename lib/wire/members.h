// What a member of a value can be, the integers behind scalars, and why and
// where in a value something is wrong.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "muster/enum_names.h"

namespace muster::wire::internal {

template <class M>
inline constexpr bool kIsVector = false;
template <class E>
inline constexpr bool kIsVector<std::vector<E>> = true;

template <class M>
inline constexpr bool kIsOptional = false;
template <class E>
inline constexpr bool kIsOptional<std::optional<E>> = true;

// Number of alternatives; 0 for what is no variant.
template <class M>
inline constexpr int kAlternatives = 0;
template <class... Es>
inline constexpr int kAlternatives<std::variant<Es...>> = sizeof...(Es);

template <class M>
concept VectorMember = kIsVector<M>;
template <class M>
concept OptionalMember = kIsOptional<M>;
template <class M>
concept VariantMember = (kAlternatives<M> > 0);
template <class M>
concept StringMember = std::same_as<M, std::string>;
// What is encoded as one varint. Signed integers are zigzag (sint32, sint64).
template <class M>
concept ScalarMember = std::is_enum_v<M> || std::same_as<M, bool> ||
                       (std::integral<M> && sizeof(M) >= 4);

// How many field numbers the member has: its own, or one an alternative.
template <class M>
inline constexpr int kNumbers = kAlternatives<M> > 0 ? kAlternatives<M> : 1;

template <ScalarMember M>
uint64_t ToVarint(M value) {
  if constexpr (std::is_signed_v<M>) {
    const int64_t v = value;
    return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
  } else {
    return static_cast<uint64_t>(value);
  }
}

// Empty, or why the varint is no value of the type.
template <ScalarMember M>
std::string FromVarint(uint64_t varint, M* value) {
  if constexpr (std::is_enum_v<M>) {
    const int64_t v = static_cast<int64_t>(varint);
    if (!IsValue<M>(v)) {
      return std::to_string(v) + " is not a value this version knows";
    }
    *value = static_cast<M>(v);
  } else if constexpr (std::is_signed_v<M>) {
    const int64_t v =
        static_cast<int64_t>(varint >> 1) ^ -static_cast<int64_t>(varint & 1);
    if (v < std::numeric_limits<M>::min() ||
        v > std::numeric_limits<M>::max()) {
      return std::to_string(v) + " is out of range";
    }
    *value = static_cast<M>(v);
  } else {
    if (varint > std::numeric_limits<M>::max()) {
      return std::to_string(varint) + " is out of range";
    }
    *value = static_cast<M>(varint);
  }
  return {};
}

// Why a value cannot be written or read, and where in it. The path grows at its
// front while the failing calls return, so that it costs nothing where nothing
// fails.
struct Failure {
  std::string path{};
  std::string what{};

  void Within(const std::string& member) {
    const bool dot = !path.empty() && path[0] != '[';
    path = absl::StrCat(member, dot ? "." : "", path);
  }
  void WithinElement(size_t i) { Within(absl::StrCat("[", i, "]")); }
  // "roles[1].name: WHAT"
  std::string ToString() const {
    return path.empty() ? what : absl::StrCat(path, ": ", what);
  }
};

}  // namespace muster::wire::internal
