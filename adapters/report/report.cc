#include "adapters/report/report.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

#include "adapters/text/quantity.h"

namespace muster::inprocess {
namespace {

constexpr size_t kMaxLeftOver = 20;

std::string Number(double value, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", decimals, value);
  return buffer;
}

std::string Span(double seconds) {
  return FormatSpan(static_cast<Duration>(seconds * kSecond));
}

std::string Percent(double share) { return Number(100 * share, 1) + " %"; }

GroupReport GroupOf(std::string name, const std::vector<Finished>& finished,
                    auto belongs) {
  std::vector<Duration> waits, completions;
  for (const Finished& f : finished) {
    if (!belongs(f)) continue;
    waits.push_back(f.wait);
    completions.push_back(f.completion);
  }
  GroupReport group{.name = std::move(name)};
  group.wait = QuantilesOf(&waits);
  group.completion = QuantilesOf(&completions);
  return group;
}

void AddGroups(const Metrics& m, Report* r) {
  r->all = GroupOf("all", m.finished, [](const Finished&) { return true; });
  for (size_t c = 0; c < m.classes.size(); ++c) {
    if (m.classes.size() == 1) break;
    r->by_class.push_back(
        GroupOf(m.classes[c].empty() ? "(no class)" : m.classes[c], m.finished,
                [c](const Finished& f) { return f.group == c; }));
  }
  std::ranges::sort(r->by_class, {}, &GroupReport::name);
  for (size_t s = 0; s < kSizeNames.size(); ++s) {
    GroupReport group = GroupOf(std::string(kSizeNames[s]), m.finished,
                                [s](const Finished& f) { return f.size == s; });
    if (group.wait.count > 0) r->by_size.push_back(std::move(group));
  }
}

// What its class was told last, for which no gang is asked; what else keeps it
// from being asked at all is known to the scheduler alone.
ReasonCode WhyItWaits(const Simulator& simulator, const std::string& gang) {
  const Scheduler& scheduler = simulator.scheduler();
  const uint64_t id = scheduler.WaitingGangClass(scheduler.FindGang(gang));
  if (const WaitingMirror::Class* told = simulator.waiting().Find(id)) {
    return told->reason.code;
  }
  const absl::StatusOr<Explanation> why = scheduler.Explain(gang);
  return why.ok() ? why->reason.code : ReasonCode::kNone;
}

void AddLeftOver(const Simulator& simulator, Report* r) {
  const std::vector<std::string> live = simulator.Live();
  r->left_over = live.size();
  std::map<ReasonCode, uint64_t> by_reason;
  for (const std::string& gang : live) {
    const ReasonCode code = WhyItWaits(simulator, gang);
    if (code != ReasonCode::kNone) ++by_reason[code];
    if (code == ReasonCode::kNeverFits ||
        code == ReasonCode::kOverLimitAlways) {
      r->never.push_back(gang);
    }
    if (r->left_over_first.size() == kMaxLeftOver) continue;
    const absl::StatusOr<Explanation> why = simulator.scheduler().Explain(gang);
    if (!why.ok()) continue;
    r->left_over_first.push_back({.gang = gang,
                                  .phase = std::string(Name(why->phase)),
                                  .code = std::string(Name(why->reason.code)),
                                  .reason = ToText(why->reason)});
  }
  for (const auto& [code, gangs] : by_reason) {
    r->left_over_by_reason.emplace_back(Name(code), gangs);
  }
  std::ranges::stable_sort(r->left_over_by_reason, std::greater<>(),
                           [](const auto& reason) { return reason.second; });
}

void AddUsage(const Simulator& simulator, Report* r) {
  const Metrics& m = simulator.metrics();
  const SchedulerConfig& config = simulator.scheduler().config();
  for (size_t k = 0; k < config.resources.size(); ++k) {
    r->utilisation.emplace_back(config.resources[k],
                                m.Utilisation(static_cast<ResourceKind>(k)));
  }
  r->offered_load = m.OfferedLoad();
  if (m.days().size() > 2) r->days = m.days();
  r->partly_used_share = m.PartlyUsedShare();
  r->scattered_share = m.ScatteredShare();
}

double Seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

}  // namespace

Report MakeReport(std::string title, const Simulator& simulator,
                  bool allocations_counted) {
  const Metrics& m = simulator.metrics();
  Report r{.title = std::move(title), .counts = m.counts};
  AddUsage(simulator, &r);
  AddGroups(m, &r);
  AddLeftOver(simulator, &r);
  r.makespan_s = static_cast<double>(m.makespan()) / kSecond;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  r.cpu_s = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  r.peak_memory_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  r.pass_s = m.pass_seconds;
  r.worst_pass_s = m.worst_pass_seconds;
  r.decisions_per_s =
      m.pass_seconds > 0
          ? static_cast<double>(m.counts.decisions) / m.pass_seconds
          : 0;
  r.allocations_counted = allocations_counted;
  r.state_hash = simulator.scheduler().StateHash();
  r.refusals = simulator.refusals();
  return r;
}

Table::Table(std::vector<std::string> header) { Row(std::move(header)); }

void Table::Row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

void Table::Print(std::ostream& out) const {
  std::vector<size_t> width(rows_[0].size(), 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) {
      width[c] = std::max(width[c], row[c].size());
    }
  }
  for (const auto& row : rows_) {
    if (std::ranges::all_of(row, &std::string::empty)) continue;
    out << " ";
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string pad(width[c] - row[c].size(), ' ');
      out << " " << (c == 0 ? row[c] + pad : "  " + pad + row[c]);
    }
    out << "\n";
  }
}

