// A journal that begins anew, while it is in use.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/wire/locked_file.h"
#include "muster/wire/convert.h"
#include "muster/wire/journal.h"
#include "muster/wire/replay.h"
#include "test/wire/child.h"
#include "test/wire/faults.h"
#include "test/wire/random_host.h"
#include "test/wire/scratch.h"

namespace muster::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace fs = std::filesystem;

absl::StatusOr<Replayed> ReplayFile(const std::string& path,
                                    ReplayMode mode = ReplayMode::kFollow) {
  absl::StatusOr<JournalReader> reader = JournalReader::Open(path);
  if (!reader.ok()) return reader.status();
  return Replay(&*reader, mode);
}

void ExpectLeadsTo(const std::string& path, uint64_t hash) {
  for (const ReplayMode mode : {ReplayMode::kFollow, ReplayMode::kVerify}) {
    const auto replayed = ReplayFile(path, mode);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_EQ(replayed->scheduler.StateHash(), hash);
  }
}

// A random host with a journal in a file.
struct Life {
  Life(const std::string& path, uint64_t seed, int steps = 20) : host(seed) {
    auto created = JournalWriter::Create(path, scheduler().State());
    EXPECT_TRUE(created.ok()) << created.status();
    if (!created.ok()) return;
    journal = *std::move(created);
    scheduler().SetJournal(journal.get());
    Live(steps);
  }
  Scheduler& scheduler() { return host.scheduler(); }
  uint64_t hash() { return scheduler().StateHash(); }
  void Live(int steps) {
    for (int i = 0; i < steps; ++i) host.Step();
  }
  // An event that stays in the buffer.
  void ReportOneMore() {
    const Event event{.at = 0, .what = NodeUp{"node-1"}};
    EXPECT_TRUE(scheduler().Apply(event).ok());
  }
  absl::Status Rotate(const std::string& keep = "") {
    return journal->Rotate(scheduler().State(), keep);
  }

  std::unique_ptr<JournalWriter> journal{};
  RandomHost host;
};

TEST(JournalRotateTest, RecordsGoOnBehindTheNewStart) {
  const Scratch scratch;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string path = scratch.Path("j" + std::to_string(seed));
    Life life(path, seed);
    for (int i = 0; i < 5; ++i) {
      life.ReportOneMore();
      const absl::Status rotated = life.Rotate();
      ASSERT_TRUE(rotated.ok()) << rotated;
      EXPECT_EQ(life.journal->bytes(), fs::file_size(path));
      EXPECT_EQ(JournalReader::Open(path)->header().start,
                life.scheduler().State());
      life.Live(7 * i);
      ASSERT_TRUE(life.journal->Flush().ok());
      EXPECT_EQ(life.journal->bytes(), fs::file_size(path));
      ExpectLeadsTo(path, life.hash());
    }
    EXPECT_FALSE(fs::exists(path + ".new"));
  }
}

TEST(JournalRotateTest, AJournalDoesNotGrowForEver) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 1);
  constexpr uint64_t kMost = 32 << 10;
  int rotations = 0;
  for (int i = 0; i < 800; ++i) {
    life.Live(1);
    if (life.journal->bytes() < kMost) continue;
    ASSERT_TRUE(life.Rotate().ok());
    ++rotations;
  }
  EXPECT_GT(rotations, 3);
  EXPECT_LT(fs::file_size(path), 2 * kMost);
}

TEST(JournalRotateTest, KeptJournalsFollowEachOther) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 2);
  std::vector<std::string> kept;
  for (int i = 0; i < 3; ++i) {
    life.Live(10);
    life.ReportOneMore();
    kept.push_back(scratch.Path("j." + std::to_string(i)));
    const absl::Status rotated = life.Rotate(kept.back());
    ASSERT_TRUE(rotated.ok()) << rotated;
  }
  kept.push_back(path);
  for (size_t i = 0; i + 1 < kept.size(); ++i) {
    const auto end = ReplayFile(kept[i]);
    ASSERT_TRUE(end.ok()) << end.status();
    EXPECT_EQ(Difference(JournalReader::Open(kept[i + 1])->header().start,
                         end->scheduler.State()),
              "");
  }
}

