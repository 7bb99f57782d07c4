// A new journal is there whole or not at all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/wire/locked_file.h"
#include "muster/wire/journal.h"
#include "test/wire/child.h"
#include "test/wire/faults.h"
#include "test/wire/filler.h"
#include "test/wire/scratch.h"

namespace muster::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace fs = std::filesystem;

SchedulerState SomeState() { return Filler(3).Make<SchedulerState>(); }

void ExpectWhole(const std::string& path, const SchedulerState& start) {
  const auto reader = JournalReader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->header().start, start);
}

// Creates while something happens before its file gets its name.
absl::Status CreateWhile(const std::string& path,
                         const std::function<void()>& something) {
  faults::Before("fsync", something);
  return JournalWriter::Create(path, {}).status();
}

void ExpectCreates(const std::string& path) {
  const auto writer = JournalWriter::Create(path, SomeState());
  EXPECT_TRUE(writer.ok()) << writer.status();
  ExpectWhole(path, SomeState());
  EXPECT_FALSE(fs::exists(path + ".new"));
}

TEST(JournalCreateTest, TheFileIsOnTheDiskBeforeItHasItsName) {
  const Scratch scratch;
  faults::Record(scratch.Path("."));
  const auto writer = JournalWriter::Create(scratch.Path("j"), {});
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_THAT(faults::Recorded(),
              ElementsAre("flock j.new", MatchesRegex("write j.new [0-9]+"),
                          "fsync j.new", "renameat2 j.new j", "fsync ."));
}

// File systems differ in how they give a name without overwriting.
struct Way {
  std::string name{};
  std::vector<std::pair<std::string, int>> missing{};

  void Take() const {
    for (const auto& [call, error] : missing) faults::Fail(call, error);
  }
};

const Way kWays[] = {
    {"renameat2", {}},
    {"link", {{"renameat2", EINVAL}}},
    {"rename", {{"renameat2", EINVAL}, {"link", EPERM}}},
};

TEST(JournalCreateTest, EachWayCreatesAndNoneOverwrites) {
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    const Scratch scratch;
    way.Take();
    ExpectCreates(scratch.Path("j"));
    // It comes into being after the first look.
    const absl::Status late =
        CreateWhile(scratch.Path("k"), [&] { scratch.Write("k", "precious"); });
    faults::Heal();
    EXPECT_EQ(late.code(), absl::StatusCode::kAlreadyExists) << late;
    EXPECT_EQ(Scratch::Read(scratch.Path("k")), "precious");
    EXPECT_FALSE(fs::exists(scratch.Path("k.new")));
  }
}

TEST(JournalCreateTest, ACrashAtAnyStepLeavesAWholeJournalOrNone) {
  for (const Way& way : kWays) {
    int none = 0;
    int whole = 0;
    for (int step = 0; step < 20; ++step) {
      SCOPED_TRACE(way.name + ", step " + std::to_string(step));
      const Scratch scratch;
      const std::string path = scratch.Path("j");
      Child child([&] {
        way.Take();
        faults::DieAt(step);
        return JournalWriter::Create(path, SomeState()).ok() ? 0 : 1;
      });
      const bool died = child.Wait() < 0;
      if (!fs::exists(path)) {
        ++none;
        ExpectCreates(path);
      } else {
        ++whole;
        ExpectWhole(path, SomeState());
        EXPECT_EQ(JournalWriter::Create(path, {}).status().code(),
                  absl::StatusCode::kAlreadyExists);
        const auto writer = JournalWriter::Continue(path);
        EXPECT_TRUE(writer.ok()) << writer.status();
      }
      if (!died) break;
    }
    EXPECT_GE(none, 4);   // Lock, write, sync, give the name.
    EXPECT_GE(whole, 2);  // Sync the folder; and without a crash.
  }
}

TEST(JournalCreateTest, WhatACrashLeftBehindDoesNotDisturb) {
  for (const char* left : {"", "half", "MUSTJRNL and a lot more of it"}) {
    const Scratch scratch;
    scratch.Write("j.new", left);
    ExpectCreates(scratch.Path("j"));
  }
}

TEST(JournalCreateTest, WhatAnotherIsWritingIsLeftAlone) {
  const Scratch scratch;
  const std::string fresh = scratch.Write("j.new", "half");
  const auto other = internal::LockedFile::Open(fresh);
  ASSERT_TRUE(other.ok()) << other.status();
  const absl::Status status =
      JournalWriter::Create(scratch.Path("j"), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(fresh + ": another writer has this file"));
  EXPECT_EQ(Scratch::Read(fresh), "half");
}

TEST(JournalCreateTest, OfManyAtOnceOneCreates) {
  for (int round = 0; round < 20; ++round) {
    const Scratch scratch;
    scratch.Write("j.new", "half");
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < 8; ++i) {
      children.push_back(std::make_unique<Child>([&] {
        const absl::Status status =
            JournalWriter::Create(scratch.Path("j"), SomeState()).status();
        if (status.ok()) return 0;
        return absl::IsAlreadyExists(status) || absl::IsUnavailable(status) ? 1
                                                                            : 2;
      }));
    }
    int created = 0;
    for (auto& child : children) {
      const int code = child->Wait();
      created += code == 0;
      EXPECT_LT(code, 2);
    }
    EXPECT_EQ(created, 1);
    ExpectWhole(scratch.Path("j"), SomeState());
  }
}

TEST(JournalCreateTest, AFailureLeavesNothingBehind) {
  for (const char* call : {"write", "fsync", "renameat2"}) {
    SCOPED_TRACE(call);
    const Scratch scratch;
    faults::Fail(call, EIO);
    const absl::Status status =
        JournalWriter::Create(scratch.Path("j"), {}).status();
    faults::Heal();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr(scratch.Path("j")));
    EXPECT_TRUE(fs::is_empty(scratch.Path(".")));
  }
}

TEST(JournalCreateTest, WhateverIsThereIsNotOverwritten) {
  const Scratch scratch;
  fs::create_directory(scratch.Path("folder"));
  fs::create_symlink("nowhere", scratch.Path("link"));
  for (const char* name : {"folder", "link"}) {
    const absl::Status status =
        JournalWriter::Create(scratch.Path(name), {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(scratch.Path(name) + ": exists already"));
  }
  const std::string nowhere = scratch.Path("no-such-folder/j");
  const absl::Status status = JournalWriter::Create(nowhere, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(nowhere));
}

}  // namespace
}  // namespace muster::wire
