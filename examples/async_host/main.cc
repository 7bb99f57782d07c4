// A host whose work takes time: clients submit from threads of their own, tasks
// are processes, one thread schedules. It may be killed at any moment: the next
// one goes on with its processes (docs/tutorial.md).
#include <condition_variable>
#include <future>
#include <utility>

#include "absl/time/clock.h"
#include "processes.h"

namespace {

// The wall clock: it goes on while no host runs.
muster::Time Now() { return absl::GetCurrentTimeNanos(); }

// Waits while another host lives: it has locked the journal.
Host Open(const std::filesystem::path& path) {
  muster::SchedulerConfig config{.resources = {"gpu"}};
  config.host.nominate = false;  // There is nothing to do for a nomination.
  config.backoff_base = muster::kSecond;
  for (;; absl::SleepFor(absl::Milliseconds(100))) {
    auto host = exists(path) ? Recover(path) : Begin(path, config);
    if (absl::IsUnavailable(host.status())) continue;
    Must(host.status());
    return *std::move(host);
  }
}

class AsyncHost {
 public:
  explicit AsyncHost(const std::filesystem::path& folder)
      : folder_(folder), host_(Open(folder / "journal")) {
    ComeBack();
  }

  // From any thread. OK: it is accepted, and no crash of the host loses it.
  absl::Status Submit(const muster::Gang& gang) {
    std::promise<absl::Status> verdict;
    Post([&] {
      ++submitted_;
      absl::Status status;  // If it was accepted before, there is a folder.
      if (!exists(folder_ / gang.key)) {
        status = scheduler_.Apply({Now(), muster::GangSubmitted{gang}});
      }
      if (!status.ok()) return verdict.set_value(status);
      accepted_.emplace_back(gang.key, &verdict);
    });
    return verdict.get_future().get();
  }

  // Schedules until so many gangs have been submitted and all are done.
  void Run(int gangs) {
    while (submitted_ < gangs || !scheduler_.State().gangs.empty()) Pass();
  }

 private:
  // docs/wire.md, "After a crash". At a first start there is nothing to find.
  void ComeBack() {
    Report(muster::QueueChanged{{.key = "lab"}});
    Report(muster::PriorityClassChanged{{.key = "urgent", .value = 1}});
    Report(muster::PriorityClassChanged{
        {.key = "batch", .grace = 2 * muster::kSecond}});
    std::vector<Found> found;
    for (const muster::GangState& g : scheduler_.State().gangs) {
      create_directories(folder_ / g.gang.key);
      for (const muster::TaskState& t : g.tasks) {
        auto task = AsReal(g, t);
        if (!task) continue;
        task->releasing = false;  // Whether to stop it is decided anew.
        found.push_back(processes_.Adopt({*std::move(task), t.attempt}));
      }
    }
    Must(ReportWhatEnded(scheduler_, Now(), found));
    std::vector<muster::Node> nodes;  // All of them are this machine.
    for (const char* key : {"node-1", "node-2", "node-3"}) {
      nodes.push_back({.key = key, .devices = std::vector<muster::Device>(4)});
    }
    Must(ReportWhatRuns(scheduler_, Now(), nodes, found).status());
    std::cout << found.size() << " tasks were under way" << std::endl;
  }

  // [pass]
  void Pass() {
    for (const auto& work : WaitForWork()) work();
    scheduler_.Schedule(Now(), &plan_);
    Must(host_.journal->status());  // Before anybody learns of the plan.
    for (const auto& [gang, verdict] : std::exchange(accepted_, {})) {
      create_directories(folder_ / gang);
      verdict->set_value(absl::OkStatus());
    }
    for (const auto& d : scheduler_.DecisionsOf(plan_)) CarryOut(d);
  }

  // From any thread: the thread that schedules is to do this.
  void Post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    wake_.notify_one();
  }
  // After decisions there may be more at once; else the plan says until when.
  std::vector<std::function<void()>> WaitForWork() {
    const muster::Time until = plan_.decisions.empty() ? plan_.next_wakeup : 0;
    const auto any = [this] { return !posted_.empty(); };
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, absl::ToChronoTime(absl::FromUnixNanos(until)), any);
    return std::exchange(posted_, {});
  }
  // [pass]

  void CarryOut(const muster::DecisionRecord& d) {
    using enum muster::DecisionKind;
    const bool starts = d.kind == kStart || d.kind == kGrow;
    for (const muster::PlannedTaskRecord& t : d.tasks) {
      const Found task{.task = {d.gang, t.task, t.node, t.devices.ToList()},
                       .attempt = t.attempt};
      std::cout << Name(d.kind) << " " << Name(task) << " on " << t.node
                << std::endl;
      if (starts) {
        processes_.Start(task, scheduler_.Find(d.gang)->gang.labels[0].value);
      } else {  // Its end will be the answer.
        processes_.Stop(task, std::chrono::nanoseconds(d.grace));
      }
    }
    if (starts) Report(muster::DecisionApplied{d.seq});
  }

  void Ended(Found task) {
    task.ended = processes_.Reap(task);
    std::cout << Name(task) << " " << Name(*task.ended) << std::endl;
    Must(ReportWhatEnded(scheduler_, Now(), {task}));
  }

  void Report(muster::EventBody what) {
    Must(scheduler_.Apply({Now(), std::move(what)}));
  }

  const std::filesystem::path folder_;
  Host host_;
  muster::Scheduler& scheduler_ = host_.scheduler;
  muster::Plan plan_{.next_wakeup = 0};  // The first pass is due.
  int submitted_ = 0;
  // Who is told when the journal has which gang.
  std::vector<std::pair<std::string, std::promise<absl::Status>*>> accepted_{};
  std::mutex mutex_{};
  std::condition_variable wake_{};
  std::vector<std::function<void()>> posted_{};  // Guarded by mutex_.
  Processes processes_{folder_, [this](const Found& task) {
                         Post([this, task] { Ended(task); });
                       }};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Must(absl::InvalidArgumentError("STATE_DIR GANGS SECONDS"));
  const int gangs = std::atoi(argv[2]);
  std::filesystem::create_directories(argv[1]);
  AsyncHost host(argv[1]);
  std::vector<std::jthread> clients;
  for (int i = 0; i < gangs; ++i) {
    clients.emplace_back([&host, i, seconds = std::atof(argv[3])] {
      absl::SleepFor(absl::Seconds(i * seconds / 12));
      const uint32_t tasks = 1 + i % 2;
      Must(host.Submit({.key = absl::StrCat("gang-", i),
                        .queue = "lab",
                        .priority_class = i % 4 == 3 ? "urgent" : "batch",
                        .submitted = Now(),
                        .roles = {{.min_tasks = tasks,
                                   .desired_tasks = tasks,
                                   .shape = {.devices = {.count = 2}}}},
                        // What its tasks run: the journal keeps it.
                        .labels = {{"run", absl::StrCat("sleep ", seconds)}}}));
    });
  }
  host.Run(gangs);
}
