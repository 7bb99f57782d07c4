// Parts that several objects have.
#include "adapters/kubernetes/api/read.h"
#include "adapters/kubernetes/api/unix_time.h"
#include "adapters/text/quantity.h"

namespace muster::kubernetes::api::json {
namespace {

// Nobody decides by it, and it is as long as all the rest.
constexpr std::string_view kLastApplied =
    "kubectl.kubernetes.io/last-applied-configuration";
constexpr size_t kMaxAnnotation = size_t{256} << 10;

// A map entry, of which the key is data.
template <typename Map>
bool InsertKey(Value v, std::string_view key, Map* out,
               typename Map::mapped_type** value) {
  if (key.empty()) return v.Fail("has no name");
  if (key.size() > kMaxKeyLength) return v.Fail("has too long a name");
  // In the order of keys where the API server writes them.
  const size_t before = out->size();
  const auto at = out->try_emplace(out->end(), std::string(key));
  if (out->size() == before) return v.Fail("is there twice");
  *value = &at->second;
  return true;
}

bool ReadOwnerReference(Value v, OwnerReference* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "apiVersion") return field.Read(&out->api_version);
    if (key == "kind") return field.Read(&out->kind);
    if (key == "name") return field.Read(&out->name);
    if (key == "uid") return field.Read(&out->uid);
    if (key == "controller") return field.Read(&out->controller);
    return true;
  });
}

bool ReadRequirements(Value v, std::vector<SelectorRequirement>* out) {
  return v.Array([&](Value element) {
    SelectorRequirement& r = out->emplace_back();
    return element.Object([&](std::string_view key, Value field) {
      if (key == "key") return field.Read(&r.key);
      if (key == "operator") return field.Read(&r.op);
      if (key == "values") return field.Read(&r.values);
      return true;
    });
  });
}

}  // namespace

bool ReadStringMap(Value v, StringMap* out, size_t most_bytes) {
  return v.Members([&](std::string_view key, Value field) {
    if (key == kLastApplied) return true;
    std::string* value = nullptr;
    return InsertKey(field, key, out, &value) && field.Read(value, most_bytes);
  });
}

bool ReadTime(Value v, std::optional<UnixMillis>* out) {
  std::string_view text;
  if (!v.Read(&text)) return false;
  if (text.empty()) return true;
  const auto time = ParseTime(text);
  if (!time.ok()) return v.Fail(std::string(time.status().message()));
  *out = *time;
  return true;
}

bool ReadQuantity(Value v, int64_t* out) {
  std::string_view text;
  if (!v.ReadScalar(&text)) return false;
  if (text.empty()) return v.Fail("is no quantity");
  const auto amount = inprocess::ParseQuantityRoundedUp(text, 1000);
  if (!amount.ok()) return v.Fail(std::string(amount.status().message()));
  if (*amount < 0) return v.Fail("is negative");
  *out = *amount;
  return true;
}

bool ReadResources(Value v, ResourceList* out) {
  return v.Members([&](std::string_view key, Value field) {
    int64_t* amount = nullptr;
    return InsertKey(field, key, out, &amount) && ReadQuantity(field, amount);
  });
}

bool ReadMeta(Value v, ObjectMeta* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "name") return field.Read(&out->name, kMaxKeyLength);
    if (key == "namespace") {
      return field.Read(&out->namespace_name, kMaxKeyLength);
    }
    if (key == "uid") return field.Read(&out->uid, kMaxKeyLength);
    if (key == "resourceVersion") return field.Read(&out->resource_version);
    if (key == "generation") return field.Read(&out->generation);
    if (key == "creationTimestamp") {
      std::optional<UnixMillis> time;
      if (!ReadTime(field, &time)) return false;
      out->creation = time.value_or(0);
      return true;
    }
    if (key == "deletionTimestamp") return ReadTime(field, &out->deletion);
    if (key == "labels") return ReadStringMap(field, &out->labels);
    if (key == "annotations") {
      return ReadStringMap(field, &out->annotations, kMaxAnnotation);
    }
    if (key == "ownerReferences") {
      return field.Array([&](Value element) {
        return ReadOwnerReference(element, &out->owners.emplace_back());
      });
    }
    return true;
  });
}

bool ReadListMeta(Value v, ListMeta* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "resourceVersion") return field.Read(&out->resource_version);
    if (key == "continue") return field.Read(&out->continue_token);
    if (key == "remainingItemCount") return field.Read(&out->remaining);
    return true;
  });
}

bool ReadLabelSelector(Value v, LabelSelector* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "matchLabels") return ReadStringMap(field, &out->match_labels);
    if (key == "matchExpressions") {
      return ReadRequirements(field, &out->match_expressions);
    }
    return true;
  });
}

bool ReadNodeSelectorTerm(Value v, NodeSelectorTerm* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "matchExpressions") {
      return ReadRequirements(field, &out->match_expressions);
    }
    if (key == "matchFields") {
      return ReadRequirements(field, &out->match_fields);
    }
    return true;
  });
}

bool ReadNodeSelector(Value v, std::vector<NodeSelectorTerm>* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key != "nodeSelectorTerms") return true;
    return field.Array([&](Value element) {
      return ReadNodeSelectorTerm(element, &out->emplace_back());
    });
  });
}

}  // namespace muster::kubernetes::api::json