TEST(JournalRotateTest, TheConfigurationMayChangeWithTheJournal) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 3);
  SchedulerState state = life.scheduler().State();
  state.config.work_budget = 1000;
  state.config.resources.push_back("licences");
  auto changed = Scheduler::Restore(state);
  ASSERT_TRUE(changed.ok()) << changed.status();
  const absl::Status rotated = life.journal->Rotate(changed->State());
  ASSERT_TRUE(rotated.ok()) << rotated;
  life.scheduler().SetJournal(nullptr);
  changed->SetJournal(life.journal.get());
  Plan plan;
  changed->Schedule(state.now + kSecond, &plan);
  ExpectLeadsTo(path, changed->StateHash());
  changed->SetJournal(nullptr);
}

// --- Crashes ----------------------------------------------------------------

TEST(JournalRotateTest, TheNewJournalIsOnTheDiskBeforeTheOldOneGoes) {
  const Scratch scratch;
  Life life(scratch.Path("j"), 3);
  life.ReportOneMore();
  faults::Record(scratch.Path("."));
  ASSERT_TRUE(life.Rotate().ok());
  EXPECT_THAT(faults::Recorded(),
              ElementsAre(MatchesRegex("write j [0-9]+"), "fsync j",
                          "flock j.new", MatchesRegex("write j.new [0-9]+"),
                          "fsync j.new", "rename j.new j", "fsync ."));

  life.ReportOneMore();
  faults::Record(scratch.Path("."));
  ASSERT_TRUE(life.Rotate(scratch.Path("old")).ok());
  EXPECT_THAT(
      faults::Recorded(),
      ElementsAre(MatchesRegex("write j [0-9]+"), "fsync j", "flock j.new",
                  MatchesRegex("write j.new [0-9]+"), "fsync j.new",
                  "link j old", "fsync .", "rename j.new j", "fsync ."));
}

// Recovers, rotates and goes on, and comes to the same end.
void ExpectGoesOn(const std::string& path, uint64_t hash,
                  const std::string& keep) {
  auto journal = JournalWriter::Continue(path);
  ASSERT_TRUE(journal.ok()) << journal.status();
  auto replayed = ReplayFile(path);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  Scheduler& scheduler = replayed->scheduler;
  EXPECT_EQ(scheduler.StateHash(), hash);
  scheduler.SetJournal(journal->get());
  const absl::Status rotated = (*journal)->Rotate(scheduler.State(), keep);
  EXPECT_TRUE(rotated.ok()) << rotated;
  EXPECT_FALSE(fs::exists(path + ".new"));
  Plan plan;
  scheduler.Schedule(kHour, &plan);
  ASSERT_TRUE((*journal)->status().ok());
  ExpectLeadsTo(path, scheduler.StateHash());
}

TEST(JournalRotateTest, ACrashAtAnyStepLeavesTheOldJournalOrTheNewOne) {
  for (const std::string name : {"", "kept"}) {
    int old = 0;
    int fresh = 0;
    for (int step = 0; step < 20; ++step) {
      SCOPED_TRACE("step " + std::to_string(step) + " " + name);
      const Scratch scratch;
      const std::string path = scratch.Path("j");
      const std::string keep = name.empty() ? "" : scratch.Path(name);
      uint64_t start = 0;
      uint64_t hash = 0;
      {
        Life twin(scratch.Path("twin"), 4);
        // The first step writes what is in the buffer.
        if (step > 0) twin.ReportOneMore();
        hash = twin.hash();
        start = Life(scratch.Path("twin's start"), 4, 0).hash();
      }
      Child child([&] {
        Life life(path, 4);
        life.ReportOneMore();
        faults::DieAt(step);
        return life.Rotate(keep).ok() ? 0 : 1;
      });
      const int code = child.Wait();
      ASSERT_LE(code, 0);
      ExpectLeadsTo(path, hash);
      const auto reader = JournalReader::Open(path);
      const auto begins = Scheduler::Restore(reader->header().start);
      const bool is_old = begins->StateHash() == start;
      ++(is_old ? old : fresh);
      // Whatever became of the old one: it is whole, too.
      if (!keep.empty()) {
        EXPECT_TRUE(is_old || fs::exists(keep));
        if (fs::exists(keep)) ExpectLeadsTo(keep, hash);
      }
      // The name may be taken by this crash only.
      ExpectGoesOn(path, hash, is_old ? keep : "");
      if (code == 0) break;
    }
    EXPECT_GE(old, 6);    // Write, sync; lock, write, sync, rename.
    EXPECT_GE(fresh, 2);  // Sync the folder; and without a crash.
  }
}

