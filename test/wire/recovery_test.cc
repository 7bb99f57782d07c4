// A host is killed, again and again, and comes back as docs/wire.md says: what
// it has carried out is never forgotten.

#include "examples/recovery/recovery.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "test/wire/child.h"
#include "test/wire/faults.h"
#include "test/wire/scratch.h"

namespace muster::wire {
namespace {

// The host's own notes, a line each, which it makes before it acts. So they
// are what really is: a task runs once "run" is noted, not before.
//   run SEQ GANG ROLE INDEX ATTEMPT NODE   stop SEQ GANG ROLE INDEX ATTEMPT
//   end 0 GANG ROLE INDEX ATTEMPT: it has done its work
//   acknowledge GANG: its submitter was told that it is taken
class Notes {
 public:
  explicit Notes(const std::string& path)
      : fd_(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644)) {
    const std::string text = Scratch::Read(path);
    std::filesystem::resize_file(path, text.rfind('\n') + 1);  // Half a line.
  }
  ~Notes() { close(fd_); }

  void Add(const std::string& line) const {
    const std::string whole = line + "\n";
    if (write(fd_, whole.data(), whole.size()) !=
        static_cast<ssize_t>(whole.size())) {
      _exit(90);
    }
  }
  void AddTask(const char* what, const DecisionRecord& d,
               const PlannedTaskRecord& t) const {
    Add(std::string(what) + " " + std::to_string(d.seq) + " " + d.gang + " " +
        std::to_string(t.task.role) + " " + std::to_string(t.task.index) + " " +
        std::to_string(t.attempt) + " " + t.node);
  }

 private:
  int fd_;
};

struct World {
  std::map<std::pair<std::string, TaskId>, Found> tasks{};  // The last of each.
  std::map<uint64_t, std::string> decisions{};  // Carried out, with its gang.
  std::set<std::string> acknowledged{};

  // A last line without an end was never acted upon.
  explicit World(const std::string& path) {
    const std::string text = Scratch::Read(path);
    std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
    for (std::string line; std::getline(lines, line);) Take(line);
  }

  bool Has(const std::string& gang, const TaskState& task) const {
    const auto found = tasks.find({gang, task.task});
    return found != tasks.end() && found->second.attempt == task.attempt;
  }
  std::vector<Found> Everything() const {
    std::vector<Found> all;
    for (const auto& [id, found] : tasks) all.push_back(found);
    return all;
  }
  bool Runs(const std::string& gang) const {
    return std::ranges::any_of(tasks, [&](const auto& entry) {
      return entry.first.first == gang && !entry.second.ended;
    });
  }
  bool Ended(const std::string& gang) const {
    return std::ranges::any_of(tasks, [&](const auto& entry) {
      return entry.first.first == gang &&
             entry.second.ended == TaskOutcome::kSucceeded;
    });
  }

 private:
  void Take(const std::string& line) {
    std::istringstream words(line);
    std::string what, gang, node;
    uint64_t seq = 0;
    TaskId task;
    uint32_t attempt = 0;
    words >> what;
    if (what == "acknowledge") {
      words >> gang;
      acknowledged.insert(gang);
      return;
    }
    words >> seq >> gang >> task.role >> task.index >> attempt >> node;
    if (seq != 0) decisions[seq] = gang;
    Found& found = tasks[{gang, task}];
    if (what == "run") {
      found = {.task = {.gang = gang, .task = task, .node = node},
               .attempt = attempt};
    } else {
      found.ended =
          what == "end" ? TaskOutcome::kSucceeded : TaskOutcome::kReleased;
    }
  }
};

std::vector<Node> Nodes() {
  std::vector<Node> nodes;
  for (const char* key : {"n1", "n2", "n3"}) {
    nodes.push_back({.key = key, .devices = std::vector<Device>(4)});
  }
  return nodes;
}

// A small host with a journal of default options and notes beside it, in one
// folder. `seed` decides what its users do.
class SmallHost {
 public:
  SmallHost(const Scratch& scratch, uint64_t seed)
      : path_(scratch.Path("journal")),
        notes_path_(scratch.Path("notes")),
        random_(seed),
        prefix_("g" + std::to_string(seed) + "-") {}

