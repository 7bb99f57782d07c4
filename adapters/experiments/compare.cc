#include "adapters/experiments/compare.h"

#include <algorithm>
#include <utility>

namespace muster::inprocess {
namespace {

const Measured* Find(const ComparedRun& run, const Measure& measure) {
  const auto it = std::ranges::find(run.measured, measure, &Measured::measure);
  return it == run.measured.end() ? nullptr : &*it;
}

// Every measure that a run has; one that the runs before lack goes behind its
// neighbour.
std::vector<Measure> AllMeasures(
    const std::vector<std::vector<ComparedRun>>& runs) {
  std::vector<Measure> all;
  for (const std::vector<ComparedRun>& of_variant : runs) {
    for (const ComparedRun& run : of_variant) {
      auto at = all.begin();
      for (const Measured& m : run.measured) {
        const auto it = std::ranges::find(all, m.measure);
        at = 1 + (it != all.end() ? it : all.insert(at, m.measure));
      }
    }
  }
  return all;
}

// Pairs are the seeds for which both have a value.
std::optional<PairedDifference> DifferenceOf(const Comparison::Cell& base,
                                             const Comparison::Cell& other) {
  std::vector<double> a, b;
  for (size_t s = 0; s < base.values.size(); ++s) {
    if (!base.values[s].has_value() || !other.values[s].has_value()) continue;
    a.push_back(*base.values[s]);
    b.push_back(*other.values[s]);
  }
  if (a.empty()) return std::nullopt;
  return PairedDifferenceOf(a, b);
}

Comparison::Cell CellOf(const std::vector<ComparedRun>& runs,
                        const Measure& measure) {
  Comparison::Cell cell;
  std::vector<double> present;
  for (const ComparedRun& run : runs) {
    const Measured* m = Find(run, measure);
    cell.values.push_back(m == nullptr ? std::nullopt
                                       : std::optional(m->value));
    if (m != nullptr) present.push_back(m->value);
  }
  cell.mean = MeanOf(present);
  return cell;
}

void AddWaits(const std::string& of, const GroupReport& group,
              std::vector<Measured>* to) {
  if (group.wait.count == 0) return;
  to->push_back(
      {{"wait" + of + ", mean", MeasureUnit::kSeconds}, group.wait.mean});
  to->push_back(
      {{"wait" + of + ", 99 %", MeasureUnit::kSeconds}, group.wait.p99});
}

}  // namespace

std::vector<Measured> MeasuresOf(const Report& r, const std::string& device) {
  std::vector<Measured> all;
  AddWaits("", r.all, &all);
  for (const GroupReport& group : r.by_class) {
    AddWaits(" of " + group.name, group, &all);
  }
  if (r.all.completion.count > 0) {
    all.push_back(
        {{"completion, mean", MeasureUnit::kSeconds}, r.all.completion.mean});
  }
  for (const auto& [resource, share] : r.utilisation) {
    if (resource != device) continue;
    all.push_back({{(resource == "gpu" ? "GPUs" : resource) + " used",
                    MeasureUnit::kShare, Good::kMore},
                   share});
  }
  all.push_back(
      {{"free GPUs partly used", MeasureUnit::kShare}, r.partly_used_share});
  all.push_back(
      {{"free GPUs scattered", MeasureUnit::kShare}, r.scattered_share});
  double lost = 0, stops = 0;
  for (size_t i = 0; i < r.counts.stops.size(); ++i) {
    lost += r.counts.lost_gpu_s[i] / 3600;
    if (static_cast<StopCause>(i) == StopCause::kFinished) continue;
    stops += static_cast<double>(r.counts.stops[i]);
  }
  all.push_back({{"GPU-hours lost", MeasureUnit::kGpuHours}, lost});
  all.push_back({{"stops", MeasureUnit::kCount}, stops});
  all.push_back({{"makespan", MeasureUnit::kSeconds}, r.makespan_s});
  all.push_back({{"gangs finished", MeasureUnit::kCount, Good::kMore},
                 static_cast<double>(r.counts.finished)});
  all.push_back(
      {{"CPU of passes", MeasureUnit::kSeconds, Good::kNeither}, r.pass_s});
  return all;
}

Verdict Judge(Good good, const PairedDifference& d) {
  if (good == Good::kNeither) return Verdict::kNone;
  if (d.low() == 0 && d.high() == 0) return Verdict::kEqual;
  if (d.low() <= 0 && d.high() >= 0) return Verdict::kNotShown;
  const bool better = (d.mean < 0) == (good == Good::kLess);
  if (!d.half_width.has_value()) {
    return better ? Verdict::kBetterHere : Verdict::kWorseHere;
  }
  return better ? Verdict::kBetter : Verdict::kWorse;
}

Comparison Compare(std::string title, std::vector<Variant> variants,
                   std::vector<uint64_t> seeds, bool seeded,
                   const std::vector<std::vector<ComparedRun>>& runs) {
  Comparison c{.title = std::move(title),
               .variants = std::move(variants),
               .seeds = std::move(seeds),
               .seeded = seeded};
  for (const std::vector<ComparedRun>& of_variant : runs) {
    uint32_t same = 0;
    for (size_t s = 0; s < of_variant.size(); ++s) {
      same += of_variant[s].decisions_hash == runs[0][s].decisions_hash ? 1 : 0;
    }
    c.same.push_back(same);
  }
  for (const Measure& measure : AllMeasures(runs)) {
    Comparison::Row row{.measure = measure};
    for (size_t v = 0; v < runs.size(); ++v) {
      row.cells.push_back(CellOf(runs[v], measure));
      if (v == 0) continue;
      Comparison::Cell& cell = row.cells[v];
      cell.difference = DifferenceOf(row.cells[0], cell);
      if (cell.difference.has_value()) {
        cell.verdict = Judge(measure.good, *cell.difference);
      }
    }
    c.rows.push_back(std::move(row));
  }
  return c;
}

}  // namespace muster::inprocess
