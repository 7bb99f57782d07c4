#include "adapters/kubernetes/api/writers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "adapters/kubernetes/api/storage.h"
#include "adapters/kubernetes/api/unix_time.h"
#include "adapters/text/utf8.h"

namespace muster::kubernetes::api {
namespace {

constexpr size_t kUsualBinding = 384;  // Bytes.

using Json = nlohmann::json;  // Objects are in the order of their keys.

std::string ToText(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

// A JSON string at the end of `out`.
void AppendText(std::string_view text, std::string* out) {
  unsigned char escapes = 0;
  for (const char c : text) {  // To the end, so that it goes by many at once.
    escapes |= static_cast<unsigned char>((c < ' ') | (c > '~') | (c == '"') |
                                          (c == '\\'));
  }
  if (escapes != 0) {
    *out += ToText(Json(std::string(text)));
    return;
  }
  *out += '"';
  *out += text;
  *out += '"';
}

void SetIf(std::string_view text, const char* key, Json* out) {
  if (!text.empty()) (*out)[key] = std::string(text);
}

// A patch of another object of the same name is refused by the server.
Json PatchOf(std::string_view uid) {
  Json patch = Json::object();
  if (!uid.empty()) patch["metadata"]["uid"] = std::string(uid);
  return patch;
}

Json ToJson(const ObjectReference& ref) {
  Json json = Json::object();
  SetIf(ref.api_version, "apiVersion", &json);
  SetIf(ref.kind, "kind", &json);
  SetIf(ref.namespace_name, "namespace", &json);
  SetIf(ref.name, "name", &json);
  SetIf(ref.uid, "uid", &json);
  SetIf(ref.resource_version, "resourceVersion", &json);
  SetIf(ref.field_path, "fieldPath", &json);
  return json;
}

Json ToJson(const Condition& condition) {
  Json json = {{"type", condition.type},
               {"status", condition.status},
               {"reason", text::BoundedUtf8(condition.reason, kMaxReason)},
               {"message", text::BoundedUtf8(condition.message, kMaxMessage)},
               {"lastTransitionTime", FormatTime(condition.last_transition)}};
  if (condition.observed_generation.has_value()) {
    json["observedGeneration"] = *condition.observed_generation;
  }
  return json;
}

Json ToJson(const std::vector<Condition>& conditions) {
  Json json = Json::array();
  for (const Condition& condition : conditions) {
    json.push_back(ToJson(condition));
  }
  return json;
}

Json ToJson(const DeleteOptions& options) {
  Json json = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.uid.empty()) json["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    json["preconditions"]["resourceVersion"] = options.resource_version;
  }
  if (options.grace_seconds.has_value()) {
    json["gracePeriodSeconds"] = *options.grace_seconds;
  }
  SetIf(options.propagation, "propagationPolicy", &json);
  return json;
}

Json SeriesOf(int32_t count, UnixMillis last_time) {
  return {{"count", count}, {"lastObservedTime", FormatMicroTime(last_time)}};
}

}  // namespace

// Thousands are made at a time: no document is built for it.
std::string BindingBody(const PodBinding& binding,
                        std::initializer_list<Annotation> annotations) {
  std::string body;
  body.reserve(kUsualBinding);
  body += R"({"apiVersion":"v1","kind":"Binding","metadata":{)";
  if (annotations.size() > 0) {
    body += R"("annotations":)";
    char before = '{';
    for (const auto& [key, value] : annotations) {
      body += before;
      AppendText(key, &body);
      body += ':';
      AppendText(value, &body);
      before = ',';
    }
    body += "},";
  }
  body += R"("name":)";
  AppendText(binding.name, &body);
  const std::pair<const char*, std::string_view> others[] = {
      {R"(,"namespace":)", binding.namespace_name},
      {R"(,"uid":)", binding.uid}};
  for (const auto& [field, value] : others) {
    if (value.empty()) continue;
    body += field;
    AppendText(value, &body);
  }
  body += R"(},"target":{"apiVersion":"v1","kind":"Node","name":)";
  AppendText(binding.node, &body);
  body += "}}";
  return body;
}

std::string DeleteOptionsBody(const DeleteOptions& options) {
  return ToText(ToJson(options));
}

std::string EvictionBody(const ObjectReference& pod,
                         const DeleteOptions& options) {
  Json json = {{"apiVersion", "policy/v1"},
               {"kind", "Eviction"},
               {"metadata", {{"name", pod.name}}},
               {"deleteOptions", ToJson(options)}};
  SetIf(pod.namespace_name, "namespace", &json["metadata"]);
  return ToText(json);
}

std::string PodStatusPatchBody(const PodStatusPatch& patch) {
  Json json = PatchOf(patch.uid);
  Json& status = json["status"] = Json::object();
  if (!patch.conditions.empty())
    status["conditions"] = ToJson(patch.conditions);
  if (patch.nominated_node_name.has_value()) {
    Json& name = status["nominatedNodeName"] = nullptr;
    if (!patch.nominated_node_name->empty()) name = *patch.nominated_node_name;
  }
  return ToText(json);
}

std::string AnnotationsPatchBody(
    std::string_view uid,
    const std::map<std::string, std::optional<std::string>>& annotations,
    std::string_view resource_version) {
  Json json = PatchOf(uid);
  SetIf(resource_version, "resourceVersion", &json["metadata"]);
  Json& values = json["metadata"]["annotations"] = Json::object();
  for (const auto& [key, value] : annotations) {
    values[key] = value.has_value() ? Json(*value) : Json(nullptr);
  }
  return ToText(json);
}

std::string VolumeClaimPatchBody(const ObjectReference& volume,
                                 const ObjectReference& claim) {
  Json json = PatchOf(volume.uid);
  SetIf(volume.resource_version, "resourceVersion", &json["metadata"]);
  json["metadata"]["annotations"][kBoundByController] = "yes";
  json["spec"]["claimRef"] = ToJson(claim);
  return ToText(json);
}

std::string_view NamespaceOf(const Event& event) {
  if (event.regarding.namespace_name.empty()) return "default";
  return event.regarding.namespace_name;
}

std::string EventBody(const Event& event) {
  Json json = {
      {"apiVersion", "events.k8s.io/v1"},
      {"kind", "Event"},
      {"metadata",
       {{"name", event.name}, {"namespace", std::string(NamespaceOf(event))}}},
      {"eventTime", FormatMicroTime(event.time)},
      {"type", event.warning ? "Warning" : "Normal"},
      {"reason", text::BoundedUtf8(event.reason, kMaxReason)},
      {"action", text::BoundedUtf8(event.action, kMaxReason)},
      {"note", text::BoundedUtf8(event.note, kMaxMessage)},
      {"regarding", ToJson(event.regarding)},
      {"reportingController", event.controller},
      {"reportingInstance", text::BoundedUtf8(event.instance, kMaxReason)}};
  if (event.related.has_value()) json["related"] = ToJson(*event.related);
  if (event.count > 1) json["series"] = SeriesOf(event.count, event.last_time);
  return ToText(json);
}

std::string EventSeriesPatchBody(int32_t count, UnixMillis last_time) {
  return ToText({{"series", SeriesOf(count, last_time)}});
}

std::string GroupStatusPatchBody(std::string_view uid,
                                 const std::vector<Condition>& conditions) {
  Json json = PatchOf(uid);
  json["status"]["conditions"] = ToJson(conditions);
  return ToText(json);
}

std::string MusterGroupStatusPatchBody(std::string_view uid,
                                       const MusterGroupStatus& status) {
  Json json = PatchOf(uid);
  json["status"] = {
      {"phase", status.phase},
      {"pendingPods", status.pending_pods},
      {"runningPods", status.running_pods},
      {"message", text::BoundedUtf8(status.message, kMaxMessage)}};
  return ToText(json);
}

std::string QueueStatusPatchBody(std::string_view uid,
                                 const QueueStatus& status) {
  Json json = PatchOf(uid);
  json["status"] = {{"observedGeneration", status.observed_generation},
                    {"pendingGroups", status.pending_groups},
                    {"runningGroups", status.running_groups},
                    {"pendingPods", status.pending_pods},
                    {"runningPods", status.running_pods},
                    {"used", Json::object()},
                    {"conditions", ToJson(status.conditions)}};
  for (const auto& [resource, amount] : status.used) {
    json["status"]["used"][resource] = FormatQuantity(amount);
  }
  return ToText(json);
}

std::string FormatQuantity(int64_t thousandths) {
  if (thousandths % 1000 == 0) return std::to_string(thousandths / 1000);
  return std::to_string(thousandths) + "m";
}

}  // namespace muster::kubernetes::api
