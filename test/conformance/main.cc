// muster-conformance: plays a folder of scenarios to the library and says
// which it meets, which it does not, and which it has no word for.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "test/conformance/report.h"
#include "test/conformance/runner.h"
#include "test/conformance/scenario_reader.h"

namespace {

constexpr int kBadInput = 2;

int Main(int argc, char** argv) {
  CLI::App app{
      "Plays every scenario in a folder to the scheduler and compares what it "
      "does with what the scenario expects."};
  std::string folder, filter;
  std::string preset = "default";
  bool null = false, json = false, verbose = false;
  app.add_option("DIR", folder, "Folder of scenarios (*.json, any depth)")
      ->required();
  app.add_option("--preset", preset, "Policies to run with")
      ->check(CLI::IsMember({"default"}))
      ->capture_default_str();
  app.add_option("--filter", filter, "Only ids that contain this");
  app.add_flag("--null", null,
               "A scheduler that decides nothing: what a pass is worth");
  app.add_flag("--json", json, "Print JSON instead of a table");
  app.add_flag("--verbose", verbose, "Say why, and list what is unsupported");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kBadInput;
  }
  const auto scenarios = muster::conformance::ReadFolder(folder);
  if (!scenarios.ok()) {
    std::fprintf(stderr, "muster-conformance: %s\n",
                 std::string(scenarios.status().message()).c_str());
    return kBadInput;
  }
  const auto run = [&](bool decides) {
    std::vector<muster::conformance::CaseResult> results;
    for (const muster::conformance::Scenario& scenario : *scenarios) {
      if (scenario.id.find(filter) == std::string::npos) continue;
      results.push_back(muster::conformance::RunScenario(scenario, decides));
    }
    return results;
  };
  const std::vector<muster::conformance::CaseResult> results = run(!null);
  std::string out = json ? muster::conformance::ToJson(results)
                         : muster::conformance::ToTable(results, verbose);
  if (!json && !null) {
    out += "\n" + muster::conformance::ToSummary(results, run(false));
  }
  std::fputs(out.c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv); }
