#include "test/adapters/serve/metrics_reader.h"

#include <limits>
#include <regex>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::serve {
namespace {

const std::regex kName("[a-z][a-z0-9_]*");
const std::regex kLine(
    R"re(([a-z][a-z0-9_]*)(\{(.*)\})? ([0-9.e+-]+|\+Inf|NaN))re");
const std::regex kLabel(
    R"re(([a-z][a-z0-9_]*)="((?:[^"\\]|\\["n\\])*)"(,|$))re");

std::string Unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
    } else {
      plain += text[++i] == 'n' ? '\n' : text[i];
    }
  }
  return plain;
}

bool ReadLabels(std::string rest, std::map<std::string, std::string>* labels) {
  std::smatch match;
  while (!rest.empty()) {
    if (!std::regex_search(rest, match, kLabel,
                           std::regex_constants::match_continuous)) {
      return false;
    }
    if (!labels->emplace(match[1], Unescaped(match[2])).second) return false;
    rest = match.suffix();
  }
  return true;
}

bool ReadSample(const std::string& line, MetricSample* sample) {
  std::smatch match;
  if (!std::regex_match(line, match, kLine)) return false;
  sample->name = match[1];
  return ReadLabels(match[3], &sample->labels) &&
         absl::SimpleAtod(std::string(match[4]), &sample->value);
}

// "": nothing is wrong.
std::string CheckHistogram(const std::string& name,
                           const MetricFamily& family) {
  double below = 0;
  double end = -std::numeric_limits<double>::infinity();
  double count = -1;
  for (const MetricSample& sample : family.samples) {
    if (sample.name == name + "_bucket") {
      double le = 0;
      if (!absl::SimpleAtod(sample.labels.at("le"), &le)) return "le";
      if (le <= end || sample.value < below) return "buckets do not rise";
      end = le;
      below = sample.value;
    } else if (sample.name == name + "_count") {
      count = sample.value;
    } else if (sample.name != name + "_sum") {
      return "a sample of another name";
    }
  }
  if (end != std::numeric_limits<double>::infinity()) return "no last bucket";
  return count == below ? "" : "the count is not that of the buckets";
}

std::string Check(const std::string& name, const MetricFamily& family) {
  if (!std::regex_match(name, kName)) return "name";
  if (family.type == "histogram") return CheckHistogram(name, family);
  if (family.type != "counter" && family.type != "gauge") return "type";
  if ((family.type == "counter") != absl::EndsWith(name, "_total")) {
    return "counters, and no others, end in _total";
  }
  std::set<std::map<std::string, std::string>> seen;
  for (const MetricSample& sample : family.samples) {
    if (sample.name != name) return "a sample of another name";
    if (!seen.insert(sample.labels).second) return "twice the same labels";
    if (family.type == "counter" && sample.value < 0) return "negative";
  }
  return "";
}

}  // namespace

absl::StatusOr<std::map<std::string, MetricFamily>> ReadMetrics(
    std::string_view text) {
  std::map<std::string, MetricFamily> families;
  const auto wrong = [](const std::string& line, std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(why), ": ", line));
  };
  if (text.empty() || text.back() != '\n') return wrong("", "no last line");
  text.remove_suffix(1);
  std::string helped, current;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(std::string(text), '\n'))) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (absl::StartsWith(line, "# HELP ")) {
      if (words.size() < 4) return wrong(line, "no help");
      helped = words[2];
    } else if (absl::StartsWith(line, "# TYPE ")) {
      if (words.size() != 4 || words[2] != helped) return wrong(line, "type");
      current = words[2];
      if (!families.try_emplace(current, MetricFamily{words[3]}).second) {
        return wrong(line, "twice");
      }
    } else {
      MetricSample sample;
      if (current.empty() || !ReadSample(line, &sample)) {
        return wrong(line, "no sample");
      }
      families[current].samples.push_back(std::move(sample));
    }
  }
  for (const auto& [name, family] : families) {
    const std::string why = Check(name, family);
    if (!why.empty()) return wrong(name, why);
  }
  return families;
}

}  // namespace muster::serve
