#include "test/conformance/scenario_reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "adapters/translate/taints.h"

namespace muster::conformance {
namespace {

void ReadQuota(JsonFields& f, QuotaSpec* quota) {
  f.Require("resource", &quota->resource);
  f.Read("flavor", &quota->flavor);
  f.Read("group", &quota->group);
  f.Read("flavorOrder", &quota->flavor_order);
  f.Read("quota", &quota->quota);
  f.Read("limit", &quota->limit);
  f.Read("guarantee", &quota->guarantee);
  f.Read("weight", &quota->weight);
  f.Read("borrowLimit", &quota->borrow_limit);
  f.Read("lendLimit", &quota->lend_limit);
}

void ReadPreemption(JsonFields& f, PreemptionSpec* preemption) {
  f.Read("withinQueue", &preemption->within_queue);
  f.Read("reclaim", &preemption->reclaim);
  f.Object("borrow", [&](JsonFields& b) {
    b.Read("policy", &preemption->borrow_policy);
    b.Read("maxPriority", &preemption->borrow_threshold);
  });
}

// Whether the value is an object with this member, and that is `text`.
bool Says(const Json& value, const char* name, const char* text) {
  const auto it = value.is_object() ? value.find(name) : value.end();
  return it != value.end() && *it == text;
}

// KAI's plugin "nodeplacement", told to spread GPU work. The rest of a peer's
// configuration tells how it came to its answer, and asks nothing.
bool SpreadsGpus(const Json& config) {
  if (!config.is_object() || !config.contains("tiers")) return false;
  for (const Json& tier : config["tiers"]) {
    if (!tier.is_object() || !tier.contains("plugins")) continue;
    for (const Json& plugin : tier["plugins"]) {
      if (Says(plugin, "name", "nodeplacement") &&
          plugin.contains("arguments") &&
          Says(plugin["arguments"], "gpu", "spread")) {
        return true;
      }
    }
  }
  return false;
}

void ReadTop(JsonFields& f, Scenario* s) {
  std::string format;
  f.Require("schema", &format);
  if (format != kFormat) s->beyond.push_back("schema " + format);
  f.Require("id", &s->id);
  f.Object("source", [&](JsonFields& source) {
    source.Require("project", &s->project);
    source.Ignore({"repo", "commit", "path", "test", "case", "index", "licence",
                   "extraction", "peerPassed"});
  });
  f.Require("kind", &s->kind);
  f.Require("grade", &s->grade);
  f.Read("actions", &s->actions);
  f.Object("rounds", [&](JsonFields& r) {
    r.Read("untilMatch", &s->until_match);
    r.Read("stableAfter", &s->stable_after);
  });
  f.Object("cluster", [&](JsonFields& c) { ReadCluster(c, &s->cluster); });
  f.Each("priorityClasses", [&](JsonFields& p) {
    PriorityClassSpec& c = s->priority_classes.emplace_back();
    p.Require("name", &c.name);
    p.Require("value", &c.value);
    p.Read("preemptionPolicy", &c.preemption_policy);
  });
  f.Each("queues",
         [&](JsonFields& q) { ReadQueue(q, &s->queues.emplace_back()); });
  f.Each("gangs",
         [&](JsonFields& g) { ReadGang(g, &s->gangs.emplace_back()); });
  f.Object("query", [&](JsonFields& q) { ReadQuery(q, s); });
  f.Object("expect", [&](JsonFields& e) { ReadExpectation(e, &s->expect); });
  if (const Json* config = f.Raw("peerConfig")) {
    s->spreads = SpreadsGpus(*config);
  }
  f.Ignore({"title", "features", "policies", "observed"});
  f.Done();
}

}  // namespace

void ReadIfNeutral(JsonFields& f, const char* name) {
  if (!f.Has(name)) return;
  const Json& v = *f.Peek(name);
  const bool neutral = v.is_null() || v == Json(false) || v == Json(0) ||
                       v == Json("") ||
                       ((v.is_array() || v.is_object()) && v.empty());
  if (neutral) f.Ignore({name});
}

void ReadTaints(JsonFields& f, std::vector<Taint>* taints) {
  f.Each("taints", [&](JsonFields& t) {
    std::string key, value, effect;
    t.Require("key", &key);
    t.Read("value", &value);
    t.Require("effect", &effect);
    auto taint = translate::ToTaint(key, value, effect);
    if (!taint.ok()) return t.Fail(taint.status());
    taints->push_back(*std::move(taint));
  });
}

void ReadTolerations(JsonFields& f, std::vector<Toleration>* out) {
  f.Each("tolerations", [&](JsonFields& t) {
    std::string key, value, effect, op;
    t.Read("key", &key);
    t.Read("value", &value);
    t.Read("effect", &effect);
    t.Read("operator", &op);
    ReadIfNeutral(t, "tolerationSeconds");
    auto toleration = translate::ToToleration(key, op, value, effect);
    if (!toleration.ok()) return t.Fail(toleration.status());
    out->push_back(*std::move(toleration));
  });
}

void ReadRequirements(JsonFields& f, const char* name,
                      std::vector<Requirement>* out) {
  f.Each(name, [&](JsonFields& r) {
    std::string key, op;
    std::vector<std::string> values;
    r.Require("key", &key);
    r.Require("operator", &op);
    r.Read("values", &values);
    auto requirement = translate::ToRequirement(key, op, values);
    if (!requirement.ok()) return r.Fail(requirement.status());
    out->push_back(*std::move(requirement));
  });
}

void ReadQueue(JsonFields& f, QueueSpec* queue) {
  f.Require("name", &queue->name);
  f.Read("kind", &queue->kind);
  f.Read("parent", &queue->parent);
  f.Read("order", &queue->order);
  f.Read("priority", &queue->priority);
  f.Read("weight", &queue->weight);
  f.Each("quotas",
         [&](JsonFields& q) { ReadQuota(q, &queue->quotas.emplace_back()); });
  f.Read("reclaimable", &queue->reclaimable);
  f.Read("state", &queue->state);
  f.Object("preemption",
           [&](JsonFields& p) { ReadPreemption(p, &queue->preemption); });
  f.Read("ordering", &queue->ordering);
  f.Object("namespaceSelector", [&](JsonFields& n) {
    StringMap equal;
    n.Read("matchLabels", &equal);
    queue->namespace_selector = translate::ToRequirements(equal);
    ReadRequirements(n, "matchExpressions", &queue->namespace_selector);
  });
  ReadIfNeutral(f, "annotations");
  ReadIfNeutral(f, "reclaimMinRuntimeSeconds");
  ReadIfNeutral(f, "preemptMinRuntimeSeconds");
  ReadIfNeutral(f, "admissionChecks");
  // In which order flavours are tried when more than one would do; a gang
  // with such a choice is looked at where flavours are chosen.
  f.Object("flavorFungibility", [&](JsonFields& v) {
    v.Read("whenCanBorrow", &queue->when_can_borrow);
    v.Read("whenCanPreempt", &queue->when_can_preempt);
    v.Read("preference", &queue->flavor_preference);
  });
}

absl::StatusOr<Scenario> ReadScenario(std::string_view text,
                                      const std::string& file) {
  Scenario scenario;
  scenario.file = file;
  ReadLog log;
  try {
    const Json json = Json::parse(text);
    JsonFields fields(json, "", &log);
    ReadTop(fields, &scenario);
  } catch (const Json::exception& e) {
    return absl::InvalidArgumentError(file + ": " + e.what());
  }
  if (!log.error.empty()) {
    return absl::InvalidArgumentError(file + ": " + log.error);
  }
  for (std::string& field : log.unread) {
    scenario.beyond.push_back("field " + std::move(field));
  }
  return scenario;
}

absl::StatusOr<std::vector<Scenario>> ReadFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(folder + ": no such folder");
  }
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (path.extension() != ".json" || path.filename() == "index.json" ||
        path.filename() == "schema.json") {
      continue;
    }
    files.push_back(path.string());
  }
  if (error) return absl::NotFoundError(folder + ": " + error.message());
  if (files.empty()) return absl::NotFoundError(folder + ": no scenario in it");
  std::sort(files.begin(), files.end());
  std::vector<Scenario> scenarios;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (!in) return absl::NotFoundError(file + ": cannot be read");
    absl::StatusOr<Scenario> scenario = ReadScenario(text, file);
    if (!scenario.ok()) return scenario.status();
    scenarios.push_back(*std::move(scenario));
  }
  return scenarios;
}

}  // namespace muster::conformance
