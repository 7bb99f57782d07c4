#include "adapters/local/host/config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "adapters/local/host/task_cgroups.h"
#include "adapters/local/page/web_gate.h"
#include "adapters/text/cluster_fields.h"
#include "adapters/text/yaml_reader.h"

namespace muster::local {
namespace {

using inprocess::Fields;
using inprocess::Problems;
using inprocess::Value;

constexpr int64_t kMaxBytes = int64_t{64} << 20;  // What aliases may make.

// An amount, or what it is of.
void ReadCpus(const Value& value, Config* config) {
  const auto read = [config](const Value& v) {
    config->cpu_milli = inprocess::ReadAmount("cpu", v, config->scheduler,
                                              Resources::kMaxQuantity);
  };
  if (!value.IsMap()) return read(value);
  Fields f(value, "cpus");
  f.Optional("amount", read);
  f.Enum("bind", &config->cpu_bind);
  f.Optional("unit", [config](const Value& v) {
    config->cpu_unit = v.Enum<CpuUnit>();
    if (v.problems()->ok() && config->cpu_bind == CpuBind::kNone) {
      v.Wrong("is of bind: cores alone");
    }
  });
}

void ReadNode(const Value& value, Config* config) {
  Fields f(value, "node");
  f.Text("name", &config->node);
  f.Optional("cpus", [&](const Value& v) { ReadCpus(v, config); });
  f.Optional("memory", [&](const Value& v) {
    config->memory_bytes = inprocess::ReadAmount("memory", v, config->scheduler,
                                                 Resources::kMaxQuantity);
  });
  f.Optional("gpus", [&](const Value& v) {
    inprocess::ReadDevices(v, &config->devices.emplace());
  });
  f.Optional("cgroup", [&](const Value& v) {
    config->cgroup = v.Text();
    const bool folder = config->cgroup.starts_with("/sys/fs/cgroup/");
    if (!folder && config->cgroup != kOwnCgroup) {
      v.Wrong("expected a folder in /sys/fs/cgroup, or own");
    }
  });
  f.Texts("forget_gpus", &config->forgotten_gpus);
}

void ReadPorts(const Value& value, Config* config) {
  Fields f(value, "ports");
  f.Integer("first", &config->first_port, 1024, 65'535);
  f.Integer("last", &config->last_port, 1024, 65'535);
  if (value.problems()->ok() && config->first_port > config->last_port) {
    value.Wrong("first is behind last");
  }
}

void ReadHistory(const Value& value, Config* config) {
  Fields f(value, "history");
  f.Span("keep_for", &config->keep_for);
  f.Integer("keep_jobs", &config->keep_jobs, 0, int64_t{1} << 40);
  f.Optional("keep_bytes", [&](const Value& v) {
    config->keep_bytes = inprocess::ReadAmount("memory", v, config->scheduler,
                                               Resources::kMaxQuantity);
  });
}

void ReadQuarantine(const Value& value, QuarantineRules* rules) {
  Fields f(value, "quarantine");
  f.Integer("jobs", &rules->jobs, 0, 1000);
  f.Span("window", &rules->window);
  f.Span("soon", &rules->soon);
  f.Optional("codes", [&](const Value& list) {
    list.Each([&](const Value& v) {
      rules->codes.push_back(static_cast<int32_t>(v.Integer(1, 255)));
    });
  });
}

void ReadNotify(const Value& value, NotifyRule* rule) {
  Fields f(value, "notify");
  f.Texts("command", &rule->command);
  f.Optional("on", [&](const Value& list) {
    rule->on.clear();
    list.Each([&](const Value& v) {
      const std::string& what = rule->on.emplace_back(v.Text());
      if (!v.problems()->ok() ||
          std::ranges::find(kNotifiable, what) != kNotifiable.end()) {
        return;
      }
      std::string known;
      for (const std::string_view one : kNotifiable) {
        known += (known.empty() ? "" : ", ") + std::string(one);
      }
      v.Wrong("'" + what + "' is none of: " + known);
    });
  });
  if (!value.problems()->ok()) return;
  if (rule->command.empty()) return value.Wrong("command: is missing");
  if (!rule->command[0].starts_with('/')) {
    value.Wrong("command: '" + rule->command[0] + "' is no absolute path");
  }
}

std::string ReadFolder(const Value& v) {
  std::string path = v.Text();
  if (v.problems()->ok() && !path.starts_with('/')) {
    v.Wrong("'" + path + "' is no absolute path");
  }
  return path;
}

void ReadVolumes(Fields* f, VolumePlaces* places) {
  f->Optional("claims", [&](const Value& claims) {
    claims.EachEntry([&](const std::string& name, const Value& v) {
      places->claims[name] = ReadFolder(v);
    });
  });
  f->Optional("config_maps",
              [&](const Value& v) { places->config_maps = ReadFolder(v); });
  f->Optional("secrets",
              [&](const Value& v) { places->secrets = ReadFolder(v); });
}

// PATH, or PATH:PLACE.
void CheckBind(const Value& v, const std::string& bind) {
  const size_t colon = bind.find(':');
  const bool good = bind.starts_with('/') &&
                    (colon == std::string::npos || bind[colon + 1] == '/');
  if (v.problems()->ok() && !good) {
    v.Wrong("'" + bind + "': expected an absolute path, or PATH:PLACE");
  }
}

// That the images of the program can be told apart from all others.
void CheckImages(const Value& value, const Images& images) {
  if (!value.problems()->ok() || images.by == ImageProgram::kNone) return;
  const std::string by(Name(images.by));
  const bool podman = images.by == ImageProgram::kPodman;
  if (podman && !images.folder.empty()) {
    value.Wrong("folder: podman has images of its own; expected allow");
  } else if (!podman && !images.allow.empty()) {
    value.Wrong("allow: " + by + " runs those of folder and names");
  } else if (podman && images.allow.empty() && images.names.empty()) {
    value.Wrong("expected allow or names, which say what tasks may have");
  } else if (!podman && images.folder.empty() && images.names.empty()) {
    value.Wrong("expected folder or names, where images are");
  }
}

void ReadImages(const Value& value, Images* images) {
  Fields f(value, "images");
  f.Enum("by", &images->by);
  f.Optional("program",
             [&](const Value& v) { images->program = ReadFolder(v); });
  f.Optional("folder", [&](const Value& v) { images->folder = ReadFolder(v); });
  f.Optional("names", [&](const Value& names) {
    names.EachEntry([&](const std::string& name, const Value& v) {
      const bool podman = images->by == ImageProgram::kPodman;
      std::string is = podman ? v.Text() : ReadFolder(v);
      if (v.problems()->ok() && podman && !IsImageName(is)) {
        v.Wrong("'" + is + "' is no name of an image");
      }
      if (v.problems()->ok() && !IsImageName(name)) {
        v.Wrong("'" + name + "' is no name of an image");
      }
      images->names[name] = std::move(is);
    });
  });
  f.Texts("allow", &images->allow);
  f.Enum("pull", &images->pull);
  f.Optional("binds", [&](const Value& list) {
    list.Each([&](const Value& v) {
      CheckBind(v, images->binds.emplace_back(v.Text()));
    });
  });
  f.Texts("options", &images->options);
  CheckImages(value, *images);
}

// What is named as the default must be there.
template <class T>
void ReadDefault(Fields* f, const char* key, const std::vector<T>& all,
                 std::string* to) {
  std::optional<Value> given;
  f->Optional(key, [&](const Value& v) { *to = given.emplace(v).Text(); });
  if (!f->value().problems()->ok() ||
      std::ranges::find(all, *to, &T::key) != all.end()) {
    return;
  }
  std::string known;
  for (const T& x : all) known += (known.empty() ? "" : ", ") + x.key;
  if (given) return given->Wrong("'" + *to + "' is none of: " + known);
  f->value().Wrong(std::string(key) + ": '" + *to + "' is none of: " + known);
}

void Read(const Value& value, Config* config) {
  Fields f(value, "configuration");
  f.Optional("partition_schemes", [&](const Value& list) {
    list.Each([&](const Value& v) {
      config->scheduler.partition_schemes.push_back(
          inprocess::ReadPartitionScheme(v));
    });
  });
  f.Optional("node", [&](const Value& v) { ReadNode(v, config); });
  f.Optional("queues", [&](const Value& list) {
    config->queues.clear();
    list.Each([&](const Value& v) {
      config->queues.push_back(inprocess::ReadQueue(v, config->scheduler));
    });
  });
  f.Optional("queue_order", [&](const Value& v) {
    config->scheduler.queue_order = inprocess::ReadQueueOrder(v);
  });
  f.Optional("eviction_backoff", [&](const Value& v) {
    config->scheduler.eviction_backoff = inprocess::ReadEvictionBackoff(v);
  });
  f.Optional("priority_classes", [&](const Value& list) {
    config->classes.clear();
    list.Each([&](const Value& v) {
      config->classes.push_back(inprocess::ReadPriorityClass(v));
    });
  });
  ReadDefault(&f, "default_queue", config->queues, &config->default_queue);
  ReadDefault(&f, "default_priority_class", config->classes,
              &config->default_class);
  f.Optional("ports", [&](const Value& v) { ReadPorts(v, config); });
  f.Optional("listen", [&](const Value& v) {
    const auto address = ParseLoopback(v.Text());
    if (address.ok()) {
      config->listen = *address;
    } else {
      v.Wrong(std::string(address.status().message()));
    }
  });
  f.Optional("quarantine",
             [&](const Value& v) { ReadQuarantine(v, &config->quarantine); });
  f.Optional("notify", [&](const Value& v) { ReadNotify(v, &config->notify); });
  ReadVolumes(&f, &config->volumes);
  f.Optional("images", [&](const Value& v) { ReadImages(v, &config->images); });
  f.Optional("history", [&](const Value& v) { ReadHistory(v, config); });
}

}  // namespace

Config::Config() {
  scheduler.host.suspend = true;
  // A process that is suspended keeps its memory.
  scheduler.host.suspended_keeps = {"memory"};
  scheduler.host.nominate = false;  // Nothing is to be done for one.
  scheduler.backoff_base = kSecond;
  queues = {{.key = "default"}};
  classes = {{.key = "low", .value = -100},
             {.key = "normal"},
             {.key = "high", .value = 100}};
}

absl::StatusOr<Config> LoadConfig(const std::string& file) {
  absl::StatusOr<YAML::Node> root = inprocess::LoadYaml(file);
  if (!root.ok()) return root.status();
  Problems problems(file, kMaxBytes, nullptr);
  Config config;
  Read(Value(*root, "", &problems), &config);
  if (!problems.ok()) return problems.status();
  return config;
}

}  // namespace muster::local
