#include "adapters/local/grid/grid_options.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::local {
namespace {

absl::Status Wrong(const std::string& name, size_t line,
                   const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(name, ":", line, ": ", why));
}

// Values between commas; nothing: a quote has no end, or text behind it.
std::optional<std::vector<std::string>> SplitCommas(std::string_view line) {
  std::vector<std::string> values;
  for (;;) {
    std::string& value = values.emplace_back();
    if (line.starts_with('"')) {
      size_t i = 1;
      for (;; ++i) {
        if (i >= line.size()) return std::nullopt;
        if (line[i] == '"') {
          if (i + 1 >= line.size() || line[i + 1] != '"') break;
          ++i;  // "" is a quote.
        }
        value += line[i];
      }
      line.remove_prefix(i + 1);
      if (!line.empty() && line[0] != ',') return std::nullopt;
    } else {
      const size_t comma = std::min(line.find(','), line.size());
      value = std::string(
          absl::StripAsciiWhitespace(std::string(line.substr(0, comma))));
      line.remove_prefix(comma);
    }
    if (line.empty()) return values;
    line.remove_prefix(1);
  }
}

// "lr=0.1 bs=32" as a row of the axis, whose names are those of the first.
absl::Status AddPoint(const std::string& line, ParameterAxis* axis) {
  const std::vector<std::string> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  const bool first = axis->rows.empty();
  std::vector<std::optional<std::string>> row(axis->names.size());
  for (const std::string& word : words) {
    const size_t is = word.find('=');
    if (is == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word, "': expected NAME=VALUE"));
    }
    const std::string name = word.substr(0, is);
    if (first) {
      axis->names.push_back(name);
      row.emplace_back(word.substr(is + 1));
      continue;
    }
    const auto at = std::ranges::find(axis->names, name);
    if (at == axis->names.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", name, "': the first point does not have it"));
    }
    auto& value = row[static_cast<size_t>(at - axis->names.begin())];
    if (value) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", name, "' is there twice"));
    }
    value = word.substr(is + 1);
  }
  std::vector<std::string>& values = axis->rows.emplace_back();
  for (size_t i = 0; i < row.size(); ++i) {
    if (!row[i]) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", axis->names[i], "' is missing"));
    }
    values.push_back(*row[i]);
  }
  return absl::OkStatus();
}

absl::Status AddLine(const std::string& line, ParameterAxis* axis) {
  auto values = SplitCommas(line);
  if (!values) {
    return absl::InvalidArgumentError(
        "a value in double quotes ends at a comma or the end of the line");
  }
  if (axis->names.empty()) {
    axis->names = *std::move(values);
    return absl::OkStatus();
  }
  if (values->size() != axis->names.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", values->size(), " values; the first line has ",
                     axis->names.size(), " names"));
  }
  axis->rows.push_back(*std::move(values));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParameterAxis> AxisOfOption(std::string_view text) {
  const size_t is = text.find('=');
  if (is == std::string_view::npos || is == 0 || is + 1 == text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--grid: '", std::string(text),
                     "': expected NAME=VALUE,VALUE... such as lr=0.1,0.01"));
  }
  const auto values = SplitCommas(text.substr(is + 1));
  if (!values) {
    return absl::InvalidArgumentError(
        absl::StrCat("--grid: '", std::string(text), "': a quote has no end"));
  }
  ParameterAxis axis{.names = {std::string(text.substr(0, is))}};
  for (const std::string& value : *values) axis.rows.push_back({value});
  return axis;
}

absl::StatusOr<ParameterAxis> AxisOfFile(const std::string& name,
                                         std::string_view text) {
  ParameterAxis axis;
  std::optional<bool> has_commas;
  size_t number = 0;
  const std::vector<std::string> lines =
      absl::StrSplit(std::string(text), '\n');
  for (const std::string& line : lines) {
    ++number;
    const std::string stripped(absl::StripAsciiWhitespace(line));
    if (stripped.empty() || stripped[0] == '#') continue;
    // A name has no "=".
    if (!has_commas) has_commas = stripped.find('=') == std::string::npos;
    const absl::Status s =
        *has_commas ? AddLine(stripped, &axis) : AddPoint(stripped, &axis);
    if (!s.ok()) return Wrong(name, number, std::string(s.message()));
  }
  if (axis.rows.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": has no points"));
  }
  return axis;
}

}  // namespace muster::local
