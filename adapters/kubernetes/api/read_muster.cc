// Muster's own objects, in which nothing may be passed over.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "adapters/kubernetes/api/read.h"
#include "muster/gang.h"

namespace muster::kubernetes::api::json {
namespace {

using NotKnown = std::vector<std::string>;

bool ReadOptionalQuantity(Value v, std::optional<int64_t>* out) {
  if (v.IsNull()) return true;
  return ReadQuantity(v, &out->emplace());
}

bool ReadQuota(Value v, Queue* out) {
  QueueQuota quota;
  if (!v.Object([&](std::string_view key, Value field) {
        if (key == "resource") {
          return field.Read(&quota.resource, kMaxKeyLength);
        }
        if (key == "guarantee") {
          return ReadOptionalQuantity(field, &quota.guarantee);
        }
        if (key == "limit") return ReadOptionalQuantity(field, &quota.limit);
        if (key == "borrowLimit") {
          return ReadOptionalQuantity(field, &quota.borrow_limit);
        }
        return NotUnderstood(field, &out->not_understood);
      })) {
    return false;
  }
  if (quota.resource.empty()) return v.FailAt("resource", "is missing");
  if (std::ranges::find(out->quotas, quota.resource, &QueueQuota::resource) !=
      out->quotas.end()) {
    return v.FailAt("resource", "has another quota");
  }
  if (quota.guarantee.has_value() && quota.limit.has_value() &&
      *quota.guarantee > *quota.limit) {
    return v.FailAt("guarantee", "is above the limit");
  }
  out->quotas.push_back(std::move(quota));
  return true;
}

// One of these words; empty: not said.
template <class E>
bool ReadWord(Value v, std::initializer_list<std::pair<const char*, E>> words,
              std::optional<E>* out) {
  std::string_view name;
  if (!v.Read(&name)) return false;
  if (name.empty()) return true;
  std::string known;
  for (const auto& [word, value] : words) {
    if (name == word) {
      *out = value;
      return true;
    }
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return v.Fail("must be one of " + known);
}

bool ReadPreemption(Value v, Queue* out) {
  if (v.IsNull()) return true;
  PreemptionPolicy& policy = out->preemption;
  return v.Object([&](std::string_view key, Value field) {
    if (key == "within") {
      return ReadWord<PreemptWithin>(
          field,
          {{"Never", PreemptWithin::kNever},
           {"LowerPriority", PreemptWithin::kLower},
           {"LowerOrNewerEqualPriority", PreemptWithin::kLowerOrNewerEqual}},
          &policy.within);
    }
    if (key == "across") {
      return ReadWord<PreemptAcross>(field,
                                     {{"Never", PreemptAcross::kNever},
                                      {"LowerPriority", PreemptAcross::kLower},
                                      {"Any", PreemptAcross::kAny}},
                                     &policy.across);
    }
    if (key == "borrowing") {
      return ReadWord<PreemptBorrowing>(
          field,
          {{"Never", PreemptBorrowing::kNever},
           {"LowerPriority", PreemptBorrowing::kLower}},
          &policy.borrowing);
    }
    if (key == "borrowingThreshold") {
      return field.Read(&policy.borrowing_threshold);
    }
    return NotUnderstood(field, &out->not_understood);
  });
}

bool ReadOrdering(Value v, QueueOrdering* out) {
  std::string_view name;
  if (!v.Read(&name)) return false;
  if (name == "StrictFIFO") {
    *out = QueueOrdering::kStrictFifo;
  } else if (name == "BestEffortFIFO" || name.empty()) {
    *out = QueueOrdering::kBestEffortFifo;
  } else {
    return v.Fail("must be BestEffortFIFO or StrictFIFO");
  }
  return true;
}

bool ReadWeight(Value v, uint32_t* out) {
  std::optional<int64_t> weight;
  if (!v.Read(&weight)) return false;
  if (!weight.has_value()) return true;
  if (*weight < 1 || *weight > muster::Queue::kMaxWeight) {
    return v.Fail("must be 1 to " + std::to_string(muster::Queue::kMaxWeight));
  }
  *out = static_cast<uint32_t>(*weight);
  return true;
}

bool ReadNamespaces(Value v, Queue* out) {
  if (v.IsNull()) return true;
  out->has_namespaces = true;
  return v.Object([&](std::string_view key, Value field) {
    if (key == "names") return field.Read(&out->namespace_names);
    if (key == "selector") {
      if (field.IsNull()) return true;
      return ReadLabelSelector(field, &out->namespace_selector.emplace());
    }
    return NotUnderstood(field, &out->not_understood);
  });
}

bool ReadQueueSpec(Value v, Queue* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "parent") return field.Read(&out->parent, kMaxKeyLength);
    if (key == "weight") return ReadWeight(field, &out->weight);
    if (key == "band") {
      std::optional<int32_t> band;
      if (!field.Read(&band)) return false;
      out->band = band.value_or(0);
      return true;
    }
    if (key == "ordering") return ReadOrdering(field, &out->ordering);
    if (key == "closed") return field.Read(&out->closed);
    if (key == "held") return field.Read(&out->held);
    if (key == "quotas") {
      return field.Array(
          [&](Value element) { return ReadQuota(element, out); });
    }
    if (key == "preemption") return ReadPreemption(field, out);
    if (key == "namespaces") return ReadNamespaces(field, out);
    return NotUnderstood(field, &out->not_understood);
  });
}

