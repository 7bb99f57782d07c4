#include "adapters/experiments/fgd_report.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_replace.h"
#include "adapters/text/csv.h"

namespace muster::inprocess {
namespace {

// Below this all policies are alike: nothing is refused yet.
constexpr int kFirstArrived = 80;
constexpr int kPlotRows = 25;

std::string Format(const char* format, ...) {
  char buffer[256];
  va_list args;
  va_start(args, format);
  std::vsnprintf(buffer, sizeof(buffer), format, args);
  va_end(args);
  return buffer;
}

// The range of the curves from kFirstArrived on, to multiples of five.
struct Range {
  double low = 100;
  double high = 0;
};

Range RangeOf(const FgdReport& report) {
  Range range;
  for (const FgdResult& r : report.results) {
    for (size_t x = kFirstArrived; x <= kMostArrived; ++x) {
      range.low = std::min(range.low, r.allocated[x]);
      range.high = std::max(range.high, r.allocated[x]);
    }
  }
  range.low = std::floor(range.low / 5) * 5;
  range.high = std::max(range.low + 5, std::ceil(range.high / 5) * 5);
  return range;
}

void PrintTable(const FgdReport& report, std::ostream& out) {
  out << Format("%s: %zu nodes, %lld GPUs, %zu pods; %u seeds from %llu\n",
                report.list.c_str(), report.nodes,
                static_cast<long long>(report.gpus), report.pods, report.seeds,
                static_cast<unsigned long long>(report.first_seed));
  out << "GPUs allocated, in percent, when 100 % and 130 % of them have been "
         "asked for\n\n";
  out << Format("%-14s %8s %6s %8s %10s", "policy", "at 100 %", "sd",
                "at 130 %", "us per pod");
  if (!report.published.empty()) {
    out << Format(" %10s %11s", "published", "difference");
  }
  out << "\n";
  for (const FgdResult& r : report.results) {
    out << Format("%-14s %8.2f %6.2f %8.2f %10.1f", r.name.c_str(),
                  r.allocated[100], r.at100_sd, r.allocated[kMostArrived],
                  r.cpu_us_per_pod);
    const auto it = report.published.find(r.name);
    if (it != report.published.end()) {
      out << Format(" %10.2f %+11.2f", it->second,
                    r.allocated[100] - it->second);
    }
    out << "\n";
  }
}

// A letter a policy; where two meet, the one that stands first in the table.
void PrintCurve(const FgdReport& report, std::ostream& out) {
  const Range range = RangeOf(report);
  const int columns = static_cast<int>(kMostArrived) - kFirstArrived + 1;
  std::vector<std::string> rows(kPlotRows + 1,
                                std::string(static_cast<size_t>(columns), ' '));
  for (size_t i = report.results.size(); i > 0; --i) {
    const FgdResult& r = report.results[i - 1];
    for (int c = 0; c < columns; ++c) {
      const double a = r.allocated[static_cast<size_t>(kFirstArrived + c)];
      const double share = (range.high - a) / (range.high - range.low);
      const auto row = static_cast<size_t>(
          std::clamp(std::lround(share * kPlotRows), 0L, long{kPlotRows}));
      rows[row][static_cast<size_t>(c)] = static_cast<char>('a' + (i - 1));
    }
  }
  out << "\n";
  for (int row = 0; row <= kPlotRows; ++row) {
    const double a =
        range.high - (range.high - range.low) * row / double{kPlotRows};
    out << (row % 5 == 0 ? Format("%6.1f |", a) : std::string("       |"))
        << rows[static_cast<size_t>(row)] << "\n";
  }
  out << "       +" << std::string(static_cast<size_t>(columns), '-') << "\n"
      << "        ";
  for (int x = kFirstArrived; x <= static_cast<int>(kMostArrived); x += 10) {
    out << Format("%-10d", x);
  }
  out << "% asked for\nWhere lines meet, the first is drawn:";
  for (size_t i = 0; i < report.results.size(); ++i) {
    out << Format(" %c %s", static_cast<char>('a' + i),
                  report.results[i].name.c_str());
  }
  out << "\n";
}

// --- The picture -------------------------------------------------------------

constexpr int kWidth = 800;
constexpr int kHeight = 460;
constexpr int kLeft = 60;
constexpr int kRight = 600;
constexpr int kTop = 40;
constexpr int kBottom = 400;
// Okabe and Ito's, that people with any colour vision tell apart.
constexpr const char* kColours[] = {"#D55E00", "#0072B2", "#009E73", "#CC79A7",
                                    "#E69F00", "#56B4E9", "#666666", "#000000"};

double XOf(double arrived) {
  return kLeft + (arrived - kFirstArrived) * (kRight - kLeft) /
                     (kMostArrived - kFirstArrived);
}

double YOf(const Range& range, double allocated) {
  return kBottom -
         (allocated - range.low) * (kBottom - kTop) / (range.high - range.low);
}

std::string Text(double x, double y, const char* anchor,
                 const std::string& text) {
  return Format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
                anchor) +
         text + "</text>\n";
}

std::string Line(double x1, double y1, double x2, double y2, const char* colour,
                 double width) {
  return Format(
      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
      "stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
      x1, y1, x2, y2, colour, width);
}

std::string Axes(const FgdReport& report, const Range& range) {
  std::string svg;
  for (int x = kFirstArrived; x <= static_cast<int>(kMostArrived); x += 10) {
    svg += Line(XOf(x), kTop, XOf(x), kBottom, "#dddddd", 1);
    svg += Text(XOf(x), kBottom + 18, "middle", std::to_string(x));
  }
  for (double a = range.low; a <= range.high + 0.1; a += 5) {
    svg += Line(kLeft, YOf(range, a), kRight, YOf(range, a), "#dddddd", 1);
    svg += Text(kLeft - 8, YOf(range, a) + 4, "end", Format("%.0f", a));
  }
  svg += Text((kLeft + kRight) / 2.0, kBottom + 42, "middle",
              "GPUs asked for, % of the cluster");
  svg += Text(kLeft, kTop - 16, "start",
              "GPUs allocated, %: " + report.list + ", mean of " +
                  std::to_string(report.seeds) + " seeds");
  return svg;
}

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}});
}

}  // namespace

