// The text that sbatch submits: the script, with what was said on the command
// line as further #SBATCH lines. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/workload/parse.h"

namespace muster::local::slurm {

// "--mem=4G", "--hold"
struct BatchOption {
  std::string name{};  // "mem"
  std::string value{};
  bool has_value = false;
};

// The options of the script's own #SBATCH lines, as they are written there: of
// short ones only the letter and what follows it. O(bytes).
std::vector<BatchOption> OptionsOf(std::string_view script);

// INVALID_ARGUMENT: it is none, in the words of sbatch.
absl::Status CheckScript(std::string_view script);

// Lines of `options` before the script's first command: the last line of an
// option counts, and lines of the script keep their numbers. `arguments` become
// those of the script by a line of its shell.
// INVALID_ARGUMENT: a value that no line can hold. UNIMPLEMENTED: arguments of
// what is no shell's. O(bytes).
absl::StatusOr<std::string> WithOptions(
    std::string_view script, const std::vector<BatchOption>& options,
    const std::vector<std::string>& arguments);

// The job of a text of WithOptions. Errors in lines that are not the script's
// name no line.
absl::StatusOr<workload::ParsedJob> ParseBatch(std::string_view script,
                                               std::string_view text);

// `text` as one word of a shell.
std::string Quoted(std::string_view text);

// %u and %N of a file's name; other letters are musterd's.
std::string ExpandHere(const std::string& name, const std::string& user,
                       const std::string& node);

}  // namespace muster::local::slurm
