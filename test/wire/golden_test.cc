// One snapshot and one journal of each release must load for ever.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "muster/wire/convert.h"
#include "muster/wire/journal.h"
#include "muster/wire/replay.h"
#include "muster/wire/snapshot.h"
#include "test/wire/random_host.h"

namespace muster::wire {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = MUSTER_GOLDEN_FOLDER;
constexpr char kThisVersion[] = MUSTER_VERSION;

// The versions that have a file with this extension.
std::set<std::string> Versions(const std::string& extension) {
  std::set<std::string> versions;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == extension) {
      versions.insert(entry.path().stem().string());
    }
  }
  return versions;
}

TEST(GoldenTest, EachReleaseHasBothFiles) {
  EXPECT_EQ(Versions(".snapshot"), Versions(".journal"));
  EXPECT_TRUE(Versions(".snapshot").contains(kThisVersion))
      << "see " << kFolder / "README.md";
}

TEST(GoldenTest, TheSnapshotOfEachReleaseRestores) {
  for (const std::string& version : Versions(".snapshot")) {
    SCOPED_TRACE(version);
    const auto state = ReadSnapshot(kFolder / (version + ".snapshot"));
    ASSERT_TRUE(state.ok()) << state.status();
    const auto scheduler = Scheduler::Restore(*state);
    ASSERT_TRUE(scheduler.ok()) << scheduler.status();
    EXPECT_TRUE(scheduler->Validate().ok()) << scheduler->Validate();
    EXPECT_EQ(Difference(*state, scheduler->State()), "");
  }
}

TEST(GoldenTest, TheJournalOfEachReleaseLeadsToItsSnapshot) {
  for (const std::string& version : Versions(".journal")) {
    SCOPED_TRACE(version);
    auto reader = JournalReader::Open(kFolder / (version + ".journal"));
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto replayed = Replay(&*reader, ReplayMode::kFollow);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_FALSE(reader->torn_tail().has_value());
    const auto state = ReadSnapshot(kFolder / (version + ".snapshot"));
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(Difference(*state, replayed->scheduler.State()), "");
  }
}

// Not a test: writes the files of this version, over those that are there.
TEST(GoldenTest, DISABLED_WriteThisVersion) {
  constexpr int kSteps = 100;
  const fs::path base = kFolder / kThisVersion;
  const std::string journal = base.string() + ".journal";
  fs::remove(journal);
  RandomHost host(1);
  auto writer = JournalWriter::Create(journal, host.scheduler().State());
  ASSERT_TRUE(writer.ok()) << writer.status();
  host.scheduler().SetJournal(writer->get());
  for (int i = 0; i < kSteps; ++i) host.Step();
  host.scheduler().SetJournal(nullptr);
  ASSERT_TRUE((*writer)->Flush().ok()) << (*writer)->status();
  ASSERT_TRUE(
      WriteSnapshot(base.string() + ".snapshot", host.scheduler().State())
          .ok());
}

}  // namespace
}  // namespace muster::wire
