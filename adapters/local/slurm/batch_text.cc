#include "adapters/local/slurm/batch_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::local::slurm {
namespace {

constexpr std::string_view kMark = "#SBATCH";

// Where the first command begins: no option is read behind it. `lines`: how
// many there are before.
size_t FirstCommand(std::string_view script, int* lines) {
  size_t at = 0;
  *lines = 0;
  while (at < script.size()) {
    const size_t end = std::min(script.find('\n', at), script.size());
    const std::string_view line = script.substr(at, end - at);
    const bool blank = std::ranges::all_of(
        line, [](char c) { return absl::ascii_isspace(c); });
    if (!blank && line[0] != '#') return at;
    at = std::min(end + 1, script.size());
    ++*lines;
  }
  return at;
}

bool IsShell(std::string_view script) {
  const std::string line(script.substr(0, script.find('\n')));
  for (const std::string& word : std::vector<std::string>(
           absl::StrSplit(line, absl::ByAnyChar(" \t!/"), absl::SkipEmpty()))) {
    for (const char* shell : {"sh", "bash", "dash", "ksh", "zsh"}) {
      if (word == shell) return true;
    }
  }
  return false;
}

absl::StatusOr<std::string> LineOf(const BatchOption& option) {
  if (!option.has_value) {
    return absl::StrCat(std::string(kMark), " --", option.name, "\n");
  }
  const std::string& value = option.value;
  const bool single = value.find('\'') != std::string::npos;
  if (value.find_first_of(std::string_view("\n\0", 2)) != std::string::npos ||
      (single && value.find('"') != std::string::npos)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", option.name, ": has a line's end, or quotes of both kinds"));
  }
  const char* quote = single ? "\"" : "'";
  return absl::StrCat(std::string(kMark), " --", option.name, "=", quote, value,
                      quote, "\n");
}

}  // namespace

std::string Quoted(std::string_view text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_isalnum(c) ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::vector<BatchOption> OptionsOf(std::string_view script) {
  int lines = 0;
  const std::string head(script.substr(0, FirstCommand(script, &lines)));
  std::vector<BatchOption> options;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(head, '\n'))) {
    if (!std::string_view(line).starts_with(kMark)) continue;
    const std::vector<std::string> words = absl::StrSplit(
        line.substr(kMark.size()), absl::ByAnyChar(" \t"), absl::SkipEmpty());
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word[0] == '#') break;
      if (word[0] != '-') continue;
      const bool is_long = std::string_view(word).starts_with("--");
      const size_t is = is_long ? word.find('=') : std::string::npos;
      BatchOption option;
      option.name = is_long
                        ? word.substr(2, is == std::string::npos ? is : is - 2)
                        : word.substr(1, 1);
      option.has_value =
          is != std::string::npos || (!is_long && word.size() > 2);
      if (option.has_value) {
        option.value = word.substr(is_long ? is + 1 : 2);
      } else if (i + 1 < words.size() && words[i + 1][0] != '-') {
        option.value = words[++i];
        option.has_value = true;
      }
      std::erase_if(option.value, [](char c) { return c == '"' || c == '\''; });
      options.push_back(std::move(option));
    }
  }
  return options;
}

absl::Status CheckScript(std::string_view script) {
  if (!script.starts_with("#!")) {
    return absl::InvalidArgumentError(
        "This does not look like a batch script: its first line must be #! and "
        "the path of an interpreter, such as #!/bin/sh");
  }
  if (script.find("\r\n") != std::string_view::npos) {
    return absl::InvalidArgumentError(
        "The script's lines end as those of DOS (\\r\\n), not with \\n");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> WithOptions(
    std::string_view script, const std::vector<BatchOption>& options,
    const std::vector<std::string>& arguments) {
  int lines = 0;
  const size_t at = FirstCommand(script, &lines);
  std::string text(script.substr(0, at));
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const BatchOption& option : options) {
    const auto line = LineOf(option);
    if (!line.ok()) return line.status();
    text += *line;
  }
  if (!arguments.empty()) {
    if (!IsShell(script)) {
      return absl::UnimplementedError(
          "arguments of a script are supported where its first line names a "
          "shell; use --wrap with the whole command");
    }
    text += "set --";
    for (const std::string& argument : arguments) {
      text += " " + Quoted(argument);
    }
    text += "\n";
  }
  return text.append(script.substr(at));
}

absl::StatusOr<workload::ParsedJob> ParseBatch(std::string_view script,
                                               std::string_view text) {
  auto parsed = workload::Parse(text);
  if (parsed.ok() && parsed->size() == 1) return std::move((*parsed)[0]);
  if (parsed.ok()) return absl::InvalidArgumentError("expected one job");
  int lines = 0;
  FirstCommand(script, &lines);
  const std::string message(parsed.status().message());
  const std::vector<std::string> parts =
      absl::StrSplit(message, absl::MaxSplits(": ", 1));
  int line = 0;
  if (parts.size() == 2 && std::string_view(parts[0]).starts_with("line ") &&
      absl::SimpleAtoi(parts[0].substr(5), &line) && line > lines) {
    return absl::Status(parsed.status().code(), parts[1]);
  }
  return parsed.status();
}

std::string ExpandHere(const std::string& name, const std::string& user,
                       const std::string& node) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const char next = name[i] == '%' && i + 1 < name.size() ? name[i + 1] : 0;
    if (next == 'u' || next == 'N') {
      out += next == 'u' ? user : node;
      ++i;
    } else if (next == '%') {
      out += "%%";
      ++i;
    } else {
      out += name[i];
    }
  }
  return out;
}

}  // namespace muster::local::slurm
