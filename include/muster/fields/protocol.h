// The visitor protocol by which values are written, read, hashed and compared.
//
// Every plain value T of the public API has a specialisation
//   template <> struct FieldsOf<T> {
//     template <class Self, class V> static void Visit(Self& s, V&& v);
//   };
// in muster/fields/, which calls v(number, "name", s.member) once a member;
// Self is T or const T. Numbers are those of the Protobuf message of the same
// name (package muster.v1) and never change. A member is: bool, an integer, an
// enum with EnumNames, std::string, a value with fields, a std::vector or
// std::optional of these, or a std::variant (whose i-th alternative has the
// number `number` + i). A DeviceSet is two members, one a word. The core knows
// no other form of serialisation.
//
// Code that visits values includes muster/fields.h, which has all of them.
#ifndef MUSTER_FIELDS_PROTOCOL_H_
#define MUSTER_FIELDS_PROTOCOL_H_

#include <type_traits>

namespace muster {

// The fields of T, where it is specialised. Defined even where it is not: a
// specialisation that is seen only after somebody has asked HasFields<T> is an
// error of the compiler then, and no silent "no".
template <class T>
struct FieldsOf {};

namespace fields_internal {
struct AnyVisitor {
  template <class T>
  void operator()(int, const char*, T&) const {}
};
}  // namespace fields_internal

// Whether T has fields.
template <class T>
concept HasFields =
    requires(T& t) { FieldsOf<T>::Visit(t, fields_internal::AnyVisitor{}); };

// Visits the members of `value`, const or not.
template <class T, class V>
  requires HasFields<std::remove_const_t<T>>
void VisitFields(T& value, V&& visitor) {
  FieldsOf<std::remove_const_t<T>>::Visit(value, visitor);
}

// For Visit, of a member added later: a const value shows it unless it has the
// default, so that bytes and hashes of other values are as they were before.
template <class V, class M>
void VisitAdded(int number, const char* name, M& member, V&& visitor) {
  if (!std::is_const_v<M> || member != M{}) visitor(number, name, member);
}

}  // namespace muster

#endif  // MUSTER_FIELDS_PROTOCOL_H_
