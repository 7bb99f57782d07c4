// Owners of pods. The numbers that tell how many pods there are stand in few
// places: all of them are read whatever the kind, which is known only at the
// end, and then put together.
#include <algorithm>
#include <utility>

#include "adapters/kubernetes/api/read.h"

namespace muster::kubernetes::api::json {
namespace {

// A job of a JobSet, a worker group of Ray, a task of Volcano, a replica type.
struct Part {
  std::string name{};
  std::optional<int64_t> replicas{};
  std::optional<int64_t> min_replicas{};
  std::optional<int64_t> parallelism{};  // Of each replica.
  std::optional<int64_t> completions{};
  int64_t hosts = 1;  // Of each replica.
  bool suspended = false;
  bool depends = false;  // On another one, before which it is not made.
};

// The numbers of a spec.
struct Counts {
  std::optional<int64_t> replicas{};
  std::optional<int64_t> parallelism{};
  std::optional<int64_t> group_size{};  // Of a LeaderWorkerSet.
  std::optional<int64_t> elastic_minimum{};
  bool has_head = false;
  bool scales_workers = false;        // Ray itself does.
  bool launcher_last = false;         // Of MPI: when the workers run.
  bool in_order = false;              // The jobs of a JobSet.
  bool leader_first = false;          // Of a LeaderWorkerSet: it runs before.
  std::vector<Part> workers{};        // Of Ray.
  std::vector<Part> jobs{};           // Of a JobSet.
  std::vector<Part> tasks{};          // Of a Volcano job.
  std::vector<Part> replica_types{};  // Of Kubeflow's jobs.
};

bool ReadCount(Value v, std::optional<int64_t>* out) {
  std::optional<int32_t> count;
  if (!v.Read(&count)) return false;
  if (!count.has_value()) return true;
  if (*count < 0) return v.Fail("is negative");
  *out = *count;
  return true;
}

template <typename ReadField>
bool ReadParts(Value v, std::vector<Part>* out, ReadField&& read_field) {
  return v.Array([&](Value element) {
    Part& part = out->emplace_back();
    return element.Object([&](std::string_view key, Value field) {
      return static_cast<bool>(read_field(key, field, &part));
    });
  });
}

// spec.template.spec of a replicated job is that of a Job.
bool ReadJobTemplate(Value v, Part* part) {
  return v.Object([&](std::string_view key, Value spec) {
    if (key != "spec") return true;
    return spec.Object([&](std::string_view name, Value field) {
      if (name == "parallelism") return ReadCount(field, &part->parallelism);
      if (name == "completions") return ReadCount(field, &part->completions);
      return true;
    });
  });
}

bool ReadReplicatedJob(std::string_view key, Value v, Part* part) {
  if (key == "name") return v.Read(&part->name);
  if (key == "replicas") return ReadCount(v, &part->replicas);
  if (key == "template") return ReadJobTemplate(v, part);
  if (key == "dependsOn") return v.ReadIsSet(&part->depends);
  return true;
}

bool ReadWorkerGroup(std::string_view key, Value v, Part* part) {
  if (key == "groupName") return v.Read(&part->name);
  if (key == "replicas") return ReadCount(v, &part->replicas);
  if (key == "minReplicas") return ReadCount(v, &part->min_replicas);
  if (key == "suspend") return v.Read(&part->suspended);
  if (key == "numOfHosts") {
    std::optional<int64_t> hosts;
    if (!ReadCount(v, &hosts)) return false;
    part->hosts = std::max<int64_t>(hosts.value_or(1), 1);
  }
  return true;
}

bool ReadTask(std::string_view key, Value v, Part* part) {
  if (key == "name") return v.Read(&part->name);
  if (key == "replicas") return ReadCount(v, &part->replicas);
  if (key == "minAvailable") return ReadCount(v, &part->min_replicas);
  return true;
}

bool ReadReplicaTypes(Value v, std::vector<Part>* out) {
  return v.Object([&](std::string_view name, Value type) {
    Part& part = out->emplace_back();
    part.name = std::string(name);
    return type.Object([&](std::string_view key, Value field) {
      return key != "replicas" || ReadCount(field, &part.replicas);
    });
  });
}

// Whether a rule of a podFailurePolicy is about disruptions, and ignores them.
bool ReadFailureRule(Value v, bool* disruption, bool* ignore) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "action") {
      std::string_view action;
      if (!field.Read(&action)) return false;
      *ignore = action == "Ignore";
      return true;
    }
    if (key != "onPodConditions") return true;
    return field.Array([&](Value element) {
      std::string_view type, status = "True";
      if (!element.Object([&](std::string_view name, Value part) {
            if (name == "type") return part.Read(&type);
            if (name == "status") return part.Read(&status);
            return true;
          })) {
        return false;
      }
      *disruption |= type == "DisruptionTarget" && status == "True";
      return true;
    });
  });
}