namespace {

void PrintSpans(const Report& r, std::ostream& out) {
  out << "\nHow long gangs waited for their start, and took in all:\n";
  Table table({"", "gangs", "wait mean", "p50", "p90", "p99", "total mean",
               "p50", "p90", "p99"});
  auto row = [&](const std::string& name, const GroupReport& g) {
    table.Row({name, std::to_string(g.wait.count), Span(g.wait.mean),
               Span(g.wait.p50), Span(g.wait.p90), Span(g.wait.p99),
               Span(g.completion.mean), Span(g.completion.p50),
               Span(g.completion.p90), Span(g.completion.p99)});
  };
  row("all", r.all);
  for (const GroupReport& g : r.by_class) row(g.name, g);
  for (const GroupReport& g : r.by_size) row(g.name + " GPUs", g);
  table.Print(out);
}

// The days on which most was asked for, where the load comes and goes.
void PrintBusiest(const Report& r, Table* t) {
  double used = 0, capacity = 0, offered = 0, peak = 0;
  uint64_t busy = 0;
  for (const Day& d : r.days) {
    if (d.capacity <= 0 || d.offered < 0.5 * d.capacity) continue;
    ++busy;
    used += d.used;
    capacity += d.capacity;
    offered += d.offered;
    peak = std::max(peak, d.offered / d.capacity);
  }
  if (busy == 0) return;
  t->Row({"days with an offered load above 50 %", std::to_string(busy)});
  t->Row({"  offered, mean", Percent(offered / capacity)});
  t->Row({"  offered, most on one day", Percent(peak)});
  t->Row({"  used", Percent(used / capacity)});
}

// Kinds of which nothing was used only where that is so of all.
void PrintUtilisation(const Report& r, Table* t) {
  const bool used = std::ranges::any_of(
      r.utilisation, [](const auto& kind) { return kind.second > 0; });
  for (const auto& [resource, share] : r.utilisation) {
    if (share > 0 || !used) t->Row({resource + " used", Percent(share)});
  }
}

void PrintSums(const Report& r, std::ostream& out) {
  const Metrics::Counts& c = r.counts;
  Table t({"", ""});
  t.Row({"gangs submitted", std::to_string(c.submitted)});
  t.Row({"  finished", std::to_string(c.finished)});
  if (c.cancelled > 0) t.Row({"  cancelled", std::to_string(c.cancelled)});
  if (c.refused > 0) t.Row({"  refused", std::to_string(c.refused)});
  if (r.left_over > 0) t.Row({"  left over", std::to_string(r.left_over)});
  for (const auto& [code, gangs] : r.left_over_by_reason) {
    t.Row({"    waiting: " + code, std::to_string(gangs)});
  }
  t.Row({"makespan", Span(r.makespan_s)});
  PrintUtilisation(r, &t);
  PrintBusiest(r, &t);
  t.Row({"free GPU capacity on GPUs in partial use",
         Percent(r.partly_used_share)});
  t.Row(
      {"free whole GPUs on nodes in partial use", Percent(r.scattered_share)});
  for (size_t i = 0; i < c.stops.size(); ++i) {
    const auto cause = static_cast<StopCause>(i);
    if (c.stops[i] == 0 || cause == StopCause::kFinished) continue;
    t.Row({"stops: " + std::string(Name(cause)), std::to_string(c.stops[i])});
    t.Row({"  GPU hours lost", Number(c.lost_gpu_s[i] / 3600, 1)});
  }
  if (c.preemptions > 0) {
    t.Row({"gangs that others made room for", std::to_string(c.preemptions)});
    t.Row({"  for the least work lost, proven",
           Percent(static_cast<double>(c.cheapest) /
                   static_cast<double>(c.preemptions))});
  }
  t.Row({"passes", std::to_string(c.passes)});
  t.Row({"decisions", std::to_string(c.decisions)});
  t.Row({"decisions a second, inside passes", Number(r.decisions_per_s, 0)});
  t.Row({"longest pass", Number(r.worst_pass_s * 1e3, 2) + " ms"});
  if (r.allocations_counted && c.passes > 0) {
    t.Row(
        {"allocations a pass", Number(static_cast<double>(c.pass_allocations) /
                                          static_cast<double>(c.passes),
                                      2)});
  }
  t.Row({"CPU time", Number(r.cpu_s, 2) + " s"});
  t.Row({"memory, at most",
         Number(static_cast<double>(r.peak_memory_bytes) / (1 << 20), 0) +
             " MiB"});
  char hash[32];
  std::snprintf(hash, sizeof(hash), "%016llx",
                static_cast<unsigned long long>(r.state_hash));
  t.Row({"state hash", hash});
  t.Print(out);
}

}  // namespace

void PrintReport(const Report& r, std::ostream& out) {
  if (!r.title.empty()) out << r.title << "\n";
  PrintSums(r, out);
  if (r.all.wait.count > 0) PrintSpans(r, out);
  for (const LeftOver& l : r.left_over_first) {
    out << "  " << l.gang << " is " << l.phase;
    if (l.code != Name(ReasonCode::kNone)) out << ": " << l.reason;
    out << "\n";
  }
  if (r.left_over > r.left_over_first.size()) {
    out << "  ... and " << r.left_over - r.left_over_first.size()
        << " more gangs\n";
  }
  for (const Refusal& f : r.refusals) {
    out << "  refused at " << FormatSeconds(f.at) << " s: " << f.what << ": "
        << f.error << "\n";
  }
}

}  // namespace muster::inprocess
