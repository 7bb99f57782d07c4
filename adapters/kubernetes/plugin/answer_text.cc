#include "adapters/kubernetes/plugin/answer_text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/client/text.h"
#include "adapters/kubernetes/plugin/table.h"

namespace muster::kubernetes::plugin {
namespace {

using client::Concat;
using client::PlainText;
using Json = nlohmann::json;

absl::Status NoAnswer(std::string_view what) {
  return absl::InvalidArgumentError(
      Concat("the answer is none of muster-kube: ", what));
}

absl::StatusOr<Json> Parse(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return NoAnswer("no JSON object");
  return json;
}

// The list of objects behind `key`.
absl::StatusOr<std::vector<Json>> ListOf(const Json& json, const char* key) {
  const auto list = json.find(key);
  if (list == json.end() || !list->is_array()) {
    return NoAnswer(Concat(key, " is no list"));
  }
  std::vector<Json> objects;
  for (const Json& entry : *list) {
    if (!entry.is_object()) return NoAnswer(Concat(key, " has no objects"));
    objects.push_back(entry);
  }
  return objects;
}

// "" if it is not there.
std::string TextOf(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return "";
  return it->get<std::string>();
}

int64_t NumberOf(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer()) return 0;
  return it->get<int64_t>();
}

std::string CountOf(const Json& object, const char* key) {
  return std::to_string(NumberOf(object, key));
}

bool IsTrue(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

bool InBytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

// "cpu 2/4, nvidia.com/gpu 8": in use, of the limit where there is one.
std::string UseOf(const Json& queue) {
  std::map<std::string, std::string> limits;
  const auto quotas = queue.find("quotas");
  if (quotas != queue.end() && quotas->is_array()) {
    for (const Json& quota : *quotas) {
      const std::string limit = TextOf(quota, "limit");
      if (!limit.empty()) limits[TextOf(quota, "resource")] = limit;
    }
  }
  std::map<std::string, std::string> used;
  for (const auto& [resource, limit] : limits) used[resource] = "0";
  const auto in_use = queue.find("used");
  if (in_use != queue.end() && in_use->is_object()) {
    for (const auto& [resource, amount] : in_use->items()) {
      if (amount.is_string()) used[resource] = amount.get<std::string>();
    }
  }
  std::string text;
  for (const auto& [resource, amount] : used) {
    if (!text.empty()) text += ", ";
    text += Concat(resource, " ", ReadableQuantity(resource, amount));
    const auto limit = limits.find(resource);
    if (limit != limits.end()) {
      text += Concat("/", ReadableQuantity(resource, limit->second));
    }
  }
  return text;
}

std::string StateOf(const Json& queue) {
  const std::string refused = TextOf(queue, "refused");
  if (!refused.empty()) return Concat("refused: ", refused);
  if (IsTrue(queue, "held")) return "held";
  return IsTrue(queue, "closed") ? "closed" : "open";
}

// Puts queues and those below them into a table.
class Tree {
 public:
  explicit Tree(const std::vector<Json>& queues) {
    for (const Json& queue : queues) queues_[TextOf(queue, "name")] = queue;
    for (const auto& [name, queue] : queues_) {
      const std::string parent = TextOf(queue, "parent");
      below_[queues_.contains(parent) ? parent : ""].push_back(name);
    }
  }

  void AddTo(Table* table) {
    AddBelow("", 0, table);
    // Parents that form a circle are below nobody.
    for (const auto& [name, queue] : queues_) AddOne(name, 0, table);
  }

 private:
  void AddBelow(const std::string& parent, size_t depth, Table* table) {
    const auto below = below_.find(parent);
    if (below == below_.end()) return;
    for (const std::string& name : below->second) AddOne(name, depth, table);
  }

  void AddOne(const std::string& name, size_t depth, Table* table) {
    constexpr size_t kDeepest = 64;
    if (!done_.insert(name).second || depth > kDeepest) return;
    const Json& queue = queues_[name];
    table->Add({std::string(2 * depth, ' ') + name, StateOf(queue),
                CountOf(queue, "pendingGroups"),
                CountOf(queue, "runningGroups"), CountOf(queue, "pendingPods"),
                CountOf(queue, "runningPods"), UseOf(queue)});
    AddBelow(name, depth + 1, table);
  }

  std::map<std::string, Json> queues_;
  std::map<std::string, std::vector<std::string>> below_;
  std::set<std::string> done_;
};

std::string PodsText(const Json& group) {
  return Concat(CountOf(group, "pendingPods"), " pending, ",
                CountOf(group, "runningPods"), " running, ",
                CountOf(group, "minPods"), " needed");
}

// Of so many in all, so many are shown.
std::string More(int64_t all, size_t shown) {
  const int64_t rest = all - static_cast<int64_t>(shown);
  return rest > 0 ? Concat("... and ", rest, " more\n") : "";
}

}  // namespace

std::string ReadableQuantity(std::string_view resource,
                             std::string_view quantity) {
  uint64_t bytes = 0;
  if (!InBytes(resource) || !absl::SimpleAtoi(std::string(quantity), &bytes)) {
    return std::string(quantity);
  }
  constexpr std::array<const char*, 7> kUnits{"",   "Ki", "Mi", "Gi",
                                              "Ti", "Pi", "Ei"};
  constexpr uint64_t kMost = 10'000;
  size_t unit = 0;
  uint64_t size = 1;  // Of the unit.
  while (unit + 1 < kUnits.size() && bytes >= 1024 * size &&
         bytes % (1024 * size) == 0) {
    size *= 1024;
    ++unit;
  }
  const bool whole = bytes / size < kMost;
  while (bytes / size >= kMost) {
    size *= 1024;
    ++unit;
  }
  if (whole) return Concat(bytes / size, kUnits[unit]);
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%s",
                static_cast<double>(bytes) / static_cast<double>(size),
                kUnits[unit]);
  return text;
}

