// Scenario files: what happens on the way, and what is expected.
#include <limits>
#include <utility>

#include "adapters/scenario/scenario.h"

namespace muster::inprocess {
namespace {

TaskDies ReadTaskDies(const Value& value, bool is_stopped) {
  TaskDies dies{.is_stopped = is_stopped};
  Fields f(value, "fail_task");
  f.Required("gang", [&](const Value& v) { dies.gang = v.Text(); });
  f.Integer("role", &dies.task.role, 0, 1023);
  f.Integer("index", &dies.task.index, 0, std::numeric_limits<int32_t>::max());
  return dies;
}

// The events that name one node or gang and nothing else.
void ReadSimpleEvents(Fields* f, std::vector<EventBody>* bodies) {
  auto on = [&](const char* key, auto make) {
    f->Optional(key,
                [&](const Value& v) { bodies->push_back(make(v.Text())); });
  };
  using S = const std::string&;
  on("node_down", [](S s) -> EventBody { return NodeDown{s}; });
  on("node_up", [](S s) -> EventBody { return NodeUp{s}; });
  on("node_removed", [](S s) -> EventBody { return NodeRemoved{s}; });
  on("drain", [](S s) -> EventBody { return NodeDrained{s, true}; });
  on("undrain", [](S s) -> EventBody { return NodeDrained{s, false}; });
  on("hold", [](S s) -> EventBody { return GangHeld{s, true}; });
  on("release", [](S s) -> EventBody { return GangHeld{s, false}; });
  on("cancel", [](S s) -> EventBody { return GangCancelled{s}; });
  on("queue_removed", [](S s) -> EventBody { return QueueRemoved{s}; });
}

void ReadValueEvents(Fields* f, const SchedulerConfig& config,
                     std::vector<EventBody>* bodies) {
  f->Optional("node", [&](const Value& v) {
    std::vector<Node> nodes;
    std::vector<Mark> marks;
    ReadNodes(v, config, &nodes, &marks);
    for (Node& n : nodes) bodies->push_back(NodeChanged{std::move(n)});
  });
  f->Optional("others", [&](const Value& v) {
    bodies->push_back(ExternalUsageChanged{ReadExternalUsage(v, config)});
  });
  f->Optional("node_set", [&](const Value& v) {
    bodies->push_back(NodeSetChanged{ReadNodeSet(v)});
  });
  f->Optional("queue", [&](const Value& v) {
    bodies->push_back(QueueChanged{ReadQueue(v, config)});
  });
  f->Optional("priority_class", [&](const Value& v) {
    bodies->push_back(PriorityClassChanged{ReadPriorityClass(v)});
  });
  f->Optional("spot_notice", [&](const Value& v) {
    SpotNotice notice;
    Fields g(v, "spot_notice");
    g.Required("node", [&](const Value& n) { notice.node = n.Text(); });
    g.Required("at", [&](const Value& t) { notice.at = t.Span(); });
    bodies->push_back(notice);
  });
  f->Optional("reprioritize", [&](const Value& v) {
    GangReprioritized e;
    Fields g(v, "reprioritize");
    g.Required("gang", [&](const Value& n) { e.gang = n.Text(); });
    g.Text("priority_class", &e.priority_class);
    bodies->push_back(e);
  });
}

ExpectedInterval ReadExpectedInterval(const Value& value) {
  ExpectedInterval i{.mark = value.mark()};
  Fields f(value, "interval");
  f.Optional("from", [&](const Value& v) { i.from = v.Span(); });
  f.Optional("to", [&](const Value& v) { i.to = v.Span(); });
  f.Optional("end", [&](const Value& v) { i.end = v.Enum<StopCause>(); });
  f.Optional("saved", [&](const Value& v) { i.saved = v.Span(); });
  f.Optional("lost", [&](const Value& v) { i.lost = v.Span(); });
  f.Optional("by", [&](const Value& v) { i.by = v.Text(); });
  f.Optional("nodes", [&](const Value& v) { i.nodes = v.Texts(); });
  f.Optional("tasks", [&](const Value& v) {
    i.tasks = static_cast<uint32_t>(v.Integer(0, 1'000'000));
  });
  f.Optional("sizes", [&](const Value& list) {
    i.sizes.emplace();
    list.Each([&](const Value& v) {
      Size& size = i.sizes->emplace_back();
      Fields g(v, "size");
      g.Required("at", [&](const Value& x) { size.at = x.Span(); });
      g.Integer("tasks", &size.tasks, 0, 1'000'000);
    });
  });
  return i;
}

}  // namespace

void ReadEvents(const Value& value, const SchedulerConfig& config,
                std::vector<WorldEvent>* events) {
  value.Each([&](const Value& entry) {
    Time at = 0;
    const size_t before = events->size();
    const int line = entry.mark().line;
    std::vector<EventBody> bodies;
    {
      Fields f(entry, "event");
      f.Required("at", [&](const Value& v) { at = v.Span(); });
      ReadSimpleEvents(&f, &bodies);
      ReadValueEvents(&f, config, &bodies);
      f.Optional("fail_task", [&](const Value& v) {
        events->push_back({at, ReadTaskDies(v, false), line});
      });
      f.Optional("stop_task", [&](const Value& v) {
        events->push_back({at, ReadTaskDies(v, true), line});
      });
      f.Optional("reconcile", [&](const Value& v) {
        if (v.Bool()) events->push_back({at, HostReconciles{}, line});
      });
    }
    for (EventBody& body : bodies)
      events->push_back({at, std::move(body), line});
    if (events->size() == before) entry.Wrong("says nothing that happens");
  });
}

void ReadExpectations(const Value& value, Expectations* expect) {
  Fields f(value, "expect");
  f.Optional("intervals", [&](const Value& all) {
    all.EachEntry([&](const std::string& gang, const Value& list) {
      ExpectedIntervals e{.gang = gang, .mark = list.mark()};
      list.Each([&](const Value& v) {
        e.intervals.push_back(ReadExpectedInterval(v));
      });
      expect->intervals.push_back(std::move(e));
    });
  });
  f.Optional("together", [&](const Value& list) {
    list.Each([&](const Value& v) {
      ExpectedTogether t{.mark = v.mark()};
      Fields g(v, "together");
      g.Required("gang", [&](const Value& x) { t.gang = x.Text(); });
      g.Required("level", [&](const Value& x) { t.level = x.Text(); });
      g.Texts("roles", &t.roles);
      expect->together.push_back(std::move(t));
    });
  });
  f.Optional("waiting", [&](const Value& all) {
    all.EachEntry([&](const std::string& gang, const Value& v) {
      expect->waiting.push_back({gang, v.Enum<ReasonCode>(), v.mark()});
    });
  });
  f.Optional("stopped", [&](const Value& v) {
    expect->stopped = v.Texts();
    expect->stopped_mark = v.mark();
  });
}

}  // namespace muster::inprocess
