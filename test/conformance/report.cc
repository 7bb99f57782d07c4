#include "test/conformance/report.h"

#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace muster::conformance {
namespace {

using Counts = std::array<int, 3>;  // By Verdict.

void AddRow(const std::string& name, const Counts& counts, std::string* out) {
  char line[160];
  std::snprintf(line, sizeof(line), "%-48s %6d %6d %12d %6d\n", name.c_str(),
                counts[0], counts[1], counts[2],
                counts[0] + counts[1] + counts[2]);
  *out += line;
}

void AddList(const std::vector<CaseResult>& results, Verdict verdict,
             bool verbose, std::string* out) {
  bool any = false;
  for (const CaseResult& r : results) {
    if (r.verdict != verdict) continue;
    if (!any) *out += "\n" + std::string(Name(verdict)) + ":\n";
    any = true;
    *out += "  " + r.id + (verbose ? "\n      " + r.why : "") + "\n";
  }
}

}  // namespace

std::string ToTable(const std::vector<CaseResult>& results, bool verbose) {
  std::map<std::tuple<std::string, std::string, std::string>, Counts> rows;
  Counts total{};
  for (const CaseResult& r : results) {
    const size_t verdict = static_cast<size_t>(r.verdict);
    ++rows[{r.project, r.kind, r.grade}][verdict];
    ++total[verdict];
  }
  std::string out;
  char line[160];
  std::snprintf(line, sizeof(line), "%-48s %6s %6s %12s %6s\n",
                "project kind grade", "pass", "fail", "unsupported", "all");
  out += line;
  for (const auto& [row, counts] : rows) {
    const auto& [project, kind, grade] = row;
    AddRow(project + " " + kind + " " + grade, counts, &out);
  }
  AddRow("all", total, &out);
  AddList(results, Verdict::kFail, verbose, &out);
  if (verbose) AddList(results, Verdict::kUnsupported, verbose, &out);
  return out;
}

std::string ToSummary(const std::vector<CaseResult>& results,
                      const std::vector<CaseResult>& null) {
  struct Row {
    int pass = 0, all = 0;
    int deciding_pass = 0, deciding = 0;
  };
  std::map<std::string, Row> grades, projects;
  Row together;
  for (size_t i = 0; i < results.size(); ++i) {
    const int pass = results[i].verdict == Verdict::kPass;
    const int decides = null[i].verdict != Verdict::kPass;
    for (Row* row : {&grades[results[i].grade], &projects[results[i].project],
                     &together}) {
      row->pass += pass;
      ++row->all;
      row->deciding_pass += pass * decides;
      row->deciding += decides;
    }
  }
  std::string out;
  const auto add = [&](const std::string& name, const std::string& all,
                       const std::string& deciding) {
    char line[160];
    std::snprintf(line, sizeof(line), "%-48s %12s %20s\n", name.c_str(),
                  all.c_str(), deciding.c_str());
    out += line;
  };
  const auto of = [](int pass, int all) {
    return std::to_string(pass) + " / " + std::to_string(all);
  };
  add("passes of", "all", "needing a decision");
  const auto add_row = [&](const std::string& name, const Row& row) {
    add(name, of(row.pass, row.all), of(row.deciding_pass, row.deciding));
  };
  for (const auto& [name, row] : grades) add_row(name, row);
  for (const auto& [name, row] : projects) add_row(name, row);
  add_row("together", together);
  return out;
}

std::string ToJson(const std::vector<CaseResult>& results) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  Counts total{};
  for (const CaseResult& r : results) {
    ++total[static_cast<size_t>(r.verdict)];
    cases.push_back({{"id", r.id},
                     {"project", r.project},
                     {"kind", r.kind},
                     {"grade", r.grade},
                     {"result", Name(r.verdict)},
                     {"why", r.why}});
  }
  const nlohmann::ordered_json json = {{"cases", cases},
                                       {"pass", total[0]},
                                       {"fail", total[1]},
                                       {"unsupported", total[2]}};
  return json.dump(2) + "\n";
}

}  // namespace muster::conformance
