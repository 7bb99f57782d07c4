// The visitor protocol by which values are written, read, hashed and compared.
//
// Every plain value of the public API has
//   template <class Self, class V> static void Fields(Self& s, V&& v);
// which calls v(number, "name", member) once a member. Numbers are those of the
// Protobuf message of the same name (package muster.v1) and never change. A
// member is: bool, an integer, an enum with EnumNames, std::string, a value
// with Fields, a std::vector or std::optional of these, or a std::variant
// (whose i-th alternative has the number `number` + i). A DeviceSet is two
// members, one a word. The core knows no other form of serialisation.
#ifndef MUSTER_FIELDS_H_
#define MUSTER_FIELDS_H_

#include <concepts>
#include <type_traits>

namespace muster {

namespace fields_internal {
struct AnyVisitor {
  template <class T>
  void operator()(int, const char*, T&) const {}
};
}  // namespace fields_internal

// Whether T has Fields.
template <class T>
concept HasFields =
    requires(T& t) { T::Fields(t, fields_internal::AnyVisitor{}); };

// Visits the members of `value`, const or not.
template <class T, class V>
  requires HasFields<std::remove_const_t<T>>
void VisitFields(T& value, V&& visitor) {
  std::remove_const_t<T>::Fields(value, visitor);
}

// For Fields, of a member added later: a const value shows it unless it has the
// default, so that bytes and hashes of other values are as they were before.
template <class V, class M>
void VisitAdded(int number, const char* name, M& member, V&& visitor) {
  if (!std::is_const_v<M> || member != M{}) visitor(number, name, member);
}

}  // namespace muster

#endif  // MUSTER_FIELDS_H_
