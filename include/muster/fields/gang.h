// The fields of muster/gang.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_GANG_H_
#define MUSTER_FIELDS_GANG_H_

#include "muster/fields/device.h"
#include "muster/fields/ids.h"
#include "muster/fields/priority_class.h"
#include "muster/fields/protocol.h"
#include "muster/fields/resources.h"
#include "muster/fields/selector.h"
#include "muster/fields/topology.h"
#include "muster/gang.h"

namespace muster {

template <>
struct FieldsOf<TaskShape> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "resources", s.resources);
    v(2, "devices", s.devices);
    v(3, "selector", s.selector);
    v(4, "tolerations", s.tolerations);
    v(5, "node_sets", s.node_sets);
    v(6, "whole_node", s.whole_node);
  }
};

template <>
struct FieldsOf<Role> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "name", s.name);
    v(2, "group", s.group);
    v(3, "min_tasks", s.min_tasks);
    v(4, "desired_tasks", s.desired_tasks);
    v(5, "shape", s.shape);
    v(6, "alternatives", s.alternatives);
    v(7, "preferences", s.preferences);
    v(8, "tolerations", s.tolerations);
    v(9, "node_sets", s.node_sets);
    v(10, "topology", s.topology);
    v(11, "start_after", s.start_after);
    v(12, "preemptible", s.preemptible);
    v(13, "order", s.order);
  }
};

template <>
struct FieldsOf<Group> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "name", s.name);
    v(2, "parent", s.parent);
    v(3, "min_children", s.min_children);
    v(4, "min_tasks", s.min_tasks);
    v(5, "topology", s.topology);
  }
};

template <>
struct FieldsOf<Traffic> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "from", s.from);
    v(2, "to", s.to);
    v(3, "weight", s.weight);
  }
};

template <>
struct FieldsOf<GangAffinity> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "gangs", s.gangs);
    v(2, "topology", s.topology);
    v(3, "level", s.level);
    v(4, "anti", s.anti);
    v(5, "required", s.required);
    v(6, "weight", s.weight);
  }
};

template <>
struct FieldsOf<SpeedEntry> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "model", s.model);
    v(2, "tasks", s.tasks);
    v(3, "milli_speed", s.milli_speed);
  }
};

template <>
struct FieldsOf<Gang> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "queue", s.queue);
    v(3, "priority_class", s.priority_class);
    v(4, "submitted", s.submitted);
    v(5, "groups", s.groups);
    v(6, "roles", s.roles);
    v(7, "traffic", s.traffic);
    v(8, "labels", s.labels);
    v(9, "affinity", s.affinity);
    v(10, "user", s.user);
    v(11, "account", s.account);
    v(12, "preemptible", s.preemptible);
    v(13, "held", s.held);
    v(14, "not_before", s.not_before);
    v(15, "deadline", s.deadline);
    v(16, "max_runtime", s.max_runtime);
    v(17, "expected_runtime", s.expected_runtime);
    v(18, "depends_on", s.depends_on);
    v(19, "restart_cost", s.restart_cost);
    v(20, "speed", s.speed);
    v(21, "display", s.display);
    v(22, "held_why", s.held_why);
    v(23, "on_preempted", s.on_preempted);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_GANG_H_
