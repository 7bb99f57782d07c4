// Each object's part of the readers (readers.h): what is inside its braces.
#pragma once

#include "adapters/kubernetes/api/json_value.h"
#include "adapters/kubernetes/api/muster_objects.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/api/owner.h"
#include "adapters/kubernetes/api/storage.h"

namespace muster::kubernetes::api::json {

// An object that begins here, into one that is new. The functions return
// whether to go on (Value).
bool ReadObject(Value v, Node* out);
bool ReadObject(Value v, Pod* out);
bool ReadObject(Value v, PodGroup* out);
bool ReadObject(Value v, CompositePodGroup* out);
bool ReadObject(Value v, CoschedulingPodGroup* out);
bool ReadObject(Value v, VolcanoPodGroup* out);
bool ReadObject(Value v, Owner* out);
bool ReadObject(Value v, Queue* out);
bool ReadObject(Value v, MusterPodGroup* out);
bool ReadObject(Value v, PriorityClass* out);
bool ReadObject(Value v, PodDisruptionBudget* out);
bool ReadObject(Value v, ResourceQuota* out);
bool ReadObject(Value v, Namespace* out);
bool ReadObject(Value v, PersistentVolume* out);
bool ReadObject(Value v, PersistentVolumeClaim* out);
bool ReadObject(Value v, StorageClass* out);

// Parts that several objects have.
bool ReadMeta(Value v, ObjectMeta* out);
bool ReadListMeta(Value v, ListMeta* out);
// Labels and what looks like them.
bool ReadStringMap(Value v, StringMap* out, size_t most_bytes = kMaxTextLength);
bool ReadTime(Value v, std::optional<UnixMillis>* out);
// Thousandths, rounded up; none may be negative.
bool ReadQuantity(Value v, int64_t* out);
bool ReadResources(Value v, ResourceList* out);
bool ReadLabelSelector(Value v, LabelSelector* out);
bool ReadNodeSelectorTerm(Value v, NodeSelectorTerm* out);
// The terms of {nodeSelectorTerms: [...]}.
bool ReadNodeSelector(Value v, std::vector<NodeSelectorTerm>* out);

// spec and status of an object whose other fields are as in every object:
// `fields` reads a field of `v` that is neither metadata nor the object's kind.
template <typename Fields>
bool ReadObjectFields(Value v, ObjectMeta* meta, Fields&& fields) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "metadata") return ReadMeta(field, meta);
    return static_cast<bool>(fields(key, field));
  });
}

// Fields that a struct does not know, as paths: for objects in which nothing
// may be passed over.
inline bool NotUnderstood(Value v, std::vector<std::string>* out) {
  if (v.IsNull()) return true;
  if (out->size() < kMaxListLength) out->push_back(v.PathOf());
  return true;
}

}  // namespace muster::kubernetes::api::json
