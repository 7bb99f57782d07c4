#include "adapters/scenario/expectations.h"

#include <algorithm>
#include <map>
#include <set>

#include "adapters/text/quantity.h"
#include "muster/topology.h"

namespace muster::inprocess {
namespace {

class Checker {
 public:
  Checker(const Scenario& scenario, const Timeline& timeline)
      : scenario_(scenario), timeline_(timeline) {
    for (const Node& n : scenario.setup.nodes) nodes_[n.key] = &n;
    for (const WorldEvent& e : scenario.events) {
      const auto* body = std::get_if<EventBody>(&e.what);
      const auto* node =
          body == nullptr ? nullptr : std::get_if<NodeChanged>(body);
      if (node != nullptr) nodes_[node->node.key] = &node->node;
    }
  }

  void CheckIntervals(const ExpectedIntervals& e);
  void CheckTogether(const ExpectedTogether& e);
  void CheckWaiting(const ExpectedWaiting& e, const Scheduler& scheduler);
  void CheckStopped();
  CheckReport report;

 private:
  void Fail(const Mark& mark, const std::string& what) {
    report.failures.emplace_back(At(scenario_.file, mark, what).message());
  }
  void CheckInterval(const ExpectedInterval& want, const Interval& got);
  std::string DomainOf(const std::string& node, const std::string& level) const;

  const Scenario& scenario_;
  const Timeline& timeline_;
  std::map<std::string, const Node*> nodes_;
};

void Checker::CheckInterval(const ExpectedInterval& want, const Interval& got) {
  const std::string run = "it ran " + ToText(got);
  auto span = [&](const char* what, const std::optional<Duration>& w,
                  Duration g) {
    if (!w.has_value()) return;
    ++report.checked;
    if (*w != g) {
      Fail(want.mark, std::string(what) + " should be " + FormatSeconds(*w) +
                          " s; " + run);
    }
  };
  span("from", want.from, got.from);
  span("to", want.to, got.to);
  span("saved", want.saved, got.saved);
  span("lost", want.lost, got.lost);
  auto same = [&](const char* what, bool ok, const std::string& is) {
    ++report.checked;
    if (!ok) Fail(want.mark, std::string(what) + " is " + is + "; " + run);
  };
  if (want.end.has_value()) {
    same("end", want.end == got.cause,
         got.cause.has_value() ? std::string(Name(*got.cause)) : "open");
  }
  if (want.tasks.has_value()) {
    same("tasks", *want.tasks == got.tasks(), std::to_string(got.tasks()));
  }
  if (want.by.has_value())
    same("by", *want.by == got.on_behalf_of, "'" + got.on_behalf_of + "'");
  if (want.sizes.has_value()) {
    same("sizes", *want.sizes == got.sizes,
         std::to_string(got.sizes.size()) + " long");
  }
  if (want.nodes.has_value()) {
    std::string is;
    for (const std::string& n : got.nodes) is += (is.empty() ? "" : ", ") + n;
    same("nodes", *want.nodes == got.nodes, "[" + is + "]");
  }
}

void Checker::CheckIntervals(const ExpectedIntervals& e) {
  const GangStory* story = timeline_.Find(e.gang);
  if (story == nullptr) return Fail(e.mark, "there is no such gang");
  ++report.checked;
  if (story->intervals.size() != e.intervals.size()) {
    std::string runs;
    for (const Interval& i : story->intervals) {
      runs += (runs.empty() ? "" : "; ") + ToText(i);
    }
    return Fail(e.mark, "it ran " + std::to_string(story->intervals.size()) +
                            " times, not " +
                            std::to_string(e.intervals.size()) + ": " + runs);
  }
  for (size_t i = 0; i < e.intervals.size(); ++i) {
    CheckInterval(e.intervals[i], story->intervals[i]);
  }
}

std::string Checker::DomainOf(const std::string& node,
                              const std::string& level) const {
  const auto it = nodes_.find(node);
  if (level == kHostLevel || it == nodes_.end()) return node;
  // The path of the widest levels down to this one, as topology.h has it.
  std::string path;
  for (const Topology& t : scenario_.setup.config.topologies) {
    if (std::ranges::find(t.levels, level) == t.levels.end()) continue;
    for (const std::string& l : t.levels) {
      for (const Label& label : it->second->labels) {
        if (label.key == l) path += "/" + label.value;
      }
      if (l == level) return path;
    }
  }
  return path;
}

void Checker::CheckTogether(const ExpectedTogether& e) {
  ++report.checked;
  const GangStory* story = timeline_.Find(e.gang);
  if (story == nullptr || story->intervals.empty()) {
    return Fail(e.mark, "gang " + e.gang + " never ran");
  }
  for (const Interval& i : story->intervals) {
    std::set<std::string> domains;
    for (size_t t = 0; t < i.nodes.size(); ++t) {
      const bool counts =
          e.roles.empty() ||
          std::ranges::find(e.roles, story->task_roles[t]) != e.roles.end();
      if (counts && !i.nodes[t].empty()) {
        domains.insert(DomainOf(i.nodes[t], e.level));
      }
    }
    if (domains.size() <= 1) continue;
    std::string list;
    for (const std::string& d : domains) list += (list.empty() ? "" : ", ") + d;
    Fail(e.mark, "gang " + e.gang + " is spread over " + list);
  }
}

void Checker::CheckWaiting(const ExpectedWaiting& e,
                           const Scheduler& scheduler) {
  ++report.checked;
  const absl::StatusOr<Explanation> why = scheduler.Explain(e.gang);
  if (!why.ok()) return Fail(e.mark, "gang " + e.gang + " does not wait");
  if (why->phase != GangPhase::kWaiting || why->reason.code != e.reason) {
    Fail(e.mark, "gang " + e.gang + " is " + std::string(Name(why->phase)) +
                     ": " + ToText(why->reason));
  }
}

void Checker::CheckStopped() {
  if (!scenario_.expect.stopped.has_value()) return;
  ++report.checked;
  std::set<std::string> got;
  for (const GangStory* s : timeline_.Stories()) {
    for (const Interval& i : s->intervals) {
      if (i.cause.has_value() && *i.cause != StopCause::kFinished) {
        got.insert(s->key);
      }
    }
  }
  const std::set<std::string> want(scenario_.expect.stopped->begin(),
                                   scenario_.expect.stopped->end());
  if (got == want) return;
  std::string list;
  for (const std::string& g : got) list += (list.empty() ? "" : ", ") + g;
  Fail(scenario_.expect.stopped_mark, "stopped were: " + list);
}

}  // namespace

CheckReport Check(const Scenario& scenario, const Timeline& timeline,
                  const Scheduler& scheduler) {
  Checker checker(scenario, timeline);
  const Expectations& e = scenario.expect;
  for (const ExpectedIntervals& i : e.intervals) checker.CheckIntervals(i);
  for (const ExpectedTogether& t : e.together) checker.CheckTogether(t);
  for (const ExpectedWaiting& w : e.waiting) checker.CheckWaiting(w, scheduler);
  checker.CheckStopped();
  return checker.report;
}

}  // namespace muster::inprocess
