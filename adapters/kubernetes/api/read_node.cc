#include "adapters/kubernetes/api/read.h"

namespace muster::kubernetes::api::json {
namespace {

bool ReadTaint(Value v, Taint* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "key") return field.Read(&out->key);
    if (key == "value") return field.Read(&out->value);
    if (key == "effect") return field.Read(&out->effect);
    if (key == "timeAdded") return ReadTime(field, &out->time_added);
    return true;
  });
}

bool ReadSpec(Value v, Node* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "unschedulable") return field.Read(&out->unschedulable);
    if (key == "taints") {
      return field.Array([&](Value element) {
        return ReadTaint(element, &out->taints.emplace_back());
      });
    }
    return true;
  });
}

bool ReadCondition(Value v, Node* out) {
  std::string_view type, status;
  if (!v.Object([&](std::string_view key, Value field) {
        if (key == "type") return field.Read(&type);
        if (key == "status") return field.Read(&status);
        return true;
      })) {
    return false;
  }
  if (type == "Ready") out->ready = std::string(status);
  return true;
}

bool ReadStatus(Value v, Node* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "allocatable") return ReadResources(field, &out->allocatable);
    if (key == "conditions") {
      return field.Array(
          [&](Value element) { return ReadCondition(element, out); });
    }
    return true;
  });
}

}  // namespace

bool ReadObject(Value v, Node* out) {
  return ReadObjectFields(v, &out->meta,
                          [&](std::string_view key, Value field) {
                            if (key == "spec") return ReadSpec(field, out);
                            if (key == "status") return ReadStatus(field, out);
                            return true;
                          });
}

}  // namespace muster::kubernetes::api::json
