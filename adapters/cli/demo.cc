// muster-sim demo: the stories, a loaded cluster, and what to do next.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "adapters/cli/commands.h"
#include "adapters/cli/progress_bar.h"
#include "adapters/inprocess/timeline.h"
#include "adapters/scenario/expectations.h"

namespace muster::inprocess {
namespace {

constexpr uint32_t kWidth = 44;

absl::StatusOr<std::vector<std::string>> StoryFiles(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("story-") && name.ends_with(".yaml")) {
      files.push_back(entry.path().string());
    }
  }
  if (error || files.empty()) {
    return absl::InvalidArgumentError(folder + ": there are no stories");
  }
  std::ranges::sort(files);
  return files;
}

// Runs one story and prints it; whether it went as the file expects.
absl::StatusOr<bool> RunStory(const std::string& file, const Console& console) {
  const absl::StatusOr<Scenario> s = LoadScenario(file);
  if (!s.ok()) return s.status();
  VectorSource jobs(s->jobs);
  Timeline timeline;
  absl::StatusOr<Simulator> simulator = Simulator::Create(
      s->setup, &jobs, s->events,
      {.host = s->host, .observer = &timeline, .validate = true});
  if (!simulator.ok()) return simulator.status();
  if (absl::Status status = simulator->Run(); !status.ok()) return status;
  if (absl::Status status = simulator->Audit(); !status.ok()) return status;
  console.out << s->title << "\n" << s->story << "\n";
  Print(timeline, simulator->now(), kWidth, console.out);
  const CheckReport checks = Check(*s, timeline, simulator->scheduler());
  for (const std::string& failure : checks.failures) {
    console.out << "  NOT AS TOLD: " << failure << "\n";
  }
  if (checks.failures.empty()) {
    console.out << "  As met: " << checks.checked
                << " expectations hold, and nothing leaked.\n";
  }
  console.out << "\n";
  return checks.failures.empty();
}

absl::Status RunLoadedCluster(const Console& console) {
  const GenerateOptions options{.preset = Preset::kMedium, .hours = 24};
  const auto workload = std::make_shared<const Generated>(Generate(options));
  console.out
      << "A loaded cluster: " << workload->setup.nodes.size() << " nodes, "
      << workload->gpus << " GPUs of " << workload->models.size() << " models, "
      << workload->jobs.size()
      << " gangs of 14 tenants,\nload 85 %, nodes that fail or are taken "
         "back (muster-sim generate --preset medium --days 1)\n\n";
  const std::unique_ptr<JobSource> jobs = MakeSource(workload);
  std::optional<ProgressBar> bar("simulating");
  absl::StatusOr<Simulator> simulator =
      Simulator::Create(workload->setup, jobs.get(), workload->events,
                        {.allocations = console.allocations,
                         .progress = [&](uint64_t done, uint64_t all) {
                           bar->Update(done, all);
                         }});
  if (!simulator.ok()) return simulator.status();
  absl::Status status = simulator->Run();
  bar.reset();
  if (status.ok()) status = simulator->Audit();
  if (!status.ok()) return status;
  PrintReport(MakeReport("", *simulator, console.allocations != nullptr),
              console.out);
  return absl::OkStatus();
}

std::string StoriesFolder() {
  std::error_code error;
  std::string folder = MUSTER_SCENARIO_DIR;
  if (std::filesystem::is_directory(folder, error)) return folder;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return folder;
  return program.parent_path().parent_path() / "share/muster/scenarios";
}

}  // namespace

int RunDemo(const std::string& scenarios, const Console& console) {
  const absl::StatusOr<std::vector<std::string>> files =
      StoryFiles(scenarios.empty() ? StoriesFolder() : scenarios);
  if (!files.ok()) return Fail(console, files.status());
  console.out << "Muster decides which gang of tasks runs where, when and at "
                 "whose expense.\nEach picture below is a simulation: '#' at "
                 "work, 'x' stopped with work lost,\n'.' waiting; times are "
                 "in seconds.\n\n";
  bool good = true;
  for (const std::string& file : *files) {
    const absl::StatusOr<bool> met = RunStory(file, console);
    if (!met.ok()) return Fail(console, met.status());
    good &= *met;
  }
  if (absl::Status status = RunLoadedCluster(console); !status.ok()) {
    return Fail(console, status);
  }
  console.out
      << "\nWhat to do next:\n"
         "  change a story and run it    ./dev run muster-sim run "
         "examples/scenarios/story-a-precious-node.yaml\n"
         "  ask why a gang waits         ./dev run muster-sim explain "
         "examples/scenarios/story-a-precious-node.yaml test3\n"
         "  make your own cluster        ./dev run muster-sim generate --seed "
         "2 -o mine.yaml\n"
         "  replay a public trace        ./dev run muster-sim trace --help\n"
         "  embed Muster in your program examples/minimal_host, "
         "include/muster/scheduler.h\n"
         "  read how it works            docs/design.md, docs/muster-sim.md\n";
  return good ? kOk : kUnexpected;
}

}  // namespace muster::inprocess
