// One writer a journal.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>

#include "muster/wire/journal.h"
#include "test/wire/child.h"
#include "test/wire/faults.h"
#include "test/wire/scratch.h"

namespace muster::wire {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void ExpectTaken(const absl::Status& status, const std::string& path) {
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path + ": another writer has this file"),
                    HasSubstr("only one at a time may write it")));
}

TEST(JournalLockTest, ASecondWriterIsRefusedInTheSameProcess) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  auto first = JournalWriter::Create(path, {});
  ASSERT_TRUE(first.ok()) << first.status();
  ExpectTaken(JournalWriter::Continue(path).status(), path);
  EXPECT_EQ(JournalWriter::Create(path, {}).status().code(),
            absl::StatusCode::kAlreadyExists);
  first->reset();
  first = JournalWriter::Continue(path);
  ASSERT_TRUE(first.ok()) << first.status();
  ExpectTaken(JournalWriter::Continue(path).status(), path);
}

TEST(JournalLockTest, ASecondWriterIsRefusedInAnotherProcess) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  auto first = JournalWriter::Create(path, {});
  ASSERT_TRUE(first.ok()) << first.status();
  Child child([&] {
    return absl::IsUnavailable(JournalWriter::Continue(path).status()) ? 0 : 1;
  });
  EXPECT_EQ(child.Wait(), 0);
}

TEST(JournalLockTest, TheLockGoesWithItsProcess) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  Child child([&] {
    auto writer = JournalWriter::Create(path, {});
    if (writer.ok()) scratch.Write("ready", "");
    pause();
    return 0;
  });
  while (!std::filesystem::exists(scratch.Path("ready"))) usleep(1000);
  ExpectTaken(JournalWriter::Continue(path).status(), path);
  child.Kill();
  const auto writer = JournalWriter::Continue(path);
  EXPECT_TRUE(writer.ok()) << writer.status();
}

// What it would cut off may be a record that the other is writing.
TEST(JournalLockTest, NothingIsCutOffUnderAnothersLock) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  auto first = JournalWriter::Create(path, {});
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string torn = Scratch::Read(path) + "half";
  scratch.Write("j", torn);
  ExpectTaken(JournalWriter::Continue(path).status(), path);
  ExpectTaken(RecoverJournal(path).status(), path);
  EXPECT_EQ(Scratch::Read(path), torn);

  first->reset();
  const auto cut = RecoverJournal(path);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ((*cut)->bytes, 4u);
  EXPECT_TRUE(JournalWriter::Continue(path).ok()) << "it keeps no lock";
}

TEST(JournalLockTest, AReaderNeedsNoLock) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  auto first = JournalWriter::Create(path, {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(JournalReader::Open(path).ok());
}

TEST(JournalLockTest, AFileSystemWithoutLocksIsNamed) {
  const Scratch scratch;
  const std::string path = scratch.Path("j");
  faults::Fail("flock", ENOLCK);
  const absl::Status status = JournalWriter::Create(path, {}).status();
  faults::Heal();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(path + ".new: cannot lock"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.Path(".")));
}

TEST(JournalLockTest, OnlyRegularFilesAreJournals) {
  const Scratch scratch;
  const std::string path = scratch.Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  Child reader([&] { return open(path.c_str(), O_RDONLY) >= 0 ? 0 : 1; });
  const absl::Status status = JournalWriter::Continue(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(path + ": is not a regular file"));
}

}  // namespace
}  // namespace muster::wire
