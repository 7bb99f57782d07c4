// Groups of pods: of scheduling.k8s.io, of the scheduler plugins, of Volcano.
#include "adapters/kubernetes/api/read.h"

namespace muster::kubernetes::api::json {
namespace {

// `minimum` is the name of gang's only field.
bool ReadPolicy(Value v, std::string_view minimum, std::optional<int32_t>* out,
                std::vector<std::string>* not_understood) {
  return v.Object([&](std::string_view key, Value policy) {
    if (key == "basic") return true;
    if (key != "gang") return NotUnderstood(policy, not_understood);
    return policy.Object([&](std::string_view name, Value field) {
      if (name == minimum) return field.Read(out);
      return NotUnderstood(field, not_understood);
    });
  });
}

bool ReadConstraints(Value v, std::vector<std::string>* keys,
                     std::vector<std::string>* not_understood) {
  return v.Object([&](std::string_view key, Value field) {
    if (key != "topology") return NotUnderstood(field, not_understood);
    return field.Array([&](Value element) {
      std::string& level = keys->emplace_back();
      return element.Object([&](std::string_view name, Value part) {
        if (name == "key") return part.Read(&level);
        return NotUnderstood(part, not_understood);
      });
    });
  });
}

// A union {single: {}} or {all: {}}; in v1alpha2 a string, Pod or PodGroup.
bool ReadDisruptionMode(Value v, std::string* out,
                        std::vector<std::string>* not_understood) {
  if (v.IsNull()) return true;
  if (v.IsString()) {
    std::string_view text;
    if (!v.Read(&text)) return false;
    if (text == "Pod") {
      *out = "single";
    } else if (text == "PodGroup") {
      *out = "all";
    } else {
      return NotUnderstood(v, not_understood);
    }
    return true;
  }
  return v.Object([&](std::string_view key, Value field) {
    if (key != "single" && key != "all") {
      return NotUnderstood(field, not_understood);
    }
    if (!field.IsNull()) *out = std::string(key);
    return true;
  });
}

// spec of both kinds of scheduling.k8s.io.
template <typename Group>
bool ReadGroupSpec(Value v, std::string_view minimum,
                   std::optional<int32_t>* min_count, Group* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "schedulingPolicy") {
      return ReadPolicy(field, minimum, min_count, &out->not_understood);
    }
    if (key == "schedulingConstraints") {
      return ReadConstraints(field, &out->topology_keys, &out->not_understood);
    }
    if (key == "disruptionMode") {
      return ReadDisruptionMode(field, &out->disruption_mode,
                                &out->not_understood);
    }
    if (key == "priorityClassName") {
      return field.Read(&out->priority_class_name);
    }
    if (key == "priority") return field.Read(&out->priority);
    if (key == "preemptionPolicy") {
      return field.Read(&out->preemption_policy);
    }
    if (key == "parentCompositePodGroupName") {
      return field.Read(&out->parent);
    }
    // Where the group comes from says nothing more about it.
    if (key == "workloadRef" || key == "podGroupTemplateRef") return true;
    return NotUnderstood(field, &out->not_understood);
  });
}

bool ReadSpec(Value v, CoschedulingPodGroup* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "minMember") return field.Read(&out->min_member);
    if (key == "scheduleTimeoutSeconds") {
      return field.Read(&out->schedule_timeout_seconds);
    }
    if (key == "minResources") {
      return ReadResources(field, &out->min_resources);
    }
    return true;
  });
}

bool ReadSpec(Value v, VolcanoPodGroup* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "minMember") return field.Read(&out->min_member);
    if (key == "queue") return field.Read(&out->queue);
    if (key == "priorityClassName") {
      return field.Read(&out->priority_class_name);
    }
    if (key == "minResources") {
      return ReadResources(field, &out->min_resources);
    }
    if (key == "minTaskMember") {
      return field.Object([&](std::string_view task, Value part) {
        return part.Read(&out->min_task_member[std::string(task)]);
      });
    }
    return NotUnderstood(field, &out->not_understood);
  });
}

}  // namespace

bool ReadObject(Value v, PodGroup* out) {
  return ReadObjectFields(
      v, &out->meta, [&](std::string_view key, Value field) {
        return key != "spec" ||
               ReadGroupSpec(field, "minCount", &out->min_count, out);
      });
}

bool ReadObject(Value v, CompositePodGroup* out) {
  return ReadObjectFields(
      v, &out->meta, [&](std::string_view key, Value field) {
        return key != "spec" || ReadGroupSpec(field, "minGroupCount",
                                              &out->min_group_count, out);
      });
}

bool ReadObject(Value v, CoschedulingPodGroup* out) {
  return ReadObjectFields(v, &out->meta,
                          [&](std::string_view key, Value field) {
                            return key != "spec" || ReadSpec(field, out);
                          });
}

bool ReadObject(Value v, VolcanoPodGroup* out) {
  return ReadObjectFields(v, &out->meta,
                          [&](std::string_view key, Value field) {
                            return key != "spec" || ReadSpec(field, out);
                          });
}

}  // namespace muster::kubernetes::api::json