TEST(JournalRotateTest, WhatACrashLeftBehindDoesNotDisturb) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  const std::string fresh = path + ".new";
  uint64_t hash = 0;
  {
    Life life(path, 5);
    hash = life.hash();
  }
  const std::string whole = Scratch::Read(path);
  const std::function<void()> leave[] = {
      [&] { scratch.Write("j.new", ""); },
      [&] { scratch.Write("j.new", whole.substr(0, whole.size() / 2)); },
      [&] { scratch.Write("j.new", whole); },
      // While it was created, where renaming without overwriting is not known.
      [&] { fs::create_hard_link(path, fresh); },
      // While it was rotated and kept.
      [&] { fs::create_hard_link(path, scratch.Path("kept")); },
  };
  for (const auto& left : leave) {
    for (const char* name : {"j", "j.new", "kept"})
      fs::remove(scratch.Path(name));
    scratch.Write("j", whole);
    left();
    ExpectGoesOn(path, hash, scratch.Path("kept"));
    EXPECT_EQ(Scratch::Read(scratch.Path("kept")), whole);
  }
}

// --- The lock ---------------------------------------------------------------

bool IsTaken(const std::string& path) {
  const absl::Status status = JournalWriter::Continue(path).status();
  return absl::IsUnavailable(status) &&
         status.message().find("another writer") != std::string::npos;
}

TEST(JournalRotateTest, TheLockHoldsThroughout) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  auto life = std::make_unique<Life>(path, 6);
  for (const char* call : {"write", "fsync", "rename"}) {
    bool taken = false;
    faults::Before(call, [&] { taken = IsTaken(path); });
    ASSERT_TRUE(life->Rotate().ok());
    EXPECT_TRUE(taken) << call;
  }
  EXPECT_TRUE(IsTaken(path));
  Child child([&] { return IsTaken(path) ? 0 : 1; });
  EXPECT_EQ(child.Wait(), 0);
  life.reset();
  EXPECT_FALSE(IsTaken(path));
}

TEST(JournalRotateTest, AKeptJournalIsNotLocked) {
  const Scratch scratch;
  Life life(scratch.Path("j"), 6);
  ASSERT_TRUE(life.Rotate(scratch.Path("kept")).ok());
  EXPECT_FALSE(IsTaken(scratch.Path("kept")));
  EXPECT_TRUE(IsTaken(scratch.Path("j")));
}

// It waits between opening the file and locking it, as a thread may.
TEST(JournalRotateTest, ALockOnAFileThatWasReplacedIsNone) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  auto life = std::make_unique<Life>(path, 7);
  faults::Before("flock", [&] { ASSERT_TRUE(life->Rotate().ok()); });
  EXPECT_TRUE(IsTaken(path)) << "it locked what was j before";

  life->Live(3);
  const uint64_t hash = life->hash();
  faults::Before("flock", [&] {
    ASSERT_TRUE(life->Rotate().ok());
    life.reset();
  });
  ExpectGoesOn(path, hash, "");
}

// Takes the journal, adds a node to what it finds there, and begins it anew
// each second time. 0: done; 1: another has it; else an error.
int AddNode(const std::string& path, const std::string& key, bool rotate) {
  auto journal = JournalWriter::Continue(path);
  if (absl::IsUnavailable(journal.status())) return 1;
  if (!journal.ok()) return 2;
  auto replayed = ReplayFile(path);
  if (!replayed.ok()) return 3;
  Scheduler& scheduler = replayed->scheduler;
  scheduler.SetJournal(journal->get());
  if (!scheduler.Apply({.at = 0, .what = NodeChanged{{.key = key}}}).ok()) {
    return 4;
  }
  if (rotate) return (*journal)->Rotate(scheduler.State()).ok() ? 0 : 5;
  return (*journal)->Flush().ok() ? 0 : 6;
}

