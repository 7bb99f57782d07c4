// A comparison as a table and as JSON.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "adapters/experiments/compare.h"

namespace muster::inprocess {
namespace {

using Json = nlohmann::ordered_json;

struct Scale {
  double size = 1;  // Of the unit that is shown.
  const char* name = "";
  int decimals = 0;
};

// One unit for numbers that stand side by side; three digits of the largest.
Scale ScaleFor(MeasureUnit unit, std::initializer_list<double> values,
               bool difference) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  Scale scale;
  if (unit == MeasureUnit::kSeconds) {
    static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
        {{2 * 86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
    scale = {1e-3, "ms"};
    for (const auto& [from, name] : kUnits) {
      if (most < from) continue;
      scale = {*name == 'd' ? 86400 : from, name};
      break;
    }
    if (most == 0) scale = {1, "s"};
  } else if (unit == MeasureUnit::kShare) {
    scale = {0.01, difference ? "points" : "%"};
  } else if (unit == MeasureUnit::kGpuHours) {
    scale = {1, "h"};
  }
  const double shown = most / scale.size;
  scale.decimals = shown == 0 || shown >= 100 ? 0
                   : shown >= 10              ? 1
                   : shown >= 1               ? 2
                                              : 3;
  return scale;
}

std::string Number(double value, const Scale& scale, bool sign) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), sign ? "%+.*f" : "%.*f", scale.decimals,
                value / scale.size);
  return buffer;
}

std::string WithUnit(std::string number, const Scale& scale) {
  if (*scale.name != '\0') number += std::string(" ") + scale.name;
  return number;
}

bool HasValue(const Comparison::Cell& cell) {
  return std::ranges::any_of(cell.values,
                             [](const auto& v) { return v.has_value(); });
}

std::string MeanText(const Comparison::Cell& cell, MeasureUnit unit) {
  if (!HasValue(cell)) return "-";
  Scale scale = ScaleFor(unit, {cell.mean}, false);
  if (unit == MeasureUnit::kCount && cell.mean == std::floor(cell.mean)) {
    scale.decimals = 0;
  }
  return WithUnit(Number(cell.mean, scale, false), scale);
}

std::string Relative(double difference, double base) {
  const double percent = 100 * difference / base;
  if (std::abs(percent) < 0.05) return "";
  char text[32];
  std::snprintf(text, sizeof(text), " (%+.*f %%)",
                std::abs(percent) < 100 ? 1 : 0, percent);
  return text;
}

std::string DifferenceText(const Comparison::Row& row,
                           const Comparison::Cell& cell) {
  if (!cell.difference.has_value()) return "-";
  const double mean = cell.difference->mean;
  if (mean == 0) return "0";
  const Scale scale = ScaleFor(row.measure.unit, {mean}, true);
  const std::string text = WithUnit(Number(mean, scale, true), scale);
  const double base = row.cells[0].mean;
  if (row.measure.unit == MeasureUnit::kShare || base <= 0) return text;
  return text + Relative(mean, base);
}

std::string IntervalText(const Comparison::Row& row,
                         const Comparison::Cell& cell) {
  if (!cell.difference.has_value() ||
      !cell.difference->half_width.has_value()) {
    return "-";
  }
  const double low = cell.difference->low(), high = cell.difference->high();
  if (low == 0 && high == 0) return "0";
  Scale scale = ScaleFor(row.measure.unit, {low, high}, true);
  // An end near 0 is told from 0.
  const double near = std::min(std::abs(low), std::abs(high)) / scale.size;
  if (near > 0 && near < 1) {
    const int digits = static_cast<int>(std::ceil(-std::log10(near)));
    scale.decimals = std::clamp(digits, scale.decimals, 3);
  }
  return WithUnit(Number(low, scale, true) + " to " + Number(high, scale, true),
                  scale);
}

std::string VerdictText(const Comparison::Row& row,
                        const Comparison::Cell& cell) {
  if (!cell.difference.has_value()) return "-";
  if (row.measure.good == Good::kNeither) return "not judged";
  return std::string(Name(cell.verdict));
}

std::string Runs(size_t n) {
  return std::to_string(n) + (n == 1 ? " run" : " runs");
}

