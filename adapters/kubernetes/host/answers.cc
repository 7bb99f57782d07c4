#include "adapters/kubernetes/host/answers.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/api/unix_time.h"
#include "adapters/kubernetes/api/writers.h"
#include "adapters/text/utf8.h"

namespace muster::kubernetes {
namespace {

using Json = nlohmann::ordered_json;

// Names have at most 253 bytes, and reasons what conditions have.
std::string Text(std::string_view text) {
  return text::BoundedUtf8(text, api::kMaxMessage);
}

std::string ToText(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}

Json ToJson(const QueueOverview& queue) {
  Json json = {{"name", Text(queue.name)},
               {"parent", Text(queue.parent)},
               {"closed", queue.closed},
               {"held", queue.held},
               {"refused", Text(queue.refused)},
               {"pendingGroups", queue.counts.pending_groups},
               {"runningGroups", queue.counts.running_groups},
               {"pendingPods", queue.counts.pending_pods},
               {"runningPods", queue.counts.running_pods},
               {"used", Json::object()},
               {"quotas", Json::array()}};
  for (const auto& [resource, amount] : queue.used) {
    json["used"][Text(resource)] = api::FormatQuantity(amount);
  }
  for (const api::QueueQuota& quota : queue.quotas) {
    Json entry = {{"resource", Text(quota.resource)}};
    if (quota.guarantee) {
      entry["guarantee"] = api::FormatQuantity(*quota.guarantee);
    }
    if (quota.limit) entry["limit"] = api::FormatQuantity(*quota.limit);
    json["quotas"].push_back(std::move(entry));
  }
  return json;
}

Json ToJson(const GangOverview& gang) {
  return {{"kind", gang.kind},
          {"namespace", Text(gang.namespace_name)},
          {"name", Text(gang.name)},
          {"queue", Text(gang.queue)},
          {"phase", gang.phase},
          {"priorityClass", Text(gang.priority_class)},
          {"minPods", gang.min_pods},
          {"pendingPods", gang.counts.pending_pods},
          {"runningPods", gang.counts.running_pods},
          {"submitted", api::FormatTime(gang.submitted / kMillisecond)},
          {"reason", gang.reason},
          {"message", Text(gang.message)}};
}

absl::Status Wrong(std::string_view field, std::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(field), ": expected ", std::string(expected)));
}

// A string of an object, "" if it is not there; anything else is an error.
absl::Status ReadText(const Json& object, const char* field,
                      const std::string& path, std::string* out) {
  const auto it = object.find(field);
  if (it == object.end() || !it->is_string() || it->empty()) {
    return Wrong(absl::StrCat(path, ".", field), "a string");
  }
  *out = it->get<std::string>();
  return absl::OkStatus();
}

absl::Status ReadFinish(const Json& json, WhatIfQuestion* question) {
  if (!json.is_array()) return Wrong("finish", "a list");
  for (const Json& entry : json) {
    const std::string path =
        absl::StrCat("finish[", question->finish.size(), "]");
    if (!entry.is_object() || entry.size() != 2) {
      return Wrong(path, "{\"namespace\": ..., \"group\": ...}");
    }
    auto& group = question->finish.emplace_back();
    absl::Status status =
        ReadText(entry, "namespace", path, &group.namespace_name);
    if (status.ok()) status = ReadText(entry, "group", path, &group.name);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadNodes(const Json& json, WhatIfQuestion* question) {
  if (!json.is_array()) return Wrong("removeNodes", "a list");
  for (const Json& entry : json) {
    if (!entry.is_string()) return Wrong("removeNodes", "names");
    question->remove_nodes.push_back(entry.get<std::string>());
  }
  return absl::OkStatus();
}

absl::Status ReadAdded(const Json& json, WhatIfQuestion* question) {
  if (!json.is_object() || json.size() != 2 || !json.contains("count")) {
    return Wrong("addNodes", "{\"like\": ..., \"count\": ...}");
  }
  const Json& count = json["count"];
  if (!count.is_number_unsigned() ||
      count.get<uint64_t>() > kMostWhatIfChanges) {
    return Wrong("addNodes.count",
                 absl::StrCat("a number, 0 to ", kMostWhatIfChanges));
  }
  question->add_nodes = count.get<uint32_t>();
  return ReadText(json, "like", "addNodes", &question->node_like);
}

}  // namespace

std::string QueuesJson(const std::vector<QueueOverview>& queues) {
  Json items = Json::array();
  for (const QueueOverview& queue : queues) items.push_back(ToJson(queue));
  return ToText({{"items", std::move(items)}});
}

std::string NodesJson(
    const std::map<std::string, std::vector<std::string>>& exceeded) {
  Json items = Json::array();
  for (const auto& [name, resources] : exceeded) {
    Json& item = items.emplace_back(Json{{"name", Text(name)}});
    item["exceeded"] = Json::array();
    for (const std::string& one : resources) {
      item["exceeded"].push_back(Text(one));
    }
  }
  return ToText({{"items", std::move(items)}});
}

std::string GangsJson(const std::vector<GangOverview>& gangs, size_t all) {
  Json items = Json::array();
  for (const GangOverview& gang : gangs) items.push_back(ToJson(gang));
  return ToText({{"items", std::move(items)}, {"all", all}});
}

std::string ExplanationJson(const GangExplanation& explanation) {
  Json json = ToJson(explanation.gang);
  json["ahead"] = explanation.ahead;
  json["pods"] = Json::array();
  for (const PodOverview& pod : explanation.pods) {
    json["pods"].push_back({{"name", Text(pod.name)},
                            {"node", Text(pod.node)},
                            {"phase", pod.phase}});
  }
  json["allPods"] = explanation.all_pods;
  return ToText(json);
}

std::string WhatIfJson(const WhatIfAnswer& answer) {
  Json decisions = Json::array();
  for (const WhatIfDecision& decision : answer.decisions) {
    Json nodes = Json::array();
    for (const std::string& node : decision.nodes) nodes.push_back(Text(node));
    decisions.push_back({{"kind", decision.kind},
                         {"namespace", Text(decision.namespace_name)},
                         {"group", Text(decision.group)},
                         {"onBehalfOf", Text(decision.on_behalf_of)},
                         {"pods", decision.pods},
                         {"nodes", std::move(nodes)}});
  }
  return ToText(
      {{"decisions", std::move(decisions)}, {"complete", answer.complete}});
}

absl::StatusOr<WhatIfQuestion> ParseWhatIf(std::string_view json) {
  // Each level is a call: what is nested deeper than this question is refused
  // before it is read as a whole.
  constexpr int kDeepest = 4;
  bool too_deep = false;
  const Json question = Json::parse(
      json,
      [&](int depth, Json::parse_event_t, Json&) {
        too_deep |= depth > kDeepest;
        return !too_deep;
      },
      /*allow_exceptions=*/false);
  if (too_deep || !question.is_object()) return Wrong("body", "a JSON object");
  WhatIfQuestion parsed;
  for (const auto& [key, value] : question.items()) {
    absl::Status status;
    if (key == "finish") {
      status = ReadFinish(value, &parsed);
    } else if (key == "removeNodes") {
      status = ReadNodes(value, &parsed);
    } else if (key == "addNodes") {
      status = ReadAdded(value, &parsed);
    } else {
      status = Wrong(Text(key), "finish, removeNodes or addNodes");
    }
    if (!status.ok()) return status;
  }
  return parsed;
}

std::string ErrorJson(int http_status, std::string_view message) {
  return ToText(
      {{"error", {{"code", http_status}, {"message", Text(message)}}}});
}

}  // namespace muster::kubernetes