absl::StatusOr<std::map<std::string, double>> LoadPublished(
    const std::string& file, const std::string& list) {
  std::map<std::string, double> published;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return published;
  absl::StatusOr<CsvTable> table = CsvTable::Load(file);
  if (!table.ok()) return table.status();
  for (size_t r = 0; r < table->rows(); ++r) {
    if (table->Text(r, "workload") != list ||
        table->Text(r, "arrived_pct") != "100") {
      continue;
    }
    published[std::string(table->Text(r, "policy"))] =
        static_cast<double>(table->Scaled(r, "alloc_mean", 1000)) / 1000;
  }
  if (!table->status().ok()) return table->status();
  return published;
}

void PrintFgd(const FgdReport& report, std::ostream& out) {
  PrintTable(report, out);
  PrintCurve(report, out);
}

std::string FgdJson(const FgdReport& report) {
  nlohmann::ordered_json j;
  j["list"] = report.list;
  j["seeds"] = report.seeds;
  j["policies"] = nlohmann::ordered_json::object();
  for (const FgdResult& r : report.results) {
    j["policies"][r.name] = {{"at100", r.allocated[100]},
                             {"at100_sd", r.at100_sd},
                             {"at130", r.allocated[kMostArrived]},
                             {"cpu_us_per_pod", r.cpu_us_per_pod}};
  }
  return j.dump(2);
}

std::string FgdSvg(const FgdReport& original) {
  FgdReport report = original;
  report.list = Escaped(report.list);
  const Range range = RangeOf(report);
  std::string svg = Format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, kHeight, kWidth, kHeight);
  svg += Axes(report, range);
  for (size_t i = report.results.size(); i > 0; --i) {
    const FgdResult& r = report.results[i - 1];
    const char* colour = kColours[(i - 1) % std::size(kColours)];
    svg += Format(
        "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" "
        "points=\"",
        colour, i == 1 ? "2.5" : "1.5");
    for (int x = kFirstArrived; x <= static_cast<int>(kMostArrived); ++x) {
      svg += Format("%.1f,%.1f ", XOf(x),
                    YOf(range, r.allocated[static_cast<size_t>(x)]));
    }
    svg += "\"/>\n";
    const double y = kTop + 20.0 * static_cast<double>(i);
    svg += Line(kRight + 16, y - 4, kRight + 40, y - 4, colour, 3);
    svg += Text(kRight + 46, y, "start",
                Escaped(r.name) + Format(" %.2f", r.allocated[100]));
  }
  svg += Text(kRight + 16, kTop, "start", "at 100 %:");
  return svg + "</svg>\n";
}

}  // namespace muster::inprocess