TEST(JournalRotateTest, WhatManyProcessesAddIsAllThere) {
  constexpr int kProcesses = 4;
  constexpr int kNodes = 25;
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  const auto scheduler = Scheduler::Create({});
  ASSERT_TRUE(JournalWriter::Create(path, scheduler->State()).ok());
  std::vector<std::unique_ptr<Child>> children;
  for (int c = 0; c < kProcesses; ++c) {
    children.push_back(std::make_unique<Child>([&] {
      for (int i = 0; i < kNodes; ++i) {
        const std::string key = std::to_string(c) + "/" + std::to_string(i);
        int code = 1;
        while (code == 1) code = AddNode(path, key, i % 2 == 1);
        if (code != 0) return code;
      }
      return 0;
    }));
  }
  for (auto& child : children) EXPECT_EQ(child->Wait(), 0);
  const auto replayed = ReplayFile(path);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->scheduler.State().nodes.size(),
            size_t{kProcesses * kNodes});
}

// --- What goes wrong --------------------------------------------------------

// Rotate fails, and the old journal goes on as if it had not been tried.
void ExpectRefused(Life& life, const std::string& path, const std::string& keep,
                   absl::StatusCode code, const std::string& message) {
  const absl::Status rotated = life.Rotate(keep);
  EXPECT_EQ(rotated.code(), code) << rotated;
  EXPECT_THAT(std::string(rotated.message()), HasSubstr(message));
  EXPECT_TRUE(life.journal->status().ok()) << life.journal->status();
  EXPECT_FALSE(fs::exists(path + ".new"));
  life.Live(3);
  ASSERT_TRUE(life.journal->Flush().ok());
  ExpectLeadsTo(path, life.hash());
}

TEST(JournalRotateTest, AFailureLeavesTheOldJournal) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 8);
  for (const std::string call : {"write", "fsync", "rename", "link"}) {
    SCOPED_TRACE(call);
    // The records before it have left the buffer.
    ASSERT_TRUE(life.journal->Flush().ok());
    faults::Before("flock", [&] { faults::Fail(call, ENOSPC); });
    const absl::Status rotated =
        life.Rotate(call == "link" ? scratch.Path("kept") : "");
    faults::Heal();
    EXPECT_EQ(rotated.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(rotated.message()), HasSubstr(scratch.Path("")));
    EXPECT_TRUE(life.journal->status().ok());
    EXPECT_FALSE(fs::exists(path + ".new"));
    life.Live(3);
    ASSERT_TRUE(life.journal->Flush().ok());
    ExpectLeadsTo(path, life.hash());
  }
  EXPECT_TRUE(life.Rotate(scratch.Path("kept")).ok());
}

TEST(JournalRotateTest, ANameThatIsTakenIsRefused) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 8);
  const std::string other = scratch.Write("other", "precious");
  ExpectRefused(life, path, other, absl::StatusCode::kAlreadyExists,
                other + ": cannot give this name to " + path);
  EXPECT_EQ(Scratch::Read(other), "precious");
  ExpectRefused(life, path, path, absl::StatusCode::kAlreadyExists, path);
  ExpectRefused(life, path, scratch.Path("no-such-folder/j"),
                absl::StatusCode::kNotFound, "no-such-folder");
}

TEST(JournalRotateTest, AStateThatCannotBeRestoredIsRefused) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 8);
  SchedulerState broken = life.scheduler().State();
  broken.queues.push_back({.key = "orphan", .parent = "nobody"});
  const absl::Status rotated = life.journal->Rotate(broken);
  EXPECT_EQ(rotated.code(), absl::StatusCode::kInvalidArgument) << rotated;
  EXPECT_THAT(std::string(rotated.message()),
              HasSubstr(path + ": not rotated: the state"));
  ASSERT_TRUE(life.journal->Flush().ok());
  ExpectLeadsTo(path, life.hash());
}

