// Scenario files: gangs, events and expectations.
#include <algorithm>
#include <limits>
#include <utility>

#include "adapters/scenario/footprint.h"
#include "adapters/scenario/scenario.h"

namespace muster::inprocess {
namespace {

constexpr int64_t kMaxTasks = 1'000'000;
constexpr int64_t kTaskBytes = 64;  // Of one that runs, at least.
constexpr int64_t kMax32 = std::numeric_limits<int32_t>::max();

Requirement ReadRequirement(const Value& value) {
  Requirement r;
  Fields f(value, "requirement");
  f.Required("key", [&](const Value& v) { r.key = v.Text(); });
  f.Enum("op", &r.op);
  f.Texts("values", &r.values);
  return r;
}

// {label: value, label: [value, ...]}: all of these; or a list of lists of
// requirements: all of any one of these.
NodeSelector ReadSelector(const Value& value) {
  NodeSelector selector;
  if (value.IsSequence()) {
    value.Each([&](const Value& term) {
      selector.any_of.emplace_back();
      term.Each([&](const Value& v) {
        selector.any_of.back().all_of.push_back(ReadRequirement(v));
      });
    });
    return selector;
  }
  selector.any_of.emplace_back();
  value.EachEntry([&](const std::string& key, const Value& v) {
    Requirement r{.key = key};
    r.values = v.IsSequence() ? v.Texts() : std::vector{v.Text()};
    selector.any_of[0].all_of.push_back(std::move(r));
  });
  return selector;
}

Toleration ReadToleration(const Value& value) {
  Toleration t;
  Fields f(value, "toleration");
  f.Text("key", &t.key);
  f.Enum("op", &t.op);
  f.Text("value", &t.value);
  f.Optional("effects", [&](const Value& list) {
    list.Each(
        [&](const Value& v) { t.effects.push_back(v.Enum<TaintEffect>()); });
  });
  f.Integer("seconds", &t.seconds, -1, kMax32);
  return t;
}

}  // namespace

void ReadShape(Fields* f, const SchedulerConfig& config, TaskShape* shape) {
  int64_t milli = 0;
  f->Optional("per_task", [&](const Value& v) {
    shape->resources = ReadResources(v, config, &milli);
    if (milli > kWholeDevice && milli % kWholeDevice != 0) {
      v.Wrong(config.device_kind +
              ": either a part of one device or whole devices");
    }
  });
  DeviceRequest& d = shape->devices;
  if (milli >= kWholeDevice) {
    d.count =
        static_cast<uint32_t>(std::min<int64_t>(milli / kWholeDevice, kMax32));
  } else if (milli > 0) {
    d.count = 1;
    d.milli = static_cast<int32_t>(milli);
  }
  f->Optional("devices", [&](const Value& v) {
    Fields g(v, "device request");
    g.Integer("count", &d.count, 0, DeviceSet::kCapacity);
    g.Optional("share", [&](const Value& s) {
      const int64_t share = s.Quantity(kWholeDevice);
      if (share < 1 || share > kWholeDevice) s.Wrong("is not in (0, 1]");
      d.milli = static_cast<int32_t>(std::min<int64_t>(share, kWholeDevice));
    });
    g.Optional("memory", [&](const Value& m) {
      d.memory_bytes = m.Quantity(1);
      d.milli = 0;
    });
    g.Texts("models", &d.models);
    g.Text("partition", &d.partition);
    if (!d.partition.empty() && !g.Has("count")) d.count = 1;
  });
  f->Optional("selector",
              [&](const Value& v) { shape->selector = ReadSelector(v); });
}

namespace {

// tasks: 4, or min: 2 with desired: 4.
void ReadTaskCounts(Fields* f, Role* role) {
  if (f->Has("tasks")) {
    f->Integer("tasks", &role->desired_tasks, 1, kMaxTasks);
    role->min_tasks = role->desired_tasks;
    if (f->Has("min") || f->Has("desired")) {
      f->value().Wrong("has both 'tasks' and 'min' or 'desired'");
    }
    return;
  }
  f->Integer("min", &role->min_tasks, 0, kMaxTasks);
  role->desired_tasks = std::max<uint32_t>(1, role->min_tasks);
  f->Integer("desired", &role->desired_tasks, 1, kMaxTasks);
}

void ReadRoleBody(Fields* f, const SchedulerConfig& config, Role* role) {
  ReadTaskCounts(f, role);
  ReadShape(f, config, &role->shape);
  f->Bool("whole_node", &role->shape.whole_node);
  f->Optional("alternatives", [&](const Value& list) {
    list.Each([&](const Value& v) {
      Fields a(v, "alternative");
      TaskShape& shape = role->alternatives.emplace_back();
      ReadShape(&a, config, &shape);
      a.Bool("whole_node", &shape.whole_node);
    });
  });
  f->Optional("preferences", [&](const Value& list) {
    list.Each([&](const Value& v) {
      Preference p;
      Fields g(v, "preference");
      g.Integer("weight", &p.weight, 1, 100);
      g.Required("all_of", [&](const Value& all) {
        all.Each([&](const Value& r) {
          p.term.all_of.push_back(ReadRequirement(r));
        });
      });
      role->preferences.push_back(std::move(p));
    });
  });
  f->Optional("tolerations", [&](const Value& list) {
    list.Each([&](const Value& v) {
      role->tolerations.push_back(ReadToleration(v));
    });
  });
  f->Texts("node_sets", &role->node_sets);
}

Role ReadRole(const Value& value, const SchedulerConfig& config,
              const std::vector<Group>& groups) {
  Role role;
  Fields f(value, "role");
  f.Text("name", &role.name);
  f.Optional("group", [&](const Value& v) {
    const auto it = std::ranges::find(groups, v.Text(), &Group::name);
    if (it == groups.end()) return v.Wrong("there is no such group");
    role.group = static_cast<uint32_t>(it - groups.begin());
  });
  ReadRoleBody(&f, config, &role);
  f.Optional("topology", [&](const Value& v) {
    role.topology = ReadTopologyConstraint(v);
  });
  f.Texts("start_after", &role.start_after);
  f.Bool("preemptible", &role.preemptible);
  f.Integer("order", &role.order, -kMax32, kMax32);
  return role;
}

// Groups below a root; a parent is named, and stands above.
void ReadGroups(const Value& list, std::vector<Group>* groups) {
  if (groups->empty()) groups->emplace_back();
  list.Each([&](const Value& value) {
    Group group;
    Fields f(value, "group");
    f.Required("name", [&](const Value& v) { group.name = v.Text(); });
    f.Optional("parent", [&](const Value& v) {
      const auto it = std::ranges::find(*groups, v.Text(), &Group::name);
      if (it == groups->end()) return v.Wrong("no such group stands above");
      group.parent = static_cast<uint32_t>(it - groups->begin());
    });
    f.Integer("min_children", &group.min_children, 0, kMaxTasks);
    f.Integer("min_tasks", &group.min_tasks, 0, kMaxTasks);
    f.Optional("topology", [&](const Value& v) {
      group.topology = ReadTopologyConstraint(v);
    });
    groups->push_back(std::move(group));
  });
}

void ReadRoles(Fields* f, const SchedulerConfig& config, Gang* gang) {
  auto root = [&]() -> Group& {
    if (gang->groups.empty()) gang->groups.emplace_back();
    return gang->groups[0];
  };
  f->Optional("topology", [&](const Value& v) {
    root().topology = ReadTopologyConstraint(v);
  });
  f->Optional("min_children", [&](const Value& v) {
    root().min_children = static_cast<uint32_t>(v.Integer(0, kMaxTasks));
  });
  f->Optional("min_tasks", [&](const Value& v) {
    root().min_tasks = static_cast<uint32_t>(v.Integer(0, kMaxTasks));
  });
  f->Optional("groups", [&](const Value& v) { ReadGroups(v, &gang->groups); });
  if (f->Has("roles")) {
    f->Optional("roles", [&](const Value& list) {
      list.Each([&](const Value& v) {
        gang->roles.push_back(ReadRole(v, config, gang->groups));
        const std::string& name = gang->roles.back().name;
        if (std::ranges::count(gang->roles, name, &Role::name) > 1) {
          v.Wrong("there are two roles named '" + name + "'");
        }
      });
    });
  } else {
    ReadRoleBody(f, config, &gang->roles.emplace_back());
  }
  f->Optional("traffic", [&](const Value& list) {
    list.Each([&](const Value& v) {
      Traffic t;
      Fields g(v, "traffic");
      g.Text("from", &t.from);
      g.Text("to", &t.to);
      g.Integer("weight", &t.weight, 1, kMax32);
      gang->traffic.push_back(t);
    });
  });
}

}  // namespace

TopologyConstraint ReadTopologyConstraint(const Value& value) {
  TopologyConstraint c;
  Fields f(value, "topology constraint");
  f.Text("topology", &c.topology);
  f.Text("required", &c.required);
  f.Text("preferred", &c.preferred);
  f.Optional("slices", [&](const Value& list) {
    list.Each([&](const Value& v) {
      Slice s;
      Fields g(v, "slice");
      g.Text("level", &s.level);
      g.Integer("size", &s.size, 1, kMaxTasks);
      c.slices.push_back(s);
    });
  });
  f.Optional("spread", [&](const Value& v) {
    Fields g(v, "spread");
    g.Text("level", &c.spread.level);
    g.Integer("max_per_domain", &c.spread.max_per_domain, 0, kMaxTasks);
    g.Integer("max_skew", &c.spread.max_skew, 0, kMaxTasks);
    g.Integer("min_domains", &c.spread.min_domains, 0, kMaxTasks);
  });
  return c;
}

void ReadJobs(const Value& value, const SchedulerConfig& config,
              const ScenarioLimits& limits, std::vector<Job>* jobs,
              std::vector<Mark>* marks) {
  Job job;
  Gang& gang = job.gang;
  int64_t copies = 0;
  Duration every = 0;
  Fields f(value, "gang");
  f.Required("key", [&](const Value& v) { gang.key = v.Text(); });
  f.Text("queue", &gang.queue);
  f.Text("priority_class", &gang.priority_class);
  f.Span("submit", &gang.submitted);
  f.Required("run", [&](const Value& v) { job.work = v.Span(); });
  f.Optional("checkpoint_every", [&](const Value& v) {
    job.checkpoint_every = v.Span();
    if (job.checkpoint_every > 0 &&
        job.work / job.checkpoint_every > limits.checkpoints) {
      v.Wrong("more than " + std::to_string(limits.checkpoints) +
              " checkpoints in one run");
    }
  });
  f.Span("restart_cost", &gang.restart_cost);
  f.Integer("copies", &copies, 1, kMaxTasks);
  f.Span("every", &every);
  f.Span("not_before", &gang.not_before);
  f.Span("deadline", &gang.deadline);
  f.Span("max_runtime", &gang.max_runtime);
  f.Span("expected_runtime", &gang.expected_runtime);
  f.Bool("held", &gang.held);
  f.Bool("preemptible", &gang.preemptible);
  f.Text("user", &gang.user);
  f.Text("account", &gang.account);
  f.Texts("depends_on", &gang.depends_on);
  f.Optional("labels", [&](const Value& v) { gang.labels = ReadLabels(v); });
  ReadRoles(&f, config, &gang);
  const std::string key = gang.key;
  const __int128 last = static_cast<__int128>(every) * copies + gang.submitted;
  if (last >= kForever) return value.Wrong("the last copy comes too late");
  int64_t tasks = 0;
  for (const Role& role : gang.roles) tasks += role.desired_tasks;
  if (!value.Affords(std::max<int64_t>(1, copies),
                     Footprint(job.gang) + static_cast<int64_t>(sizeof(Job)) +
                         tasks * kTaskBytes)) {
    return;
  }
  for (int64_t i = 0; i < std::max<int64_t>(1, copies); ++i) {
    if (copies > 0) gang.key = key + "-" + std::to_string(i);
    jobs->push_back(job);
    marks->push_back(value.mark());
    gang.submitted += every;
  }
}

}  // namespace muster::inprocess
