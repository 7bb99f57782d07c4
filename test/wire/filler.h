// Fills any value with random members, by its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <variant>

#include "lib/wire/members.h"
#include "muster/enum_names.h"
#include "muster/fields.h"

namespace muster::wire {

// Not one of the values it makes has to mean anything: extremes are common,
// strings are any bytes, lists have up to two elements.
class Filler {
 public:
  explicit Filler(uint64_t seed) : random_(seed) {}

  template <class T>
  T Make() {
    T value{};
    Fill(&value);
    return value;
  }

  uint64_t Below(uint64_t n) { return random_() % n; }

 private:
  template <HasFields M>
  void Fill(M* value) {
    VisitFields(*value, [&](int, const char*, auto& member) { Fill(&member); });
  }

  template <internal::ScalarMember M>
  void Fill(M* value) {
    if constexpr (std::is_enum_v<M>) {
      *value = static_cast<M>(Below(EnumNames(M{}).size()));
    } else if constexpr (std::is_same_v<M, bool>) {
      *value = Below(2) == 1;
    } else {
      switch (Below(4)) {
        case 0:
          *value = std::numeric_limits<M>::min();
          break;
        case 1:
          *value = std::numeric_limits<M>::max();
          break;
        case 2:
          *value = static_cast<M>(Below(200)) - static_cast<M>(100);
          break;
        default:
          *value = static_cast<M>(random_());
      }
    }
  }

  void Fill(std::string* value) {
    // Now and then so long that the lengths around it need more bytes.
    value->resize(Below(20) == 0 ? Below(300) : Below(12));
    for (char& c : *value) c = static_cast<char>(random_());
  }

  template <internal::OptionalMember M>
  void Fill(M* value) {
    if (Below(2) == 0) return value->reset();
    Fill(&value->emplace());
  }

  template <internal::VectorMember M>
  void Fill(M* value) {
    value->resize(Below(3));
    for (auto& element : *value) Fill(&element);
  }

  template <internal::VariantMember M>
  void Fill(M* value) {
    const size_t chosen = Below(internal::kAlternatives<M>);
    [&]<size_t... kIs>(std::index_sequence<kIs...>) {
      ((kIs == chosen ? Fill(&value->template emplace<kIs>()) : void()), ...);
    }(std::make_index_sequence<internal::kAlternatives<M>>());
  }

  std::mt19937_64 random_;
};

}  // namespace muster::wire
