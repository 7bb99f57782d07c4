#include <algorithm>
#include <filesystem>
#include <fstream>

#include "adapters/cli/commands.h"
#include "adapters/cli/progress_bar.h"
#include "adapters/experiments/fgd_report.h"

namespace muster::inprocess {
namespace {

std::string NameOf(const FgdPolicy& policy) { return std::string(policy.name); }

// Compressed or not.
std::string FileIn(const std::string& folder, const std::string& name) {
  const std::string plain = folder + "/" + name;
  std::error_code error;
  return std::filesystem::exists(plain, error) ? plain : plain + ".gz";
}

}  // namespace

std::vector<std::string> FgdPolicyNames() {
  std::vector<std::string> names;
  for (const FgdPolicy& p : FgdPolicies()) names.push_back(NameOf(p));
  return names;
}

int RunFgdCommand(const FgdFlags& flags, const Console& console) {
  const std::string nodes =
      flags.nodes.empty() ? FileIn(flags.data, "openb_node_list_gpu_node.csv")
                          : flags.nodes;
  const absl::StatusOr<FgdInput> input = LoadFgd(
      nodes, FileIn(flags.data, "openb_pod_list_" + flags.list + ".csv"));
  if (!input.ok()) return Fail(console, input.status());
  FgdReport report{.list = flags.list,
                   .first_seed = flags.first_seed,
                   .seeds = flags.seeds,
                   .nodes = input->nodes.size(),
                   .pods = input->pods.size(),
                   .gpus = input->gpu_milli / kWholeDevice};
  absl::StatusOr<std::map<std::string, double>> published =
      LoadPublished(flags.data + "/fgd_expected_summary.csv", flags.list);
  if (!published.ok()) return Fail(console, published.status());
  report.published = *std::move(published);
  std::vector<FgdPolicy> policies;
  for (const FgdPolicy& p : FgdPolicies()) {
    const bool named =
        std::ranges::find(flags.policies, NameOf(p)) != flags.policies.end();
    if (flags.policies.empty() ? p.published : named) policies.push_back(p);
  }
  ProgressBar bar("placing");
  uint64_t done = 0;
  const uint64_t all = policies.size() * uint64_t{flags.seeds};
  for (const FgdPolicy& p : policies) {
    absl::StatusOr<FgdResult> result =
        RunFgd(*input, p, flags.first_seed, flags.seeds,
               [&] { bar.Update(++done, all); });
    if (!result.ok()) return Fail(console, result.status());
    report.results.push_back(*std::move(result));
  }
  if (!flags.plot.empty()) {
    std::ofstream plot(flags.plot);
    plot << FgdSvg(report);
    plot.close();
    if (!plot.good()) {
      return Fail(console, absl::InvalidArgumentError(flags.plot +
                                                      ": cannot be written"));
    }
  }
  if (flags.json) {
    console.out << FgdJson(report) << "\n";
  } else {
    PrintFgd(report, console.out);
  }
  return kOk;
}

}  // namespace muster::inprocess
