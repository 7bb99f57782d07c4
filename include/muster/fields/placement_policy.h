// The fields of muster/placement_policy.h's values, by the protocol of
// protocol.h.
#ifndef MUSTER_FIELDS_PLACEMENT_POLICY_H_
#define MUSTER_FIELDS_PLACEMENT_POLICY_H_

#include "muster/fields/gang.h"
#include "muster/fields/node.h"
#include "muster/fields/protocol.h"
#include "muster/fields/resources.h"
#include "muster/placement_policy.h"

namespace muster {

template <>
struct FieldsOf<TypicalTask> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "shape", s.shape);
    v(2, "weight", s.weight);
  }
};

template <>
struct FieldsOf<ModelSupply> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "model", s.model);
    v(2, "devices", s.devices);
  }
};

template <>
struct FieldsOf<PlacementOptions> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "policy", s.policy);
    v(2, "typical_tasks", s.typical_tasks);
    v(3, "supply", s.supply);
    v(4, "yardstick", s.yardstick);
    v(5, "seed", s.seed);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_PLACEMENT_POLICY_H_