absl::StatusOr<std::string> QueuesText(std::string_view json) {
  const auto answer = Parse(json);
  if (!answer.ok()) return answer.status();
  const auto queues = ListOf(*answer, "items");
  if (!queues.ok()) return queues.status();
  Table table({"QUEUE", "STATE", "PENDING", "RUNNING", "PODS PENDING",
               "PODS RUNNING", "USED"});
  Tree(*queues).AddTo(&table);
  return table.Text();
}

absl::StatusOr<std::string> NodesText(std::string_view json) {
  const auto answer = Parse(json);
  if (!answer.ok()) return answer.status();
  const auto nodes = ListOf(*answer, "items");
  if (!nodes.ok()) return nodes.status();
  Table table({"NODE", "MORE IN USE THAN IT HAS OF"});
  for (const Json& node : *nodes) {
    std::string resources;
    const auto exceeded = node.find("exceeded");
    for (const Json& one : exceeded == node.end() ? Json::array() : *exceeded) {
      if (!one.is_string()) continue;
      if (!resources.empty()) resources += ", ";
      resources += one.get<std::string>();
    }
    table.Add({TextOf(node, "name"), resources});
  }
  return table.Text();
}

absl::StatusOr<std::string> GroupsText(std::string_view json) {
  const auto answer = Parse(json);
  if (!answer.ok()) return answer.status();
  const auto groups = ListOf(*answer, "items");
  if (!groups.ok()) return groups.status();
  Table table({"NAMESPACE", "GROUP", "QUEUE", "PHASE", "PENDING", "RUNNING",
               "NEEDED", "WHY"});
  for (const Json& group : *groups) {
    table.Add({TextOf(group, "namespace"),
               Concat(TextOf(group, "kind"), "/", TextOf(group, "name")),
               TextOf(group, "queue"), TextOf(group, "phase"),
               CountOf(group, "pendingPods"), CountOf(group, "runningPods"),
               CountOf(group, "minPods"), TextOf(group, "message")});
  }
  std::string text = table.Text();
  text += More(NumberOf(*answer, "all"), groups->size());
  return text;
}

absl::StatusOr<std::string> ExplanationText(std::string_view json) {
  const auto group = Parse(json);
  if (!group.ok()) return group.status();
  const auto pods = ListOf(*group, "pods");
  if (!pods.ok()) return pods.status();
  std::string text =
      PlainText(
          Concat(TextOf(*group, "kind"), " ", TextOf(*group, "namespace"), "/",
                 TextOf(*group, "name"), ": ", TextOf(*group, "phase")),
          1'024) +
      "\n";
  const auto line = [&](std::string_view what, const std::string& value) {
    if (value.empty()) return;
    text += Concat("  ", what, ":", std::string(10 - what.size(), ' '),
                   PlainText(value, 2'048), "\n");
  };
  line("why", TextOf(*group, "message"));
  std::string queue = TextOf(*group, "queue");
  const int64_t ahead = NumberOf(*group, "ahead");
  if (TextOf(*group, "phase") == "waiting") {
    queue +=
        Concat(", ", ahead, ahead == 1 ? " group" : " groups", " ahead of it");
  }
  line("queue", queue);
  line("pods", PodsText(*group));
  line("priority", TextOf(*group, "priorityClass"));
  line("since", TextOf(*group, "submitted"));
  Table table({"POD", "PHASE", "NODE"});
  for (const Json& pod : *pods) {
    table.Add({TextOf(pod, "name"), TextOf(pod, "phase"), TextOf(pod, "node")});
  }
  text += Concat("\n", table.Text());
  text += More(NumberOf(*group, "allPods"), pods->size());
  return text;
}

absl::StatusOr<std::string> WhatIfText(std::string_view json) {
  const auto answer = Parse(json);
  if (!answer.ok()) return answer.status();
  const auto decisions = ListOf(*answer, "decisions");
  if (!decisions.ok()) return decisions.status();
  std::string text;
  if (decisions->empty()) {
    text = "Nothing would be decided.\n";
  } else {
    Table table({"DECISION", "GROUP", "PODS", "NODES", "FOR"});
    for (const Json& decision : *decisions) {
      std::string nodes;
      const auto list = decision.find("nodes");
      if (list != decision.end() && list->is_array()) {
        for (const Json& node : *list) {
          if (!node.is_string()) continue;
          nodes += Concat(nodes.empty() ? "" : ",", node.get<std::string>());
        }
      }
      table.Add({TextOf(decision, "kind"),
                 Concat(TextOf(decision, "namespace"), "/",
                        TextOf(decision, "group")),
                 CountOf(decision, "pods"), nodes,
                 TextOf(decision, "onBehalfOf")});
    }
    text = table.Text();
  }
  if (answer->contains("complete") && !IsTrue(*answer, "complete")) {
    text += "The pass ended before it had looked at everything.\n";
  }
  return text;
}

std::string ErrorText(std::string_view body) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) {
    const auto error = json.find("error");
    if (error != json.end() && error->is_object()) {
      return PlainText(TextOf(*error, "message"), 1'024);
    }
  }
  return PlainText(body.substr(0, body.find('\n')));
}

}  // namespace muster::kubernetes::plugin
