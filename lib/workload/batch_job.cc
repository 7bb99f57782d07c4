// batch/v1 Job.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/workload/cat.h"
#include "lib/workload/index_ranges.h"
#include "lib/workload/readers.h"

namespace muster::workload {
namespace {

void ReadSuccessPolicy(const Value& v, Job* job) {
  if (!v.there()) return;
  if (!job->indexed) return v.Wrong("completionMode is not Indexed");
  Object policy(v);
  std::vector<SuccessRule> rules;
  policy.Required("rules").Each([&](const Value& element) {
    Object o(element);
    SuccessRule rule{.roles = {0}};
    const Value indexes = o["succeededIndexes"], count = o["succeededCount"];
    std::string text;
    indexes.Read(&text);
    if (indexes.there() &&
        !ReadIndexRanges(text, job->roles[0].tasks(), &rule.indexes)) {
      indexes.Wrong("'" + text + "' is no ascending list of indexes");
    }
    count.ReadInteger(&rule.count, 1, job->roles[0].tasks());
    if (!indexes.there() && !count.there()) {
      element.Wrong("has neither succeededIndexes nor succeededCount");
    }
    rules.push_back(std::move(rule));
  });
  rules.insert(rules.end(), job->success.begin(), job->success.end());
  job->success = std::move(rules);
}

// The conditions a rule may name: only a disruption is known here.
void ReadPodConditions(const Value& v, ExitRule* rule, bool* known) {
  v.Each([&](const Value& element) {
    Object o(element);
    std::string type, status = "True";
    o.Required("type").Read(&type);
    o["status"].Read(&status);
    if (type == "DisruptionTarget" && status == "True") {
      rule->codes.clear();
      *known = true;
    }
  });
}

}  // namespace

void ReadPodFailurePolicy(const Value& v, std::string_view container,
                          FailurePolicy* failure) {
  if (!v.there()) return;
  Object policy(v);
  policy.Required("rules").Each([&](const Value& element) {
    Object o(element);
    ExitRule rule;
    o.Required("action").ReadEnum(&rule.action);
    const Value codes = o["onExitCodes"], conditions = o["onPodConditions"];
    if (codes.there()) {
      Object on(codes);
      std::string op, of;
      on["containerName"].Read(&of);
      on.Required("operator").Read(&op);
      rule.other = op == "NotIn";
      if (op != "In" && op != "NotIn") {
        codes.Wrong("'" + op + "' is none of: In, NotIn");
      }
      on.Required("values").Each([&](const Value& code) {
        rule.codes.emplace_back();
        code.ReadInteger(&rule.codes.back(), 0, 255);
      });
      if (rule.codes.empty()) codes.Wrong("has no values");
      if (!of.empty() && of != container) {
        return element.Ignore("container '" + of + "' is not run");
      }
    } else if (conditions.there()) {
      bool known = false;
      ReadPodConditions(conditions, &rule, &known);
      if (!known) return element.Ignore("no task has such a condition");
    } else {
      return element.Wrong("has neither onExitCodes nor onPodConditions");
    }
    failure->exit_rules.push_back(std::move(rule));
  });
}

void ReadBatchJob(const Value& spec, Job* job) {
  Object o(spec);
  Role role;
  role.name = "task";
  role.path = spec.path();
  role.restart = RestartPolicy::kReplace;
  PodExtras extras;
  ReadPodTemplate(o.Required("template"), "", &role.task, &extras);
  job->scheduling.priority_class = extras.priority_class;
  if (extras.restart_policy == "Always") {
    o["template"].Wrong("spec.restartPolicy is none of: OnFailure, Never");
  }

  uint32_t parallel = 1, completions = 0;
  const Value p = o["parallelism"], c = o["completions"];
  p.ReadInteger(&parallel, 0, Job::kMaxTasks);
  c.ReadInteger(&completions, 0, Job::kMaxTasks);
  if (c.there() && completions == 0) c.Unsupported("a job without a task");
  if (p.there() && parallel == 0) {
    job->suspend = true;
    parallel = 1;
    p.findings()->Note("parallelism 0: the job is suspended.");
  }
  const bool queue = !c.there() && p.there();  // The tasks know when to end.
  if (!c.there() && !p.there()) completions = 1;
  role.replicas = queue ? parallel : std::min(parallel, completions);
  role.replicas = std::max(role.replicas, 1u);
  role.completions = completions > role.replicas ? completions : 0;
  role.min_replicas = 1;
  role.max_replicas = role.replicas;
  job->resize = role.replicas > 1 ? ResizeMode::kInPlace : ResizeMode::kFixed;

  std::string mode = "NonIndexed";
  o["completionMode"].Read(&mode);
  job->indexed = mode == "Indexed";
  if (job->indexed && !c.there()) spec.Wrong("Indexed, without completions");
  job->failure.backoff_limit = 6;
  job->failure.backoff_base = 10 * kSecond;
  job->failure.backoff_max = 360 * kSecond;
  job->failure.first_at_once = false;
  job->roles.push_back(std::move(role));
  job->success.push_back({.roles = {0}});
  if (queue) {
    job->success[0].count = 1;
    job->success[0].and_drained = true;
  }

  if (const Value per = o["backoffLimitPerIndex"]; per.there()) {
    uint32_t limit = 0;
    per.ReadInteger(&limit, 0, 1 << 30);
    if (!job->indexed) per.Wrong("completionMode is not Indexed");
    job->failure.backoff_limit_per_index = limit;
    job->failure.backoff_limit = FailurePolicy::kUnlimited;
  }
  o["maxFailedIndexes"].ReadInteger(&job->failure.max_failed_indexes, 0,
                                    Job::kMaxTasks);
  o["backoffLimit"].ReadInteger(&job->failure.backoff_limit, 0, 1 << 30);
  o["activeDeadlineSeconds"].ReadSeconds(&job->active_deadline, 1);
  o["ttlSecondsAfterFinished"].ReadSeconds(&job->ttl, 0);
  bool suspend = false;
  o["suspend"].Read(&suspend);
  job->suspend |= suspend;
  const std::string container = job->roles[0].task.container;
  ReadPodFailurePolicy(o["podFailurePolicy"], container, &job->failure);
  ReadSuccessPolicy(o["successPolicy"], job);
}

}  // namespace muster::workload
