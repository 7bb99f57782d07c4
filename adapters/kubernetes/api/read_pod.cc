#include <algorithm>

#include "adapters/kubernetes/api/pod_requests.h"
#include "adapters/kubernetes/api/read.h"

namespace muster::kubernetes::api::json {
namespace {

// Different resources of one container: each name is looked for in a list.
constexpr size_t kMostResources = 256;

// Resources by name, which stay in the document.
bool ReadAmounts(Value v, Amounts* out) {
  return v.Members(
      [&](std::string_view key, Value field) {
        if (key.empty() || key.size() > kMaxKeyLength) {
          return field.Fail("has no name, or too long a one");
        }
        if (out->Find(key) != nullptr) return field.Fail("is there twice");
        return ReadQuantity(field, &(*out)[key]);
      },
      kMostResources);
}

bool ReadAmounts(Value v, std::optional<Amounts>* out) {
  if (v.IsNull()) return true;
  return ReadAmounts(v, &out->emplace());
}

// requests of {requests, limits, ...}.
template <typename Out>
bool ReadRequests(Value v, Out* out) {
  return v.Object([&](std::string_view key, Value field) {
    return key != "requests" || ReadAmounts(field, out);
  });
}

bool ReadHostPort(Value v, std::vector<std::string>* out) {
  std::string_view protocol = "TCP", ip = "0.0.0.0";
  int32_t port = 0;
  if (!v.Object([&](std::string_view key, Value field) {
        if (key == "hostPort") return field.Read(&port);
        if (key == "protocol") return field.Read(&protocol);
        if (key == "hostIP") return field.Read(&ip);
        return true;
      })) {
    return false;
  }
  if (port == 0) return true;
  if (ip.empty()) ip = "0.0.0.0";
  if (out->size() == kMaxListLength) return v.Fail("is one port too many");
  out->push_back(
      std::string(protocol).append("/").append(ip).append("/").append(
          std::to_string(port)));
  return true;
}

bool ReadContainer(Value v, ContainerNeeds* out,
                   std::vector<std::string>* ports) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "name") return field.Read(&out->name);
    if (key == "resources") return ReadRequests(field, &out->spec);
    if (key == "restartPolicy") {
      std::string_view policy;
      if (!field.Read(&policy)) return false;
      out->restarts = policy == "Always";
      return true;
    }
    if (key == "ports") {
      return field.Array(
          [&](Value element) { return ReadHostPort(element, ports); });
    }
    return true;
  });
}

// The ports of init containers count only if they go on running.
bool ReadContainers(Value v, bool init, std::vector<ContainerNeeds>* out,
                    std::vector<std::string>* ports) {
  return v.Array([&](Value element) {
    std::vector<std::string> its_ports;
    ContainerNeeds& container = out->emplace_back();
    if (!ReadContainer(element, &container, &its_ports)) return false;
    if (!init || container.restarts) {
      std::ranges::move(its_ports, std::back_inserter(*ports));
    }
    return true;
  });
}

bool ReadContainerStatuses(Value v, std::vector<ContainerHas>* out) {
  return v.Array([&](Value element) {
    ContainerHas has;
    if (!element.Object([&](std::string_view key, Value field) {
          if (key == "name") return field.Read(&has.name);
          if (key == "allocatedResources") {
            return ReadAmounts(field, &has.allocated);
          }
          if (key == "resources") return ReadRequests(field, &has.actual);
          return true;
        })) {
      return false;
    }
    if (has.allocated.has_value() || has.actual.has_value()) {
      out->push_back(std::move(has));
    }
    return true;
  });
}

bool ReadPreferredTerm(Value v, PreferredTerm* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "weight") return field.Read(&out->weight);
    if (key == "preference") {
      return ReadNodeSelectorTerm(field, &out->preference);
    }
    return true;
  });
}

bool ReadNodeAffinity(Value v, Pod* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "requiredDuringSchedulingIgnoredDuringExecution") {
      if (field.IsNull()) return true;
      out->has_required_node_affinity = true;
      return ReadNodeSelector(field, &out->required_node_affinity);
    }
    if (key == "preferredDuringSchedulingIgnoredDuringExecution") {
      return field.Array([&](Value element) {
        return ReadPreferredTerm(element,
                                 &out->preferred_node_affinity.emplace_back());
      });
    }
    return NotUnderstood(field, &out->not_understood);
  });
}

// A list or an object that a scheduler would have to understand, if it is not
// empty.
bool ReadIfSet(Value v, std::vector<std::string>* not_understood) {
  bool set = false;
  if (!v.ReadIsSet(&set)) return false;
  if (set) not_understood->push_back(v.PathOf());
  return true;
}

bool ReadAffinity(Value v, Pod* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "nodeAffinity") return ReadNodeAffinity(field, out);
    // podAffinity, podAntiAffinity, and what comes to be.
    return field.Object([&](std::string_view, Value kind) {
      return ReadIfSet(kind, &out->not_understood);
    });
  });
}

bool ReadToleration(Value v, Toleration* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "key") return field.Read(&out->key);
    if (key == "operator") return field.Read(&out->op);
    if (key == "value") return field.Read(&out->value);
    if (key == "effect") return field.Read(&out->effect);
    if (key == "tolerationSeconds") return field.Read(&out->seconds);
    return true;
  });
}

