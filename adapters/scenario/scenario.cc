#include "adapters/scenario/scenario.h"

#include <algorithm>
#include <set>
#include <utility>

#include "muster/scheduler.h"

namespace muster::inprocess {
namespace {

// No two of these have one key.
template <class T>
void CheckUnique(const std::vector<T>& values, const std::vector<Mark>& marks,
                 const char* what, Problems* problems) {
  std::map<std::string, int> lines;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto [it, fresh] = lines.try_emplace(values[i].key, marks[i].line);
    if (fresh) continue;
    problems->Report(marks[i], "there is a " + std::string(what) + " '" +
                                   values[i].key + "' already, on line " +
                                   std::to_string(it->second));
  }
}

void CheckUniqueJobs(const std::vector<Job>& jobs,
                     const std::vector<Mark>& marks, Problems* problems) {
  std::map<std::string, int> lines;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::string& key = jobs[i].gang.key;
    const auto [it, fresh] = lines.try_emplace(key, marks[i].line);
    if (fresh) continue;
    problems->Report(marks[i], "there is a gang '" + key +
                                   "' already, on line " +
                                   std::to_string(it->second));
  }
}

// Parents before children. A cycle, or a parent that is not there, is told.
void SortQueues(std::vector<Queue>* queues, std::vector<Mark>* marks,
                Problems* problems) {
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < queues->size(); ++i) index[(*queues)[i].key] = i;
  std::vector<size_t> depth(queues->size(), 0);
  for (size_t i = 0; i < queues->size(); ++i) {
    std::string path = (*queues)[i].key;
    for (size_t at = i; !(*queues)[at].parent.empty();) {
      const auto parent = index.find((*queues)[at].parent);
      if (parent == index.end()) {
        return problems->Report((*marks)[at], "there is no queue '" +
                                                  (*queues)[at].parent +
                                                  "' to be its parent");
      }
      at = parent->second;
      path += " below " + (*queues)[at].key;
      if (++depth[i] > queues->size()) {
        return problems->Report(
            (*marks)[i], "the queues form a cycle: " + path.substr(0, 200));
      }
      if (at == i) {
        return problems->Report((*marks)[i],
                                "the queues form a cycle: " + path);
      }
    }
  }
  std::vector<size_t> order(queues->size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return depth[i]; });
  std::vector<Queue> sorted;
  std::vector<Mark> sorted_marks;
  for (size_t i : order) {
    sorted.push_back(std::move((*queues)[i]));
    sorted_marks.push_back(std::move((*marks)[i]));
  }
  *queues = std::move(sorted);
  *marks = std::move(sorted_marks);
}

void SortJobs(std::vector<Job>* jobs, std::vector<Mark>* marks) {
  std::vector<size_t> order(jobs->size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {},
                           [&](size_t i) { return (*jobs)[i].gang.submitted; });
  std::vector<Job> sorted;
  std::vector<Mark> sorted_marks;
  for (size_t i : order) {
    sorted.push_back(std::move((*jobs)[i]));
    sorted_marks.push_back(std::move((*marks)[i]));
  }
  *jobs = std::move(sorted);
  *marks = std::move(sorted_marks);
}

// Lets a scheduler that decides nothing judge everything but the events.
absl::Status AskScheduler(const Scenario& s, const ScenarioMarks& marks) {
  absl::StatusOr<Scheduler> scheduler = Scheduler::Create(s.setup.config);
  if (!scheduler.ok()) {
    return At(s.file, {}, std::string(scheduler.status().message()));
  }
  absl::Status first = absl::OkStatus();
  auto tell = [&](Time at, EventBody body, const Mark& mark) {
    const absl::Status status =
        scheduler->Apply({.at = at, .what = std::move(body)});
    if (!status.ok() && first.ok()) {
      first = At(s.file, mark, std::string(status.message()));
    }
  };
  for (size_t i = 0; i < s.setup.nodes.size(); ++i) {
    tell(0, NodeChanged{s.setup.nodes[i]}, marks.nodes[i]);
  }
  for (size_t i = 0; i < s.setup.node_sets.size(); ++i) {
    tell(0, NodeSetChanged{s.setup.node_sets[i]}, marks.node_sets[i]);
  }
  for (size_t i = 0; i < s.setup.priority_classes.size(); ++i) {
    tell(0, PriorityClassChanged{s.setup.priority_classes[i]},
         marks.classes[i]);
  }
  for (size_t i = 0; i < s.setup.queues.size(); ++i) {
    tell(0, QueueChanged{s.setup.queues[i]}, marks.queues[i]);
  }
  // Queues and classes that come later are there in time for their gangs.
  for (const WorldEvent& e : s.events) {
    const auto* body = std::get_if<EventBody>(&e.what);
    if (body != nullptr &&
        (std::holds_alternative<QueueChanged>(*body) ||
         std::holds_alternative<PriorityClassChanged>(*body))) {
      (void)scheduler->Apply({.at = 0, .what = *body});
    }
  }
  for (size_t i = 0; i < s.jobs.size(); ++i) {
    tell(s.jobs[i].gang.submitted, GangSubmitted{s.jobs[i].gang},
         marks.jobs[i]);
  }
  return first;
}

