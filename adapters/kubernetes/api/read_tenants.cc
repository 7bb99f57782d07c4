// Priority classes, budgets, quotas, namespaces.
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

}  // namespace muster::kubernetes::api::json