void PrintHead(const Comparison& c, std::ostream& out) {
  out << c.title << "\n" << Runs(c.seeds.size()) << " of each variant";
  if (c.seeded && c.seeds.size() > 1) {
    out << ", seeds " << c.seeds.front() << " to " << c.seeds.back();
  }
  out << ":\n";
  size_t width = 0;
  for (const Variant& v : c.variants) width = std::max(width, v.name.size());
  for (const Variant& v : c.variants) {
    const std::string settings = SettingsText(v);
    out << "  " << v.name << std::string(width - v.name.size() + 2, ' ')
        << (settings.empty() ? "the input as it is" : settings) << "\n";
  }
}

void PrintVariant(const Comparison& c, size_t v, std::ostream& out) {
  const std::string& base = c.variants[0].name;
  const std::string& name = c.variants[v].name;
  out << "\n" << name << ", compared with " << base << ":";
  if (c.same[v] == c.seeds.size()) {
    out << " the same decisions in "
        << (c.same[v] == 1 ? "the run" : "every run") << "\n";
    return;
  }
  out << "\n";
  const bool intervals = c.seeds.size() > 1;
  std::vector<std::string> header = {"", base, name, "difference"};
  if (intervals) header.push_back("95 % interval");
  header.push_back("verdict");
  Table table(header);
  for (const Comparison::Row& row : c.rows) {
    const Comparison::Cell& cell = row.cells[v];
    if (!HasValue(row.cells[0]) && !HasValue(cell)) continue;
    std::vector<std::string> cells = {
        row.measure.name, MeanText(row.cells[0], row.measure.unit),
        MeanText(cell, row.measure.unit), DifferenceText(row, cell)};
    if (intervals) cells.push_back(IntervalText(row, cell));
    cells.push_back(VerdictText(row, cell));
    table.Row(std::move(cells));
  }
  table.Print(out);
  if (c.same[v] > 0) {
    out << "  (in " << Runs(c.same[v]) << " of " << c.seeds.size()
        << " the decisions were the same)\n";
  }
}

Json CellJson(const Comparison::Cell& cell) {
  Json j = {{"mean", cell.mean}};
  j["values"] = Json::array();
  for (const std::optional<double>& v : cell.values) {
    j["values"].push_back(v.has_value() ? Json(*v) : Json(nullptr));
  }
  if (!cell.difference.has_value()) return j;
  j["difference"] = cell.difference->mean;
  j["interval"] = nullptr;
  if (cell.difference->half_width.has_value()) {
    j["interval"] = {cell.difference->low(), cell.difference->high()};
  }
  j["verdict"] = Name(cell.verdict);
  return j;
}

}  // namespace

void PrintComparison(const Comparison& c, std::ostream& out) {
  PrintHead(c, out);
  for (size_t v = 1; v < c.variants.size(); ++v) PrintVariant(c, v, out);
  out << "\nLess is better, but of what is used and of gangs finished.";
  if (c.seeds.size() > 1) {
    out << " Of twenty verdicts on\nthings that do not differ, one says by "
           "chance that they do.\n";
  } else {
    out << " There is one input,\nand so no interval: the verdicts hold here, "
           "and nowhere else.\n";
  }
}

std::string ComparisonJson(const Comparison& c) {
  Json j = {{"title", c.title}, {"confidence", 0.95}, {"runs", c.seeds.size()}};
  j["seeds"] = c.seeded ? Json(c.seeds) : Json::array();
  j["variants"] = Json::array();
  for (size_t v = 0; v < c.variants.size(); ++v) {
    Json settings = Json::object();
    for (const auto& [key, value] : c.variants[v].settings) {
      settings[key] = value;
    }
    j["variants"].push_back({{"name", c.variants[v].name},
                             {"settings", std::move(settings)},
                             {"same_decisions", c.same[v]}});
  }
  j["measures"] = Json::array();
  for (const Comparison::Row& row : c.rows) {
    Json cells = Json::array();
    for (const Comparison::Cell& cell : row.cells) {
      cells.push_back(CellJson(cell));
    }
    j["measures"].push_back({{"name", row.measure.name},
                             {"unit", Name(row.measure.unit)},
                             {"better", Name(row.measure.good)},
                             {"variants", std::move(cells)}});
  }
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster::inprocess
