#include "muster/wire/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "muster/wire/convert.h"
#include "muster/wire/journal.h"
#include "test/wire/filler.h"
#include "test/wire/scratch.h"

namespace muster::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

SchedulerState SomeState(uint64_t seed = 3) {
  return Filler(seed).Make<SchedulerState>();
}

std::string RestoreError(const absl::Status& status) {
  return std::string(status.message());
}

TEST(SnapshotTest, TheStateComesBackFromTheFile) {
  const Scratch scratch;
  const std::string path = scratch.Path("state.snapshot");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const SchedulerState state = SomeState(seed);
    ASSERT_TRUE(WriteSnapshot(path, state).ok());
    const absl::StatusOr<SchedulerState> read = ReadSnapshot(path);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, state) << Difference(state, *read);
  }
}

TEST(SnapshotTest, AFileThatCannotBeReplacedIsLeftAlone) {
  const Scratch scratch;
  const absl::Status status =
      WriteSnapshot(scratch.Path("no-such-folder/state"), SomeState());
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(RestoreError(status), HasSubstr("no-such-folder/state"));

  EXPECT_EQ(ReadSnapshot(scratch.Path("absent")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(RestoreError(ReadSnapshot(scratch.Path("")).status()),
              HasSubstr("is not a regular file"));
}

TEST(SnapshotTest, WhatACrashLeftBehindDoesNotDisturb) {
  const Scratch scratch;
  const std::string path = scratch.Path("state");
  scratch.Write("state.new", "half a snapshot");
  EXPECT_TRUE(WriteSnapshot(path, SomeState()).ok());
  EXPECT_TRUE(ReadSnapshot(path).ok());
}

TEST(SnapshotTest, TruncationAtEveryByteIsFound) {
  const std::string bytes = *EncodeSnapshot(SomeState());
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto read = DecodeSnapshot(std::string_view(bytes).substr(0, n), "s");
    ASSERT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << n;
    ASSERT_THAT(RestoreError(read.status()), StartsWith("s: byte ")) << n;
  }
}

TEST(SnapshotTest, EveryFlippedBitIsFound) {
  const std::string bytes = *EncodeSnapshot(SomeState(5));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto read = DecodeSnapshot(flipped, "s");
      ASSERT_FALSE(read.ok()) << "bit " << bit << " of byte " << i;
      ASSERT_THAT(RestoreError(read.status()), StartsWith("s: byte "));
    }
  }
}

TEST(SnapshotTest, ForeignFilesAreNamed) {
  const Scratch scratch;
  for (const char* text : {"{}", "PK\3\4 a zip file", "MUST be something"}) {
    const std::string path = scratch.Write("foreign", text);
    const auto read = ReadSnapshot(path);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(RestoreError(read.status()),
              path + ": byte 0: is not a Muster snapshot");
  }
  std::string journal;
  JournalWriter writer(SomeState(), &journal);
  EXPECT_THAT(RestoreError(DecodeSnapshot(journal).status()),
              HasSubstr("is not a Muster snapshot"));
}

TEST(SnapshotTest, AnotherFormatIsNamed) {
  std::string bytes = *EncodeSnapshot(SomeState());
  bytes[8] = 2;
  EXPECT_EQ(RestoreError(DecodeSnapshot(bytes, "s").status()),
            "s: byte 8: the snapshot has format 2, this version reads format "
            "1");
}

}  // namespace
}  // namespace muster::wire
