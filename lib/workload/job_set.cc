// JobSet: replicated jobs, each a role of which every job is a group.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/workload/cat.h"
#include "lib/workload/readers.h"

namespace muster::workload {
namespace {

// The Job inside a replicated job: its tasks at once, and how many it bears to
// fail.
struct ChildJob {
  uint32_t tasks = 1;
  uint32_t backoff_limit = 6;
};

ChildJob ReadChildJob(const Value& pod_job, Role* role, Job* job) {
  ChildJob child;
  const Value spec_value = SpecOfTemplate(pod_job);
  if (!spec_value.there()) return child;
  Object spec(spec_value);
  uint32_t parallel = 1, completions = 0;
  const Value p = spec["parallelism"], c = spec["completions"];
  p.ReadInteger(&parallel, 1, Job::kMaxTasks);
  completions = parallel;
  c.ReadInteger(&completions, 1, Job::kMaxTasks);
  if (completions != parallel) {
    c.Unsupported("a replicated job whose completions are not its parallelism");
  }
  child.tasks = parallel;
  std::string mode;
  spec["completionMode"].Read(&mode);  // JobSet makes all of them Indexed.
  spec["backoffLimit"].ReadInteger(&child.backoff_limit, 0, 1 << 30);
  PodExtras extras;
  ReadPodTemplate(spec.Required("template"), "", &role->task, &extras);
  if (job->scheduling.priority_class.empty()) {
    job->scheduling.priority_class = extras.priority_class;
  }
  return child;
}

// dependsOn names; resolved when all roles are known.
struct Dependency {
  Value at{};
  uint32_t role = 0;
  std::string on{};
  std::string status{};
};

void ReadDependencies(const Value& v, uint32_t role,
                      std::vector<Dependency>* to) {
  v.Each([&](const Value& element) {
    Object o(element);
    Dependency d{.at = element, .role = role};
    o.Required("name").Read(&d.on);
    o.Required("status").Read(&d.status);
    to->push_back(std::move(d));
  });
}

void ReadReplicatedJob(const Value& element, Job* job,
                       std::vector<Dependency>* dependencies) {
  Object o(element);
  Role role;
  role.path = element.path();
  role.restart = RestartPolicy::kReplace;
  const Value name = o.Required("name");
  name.Read(&role.name);
  if (FindRole(*job, role.name) < job->roles.size()) {
    name.Wrong("'" + role.name + "' is there twice");
  }
  uint32_t replicas = 1;
  o["replicas"].ReadInteger(&replicas, 0, Job::kMaxTasks);
  const ChildJob child = ReadChildJob(o.Required("template"), &role, job);
  const uint64_t tasks = uint64_t{replicas} * child.tasks;
  if (tasks > Job::kMaxTasks) {
    return element.Wrong(Cat("more than ", Job::kMaxTasks, " tasks"));
  }
  role.group_size = child.tasks;
  role.replicas = role.min_replicas = role.max_replicas =
      static_cast<uint32_t>(tasks);
  ReadDependencies(o["dependsOn"], static_cast<uint32_t>(job->roles.size()),
                   dependencies);
  if (tasks == 0) return element.Unsupported("a replicated job of no job");
  job->failure.group_backoff_limits.push_back(child.backoff_limit);
  job->roles.push_back(std::move(role));
}

void Resolve(const std::vector<Dependency>& dependencies, Job* job) {
  for (const Dependency& d : dependencies) {
    const uint32_t on = FindRole(*job, d.on);
    if (on >= d.role || d.role >= job->roles.size()) {
      d.at.Wrong("'" + d.on + "' is no replicated job before this one");
      continue;
    }
    if (d.status != "Ready" && d.status != "Complete") {
      d.at.Wrong("'" + d.status + "' is none of: Ready, Complete");
    }
    job->roles[d.role].start_after.push_back({on,
                                              d.status == "Complete"
                                                  ? StartCondition::kSucceeded
                                                  : StartCondition::kReady,
                                              0});
  }
}

std::vector<uint32_t> ReadTargets(const Value& v, const Job& job) {
  std::vector<std::string> names;
  v.Read(&names);
  std::vector<uint32_t> roles;
  for (const std::string& name : names) {
    const uint32_t role = FindRole(job, name);
    if (role == job.roles.size()) {
      v.Wrong("'" + name + "' is no replicated job");
    } else {
      roles.push_back(role);
    }
  }
  return roles;
}

void ReadFailurePolicy(const Value& v, Job* job) {
  if (!v.there()) return;
  Object o(v);
  o["maxRestarts"].ReadInteger(&job->failure.max_restarts, 0, 1 << 30);
  std::string strategy = "Recreate";
  const Value s = o["restartStrategy"];
  s.Read(&strategy);
  if (strategy != "Recreate" && strategy != "BlockingRecreate") {
    s.Unsupported("'" + strategy + "' is none of: Recreate, BlockingRecreate");
  }
  o["rules"].Each([&](const Value& element) {
    Object r(element);
    GroupRule rule;
    r["name"];
    r.Required("action").ReadEnum(&rule.action);
    r["onJobFailureReasons"].Read(&rule.reasons);
    rule.roles = ReadTargets(r["targetReplicatedJobs"], *job);
    if (const Value m = r["onJobFailureMessagePatterns"]; m.there()) {
      m.Unsupported("rules that look at messages");
    }
    job->failure.group_rules.push_back(std::move(rule));
  });
}

void ReadSuccess(const Value& v, Job* job) {
  SuccessRule rule;
  for (uint32_t r = 0; r < job->roles.size(); ++r) rule.roles.push_back(r);
  if (v.there()) {
    Object o(v);
    std::string op = "All";
    const Value given = o.Required("operator");
    given.Read(&op);
    if (op != "All" && op != "Any") {
      given.Wrong("'" + op + "' is none of: All, Any");
    }
    const Value targets = o["targetReplicatedJobs"];
    const std::vector<uint32_t> roles = ReadTargets(targets, *job);
    if (!roles.empty()) rule.roles = roles;
    rule.groups = op == "Any";
    rule.count = op == "Any" ? 1 : 0;
  }
  job->success.push_back(std::move(rule));
}

// All replicated jobs one after the other, each when the one before is ready.
void ReadStartupPolicy(const Value& v, Job* job) {
  if (!v.there()) return;
  Object o(v);
  std::string order;
  const Value given = o.Required("startupPolicyOrder");
  given.Read(&order);
  if (order != "AnyOrder" && order != "InOrder") {
    return given.Wrong("'" + order + "' is none of: AnyOrder, InOrder");
  }
  for (uint32_t r = 1; order == "InOrder" && r < job->roles.size(); ++r) {
    job->roles[r].start_after.push_back({r - 1, StartCondition::kReady, 0});
  }
}

}  // namespace

void ReadJobSet(const Value& spec, Job* job) {
  job->failure.by_group = true;
  job->indexed = true;
  job->clean = CleanPolicy::kRunning;
  job->subdomain = job->name;
  Object o(spec);
  std::vector<Dependency> dependencies;
  o.Required("replicatedJobs").Each([&](const Value& v) {
    ReadReplicatedJob(v, job, &dependencies);
  });
  if (job->roles.empty()) return;
  Resolve(dependencies, job);
  ReadFailurePolicy(o["failurePolicy"], job);
  ReadSuccess(o["successPolicy"], job);
  ReadStartupPolicy(o["startupPolicy"], job);
  o["suspend"].Read(&job->suspend);
  o["ttlSecondsAfterFinished"].ReadSeconds(&job->ttl, 0);
  if (const Value n = o["network"]; n.there()) {
    Object network(n);
    network["subdomain"].Read(&job->subdomain);
    network["enableDNSHostnames"];
  }
}

}  // namespace muster::workload
