#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/wire/members.h"
#include "muster/fields.h"
#include "muster/wire/convert.h"

namespace muster::wire {
namespace internal {
namespace {

template <ScalarMember M>
std::string Text(M value) {
  if constexpr (std::is_enum_v<M>) {
    return std::string(Name(value));
  } else if constexpr (std::is_same_v<M, bool>) {
    return value ? "true" : "false";
  } else {
    return std::to_string(value);
  }
}

std::string Text(const std::string& value) {
  return absl::StrCat("\"", absl::CHexEscape(value), "\"");
}

// Finds the first difference; Same() is false where there is one.
class Comparer {
 public:
  template <HasFields T>
  bool Same(const T& expected, const T& actual) {
    // Fields shows one value at a time: first remember where the members of
    // one are, then walk over the other. It shows all where they may be set.
    std::array<const void*, 64> members{};
    size_t count = 0;
    VisitFields(const_cast<T&>(actual), [&](int, const char*, auto& member) {
      members[count++] = &member;
    });
    count = 0;
    bool same = true;
    VisitFields(const_cast<T&>(expected), [&](int, const char* name, auto& m) {
      using M = std::remove_cvref_t<decltype(m)>;
      const auto& other = *static_cast<const M*>(members[count++]);
      if (!same || Same(std::as_const(m), other)) return;
      same = false;
      if constexpr (!VariantMember<M>) failure_.Within(name);
    });
    return same;
  }

  const Failure& failure() const { return failure_; }

 private:
  template <class M>
    requires(ScalarMember<M> || StringMember<M>)
  bool Same(const M& expected, const M& actual) {
    return expected == actual || Differ(Text(expected), Text(actual));
  }

  template <OptionalMember M>
  bool Same(const M& expected, const M& actual) {
    if (expected && actual) return Same(*expected, *actual);
    return expected.has_value() == actual.has_value() ||
           Differ(expected ? "set" : "unset", actual ? "set" : "unset");
  }

  template <VariantMember M>
  bool Same(const M& expected, const M& actual) {
    if (expected.index() != actual.index()) {
      return Differ("kind " + std::to_string(expected.index()),
                    "kind " + std::to_string(actual.index()));
    }
    return std::visit(
        [&](const auto& alternative) {
          using A = std::remove_cvref_t<decltype(alternative)>;
          return Same(alternative, std::get<A>(actual));
        },
        expected);
  }

  template <VectorMember M>
  bool Same(const M& expected, const M& actual) {
    for (size_t i = 0; i < expected.size() && i < actual.size(); ++i) {
      if (Same(expected[i], actual[i])) continue;
      failure_.WithinElement(i);
      return false;
    }
    return expected.size() == actual.size() ||
           Differ(std::to_string(expected.size()) + " elements",
                  std::to_string(actual.size()));
  }

  bool Differ(const std::string& expected, const std::string& actual) {
    failure_.what = actual + " instead of " + expected;
    return false;
  }

  Failure failure_{};
};

}  // namespace
}  // namespace internal

template <Value T>
std::string Difference(const T& expected, const T& actual) {
  internal::Comparer comparer;
  if (comparer.Same(expected, actual)) return {};
  return comparer.failure().ToString();
}

#define MUSTER_WIRE_DIFFERENCE(T) \
  template std::string Difference(const T&, const T&);
MUSTER_WIRE_VALUES(MUSTER_WIRE_DIFFERENCE)

}  // namespace muster::wire
