// The fields of muster/node.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_NODE_H_
#define MUSTER_FIELDS_NODE_H_

#include "muster/fields/device.h"
#include "muster/fields/ids.h"
#include "muster/fields/protocol.h"
#include "muster/fields/resources.h"
#include "muster/fields/selector.h"
#include "muster/node.h"

namespace muster {

template <>
struct FieldsOf<Node> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "capacity", s.capacity);
    v(3, "devices", s.devices);
    v(4, "labels", s.labels);
    v(5, "taints", s.taints);
    v(6, "schedulable", s.schedulable);
    v(7, "choose_devices", s.choose_devices);
  }
};

template <>
struct FieldsOf<ExternalUsage> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "node", s.node);
    v(2, "amount", s.amount);
    v(3, "devices", s.devices);
    VisitAdded(4, "unnamed_devices", s.unnamed_devices, v);
  }
};

template <>
struct FieldsOf<NodeSet> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "nodes", s.nodes);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_NODE_H_