bool ReadSpread(Value v, SpreadConstraint* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "maxSkew") return field.Read(&out->max_skew);
    if (key == "topologyKey") return field.Read(&out->topology_key);
    if (key == "whenUnsatisfiable") {
      return field.Read(&out->when_unsatisfiable);
    }
    if (key == "minDomains") return field.Read(&out->min_domains);
    if (key == "labelSelector") {
      if (field.IsNull()) return true;
      return ReadLabelSelector(field, &out->selector.emplace());
    }
    if (key == "matchLabelKeys") return field.Read(&out->match_label_keys);
    if (key == "nodeAffinityPolicy") {
      return field.Read(&out->node_affinity_policy);
    }
    if (key == "nodeTaintsPolicy") return field.Read(&out->node_taints_policy);
    return true;
  });
}

bool ReadVolume(Value v, PodVolume* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "name") return field.Read(&out->name);
    if (field.IsNull()) return true;
    out->type = std::string(key);
    if (key != "persistentVolumeClaim") return true;
    return field.Object([&](std::string_view name, Value part) {
      return name != "claimName" || part.Read(&out->claim);
    });
  });
}

// One name of each element: {name: ...}.
bool ReadNames(Value v, std::vector<std::string>* out) {
  return v.Array([&](Value element) {
    std::string& name = out->emplace_back();
    return element.Object([&](std::string_view key, Value field) {
      return key != "name" || field.Read(&name);
    });
  });
}

template <typename T, typename ReadOne>
bool ReadEach(Value v, std::vector<T>* out, ReadOne&& read_one) {
  return v.Array(
      [&](Value element) { return read_one(element, &out->emplace_back()); });
}

// Where the pod may run, and how.
bool ReadPlacement(std::string_view key, Value v, Pod* out) {
  if (key == "nodeSelector") return ReadStringMap(v, &out->node_selector);
  if (key == "affinity") return ReadAffinity(v, out);
  if (key == "tolerations") {
    return ReadEach(v, &out->tolerations, ReadToleration);
  }
  if (key == "topologySpreadConstraints") {
    return ReadEach(v, &out->spread, ReadSpread);
  }
  if (key == "volumes") return ReadEach(v, &out->volumes, ReadVolume);
  if (key == "schedulingGates") return ReadNames(v, &out->scheduling_gates);
  if (key == "schedulingGroup") {
    return v.Object([&](std::string_view name, Value field) {
      if (name == "podGroupName") return field.Read(&out->pod_group_name);
      return NotUnderstood(field, &out->not_understood);
    });
  }
  if (key == "resourceClaims" || key == "workloadRef") {
    return ReadIfSet(v, &out->not_understood);
  }
  return true;
}

bool ReadSpec(Value v, Pod* out, PodNeeds* needs) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "containers") {
      return ReadContainers(field, false, &needs->containers, &out->host_ports);
    }
    if (key == "initContainers") {
      return ReadContainers(field, true, &needs->init_containers,
                            &out->host_ports);
    }
    if (key == "overhead") return ReadAmounts(field, &needs->overhead);
    if (key == "resources") return ReadRequests(field, &needs->pod_spec);
    if (key == "schedulerName") return field.Read(&out->scheduler_name);
    if (key == "nodeName") return field.Read(&out->node_name);
    if (key == "priorityClassName") {
      return field.Read(&out->priority_class_name);
    }
    if (key == "priority") return field.Read(&out->priority);
    if (key == "preemptionPolicy") {
      return field.Read(&out->preemption_policy);
    }
    if (key == "terminationGracePeriodSeconds") {
      return field.Read(&out->termination_grace_seconds);
    }
    return ReadPlacement(key, field, out);
  });
}

bool ReadCondition(Value v, Pod* out, PodNeeds* needs) {
  std::string_view type, status, reason;
  if (!v.Object([&](std::string_view key, Value field) {
        if (key == "type") return field.Read(&type);
        if (key == "status") return field.Read(&status);
        if (key == "reason") return field.Read(&reason);
        return true;
      })) {
    return false;
  }
  if (type == "Ready") out->ready = status == "True";
  if (type == "PodResizePending") {
    needs->resize_infeasible = reason == "Infeasible";
  }
  if (type == "PodScheduled" || type == "DisruptionTarget") {
    out->conditions[std::string(type)] =
        std::string(status).append("/").append(reason);
  }
  return true;
}

bool ReadStatus(Value v, Pod* out, PodNeeds* needs) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "phase") return field.Read(&out->phase);
    if (key == "nominatedNodeName") {
      return field.Read(&out->nominated_node_name);
    }
    if (key == "startTime") return ReadTime(field, &out->start_time);
    if (key == "conditions") {
      return field.Array(
          [&](Value element) { return ReadCondition(element, out, needs); });
    }
    if (key == "containerStatuses" || key == "initContainerStatuses") {
      return ReadContainerStatuses(field, &needs->statuses);
    }
    if (key == "allocatedResources") {
      return ReadAmounts(field, &needs->pod_allocated);
    }
    if (key == "resources") return ReadRequests(field, &needs->pod_actual);
    return true;
  });
}

}  // namespace

bool ReadObject(Value v, Pod* out) {
  PodNeeds needs;
  if (!ReadObjectFields(v, &out->meta, [&](std::string_view key, Value field) {
        if (key == "spec") return ReadSpec(field, out, &needs);
        if (key == "status") {
          return ReadStatus(field, out, &needs);
        }
        return true;
      })) {
    return false;
  }
  out->requests = PodRequests(needs);
  return true;
}

}  // namespace muster::kubernetes::api::json
