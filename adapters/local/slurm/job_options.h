// What sbatch and srun say of a job: options that are #SBATCH lines, too.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/slurm/batch_text.h"
#include "adapters/local/slurm/command.h"

namespace muster::local::slurm {

// Not synchronised; outlives the parsing of the command that it is added to.
class JobOptions {
 public:
  // Also those that are refused, or without effect.
  explicit JobOptions(Command* command);

  // Those that were given, in the order of the table.
  std::vector<BatchOption> Given() const;
  std::optional<std::string> Find(std::string_view name) const;

 private:
  struct Option {
    std::string name{};
    Value value = Value::kSome;
    CLI::Option* parsed = nullptr;
    std::string text{};
  };

  std::deque<Option> options_{};
};

// The environment of a job: this process's, less what is of a job around it, as
// `exported` says: "ALL", "NONE", "A,B=1", or "ALL,C=2". "NONE" leaves what a
// login has.
std::vector<std::string> ExportedEnvironment(const std::string& exported);

// The body of a submission of a batch script, with this directory.
Session::Json Submission(const std::string& text, const std::string& exported);

// Warnings of what the daemon has ignored or notes.
void WarnOf(const Command& command, const Streams& to,
            const Session::Json& answer);

}  // namespace muster::local::slurm
