// Priority classes, budgets, quotas, namespaces, volumes; the server's status.
#include "adapters/kubernetes/api/read.h"

namespace muster::kubernetes::api::json {

bool ReadObject(Value v, PriorityClass* out) {
  return ReadObjectFields(v, &out->meta,
                          [&](std::string_view key, Value field) {
                            if (key == "value") return field.Read(&out->value);
                            if (key == "globalDefault")
                              return field.Read(&out->global_default);
                            if (key == "preemptionPolicy") {
                              return field.Read(&out->preemption_policy);
                            }
                            return true;
                          });
}

bool ReadObject(Value v, PodDisruptionBudget* out) {
  const auto read_spec = [&](std::string_view key, Value field) {
    if (key != "selector" || field.IsNull()) return true;
    return ReadLabelSelector(field, &out->selector.emplace());
  };
  const auto read_status = [&](std::string_view key, Value field) {
    return key != "disruptionsAllowed" || field.Read(&out->disruptions_allowed);
  };
  return ReadObjectFields(v, &out->meta,
                          [&](std::string_view key, Value field) {
                            if (key == "spec") return field.Object(read_spec);
                            if (key == "status") {
                              return field.Object(read_status);
                            }
                            return true;
                          });
}

bool ReadObject(Value v, ResourceQuota* out) {
  const auto read_spec = [&](std::string_view key, Value field) {
    if (key == "hard") return ReadResources(field, &out->hard);
    // A quota with these holds for some of the pods only.
    if (key == "scopes" || key == "scopeSelector") {
      bool set = false;
      if (!field.ReadIsSet(&set)) return false;
      out->scoped |= set;
    }
    return true;
  };
  return ReadObjectFields(v, &out->meta,
                          [&](std::string_view key, Value field) {
                            return key != "spec" || field.Object(read_spec);
                          });
}

bool ReadObject(Value v, Namespace* out) {
  return ReadObjectFields(v, &out->meta,
                          [](std::string_view, Value) { return true; });
}

bool ReadObject(Value v, PersistentVolume* out) {
  const auto read_claim = [&](std::string_view key, Value field) {
    if (key == "namespace") return field.Read(&out->claim_namespace);
    if (key == "name") return field.Read(&out->claim_name);
    if (key == "uid") return field.Read(&out->claim_uid);
    return true;
  };
  const auto read_affinity = [&](std::string_view key, Value field) {
    if (key != "required" || field.IsNull()) return true;
    out->has_node_affinity = true;
    return ReadNodeSelector(field, &out->node_affinity);
  };
  const auto read_spec = [&](std::string_view key, Value field) {
    if (key == "claimRef") return field.Object(read_claim);
    if (key == "nodeAffinity") return field.Object(read_affinity);
    if (key == "storageClassName") {
      return field.Read(&out->storage_class_name);
    }
    return true;
  };
  return ReadObjectFields(
      v, &out->meta, [&](std::string_view key, Value field) {
        if (key == "spec") return field.Object(read_spec);
        if (key != "status") return true;
        return field.Object([&](std::string_view name, Value part) {
          return name != "phase" || part.Read(&out->phase);
        });
      });
}

bool ReadObject(Value v, PersistentVolumeClaim* out) {
  const auto read_spec = [&](std::string_view key, Value field) {
    if (key == "volumeName") return field.Read(&out->volume_name);
    if (key == "storageClassName") {
      return field.Read(&out->storage_class_name);
    }
    return true;
  };
  if (!ReadObjectFields(v, &out->meta, [&](std::string_view key, Value field) {
        if (key == "spec") return field.Object(read_spec);
        if (key != "status") return true;
        return field.Object([&](std::string_view name, Value part) {
          return name != "phase" || part.Read(&out->phase);
        });
      })) {
    return false;
  }
  const auto node =
      out->meta.annotations.find("volume.kubernetes.io/selected-node");
  if (node != out->meta.annotations.end()) out->selected_node = node->second;
  return true;
}

bool ReadObject(Value v, StorageClass* out) {
  return ReadObjectFields(v, &out->meta,
                          [&](std::string_view key, Value field) {
                            if (key == "provisioner")
                              return field.Read(&out->provisioner);
                            if (key == "volumeBindingMode") {
                              return field.Read(&out->volume_binding_mode);
                            }
                            return true;
                          });
}

}  // namespace muster::kubernetes::api::json