  // Begins, or comes back, and lives for some steps. 0: all went well.
  int Live(int steps) {
    auto host = std::filesystem::exists(path_)
                    ? Recover(path_)
                    : Begin(path_, {.resources = {"gpu"},
                                    .backoff_base = 1,
                                    .backoff_max = 1});
    if (!host.ok()) return 10;
    host_ = &*host;
    now_ = scheduler().now();
    const Notes notes(notes_path_);
    notes_ = &notes;
    const World world(notes_path_);
    const std::vector<Found> found = world.Everything();
    if (!ReportWhatEnded(scheduler(), now_, found).ok()) return 11;
    if (!ReportWhatRuns(scheduler(), now_, Nodes(), found).ok()) return 14;
    for (const char* key : {"low", "high"}) {
      PriorityClass c{.key = key, .value = key[0] == 'h' ? 1 : 0};
      if (!Report(PriorityClassChanged{c})) return 12;
    }
    if (!Report(QueueChanged{{.key = "q"}})) return 13;
    for (int i = 0; i < steps; ++i) {
      if (const int code = Step(i); code != 0) return code;
    }
    return 0;
  }

 private:
  Scheduler& scheduler() { return host_->scheduler; }
  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Report(EventBody what) {
    return scheduler().Apply({now_, std::move(what)}).ok();
  }

  int Step(int i) {
    now_ += kSecond;
    std::string submitted;
    if (const int code = Submit(i, &submitted); code != 0) return code;
    if (!Report(
            NodeDrained{"n" + std::to_string(1 + Below(3)), Below(4) == 0})) {
      return 20;
    }
    scheduler().Schedule(now_, &plan_);
    if (!host_->journal->status().ok()) return 21;
    if (!submitted.empty()) notes_->Add("acknowledge " + submitted);
    for (const auto& d : scheduler().DecisionsOf(plan_)) {
      if (!CarryOut(d)) return 22;
    }
    if (Below(2) == 0 && !EndOne()) return 23;
    if (i % 4 == 3 && !host_->journal->Rotate(scheduler().State()).ok()) {
      return 24;
    }
    return 0;
  }

  // In turns by Apply, acknowledged once it is flushed, and by Submit,
  // acknowledged after the next plan.
  int Submit(int i, std::string* later) {
    Gang gang{.key = prefix_ + std::to_string(i),
              .queue = "q",
              .priority_class = Below(3) == 0 ? "high" : "low"};
    Role& role = gang.roles.emplace_back();
    role.min_tasks = role.desired_tasks = static_cast<uint32_t>(1 + Below(3));
    role.shape.devices.count = static_cast<uint32_t>(1 + Below(3));
    if (i % 2 == 0) {
      *later = gang.key;
      if (!scheduler().Submit(std::move(gang)).ok()) return 33;
      return 0;
    }
    if (!Report(GangSubmitted{gang})) return 30;
    if (!host_->journal->Flush().ok()) return 31;
    notes_->Add("acknowledge " + gang.key);
    return 0;
  }

  bool CarryOut(const DecisionRecord& d) {
    if (d.kind == DecisionKind::kNominate) return true;
    const bool starts =
        d.kind == DecisionKind::kStart || d.kind == DecisionKind::kGrow;
    for (const auto& t : d.tasks) {
      notes_->AddTask(starts ? "run" : "stop", d, t);
    }
    return Below(4) == 0 || Report(DecisionApplied{d.seq});
  }

  // All tasks of a gang that runs do their work and end.
  bool EndOne() {
    const World world(notes_path_);
    std::vector<std::string> gangs;
    for (const auto& [id, found] : world.tasks) {
      if (!found.ended) gangs.push_back(id.first);
    }
    if (gangs.empty()) return true;
    TasksAnswered answered{.gang = gangs[Below(gangs.size())]};
    for (const auto& [id, found] : world.tasks) {
      if (id.first != answered.gang || found.ended) continue;
      notes_->AddTask("end", {.gang = id.first},
                      {.task = id.second, .attempt = found.attempt});
      answered.tasks.push_back({.task = id.second,
                                .attempt = found.attempt,
                                .outcome = TaskOutcome::kSucceeded});
    }
    return Report(answered);
  }

