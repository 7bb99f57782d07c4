// The fields of muster/config.h's values, by the protocol of protocol.h.
#ifndef MUSTER_FIELDS_CONFIG_H_
#define MUSTER_FIELDS_CONFIG_H_

#include "muster/config.h"
#include "muster/fields/eviction_backoff.h"
#include "muster/fields/ids.h"
#include "muster/fields/partition.h"
#include "muster/fields/placement_policy.h"
#include "muster/fields/preemption_costs.h"
#include "muster/fields/protocol.h"
#include "muster/fields/resources.h"
#include "muster/fields/topology.h"

namespace muster {

template <>
struct FieldsOf<HostCapabilities> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "suspend", s.suspend);
    v(2, "shrink", s.shrink);
    v(3, "migrate", s.migrate);
    v(4, "choose_devices", s.choose_devices);
    v(5, "nominate", s.nominate);
    v(6, "grace", s.grace);
    v(7, "evicts_taints", s.evicts_taints);
    v(8, "suspended_keeps", s.suspended_keeps);
    VisitAdded(9, "keeps_running", s.keeps_running, v);
  }
};

template <>
struct FieldsOf<SearchLimits> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "placement_steps", s.placement_steps);
    v(2, "victim_steps", s.victim_steps);
    v(3, "most_effort", s.most_effort);
  }
};

template <>
struct FieldsOf<SchedulerConfig> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "resources", s.resources);
    v(2, "device_kind", s.device_kind);
    v(3, "topologies", s.topologies);
    v(4, "host", s.host);
    v(5, "work_budget", s.work_budget);
    v(6, "backoff_base", s.backoff_base);
    v(7, "backoff_max", s.backoff_max);
    v(8, "preemption", s.preemption);
    v(9, "placement", s.placement);
    v(10, "partition_schemes", s.partition_schemes);
    v(11, "fabrics", s.fabrics);
    v(12, "inbox_limit", s.inbox_limit);
    v(13, "search", s.search);
    v(14, "replacement_timeout", s.replacement_timeout);
    v(15, "suspend_timeout", s.suspend_timeout);
    v(16, "node_kind", s.node_kind);
    v(17, "preemption_costs", s.preemption_costs);
    VisitAdded(18, "eviction_backoff", s.eviction_backoff, v);
    VisitAdded(19, "queue_order", s.queue_order, v);
  }
};

}  // namespace muster

#endif  // MUSTER_FIELDS_CONFIG_H_
