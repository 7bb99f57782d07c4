#include "lib/workload/pod.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/workload/cat.h"
#include "lib/workload/pod_volumes.h"

namespace muster::workload {
namespace {

constexpr int64_t kMaxPort = 65535;

void ReadAmounts(const Value& v, std::vector<Amount>* to) {
  v.EachEntry([&](const std::string& name, const Value& quantity) {
    if (name.empty()) return quantity.Wrong("a resource without a name");
    Amount a{name, 0};
    quantity.ReadQuantity(&a.amount, name == "cpu" ? 1000 : 1);
    to->push_back(std::move(a));
  });
  std::ranges::sort(*to, {}, &Amount::resource);
}

void CheckVariableName(const Value& v, const std::string& name) {
  if (name.empty() || name.find('=') != std::string::npos) {
    v.Wrong("'" + name + "' is no name of a variable");
  }
}

void ReadKeyRef(const Value& v, EnvSource from, EnvVar* var) {
  Object ref(v);
  var->from = from;
  ReadFileName(ref.Required("name"), &var->source);
  ReadFileName(ref.Required("key"), &var->key);
  ref["optional"].Read(&var->optional);
}

void ReadVariable(const Value& v, std::vector<EnvVar>* to) {
  Object o(v);
  EnvVar var;
  const Value name = o.Required("name");
  name.Read(&var.name);
  if (name.there()) CheckVariableName(name, var.name);
  o["value"].Read(&var.value);
  if (const Value from = o["valueFrom"]; from.there()) {
    Object source(from);
    if (const Value s = source["secretKeyRef"]; s.there()) {
      ReadKeyRef(s, EnvSource::kSecret, &var);
    } else if (const Value m = source["configMapKeyRef"]; m.there()) {
      ReadKeyRef(m, EnvSource::kConfigMap, &var);
    } else if (const Value f = source["fieldRef"]; f.there()) {
      Object field(f);
      var.from = EnvSource::kField;
      field["apiVersion"];
      field.Required("fieldPath").Read(&var.source);
    } else {
      from.Unsupported(
          "only secretKeyRef, configMapKeyRef and fieldRef are supported");
    }
  }
  to->push_back(std::move(var));
}

void ReadEnvFrom(const Value& v, std::vector<EnvVar>* to) {
  v.Each([&](const Value& element) {
    Object o(element);
    EnvVar var;
    o["prefix"].Read(&var.name);
    const bool secret = o.Has("secretRef");
    const Value source = secret ? o["secretRef"] : o.Required("configMapRef");
    if (source.there()) {
      Object ref(source);
      var.from = secret ? EnvSource::kSecret : EnvSource::kConfigMap;
      ReadFileName(ref.Required("name"), &var.source);
      ref["optional"].Read(&var.optional);
    }
    to->push_back(std::move(var));
  });
}

void ReadPorts(const Value& v, TaskTemplate* task) {
  v.Each([&](const Value& element) {
    Object o(element);
    Port p;
    o["name"].Read(&p.name);
    o.Required("containerPort").ReadInteger(&p.number, 1, kMaxPort);
    o["protocol"];
    task->ports.push_back(std::move(p));
  });
}

void ReadContainer(const Value& v, TaskTemplate* task) {
  Object o(v);
  o["name"].Read(&task->container);
  o["image"].Read(&task->image);
  o.Ignore("imagePullPolicy", "the host decides when an image is pulled");
  o["command"].Read(&task->command);
  o["args"].Read(&task->args);
  o["workingDir"].Read(&task->working_dir);
  o["stdin"].Read(&task->stdin_open);
  o.Ignore("stdinOnce", "input ends when it is told to");
  ReadEnvFrom(o["envFrom"], &task->env);
  ReadEnv(o["env"], &task->env);
  ReadResources(o["resources"], task);
  ReadMounts(o["volumeMounts"], task);
  ReadPorts(o["ports"], task);
}

void ReadToleration(const Value& v, TaskTemplate* task) {
  Object o(v);
  Toleration t;
  o["key"].Read(&t.key);
  o["operator"].ReadEnum(&t.op);
  o["value"].Read(&t.value);
  if (const Value effect = o["effect"]; effect.there()) {
    TaintEffect e{};
    effect.ReadEnum(&e);
    t.effects.push_back(e);
  }
  o["tolerationSeconds"].ReadInteger(&t.seconds, -1, int64_t{1} << 31);
  task->tolerations.push_back(std::move(t));
}

// The container that is run; the others are told.
Value MainContainer(const Value& containers, std::string_view name) {
  std::vector<Value> all;
  Value main;
  containers.Each([&](const Value& v) {
    all.push_back(v);
    std::string own;
    if (v.IsMap()) {
      v.EachEntry([&](const std::string& key, const Value& value) {
        if (key == "name") value.Read(&own);
      });
    }
    if (!main.there() && !name.empty() && own == name) main = v;
  });
  if (all.empty()) {
    if (containers.there()) containers.Wrong("has no container");
    return main;
  }
  if (!main.there()) main = all.front();
  for (const Value& v : all) {
    if (v.path() != main.path()) v.Ignore("one container of a task is run");
  }
  return main;
}

}  // namespace

void ReadResources(const Value& resources, TaskTemplate* task) {
  if (!resources.there()) return;
  Object o(resources);
  task->requests.clear();
  task->limits.clear();
  ReadAmounts(o["requests"], &task->requests);
  ReadAmounts(o["limits"], &task->limits);
  std::vector<Amount> missing;
  for (const Amount& limit : task->limits) {
    const bool there = std::ranges::any_of(
        task->requests,
        [&](const Amount& a) { return a.resource == limit.resource; });
    if (!there) missing.push_back(limit);
  }
  task->requests.insert(task->requests.end(), missing.begin(), missing.end());
  std::ranges::sort(task->requests, {}, &Amount::resource);
}

void ReadEnv(const Value& env, std::vector<EnvVar>* to) {
  env.Each([&](const Value& v) { ReadVariable(v, to); });
}

Value SpecOfTemplate(const Value& job_template) {
  Object o(job_template);
  o.Ignore("metadata", "labels and annotations of tasks decide nothing");
  return o.Required("spec");
}

void ReadPodTemplate(const Value& pod_template, std::string_view container,
                     TaskTemplate* task, PodExtras* extras) {
  Object o(pod_template);
  const Value spec_value = o.Required("spec");
  if (!spec_value.there()) return;
  Object spec(spec_value);
  ReadVolumes(spec["volumes"], task);
  const Value main = MainContainer(spec.Required("containers"), container);
  if (main.there()) ReadContainer(main, task);
  spec.Ignore("initContainers", "containers that run before are not run");
  spec["nodeSelector"].Read(&task->node_labels);
  spec["tolerations"].Each([&](const Value& v) { ReadToleration(v, task); });
  spec["restartPolicy"].Read(&extras->restart_policy);
  spec["priorityClassName"].Read(&extras->priority_class);
  spec["terminationGracePeriodSeconds"].ReadSeconds(&task->grace, 0);
}

}  // namespace muster::workload