template <class T, class Read>
void ReadList(Fields* top, const char* key, std::vector<T>* values,
              std::vector<Mark>* marks, Read read) {
  top->Optional(key, [&](const Value& list) {
    list.Each([&](const Value& v) {
      values->push_back(read(v));
      marks->push_back(v.mark());
    });
  });
}

void ReadAll(const Value& root, const ScenarioLimits& limits, Scenario* s,
             ScenarioMarks* marks) {
  Setup& setup = s->setup;
  Fields top(root, "scenario");
  top.Text("title", &s->title);
  top.Text("story", &s->story);
  ReadConfig(&top, &setup.config);
  ReadSettings(&top, &setup.config, &s->host);
  top.Required("nodes", [&](const Value& list) {
    list.Each([&](const Value& v) {
      ReadNodes(v, setup.config, &setup.nodes, &marks->nodes);
    });
  });
  if (PlacementOptions& placement = setup.config.placement;
      !placement.typical_tasks.empty() && placement.supply.empty()) {
    placement.supply = SupplyOf(setup.nodes);
  }
  ReadList(&top, "node_sets", &setup.node_sets, &marks->node_sets, ReadNodeSet);
  ReadList(&top, "queues", &setup.queues, &marks->queues,
           [&](const Value& v) { return ReadQueue(v, setup.config); });
  ReadList(&top, "priority_classes", &setup.priority_classes, &marks->classes,
           ReadPriorityClass);
  if (!top.Has("queues")) {
    setup.queues.push_back({.key = "default"});
    marks->queues.emplace_back();
  }
  top.Optional("gangs", [&](const Value& list) {
    list.Each([&](const Value& v) {
      ReadJobs(v, setup.config, limits, &s->jobs, &marks->jobs);
    });
  });
  // Where there is one queue, it need not be named.
  for (Job& job : s->jobs) {
    if (job.gang.queue.empty() && setup.queues.size() == 1) {
      job.gang.queue = setup.queues[0].key;
    }
  }
  top.Optional("events", [&](const Value& v) {
    ReadEvents(v, setup.config, &s->events);
  });
  top.Optional("expect",
               [&](const Value& v) { ReadExpectations(v, &s->expect); });
}

}  // namespace

absl::StatusOr<Scenario> LoadScenario(const std::string& file,
                                      const ScenarioLimits& limits,
                                      KeysRead* keys) {
  absl::StatusOr<YAML::Node> document = LoadYaml(file);
  if (!document.ok()) return document.status();
  Scenario s{.file = file};
  ScenarioMarks marks;
  Problems problems(file, limits.memory, keys);
  ReadAll(Value(*document, "", &problems), limits, &s, &marks);
  if (!problems.ok()) return problems.status();
  CheckUnique(s.setup.nodes, marks.nodes, "node", &problems);
  CheckUnique(s.setup.node_sets, marks.node_sets, "node set", &problems);
  CheckUnique(s.setup.queues, marks.queues, "queue", &problems);
  CheckUnique(s.setup.priority_classes, marks.classes, "priority class",
              &problems);
  CheckUniqueJobs(s.jobs, marks.jobs, &problems);
  SortQueues(&s.setup.queues, &marks.queues, &problems);
  if (!problems.ok()) return problems.status();
  SortJobs(&s.jobs, &marks.jobs);
  for (size_t i = 0; i < s.jobs.size(); ++i) {
    s.gang_marks[s.jobs[i].gang.key] = marks.jobs[i];
  }
  if (absl::Status status = AskScheduler(s, marks); !status.ok()) {
    return status;
  }
  return s;
}

}  // namespace muster::inprocess
