// The fields of muster/selector.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_SELECTOR_H_
#define MUSTER_FIELDS_SELECTOR_H_

#include "muster/fields/protocol.h"
#include "muster/selector.h"

namespace muster {

template <>
struct FieldsOf<Label> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "value", s.value);
  }
};

template <>
struct FieldsOf<Requirement> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "op", s.op);
    v(3, "values", s.values);
  }
};

template <>
struct FieldsOf<SelectorTerm> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "all_of", s.all_of);
  }
};

template <>
struct FieldsOf<NodeSelector> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "any_of", s.any_of);
  }
};

template <>
struct FieldsOf<Preference> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "weight", s.weight);
    v(2, "term", s.term);
  }
};

template <>
struct FieldsOf<Taint> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "value", s.value);
    v(3, "effect", s.effect);
    v(4, "since", s.since);
  }
};

template <>
struct FieldsOf<Toleration> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "op", s.op);
    v(3, "value", s.value);
    v(4, "effects", s.effects);
    v(5, "seconds", s.seconds);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_SELECTOR_H_