// The first rule about disruptions decides.
bool ReadFailurePolicy(Value v, bool* ignores_disruption) {
  bool decided = false;
  return v.Object([&](std::string_view key, Value field) {
    if (key != "rules") return true;
    return field.Array([&](Value element) {
      bool disruption = false, ignore = false;
      if (!ReadFailureRule(element, &disruption, &ignore)) return false;
      if (disruption && !std::exchange(decided, true)) {
        *ignores_disruption = ignore;
      }
      return true;
    });
  });
}

// runPolicy of Kubeflow's jobs.
bool ReadRunPolicy(Value v, Owner* out) {
  return v.Object([&](std::string_view key, Value field) {
    if (key == "suspend") return field.Read(&out->suspended);
    if (key != "schedulingPolicy") return true;
    return field.Object([&](std::string_view name, Value part) {
      if (name == "minAvailable") return ReadCount(part, &out->min_available);
      if (name == "queue") return part.Read(&out->queue, kMaxKeyLength);
      if (name == "priorityClass") {
        return part.Read(&out->priority_class_name, kMaxKeyLength);
      }
      return true;
    });
  });
}

// A field that has one of two values: is it `text`?
bool ReadIs(Value v, std::string_view text, bool* out) {
  std::string_view value;
  if (!v.Read(&value)) return false;
  *out = value == text;
  return true;
}

// A word of a LeaderWorkerSet's, an object of a JobSet's.
bool ReadStartupPolicy(Value v, Counts* counts) {
  if (v.IsString()) return ReadIs(v, "LeaderReady", &counts->leader_first);
  return v.Object([&](std::string_view key, Value field) {
    return key != "startupPolicyOrder" ||
           ReadIs(field, "InOrder", &counts->in_order);
  });
}

// A field {name: count, ...} of which one count matters.
bool ReadInner(Value v, std::string_view name, std::optional<int64_t>* out) {
  return v.Object([&](std::string_view key, Value field) {
    return key != name || ReadCount(field, out);
  });
}

bool ReadRay(std::string_view key, Value v, Counts* counts) {
  if (key == "headGroupSpec") {
    counts->has_head = !v.IsNull();
    return true;
  }
  if (key == "workerGroupSpecs") {
    return ReadParts(v, &counts->workers, ReadWorkerGroup);
  }
  if (key == "enableInTreeAutoscaling") return v.Read(&counts->scales_workers);
  return true;
}

bool ReadSpecField(std::string_view key, Value v, Owner* out, Counts* counts) {
  if (key == "replicas") return ReadCount(v, &counts->replicas);
  if (key == "parallelism") return ReadCount(v, &counts->parallelism);
  if (key == "completions") return v.Read(&out->completions);
  if (key == "completionMode") return v.Read(&out->completion_mode);
  if (key == "backoffLimit") return v.Read(&out->backoff_limit);
  if (key == "suspend") return v.Read(&out->suspended);
  if (key == "podFailurePolicy") {
    return ReadFailurePolicy(v, &out->ignores_disruption);
  }
  if (key == "replicatedJobs") {
    return ReadParts(v, &counts->jobs, ReadReplicatedJob);
  }
  if (key == "tasks") return ReadParts(v, &counts->tasks, ReadTask);
  if (key == "minAvailable") return ReadCount(v, &out->min_available);
  if (key == "runPolicy") return ReadRunPolicy(v, out);
  if (key == "elasticPolicy") {
    return ReadInner(v, "minReplicas", &counts->elastic_minimum);
  }
  if (key == "launcherCreationPolicy") {
    return ReadIs(v, "WaitForWorkersReady", &counts->launcher_last);
  }
  if (key == "startupPolicy") return ReadStartupPolicy(v, counts);
  if (key == "leaderWorkerTemplate") {
    return ReadInner(v, "size", &counts->group_size);
  }
  if (key == "rayClusterSpec") {
    return v.Object([&](std::string_view name, Value field) {
      return ReadRay(name, field, counts);
    });
  }
  if (key.ends_with("ReplicaSpecs")) {
    return ReadReplicaTypes(v, &counts->replica_types);
  }
  return ReadRay(key, v, counts);
}