  std::string path_;
  std::string notes_path_;
  std::mt19937_64 random_;
  std::string prefix_;
  Host* host_ = nullptr;
  const Notes* notes_ = nullptr;
  Time now_ = 0;
  Plan plan_{};
};

// Every decision that was carried out and came after the journal's start is in
// it, about the same gang.
void ExpectInJournal(const std::string& path, const World& world) {
  auto reader = JournalReader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::map<uint64_t, std::string> recorded;
  JournalRecord record;
  absl::StatusOr<bool> more = true;
  while ((more = reader->Next(&record)).ok() && *more) {
    auto* plan = std::get_if<PlanRecord>(&record.what);
    if (plan == nullptr) continue;
    for (const DecisionRecord& d : plan->decisions) recorded[d.seq] = d.gang;
  }
  ASSERT_TRUE(more.ok()) << more.status();
  const uint64_t first = reader->header().start.next_seq;
  for (const auto& [seq, gang] : world.decisions) {
    if (seq < first) continue;
    EXPECT_EQ(recorded[seq], gang) << "decision " << seq;
  }
}

// Tasks that a plan starts and the host had not started when it died.
uint32_t CountNotStarted(const Scheduler& scheduler, const World& world) {
  uint32_t count = 0;
  for (const GangState& gang : scheduler.State().gangs) {
    for (const TaskState& task : gang.tasks) {
      count +=
          task.phase == TaskPhase::kStarting && !world.Has(gang.gang.key, task);
    }
  }
  return count;
}

void ExpectRunsWhatRuns(const Scheduler& scheduler, const World& world) {
  for (const auto& [id, found] : world.tasks) {
    const auto gang = scheduler.Find(id.first);
    if (!gang.ok()) {
      EXPECT_FALSE(world.Runs(id.first)) << id.first;
      continue;
    }
    const auto task =
        std::ranges::find(gang->tasks, id.second, &TaskState::task);
    const bool runs = task != gang->tasks.end() &&
                      task->phase == TaskPhase::kRunning &&
                      task->attempt == found.attempt;
    EXPECT_EQ(runs, !found.ended) << id.first;
  }
}

// What the host carried out and acknowledged, the recovered scheduler knows.
void ExpectNothingForgotten(const Scratch& scratch) {
  const std::string path = scratch.Path("journal");
  const World world(scratch.Path("notes"));
  if (!std::filesystem::exists(path)) {  // It died before it did a thing.
    EXPECT_TRUE(world.decisions.empty() && world.acknowledged.empty());
    return;
  }
  ExpectInJournal(path, world);
  auto host = Recover(path);
  ASSERT_TRUE(host.ok()) << host.status();
  Scheduler& scheduler = host->scheduler;
  if (!world.decisions.empty()) {
    EXPECT_GT(scheduler.State().next_seq, world.decisions.rbegin()->first);
  }
  const std::vector<Found> found = world.Everything();
  const Time now = scheduler.now();
  const uint32_t not_started = CountNotStarted(scheduler, world);
  ASSERT_TRUE(ReportWhatEnded(scheduler, now, found).ok());
  EXPECT_TRUE(Strays(scheduler, found).empty());
  for (const std::string& gang : world.acknowledged) {
    EXPECT_TRUE(scheduler.FindGang(gang).valid() || world.Ended(gang)) << gang;
  }
  const auto report = ReportWhatRuns(scheduler, now, Nodes(), found);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tasks_lost, not_started);
  EXPECT_EQ(report->tasks_found, 0u);
  EXPECT_EQ(report->tasks_moved, 0u);
  EXPECT_TRUE(scheduler.Validate().ok()) << scheduler.Validate();
  ExpectRunsWhatRuns(scheduler, world);
}

// Each life is a process of its own and ends before another call to the
// system: that is every moment that files can tell apart. Ten lives share a
// journal and notes.
TEST(RecoveryTest, NothingCarriedOutIsForgottenWhereverTheHostIsKilled) {
  constexpr int kMost = 1000;
  int call = 0;
  for (int code = -1; code < 0 && call < kMost;) {
    const Scratch scratch;
    for (int i = 0; i < 10 && code < 0; ++i, ++call) {
      SCOPED_TRACE("killed before call " + std::to_string(call));
      Child child([&] {
        faults::DieAt(call);
        return SmallHost(scratch, static_cast<uint64_t>(call)).Live(25);
      });
      code = child.Wait();
      ASSERT_LE(code, 0) << "the host failed";
      ExpectNothingForgotten(scratch);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(call, 100);
  EXPECT_LT(call, kMost);
}

TEST(RecoveryTest, NothingCarriedOutIsForgottenWheneverTheHostIsKilled) {
  std::random_device device;
  const uint64_t seed = device();
  std::mt19937_64 random(seed);
  const Scratch scratch;
  for (int life = 0; life < 30; ++life) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", life " +
                 std::to_string(life));
    Child child([&] {
      return SmallHost(scratch, static_cast<uint64_t>(life)).Live(1'000'000);
    });
    usleep(static_cast<useconds_t>(random() % 30'000));
    child.Kill();
    ExpectNothingForgotten(scratch);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace muster::wire
