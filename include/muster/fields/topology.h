// The fields of muster/topology.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_TOPOLOGY_H_
#define MUSTER_FIELDS_TOPOLOGY_H_

#include "muster/fields/ids.h"
#include "muster/fields/protocol.h"
#include "muster/topology.h"

namespace muster {

template <>
struct FieldsOf<Topology> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "levels", s.levels);
  }
};

template <>
struct FieldsOf<FabricTopology> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "text", s.text);
  }
};

template <>
struct FieldsOf<Slice> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "level", s.level);
    v(2, "size", s.size);
  }
};

template <>
struct FieldsOf<Spread> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "level", s.level);
    v(2, "max_per_domain", s.max_per_domain);
    v(3, "max_skew", s.max_skew);
    v(4, "min_domains", s.min_domains);
  }
};

template <>
struct FieldsOf<TopologyConstraint> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "topology", s.topology);
    v(2, "required", s.required);
    v(3, "preferred", s.preferred);
    v(4, "slices", s.slices);
    v(5, "spread", s.spread);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_TOPOLOGY_H_