// Pods of a Job at a time.
int64_t PodsOfJob(const std::optional<int64_t>& parallelism,
                  const std::optional<int64_t>& completions) {
  const int64_t pods = parallelism.value_or(1);
  return completions.has_value() ? std::min(pods, *completions) : pods;
}

void AddRay(const Counts& counts, Owner* out) {
  if (counts.has_head) out->roles.push_back({.name = "head", .pods = 1});
  for (const Part& part : counts.workers) {
    OwnerRole role{.name = part.name};
    const int64_t minimum = part.min_replicas.value_or(0);
    role.pods =
        part.suspended ? 0 : part.replicas.value_or(minimum) * part.hosts;
    // minReplicas has a default, and says something to the autoscaler alone.
    if (counts.scales_workers && part.min_replicas.has_value()) {
      role.min_pods = part.suspended ? 0 : minimum * part.hosts;
    }
    out->roles.push_back(std::move(role));
  }
}

void AddParts(const std::vector<Part>& parts, Owner* out) {
  for (const Part& part : parts) {
    out->roles.push_back({.name = part.name,
                          .pods = part.replicas.value_or(1),
                          .min_pods = part.min_replicas});
  }
}

// Of a LeaderWorkerSet: a leader and the others, as often as it has replicas.
void AddLeaderAndWorkers(const Counts& counts, Owner* out) {
  out->copies = counts.replicas.value_or(1);
  out->roles.push_back({.name = "leader", .pods = 1});
  const int64_t size = counts.group_size.value_or(1);
  if (size > 1) {
    out->roles.push_back(
        {.name = "worker", .pods = size - 1, .later = counts.leader_first});
  }
}

void AddRoles(const Counts& counts, Owner* out) {
  const std::string_view kind = out->kind;
  if (!counts.replica_types.empty()) {
    AddParts(counts.replica_types, out);
    for (OwnerRole& role : out->roles) {
      if (role.name == "Worker") role.min_pods = counts.elastic_minimum;
      role.later = counts.launcher_last && role.name == "Launcher";
    }
  } else if (kind == "Job" && out->api_version.starts_with("batch/")) {
    out->roles.push_back(
        {.pods = PodsOfJob(counts.parallelism, out->completions)});
  } else if (kind == "Job") {
    AddParts(counts.tasks, out);
  } else if (kind == "JobSet") {
    for (const Part& job : counts.jobs) {
      out->roles.push_back(
          {.name = job.name,
           .pods = job.replicas.value_or(1) *
                   PodsOfJob(job.parallelism, job.completions),
           .later = job.depends || (counts.in_order && !out->roles.empty())});
    }
  } else if (kind == "RayCluster" || kind == "RayJob") {
    AddRay(counts, out);
  } else if (kind == "LeaderWorkerSet") {
    AddLeaderAndWorkers(counts, out);
  } else if (kind == "ReplicaSet" || kind == "StatefulSet" ||
             kind == "Deployment" || kind == "ReplicationController") {
    out->roles.push_back({.pods = counts.replicas.value_or(1)});
  }
}

}  // namespace

bool ReadObject(Value v, Owner* out) {
  Counts counts;
  const auto read_spec = [&](std::string_view key, Value field) {
    return ReadSpecField(key, field, out, &counts);
  };
  if (!ReadObjectFields(v, &out->meta, [&](std::string_view key, Value field) {
        if (key == "apiVersion") {
          return field.Read(&out->api_version);
        }
        if (key == "kind") return field.Read(&out->kind);
        if (key == "spec") return field.Object(read_spec);
        return true;
      })) {
    return false;
  }
  AddRoles(counts, out);
  return true;
}

}  // namespace muster::kubernetes::api::json
