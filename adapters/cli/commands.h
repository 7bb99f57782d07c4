// What muster-sim does, one function a subcommand; cli.cc reads the command
// line. Each returns an exit code: 0, 1 (it did not go as expected, or the
// scheduler broke its contract), 2 (bad input; one message on `err`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/inprocess/simulator.h"
#include "adapters/report/report.h"
#include "adapters/scenario/scenario.h"
#include "adapters/workloads/generate.h"
#include "adapters/workloads/trace.h"

namespace muster::inprocess {

struct Console {
  std::ostream& out;
  std::ostream& err;
  uint64_t (*allocations)() = nullptr;  // SimulatorOptions::allocations.
};

// What run and trace have in common.
struct RunFlags {
  std::string journal{};   // A new file; empty: none.
  std::string report{};    // A page to write (report/page.h); empty: none.
  std::string settings{};  // ParseSettings; over what the input says.
  bool json = false;
  bool validate = false;
  Time until = kForever;
};

// The FGD experiment (fgd.h).
struct FgdFlags {
  std::string data{};                   // The folder of the lists.
  std::string list{};                   // openb_pod_list_<list>.csv(.gz).
  std::string nodes{};                  // Empty: the folder's.
  std::vector<std::string> policies{};  // Empty: the published ones, Muster.
  uint64_t first_seed = 42;             // As published.
  uint32_t seeds = 10;
  bool json = false;
  std::string plot{};  // An SVG file to write; empty: none.
};

// A comparison (compare.h). Of file, generated and trace one is there.
struct CompareFlags {
  std::string file{};       // A scenario.
  std::string generated{};  // ParseGenerateOptions.
  std::function<absl::StatusOr<Trace>(TracePolicy)> trace{};
  std::string trace_title{};
  TracePolicy policy =
      TracePolicy::kFifo;               // Of the trace, where no variant says.
  std::vector<std::string> variants{};  // ParseVariant.
  uint32_t seeds = 0;                   // 0: as many as are usual.
  std::string json{};  // A file; "-" the standard output; empty: none.
  std::string page{};  // Likewise, but no "-".
  Time until = kForever;
};

constexpr int kOk = 0;
constexpr int kUnexpected = 1;
constexpr int kBadInput = 2;

// Bad input (2) or a broken contract (1), and the message.
int Fail(const Console& console, const absl::Status& status);

int RunScenario(const std::string& file, const RunFlags& flags,
                const Console& console);
int RunTrace(const std::string& title, absl::StatusOr<Trace> trace,
             const RunFlags& flags, const Console& console);
// `file`: the scenario to write; "-" the standard output; empty: none. `json`:
// the statistics.
int RunGenerate(const GenerateOptions& options, const std::string& file,
                bool json, const Console& console);
// `options`: ParseGenerateOptions.
int RunGenerated(const std::string& options, const RunFlags& flags,
                 const Console& console);
// Why a gang was where it was: at a time, or how that changed.
int RunExplain(const std::string& file, const std::string& gang,
               std::optional<Time> at, const Console& console);
int RunReplay(const std::string& file, bool follow, const Console& console);
int RunCompare(const CompareFlags& flags, const Console& console);
int RunFgdCommand(const FgdFlags& flags, const Console& console);
std::vector<std::string> FgdPolicyNames();
// `scenarios`: the folder of the stories; empty: that of the source tree, else
// where they are installed, which the program's own place tells.
int RunDemo(const std::string& scenarios, const Console& console);

}  // namespace muster::inprocess