TEST(JournalRotateTest, AJournalThatWasMovedIsNotRotatedOverAnother) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 8);
  fs::rename(path, scratch.Path("moved"));
  const auto message = HasSubstr(path + ": is another file");
  EXPECT_THAT(std::string(life.Rotate().message()), message);
  scratch.Write("j", "precious");
  EXPECT_THAT(std::string(life.Rotate().message()), message);
  EXPECT_EQ(Scratch::Read(path), "precious");
}

TEST(JournalRotateTest, AJournalInMemoryHasNoFile) {
  std::string bytes;
  JournalWriter writer({}, &bytes);
  EXPECT_EQ(writer.Rotate({}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(JournalRotateTest, AnErrorIsOverInANewJournal) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 9);
  faults::Fail("write", ENOSPC);
  life.Live(1);
  faults::Heal();
  life.Live(5);
  EXPECT_EQ(life.journal->status().code(),
            absl::StatusCode::kResourceExhausted);
  const absl::Status rotated = life.Rotate();
  EXPECT_TRUE(rotated.ok()) << rotated;
  life.Live(5);
  EXPECT_TRUE(life.journal->Flush().ok()) << life.journal->status();
  ExpectLeadsTo(path, life.hash());
}

TEST(JournalRotateTest, ARecordThatCannotBeWrittenIsOverInANewJournal) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Life life(path, 9);
  life.ReportOneMore();
  PlanRecord bad;
  bad.decisions.push_back({.kind = static_cast<DecisionKind>(99)});
  life.journal->Planned(bad);
  EXPECT_FALSE(life.journal->status().ok());
  ASSERT_TRUE(life.Rotate().ok());
  life.Live(5);
  ASSERT_TRUE(life.journal->Flush().ok());
  ExpectLeadsTo(path, life.hash());
}

TEST(JournalRotateTest, AFolderThatCannotBeSyncedIsAnErrorThatStays) {
  const Scratch scratch;
  Life life(scratch.Path("j"), 9);
  faults::Before("rename", [] { faults::Fail("fsync", EIO); });
  EXPECT_FALSE(life.Rotate().ok());
  faults::Heal();
  EXPECT_FALSE(life.journal->status().ok());
  ExpectLeadsTo(scratch.Path("j"), life.hash());
  EXPECT_TRUE(life.Rotate().ok());
  EXPECT_TRUE(life.journal->status().ok());
}

// --- Names ------------------------------------------------------------------

TEST(JournalRotateTest, TheRightsStay) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  constexpr fs::perms kPrivate = fs::perms::owner_read | fs::perms::owner_write;
  Life life(path, 9);
  fs::permissions(path, kPrivate);
  fs::perms while_written{};
  faults::Before("write", [&] {
    while_written = fs::status(path + ".new").permissions();
  });
  ASSERT_TRUE(life.Rotate().ok());
  EXPECT_EQ(while_written, kPrivate);
  EXPECT_EQ(fs::status(path).permissions(), kPrivate);
}

TEST(JournalRotateTest, ALinkToTheJournalStaysOne) {
  const Scratch scratch;
  {
    const Life life(scratch.Path("real"), 9);
  }
  fs::create_symlink("real", scratch.Path("link"));
  auto journal = JournalWriter::Continue(scratch.Path("link"));
  ASSERT_TRUE(journal.ok()) << journal.status();
  auto replayed = ReplayFile(scratch.Path("link"));
  ASSERT_TRUE((*journal)->Rotate(replayed->scheduler.State()).ok());
  EXPECT_TRUE(fs::is_symlink(scratch.Path("link")));
  EXPECT_TRUE(IsTaken(scratch.Path("real")));
  EXPECT_EQ((*journal)->bytes(), fs::file_size(scratch.Path("real")));
}

TEST(JournalRotateTest, TheHostMayChangeItsFolder) {
  const Scratch scratch;
  Child child([&] {
    if (chdir(scratch.Path(".").c_str()) != 0) return 1;
    Life life("j", 9);
    if (chdir("/") != 0) return 2;
    return life.Rotate().ok() ? 0 : 3;
  });
  EXPECT_EQ(child.Wait(), 0);
  EXPECT_TRUE(ReplayFile(scratch.Path("j")).ok());
}

}  // namespace
}  // namespace muster::wire
