// muster-sim generate, and runs without a file in between.
#include <fstream>
#include <memory>
#include <utility>

#include "adapters/cli/commands.h"
#include "adapters/workloads/generate_stats.h"

namespace muster::inprocess {

int RunGenerate(const GenerateOptions& options, const std::string& file,
                bool json, const Console& console) {
  const Generated workload = Generate(options);
  std::ostream& told = file == "-" ? console.err : console.out;
  if (json) {
    told << StatisticsJson(workload) << "\n";
  } else {
    PrintStatistics(workload, told);
  }
  if (file.empty()) {
    if (!json) {
      told << "\nTo run it: muster-sim run --generate " << ToText(options)
           << "\n           (--until " << options.hours
           << "h: without the time in which it empties)\n"
           << "As a scenario to read and change: -o FILE\n";
    }
    return kOk;
  }
  if (file == "-") {
    WriteScenario(workload, console.out);
    return kOk;
  }
  std::ofstream out(file);
  WriteScenario(workload, out);
  out.close();
  if (!out.good()) {
    return Fail(console,
                absl::InvalidArgumentError(file + ": cannot be written"));
  }
  if (!json) told << "\nTo run it: muster-sim run " << file << "\n";
  return kOk;
}

int RunGenerated(const std::string& options, const RunFlags& flags,
                 const Console& console) {
  const absl::StatusOr<GenerateOptions> parsed = ParseGenerateOptions(options);
  if (!parsed.ok()) {
    return Fail(console,
                absl::InvalidArgumentError(
                    "--generate: " + std::string(parsed.status().message())));
  }
  auto workload = std::make_shared<const Generated>(Generate(*parsed));
  return RunTrace(ToText(*parsed),
                  Trace{.setup = workload->setup,
                        .jobs = MakeSource(workload),
                        .events = workload->events},
                  flags, console);
}

}  // namespace muster::inprocess
