// A host that is killed, and its successor. The first life is a process of its
// own; what it started goes on without it.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "recovery.h"

namespace {

std::vector<muster::Node> Nodes() {
  return {{.key = "node-1", .devices = std::vector<muster::Device>(4)},
          {.key = "node-2", .devices = std::vector<muster::Device>(4)}};
}

muster::Gang Workers(const char* key, uint32_t count, uint32_t devices) {
  return {.key = key,
          .queue = "lab",
          .roles = {{.name = "worker",
                     .min_tasks = count,
                     .desired_tasks = count,
                     .shape = {.devices = {.count = devices}}}}};
}

// [step]
void Step(Host& host, muster::Time now) {
  muster::Plan plan;
  host.scheduler.Schedule(now, &plan);
  Must(host.journal->status());  // Not in the journal: not carried out.
  for (const auto& decision : host.scheduler.DecisionsOf(plan)) {
    std::cout << Name(decision.kind) << " " << decision.gang << ":";
    for (const auto& task : decision.tasks) std::cout << " " << task.node;
    std::cout << std::endl;
    // A real host starts processes here, with gang, task and attempt as
    // labels, and answers when they run.
    Must(host.scheduler.Apply({now, muster::DecisionApplied{decision.seq}}));
  }
}
// [step]

// [rotate]
void RotateIfLarge(Host& host) {
  constexpr uint64_t kLarge = uint64_t{64} << 20;
  if (host.journal->bytes() < kLarge) return;
  const absl::Status status = host.journal->Rotate(host.scheduler.State());
  if (!status.ok()) std::cerr << status << "\n";  // The old one goes on.
}
// [rotate]

void FirstLife(const std::string& path) {
  // [first]
  absl::StatusOr<Host> host = Begin(path, {.resources = {"gpu"}});
  Must(host.status());
  muster::Scheduler& scheduler = host->scheduler;
  for (const muster::Node& node : Nodes()) {
    Must(scheduler.Apply({0, muster::NodeChanged{node}}));
  }
  Must(scheduler.Apply({0, muster::QueueChanged{{.key = "lab"}}}));
  Must(scheduler.Apply({0, muster::GangSubmitted{Workers("train", 2, 3)}}));
  Must(scheduler.Apply({0, muster::GangSubmitted{Workers("short", 1, 1)}}));
  Must(host->journal->Flush());  // Now they may be acknowledged.
  Step(*host, muster::kSecond);
  // [first]
  raise(SIGKILL);
}

void SecondLife(const std::string& path) {
  const muster::Time now = 60 * muster::kSecond;
  // [second]
  absl::StatusOr<Host> host = Recover(path);
  Must(host.status());
  muster::Scheduler& scheduler = host->scheduler;
  // What the nodes tell: "short" ended well while the host was away, the
  // second worker of "train" has vanished, and something of which the journal
  // knows nothing runs on node-2.
  std::vector<Found> found = {
      {.task = {.gang = "train", .task = {0, 0}, .node = "node-1"},
       .attempt = 1},
      {.task = {.gang = "short", .task = {0, 0}, .node = "node-1"},
       .attempt = 1,
       .ended = muster::TaskOutcome::kSucceeded},
      {.task = {.gang = "test", .task = {0, 0}, .node = "node-2"}}};
  Must(ReportWhatEnded(scheduler, now, found));
  for (const muster::RealTask& stray : Strays(scheduler, found)) {
    std::cout << "stopped, of no known gang: " << stray.gang << std::endl;
    std::erase_if(found,
                  [&](const Found& f) { return f.task.gang == stray.gang; });
  }
  const auto report = ReportWhatRuns(scheduler, now, Nodes(), found);
  Must(report.status());
  std::cout << report->tasks_confirmed << " task runs, " << report->tasks_lost
            << " is lost, short is "
            << (scheduler.FindGang("short").valid() ? "known" : "done")
            << std::endl;
  Must(host->journal->Rotate(scheduler.State()));  // Replayed no more.
  Step(*host, now);
  RotateIfLarge(*host);
  // [second]
}

}  // namespace

int main() {
  std::string folder = std::filesystem::temp_directory_path() / "muster-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const std::string path = folder + "/muster.journal";
  const pid_t first = fork();
  if (first == 0) FirstLife(path);
  waitpid(first, nullptr, 0);
  std::cout << "killed" << std::endl;
  SecondLife(path);
  std::filesystem::remove_all(folder);
}
