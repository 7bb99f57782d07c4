// Changes one member of a value to something it should not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "muster/fields.h"

namespace muster {

// Counts the members of a value that are of one sort, in the order of FieldsOf,
// and writes to the n-th. A value is walked once for each of its members.
class Poke {
 public:
  enum class Sort : uint8_t { kEnum, kInteger, kText, kList };

  Poke(Sort sort, size_t nth, int64_t to) : sort_(sort), nth_(nth), to_(to) {}

  // False: there are fewer members of the sort.
  template <class T>
  bool At(T* value) {
    Member(*value);
    return done_;
  }
  // The member's name alone: "op".
  const std::string& name() const { return name_; }

 private:
  // Whether this is the one.
  bool Is(Sort sort) { return sort_ == sort && seen_++ == nth_; }

  template <HasFields T>
  void Member(T& value) {
    VisitFields(value, [&](int, const char* name, auto& member) {
      if (done_) return;
      Member(member);
      if (done_ && name_.empty()) name_ = name;
    });
  }
  template <class T>
    requires(std::is_enum_v<T> || std::is_integral_v<T>)
  void Member(T& value) {
    const Sort sort = std::is_enum_v<T> ? Sort::kEnum : Sort::kInteger;
    if (std::is_same_v<T, bool> || !Is(sort)) return;
    value = static_cast<T>(to_);
    done_ = true;
  }
  void Member(std::string& value) {
    if (!Is(Sort::kText)) return;
    value.assign(static_cast<size_t>(to_), 'x');
    done_ = true;
  }
  template <class T>
  void Member(std::optional<T>& value) {
    if (value) Member(*value);
  }
  template <class... Ts>
  void Member(std::variant<Ts...>& value) {
    std::visit([&](auto& alternative) { Member(alternative); }, value);
  }
  template <class T>
  void Member(std::vector<T>& list) {
    if (Is(Sort::kList)) {
      list.resize(static_cast<size_t>(to_), list.empty() ? T{} : list[0]);
      done_ = true;
      return;
    }
    for (T& element : list) {
      if (!done_) Member(element);
    }
  }

  const Sort sort_;
  const size_t nth_;
  const int64_t to_;
  size_t seen_ = 0;
  bool done_ = false;
  std::string name_{};
};

}  // namespace muster
