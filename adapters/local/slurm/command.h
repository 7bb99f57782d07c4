// What the six programs have in common: their options, and how they tell
// mistakes.
#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "adapters/local/client/cli.h"
#include "adapters/local/client/session.h"

namespace muster::local::slurm {

// What Slurm's programs end with after any mistake.
inline constexpr int kError = 1;

// Whether an option has a value: --hold, --time=1, --exclusive[=user].
enum class Value : uint8_t { kNone, kSome, kMaybe };

// One that Slurm has and that does nothing here.
struct OtherOption {
  const char* names = "";  // "-A,--account"
  Value value = Value::kSome;
  bool refused = false;  // Else it is accepted, and a warning says why.
  const char* why = "";
};

// The command line of one program. Not synchronised.
class Command {
 public:
  Command(const std::string& name, const std::string& help);

  CLI::App& app() { return app_; }
  void Add(std::span<const OtherOption> options);

  // False: nothing is to be done any more, and `*code` is what to end with.
  // `words`: what stands behind the options; null: nothing may. Tells mistakes
  // and warnings.
  bool Parse(const std::vector<std::string>& arguments, const Streams& to,
             std::vector<std::string>* words, int* code);

  // "sbatch: error: MESSAGE"; kError.
  int Fail(const Streams& to, std::string_view message) const;
  int Fail(const Streams& to, const absl::Status& status) const {
    return Fail(to, std::string(status.message()));
  }
  void Warn(const Streams& to, std::string_view message) const;

 private:
  struct Given {
    const OtherOption* option = nullptr;
    CLI::Option* parsed = nullptr;
  };

  CLI::App app_;
  const std::string name_;
  std::vector<Given> others_{};
  std::deque<std::string> values_{};  // Of others_; nobody reads them.
};

// Adds an option that has a value, perhaps or always, or none.
CLI::Option* AddOption(CLI::App* app, const char* names, Value value,
                       std::string* to, const char* help);

}  // namespace muster::local::slurm
