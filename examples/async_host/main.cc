// A host whose work takes time: clients submit from threads of their own, tasks
// are processes, one thread schedules. It may be killed at any moment: the next
// one goes on with its processes (docs/tutorial.md).
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "processes.h"

namespace {

using Clock = std::chrono::system_clock;  // It goes on while no host runs.

muster::Time Now() {
  return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

void Say(const std::string& what) {
  static const muster::Time start = Now();
  std::printf("%8.3f s: %s\n", double(Now() - start) / muster::kSecond,
              what.c_str());
  std::fflush(stdout);
}

// Three nodes, all of them this machine.
std::vector<muster::Node> Nodes() {
  const std::vector<muster::Device> devices(4);
  return {{.key = "node-1", .devices = devices},
          {.key = "node-2", .devices = devices},
          {.key = "node-3", .devices = devices}};
}

// What its tasks run is a label of the gang: so the journal keeps it.
muster::Gang MakeGang(uint32_t number, double seconds) {
  const uint32_t tasks = 1 + number % 2;
  const double sleep = seconds * (1 + number % 3 / 2.0);
  return {.key = "gang-" + std::to_string(number),
          .queue = "lab",
          .priority_class = number % 4 == 3 ? "urgent" : "batch",
          .submitted = Now(),
          .roles = {{.min_tasks = tasks,
                     .desired_tasks = tasks,
                     .shape = {.devices = {.count = 2}}}},
          .labels = {{"run", "sleep " + std::to_string(sleep)}}};
}

// The journal is locked while another host lives, and for a moment after one
// was killed that was starting a process.
Host Open(const std::string& path) {
  muster::SchedulerConfig config{.resources = {"gpu"}};
  config.backoff_base = muster::kSecond;
  for (int tries = 20;; --tries) {
    auto host =
        std::filesystem::exists(path) ? Recover(path) : Begin(path, config);
    if (host.ok()) return *std::move(host);
    if (!absl::IsUnavailable(host.status()) || tries == 0) {
      Must(host.status());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

class AsyncHost {
 public:
  explicit AsyncHost(const std::filesystem::path& folder)
      : folder_(folder), host_(Open(folder / "journal")), processes_(folder) {}

  // From any thread. OK: it is accepted, and no crash of the host loses it.
  absl::Status Submit(const muster::Gang& gang) {
    if (exists(folder_ / gang.key)) return absl::OkStatus();  // It was before.
    std::future<absl::Status> verdict;
    absl::Status status;
    // With the lock held: the pass that finds the promise has the gang, too.
    Wake([&] {
      status = scheduler_.Submit(gang);
      if (status.ok()) verdict = submitted_[gang.key].get_future();
    });
    return status.ok() ? verdict.get() : status;
  }
  // From any thread: nothing more will be submitted.
  void Close() {
    Wake([&] { closed_ = true; });
  }

  // docs/wire.md, "After a crash". At a first start there is nothing to find.
  void ComeBack() {
    Tell(muster::QueueChanged{{.key = "lab"}});
    Tell(muster::PriorityClassChanged{
        {.key = "batch", .grace = 2 * muster::kSecond}});
    Tell(muster::PriorityClassChanged{{.key = "urgent", .value = 1}});
    std::vector<Found> found;
    for (const muster::GangState& g : scheduler_.State().gangs) {
      Accept(g.gang.key);  // The earlier host may not have come so far.
      for (const muster::TaskState& t : g.tasks) {
        Found f{.task = {g.gang.key, t.task, t.node, t.devices.ToList()},
                .attempt = t.attempt};
        const bool over = t.phase == muster::TaskPhase::kSucceeded;
        if (!over && processes_.Adopt(&f)) found.push_back(f);
      }
    }
    Answer(found);
    const auto report = TellWhatRuns(scheduler_, Now(), Nodes(), found);
    Must(report.status());
    Say(std::to_string(report->tasks_confirmed) + " tasks go on, " +
        std::to_string(report->tasks_lost) + " are lost");
  }

  void Run() {
    std::thread([this] {
      for (;;) {
        const int fd = processes_.WaitForEnd();
        Wake([&] { ended_.push_back(fd); });
      }
    }).detach();
    while (Pass()) {
    }
  }

 private:
  using Promises = std::map<std::string, std::promise<absl::Status>>;

  template <class F>
  void Wake(F change) {
    const std::lock_guard lock(mutex_);
    change();
    woken_ = true;
    wake_.notify_one();
  }
  void Tell(muster::EventBody what) {
    Must(scheduler_.Apply({Now(), std::move(what)}));
  }
  void Accept(const std::string& gang) { create_directory(folder_ / gang); }

  // [pass]
  // Waits until there is something to do, and does it. False: all is done.
  bool Pass() {
    // What the plan asks for, or the end of a process's grace time.
    muster::Time until = plan_.decisions.empty() ? plan_.next_wakeup : 0;
    if (!kills_.empty()) until = std::min(until, kills_.begin()->first);
    const Clock::time_point time{
        std::chrono::nanoseconds(std::min(until, muster::kMaxTime))};
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, time, [this] { return woken_; });
    woken_ = false;
    const std::vector<int> ended = std::exchange(ended_, {});
    Promises submitted = std::exchange(submitted_, {});
    const bool closed = closed_;
    lock.unlock();

    std::vector<Found> found;
    for (const int fd : ended) found.push_back(processes_.Reap(fd));
    Answer(found);
    while (!kills_.empty() && kills_.begin()->first <= Now()) {
      processes_.Signal(kills_.extract(kills_.begin()).mapped(), SIGKILL);
    }
    scheduler_.Schedule(Now(), &plan_);
    Must(host_.journal->status());  // Before anybody learns of the plan.
    Acknowledge(std::move(submitted));
    for (const auto& d : scheduler_.Record(plan_).decisions) CarryOut(d);
    return !closed || !scheduler_.State().gangs.empty();
  }
  // [pass]

  void Answer(const std::vector<Found>& found) {
    Must(TellWhatEnded(scheduler_, Now(), found));
    for (const Found& f : found) {
      if (!f.ended) continue;
      Say(Name(f) + " " + std::string(Name(*f.ended)));
      if (AllSucceeded(f)) Tell(muster::GangFinished{f.task.gang});
    }
  }

  // Of a gang that is there still, though all is done: its last task ended
  // while it was being stopped, so that the scheduler would start it once more.
  bool AllSucceeded(Found f) const {
    const auto gang = scheduler_.Find(f.task.gang);
    bool all = gang.ok();
    for (uint32_t i = 0; all && i < gang->gang.roles[0].desired_tasks; ++i) {
      f.task.task.index = i;
      all = processes_.Outcome(f) == muster::TaskOutcome::kSucceeded;
    }
    return all;
  }

  // The journal has the plan, and so all that this pass took.
  void Acknowledge(Promises submitted) {
    for (const muster::Refused& r : plan_.refused) {
      const std::string why(plan_.Text(r.error));
      auto it = submitted.extract(std::string(plan_.Text(r.gang_key)));
      if (it) it.mapped().set_value(absl::InvalidArgumentError(why));
    }
    for (auto& [gang, verdict] : submitted) {
      Accept(gang);
      verdict.set_value(absl::OkStatus());
    }
  }

  void CarryOut(const muster::DecisionRecord& d) {
    using enum muster::DecisionKind;
    if (d.kind == kNominate) return;  // Nothing is to be done yet.
    const bool starts = d.kind == kStart || d.kind == kGrow;
    for (const muster::PlannedTaskRecord& t : d.tasks) {
      const Found task{.task = {d.gang, t.task, t.node, t.devices.ToList()},
                       .attempt = t.attempt};
      Say(std::string(Name(d.kind)) + " " + Name(task) + " on " + t.node);
      if (starts) {
        const auto gang = scheduler_.Find(d.gang);
        processes_.Start(task, gang.value().gang.labels[0].value);
      } else {  // To be stopped. The end of the process is the answer.
        processes_.Signal(task, SIGTERM);
        kills_.emplace(Now() + d.grace, task);
      }
    }
    if (starts) Tell(muster::DecisionApplied{d.seq});
  }

  const std::filesystem::path folder_;
  Host host_;
  muster::Scheduler& scheduler_ = host_.scheduler;
  Processes processes_;
  muster::Plan plan_{};
  std::multimap<muster::Time, Found> kills_{};  // When their grace is over.
  std::mutex mutex_{};  // For what follows, which any thread may change.
  std::condition_variable wake_{};
  bool woken_ = true;
  bool closed_ = false;
  std::vector<int> ended_{};
  Promises submitted_{};
};

// What one client does: every third gang, one by one.
bool SubmitSome(AsyncHost* host, int first, double gangs, double seconds) {
  bool accepted = true;
  for (int i = first; i < gangs; i += 3) {
    const muster::Gang gang = MakeGang(i, seconds);
    const absl::Status status = host->Submit(gang);
    Say(gang.key + " " + (status.ok() ? "accepted" : status.ToString()));
    accepted &= status.ok();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 4));
  }
  return accepted;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, double> options = {{"--gangs", 12}, {"--seconds", 1}};
  bool valid = argc % 2 == 0;
  for (int i = 2; valid && i < argc; i += 2) {
    valid = options.contains(argv[i]);
    options[argv[i]] = std::atof(argv[i + 1]);
  }
  if (!valid) {
    std::cerr << "async_host STATE_DIR [--gangs N] [--seconds S]" << std::endl;
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  // For its watcher, it lives to the end of the program.
  static AsyncHost& host = *new AsyncHost(argv[1]);
  host.ComeBack();
  std::thread scheduling([] { host.Run(); });
  std::vector<std::future<bool>> clients;
  for (int c = 0; c < 3; ++c) {
    clients.push_back(std::async(std::launch::async, SubmitSome, &host, c,
                                 options["--gangs"], options["--seconds"]));
  }
  bool accepted = true;
  for (std::future<bool>& client : clients) accepted &= client.get();
  host.Close();
  scheduling.join();
  return accepted ? 0 : 1;
}