bool ReadCount(Value v, std::optional<int32_t>* out) {
  if (!v.Read(out)) return false;
  if (out->has_value() && **out < 1) return v.Fail("must be 1 or more");
  return true;
}

bool ReadSlice(Value v, TopologySlice* out, NotKnown* not_known) {
  if (!v.Object([&](std::string_view key, Value field) {
        if (key == "required") return field.Read(&out->required);
        if (key == "size") return field.Read(&out->size);
        return NotUnderstood(field, not_known);
      })) {
    return false;
  }
  if (out->required.empty()) return v.FailAt("required", "is missing");
  return out->size >= 1 || v.FailAt("size", "must be 1 or more");
}

bool ReadTopology(Value v, GroupTopology* out, NotKnown* not_known) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "required") return field.Read(&out->required);
    if (key == "preferred") return field.Read(&out->preferred);
    if (key == "slices") {
      return field.Array([&](Value element) {
        return ReadSlice(element, &out->slices.emplace_back(), not_known);
      });
    }
    return NotUnderstood(field, not_known);
  });
}

bool ReadMemberGroup(Value v, MusterPodGroup* out) {
  MemberGroup group;
  if (!v.Object([&](std::string_view key, Value field) {
        if (key == "name") return field.Read(&group.name, kMaxKeyLength);
        if (key == "minMember") return ReadCount(field, &group.min_member);
        if (key == "topology") {
          return ReadTopology(field, &group.topology, &out->not_understood);
        }
        return NotUnderstood(field, &out->not_understood);
      })) {
    return false;
  }
  if (group.name.empty()) return v.FailAt("name", "is missing");
  if (std::ranges::find(out->groups, group.name, &MemberGroup::name) !=
      out->groups.end()) {
    return v.FailAt("name", "is another group's, too");
  }
  out->groups.push_back(std::move(group));
  return true;
}

bool ReadPodGroupSpec(Value v, MusterPodGroup* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "queue") return field.Read(&out->queue, kMaxKeyLength);
    if (key == "priorityClassName") {
      return field.Read(&out->priority_class_name, kMaxKeyLength);
    }
    if (key == "minMember") return ReadCount(field, &out->min_member);
    if (key == "groups") {
      return field.Array(
          [&](Value element) { return ReadMemberGroup(element, out); },
          muster::Gang::kMaxGroups);
    }
    if (key == "topology") {
      return ReadTopology(field, &out->topology, &out->not_understood);
    }
    return NotUnderstood(field, &out->not_understood);
  });
}

// A field beside metadata: only spec says anything.
template <typename T, typename ReadSpec>
bool ReadOwn(Value v, T* out, ReadSpec&& read_spec) {
  return ReadObjectFields(
      v, &out->meta, [&](std::string_view key, Value field) {
        if (key == "spec") return read_spec(field, out);
        if (key == "apiVersion" || key == "kind" || key == "status") {
          return true;
        }
        return NotUnderstood(field, &out->not_understood);
      });
}

}  // namespace

bool ReadObject(Value v, Queue* out) { return ReadOwn(v, out, ReadQueueSpec); }

bool ReadObject(Value v, MusterPodGroup* out) {
  return ReadOwn(v, out, ReadPodGroupSpec);
}

}  // namespace muster::kubernetes::api::json
