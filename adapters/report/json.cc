#include <cstdio>
#include <nlohmann/json.hpp>

#include "adapters/report/report.h"
#include "muster/decision.h"

namespace muster::inprocess {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Quantiles& q) {
  return {{"mean", q.mean},
          {"p50", q.p50},
          {"p90", q.p90},
          {"p99", q.p99},
          {"max", q.max}};
}

Json ToJson(const GroupReport& g) {
  return {{"name", g.name},
          {"count", g.wait.count},
          {"wait_s", ToJson(g.wait)},
          {"completion_s", ToJson(g.completion)}};
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

Json ToJson(const Day& d) {
  return {{"utilisation", Share(d.used, d.capacity)},
          {"offered_load", Share(d.offered, d.capacity)},
          {"partly_used_share", Share(d.partly, d.free)},
          {"scattered_share", Share(d.scattered, d.whole)}};
}

Json CountsJson(const Report& r) {
  const Metrics::Counts& c = r.counts;
  return {{"submitted", c.submitted},
          {"finished", c.finished},
          {"cancelled", c.cancelled},
          {"refused", c.refused},
          {"left_over", r.left_over},
          {"max_live", c.max_live},
          {"passes", c.passes},
          {"quiet_passes", c.quiet_passes},
          {"passes_cut_short", c.budget_exhausted},
          {"steps", c.steps},
          {"decisions", c.decisions},
          {"answers", c.answers},
          {"checkpoints", c.checkpoints},
          {"overcommitted_tasks", c.overcommits}};
}

}  // namespace

std::string ReportJson(const Report& r) {
  const Metrics::Counts& c = r.counts;
  Json j;
  j["title"] = r.title;
  j["counts"] = CountsJson(r);
  for (size_t i = 0; i < c.by_kind.size(); ++i) {
    j["decisions_by_kind"][std::string(Name(static_cast<DecisionKind>(i)))] =
        c.by_kind[i];
  }
  for (size_t i = 0; i < c.stops.size(); ++i) {
    const std::string cause(Name(static_cast<StopCause>(i)));
    j["stops"][cause] = c.stops[i];
    j["gpu_hours_lost"][cause] = c.lost_gpu_s[i] / 3600;
  }
  j["preemptions"] = {{"gangs", c.preemptions},
                      {"proven_cheapest", c.cheapest},
                      {"gpu_hours", c.preempted_gpu_s / 3600},
                      {"gpu_hours_at_least", c.preempted_least_gpu_s / 3600}};
  j["utilisation"] = Json::object();
  for (const auto& [resource, share] : r.utilisation) {
    j["utilisation"][resource] = share;
  }
  j["offered_load"] = r.offered_load;
  j["fragmentation"] = {{"partly_used_share", r.partly_used_share},
                        {"scattered_share", r.scattered_share}};
  j["by_day"] = Json::array();
  for (const Day& d : r.days) j["by_day"].push_back(ToJson(d));
  j["wait_s"] = ToJson(r.all.wait);
  j["completion_s"] = ToJson(r.all.completion);
  j["by_class"] = Json::array();
  for (const GroupReport& g : r.by_class) j["by_class"].push_back(ToJson(g));
  j["by_size"] = Json::array();
  for (const GroupReport& g : r.by_size) j["by_size"].push_back(ToJson(g));
  j["makespan_s"] = r.makespan_s;
  j["cpu_s"] = r.cpu_s;
  j["pass_s"] = r.pass_s;
  j["worst_pass_s"] = r.worst_pass_s;
  j["decisions_per_s"] = r.decisions_per_s;
  if (r.allocations_counted) {
    j["allocations"] = {{"in_passes", c.pass_allocations},
                        {"in_quiet_passes", c.quiet_pass_allocations}};
  }
  j["peak_memory_bytes"] = r.peak_memory_bytes;
  char hash[32];
  std::snprintf(hash, sizeof(hash), "%016llx",
                static_cast<unsigned long long>(r.state_hash));
  j["state_hash"] = hash;
  j["left_over_by_reason"] = Json::object();
  for (const auto& [code, gangs] : r.left_over_by_reason) {
    j["left_over_by_reason"][code] = gangs;
  }
  j["left_over"] = Json::array();
  for (const LeftOver& l : r.left_over_first) {
    j["left_over"].push_back({{"gang", l.gang},
                              {"phase", l.phase},
                              {"code", l.code},
                              {"reason", l.reason}});
  }
  j["refused"] = Json::array();
  for (const Refusal& f : r.refusals) {
    j["refused"].push_back({{"at_s", static_cast<double>(f.at) / kSecond},
                            {"what", f.what},
                            {"error", f.error}});
  }
  // Keys are bytes: those that are not UTF-8 are replaced.
  return j.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster::inprocess
