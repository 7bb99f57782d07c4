// Volumes, claims of them, and their classes.
#include "adapters/kubernetes/api/read.h"

namespace muster::kubernetes::api::json {
namespace {

// The amount of "storage" of a list of resources.
bool ReadStorage(Value v, int64_t* out) {
  ResourceList amounts;
  if (!ReadResources(v, &amounts)) return false;
  const auto it = amounts.find("storage");
  if (it != amounts.end()) *out = it->second;
  return true;
}

// {matchLabelExpressions: [{key, values}]}: each label has one of its values.
bool ReadTopologyTerm(Value v, NodeSelectorTerm* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key != "matchLabelExpressions") return true;
    return field.Array([&](Value element) {
      SelectorRequirement& r = out->match_expressions.emplace_back();
      r.op = "In";
      return element.Object([&](std::string_view name, Value part) {
        if (name == "key") return part.Read(&r.key);
        if (name == "values") return part.Read(&r.values);
        return true;
      });
    });
  });
}

bool ReadPhase(Value v, std::string* out) {
  return v.Object([&](std::string_view key, Value field) {
    return key != "phase" || field.Read(out);
  });
}

bool ReadVolumeSpec(Value v, PersistentVolume* out) {
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
  return v.Object([&](std::string_view key, Value field) {
    if (key == "claimRef") return field.Object(read_claim);
    if (key == "nodeAffinity") return field.Object(read_affinity);
    if (key == "capacity") return ReadStorage(field, &out->capacity);
    if (key == "accessModes") return field.Read(&out->access_modes);
    if (key == "volumeMode") return field.Read(&out->volume_mode);
    if (key == "storageClassName") {
      return field.Read(&out->storage_class_name);
    }
    return true;
  });
}

bool ReadClaimSpec(Value v, PersistentVolumeClaim* out) {
  const auto read_resources = [&](std::string_view key, Value field) {
    return key != "requests" || ReadStorage(field, &out->request);
  };
  return v.Object([&](std::string_view key, Value field) {
    if (key == "volumeName") return field.Read(&out->volume_name);
    if (key == "resources") return field.Object(read_resources);
    if (key == "accessModes") return field.Read(&out->access_modes);
    if (key == "volumeMode") return field.Read(&out->volume_mode);
    if (key == "selector") {
      if (field.IsNull()) return true;
      return ReadLabelSelector(field, &out->selector.emplace());
    }
    if (key == "storageClassName") {
      return field.Read(&out->storage_class_name);
    }
    return true;
  });
}

}  // namespace

bool ReadObject(Value v, PersistentVolume* out) {
  return ReadObjectFields(
      v, &out->meta, [&](std::string_view key, Value field) {
        if (key == "spec") return ReadVolumeSpec(field, out);
        return key != "status" || ReadPhase(field, &out->phase);
      });
}

bool ReadObject(Value v, PersistentVolumeClaim* out) {
  if (!ReadObjectFields(v, &out->meta, [&](std::string_view key, Value field) {
        if (key == "spec") return ReadClaimSpec(field, out);
        return key != "status" || ReadPhase(field, &out->phase);
      })) {
    return false;
  }
  const auto node = out->meta.annotations.find(kSelectedNode);
  if (node != out->meta.annotations.end()) out->selected_node = node->second;
  return true;
}

bool ReadObject(Value v, StorageClass* out) {
  const auto read_topologies = [&](Value field) {
    return field.Array([&](Value element) {
      return ReadTopologyTerm(element, &out->allowed_topologies.emplace_back());
    });
  };
  return ReadObjectFields(
      v, &out->meta, [&](std::string_view key, Value field) {
        if (key == "provisioner") return field.Read(&out->provisioner);
        if (key == "volumeBindingMode") {
          return field.Read(&out->volume_binding_mode);
        }
        return key != "allowedTopologies" || read_topologies(field);
      });
}

}  // namespace muster::kubernetes::api::json
