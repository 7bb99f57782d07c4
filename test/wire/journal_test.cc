#include "muster/wire/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/wire/file.h"
#include "lib/wire/format.h"
#include "muster/wire/convert.h"
#include "muster/wire/snapshot.h"
#include "test/wire/filler.h"
#include "test/wire/scratch.h"

namespace muster::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr size_t kPreamble = 12;
constexpr size_t kFrame = 12;

std::string JournalError(const absl::Status& status) {
  return std::string(status.message());
}

// A journal's content: a start, then events and plans in turn.
struct Story {
  SchedulerState start{};
  std::vector<JournalRecord> records{};

  explicit Story(uint64_t seed, int length = 6) {
    Filler filler(seed);
    start = filler.Make<SchedulerState>();
    for (int i = 0; i < length; ++i) {
      if (i % 2 == 0) records.push_back({filler.Make<Event>()});
      if (i % 2 == 1) records.push_back({filler.Make<PlanRecord>()});
    }
  }
};

void Record(const JournalRecord& record, Journal* journal) {
  if (auto* event = std::get_if<Event>(&record.what)) journal->Applied(*event);
  if (auto* plan = std::get_if<PlanRecord>(&record.what)) {
    journal->Planned(*plan);
  }
}

// The story's journal; if asked, where each record ends (the header's first).
std::string Written(const Story& story, std::vector<size_t>* ends = nullptr) {
  std::string bytes;
  JournalWriter writer(story.start, &bytes);
  if (ends != nullptr) ends->push_back(bytes.size());
  for (const JournalRecord& record : story.records) {
    Record(record, &writer);
    if (ends != nullptr) ends->push_back(bytes.size());
  }
  EXPECT_TRUE(writer.status().ok()) << writer.status();
  EXPECT_EQ(writer.bytes(), bytes.size());
  return bytes;
}

// What came of reading a journal to its end.
struct Reading {
  absl::Status status{};
  size_t records = 0;  // Without the header.
  std::optional<TornTail> torn{};
};

// Reads on, and expects to meet the story's records.
Reading ReadAll(absl::StatusOr<JournalReader> reader, const Story& story) {
  Reading reading{.status = reader.status()};
  if (!reader.ok()) return reading;
  EXPECT_EQ(reader->header().start, story.start);
  JournalRecord record;
  while (true) {
    const absl::StatusOr<bool> more = reader->Next(&record);
    reading.status = more.status();
    reading.torn = reader->torn_tail();
    if (!more.ok() || !*more) return reading;
    EXPECT_EQ(Difference(story.records.at(reading.records), record), "");
    ++reading.records;
    EXPECT_EQ(reader->number(), reading.records);
  }
}

Reading ReadBytes(std::string_view bytes, const Story& story) {
  return ReadAll(JournalReader::OfBytes(bytes, "j"), story);
}

// --- Whole journals ---------------------------------------------------------

TEST(JournalTest, RecordsComeBackInOrder) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Story story(seed);
    const Reading reading = ReadBytes(Written(story), story);
    EXPECT_TRUE(reading.status.ok()) << reading.status;
    EXPECT_EQ(reading.records, story.records.size());
    EXPECT_FALSE(reading.torn.has_value());
  }
}

TEST(JournalTest, AFileHoldsWhatMemoryHolds) {
  const Scratch scratch;
  const Story story(1, 200);
  for (const size_t buffer : {0, 100, 1 << 20}) {
    const std::string path = scratch.Path(std::to_string(buffer));
    {
      auto writer =
          JournalWriter::Create(path, story.start, {.buffer_bytes = buffer});
      ASSERT_TRUE(writer.ok()) << writer.status();
      for (const JournalRecord& r : story.records) Record(r, writer->get());
    }
    EXPECT_EQ(Scratch::Read(path), Written(story));
    const Reading reading = ReadAll(JournalReader::Open(path), story);
    EXPECT_TRUE(reading.status.ok()) << reading.status;
    EXPECT_EQ(reading.records, story.records.size());
  }
}

TEST(JournalTest, RecordsLargerThanThePieceThatIsReadComeBack) {
  const Scratch scratch;
  Story story(1, 0);
  for (const size_t size : {1 << 20, 10, 300'000, 0, 262'144}) {
    story.records.push_back({Event{.what = NodeUp{std::string(size, 'n')}}});
  }
  const std::string path = scratch.Write("journal", Written(story));
  const Reading reading = ReadAll(JournalReader::Open(path), story);
  EXPECT_TRUE(reading.status.ok()) << reading.status;
  EXPECT_EQ(reading.records, story.records.size());
}

TEST(JournalTest, TheHeaderNamesTheWriter) {
  const Story story(1);
  const std::string bytes = Written(story);
  const auto reader = JournalReader::OfBytes(bytes);
  EXPECT_THAT(reader->header().writer, StartsWith("muster "));
}

TEST(JournalTest, PlansReachTheFileAsTheOptionsSay) {
  const Scratch scratch;
  const Story story(2);
  for (const JournalFlush flush :
       {JournalFlush::kWhenFull, JournalFlush::kEachPlan,
        JournalFlush::kEachRecord, JournalFlush::kSyncEachPlan}) {
    const std::string path =
        scratch.Path(std::to_string(static_cast<int>(flush)));
    auto writer = *JournalWriter::Create(path, story.start, {.flush = flush});
    const size_t start = Scratch::Read(path).size();
    EXPECT_EQ(start, writer->bytes());
    Record(story.records[0], writer.get());
    EXPECT_EQ(Scratch::Read(path).size() > start,
              flush == JournalFlush::kEachRecord);
    Record(story.records[1], writer.get());
    EXPECT_EQ(Scratch::Read(path).size() > start,
              flush != JournalFlush::kWhenFull);
    EXPECT_TRUE(writer->Flush().ok());
    EXPECT_EQ(Scratch::Read(path).size(), writer->bytes());
  }
}

TEST(JournalTest, AnExistingFileIsNotOverwritten) {
  const Scratch scratch;
  const std::string path = scratch.Write("journal", "precious");
  const auto writer = JournalWriter::Create(path, Story(1).start);
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Scratch::Read(path), "precious");
}

TEST(JournalTest, NothingIsWrittenBehindAnErrorAndTheErrorStays) {
  const Story story(1);
  std::string bytes;
  JournalWriter writer(story.start, &bytes);
  const size_t before = bytes.size();
  PlanRecord bad;
  bad.decisions.push_back({.kind = static_cast<DecisionKind>(99)});
  writer.Planned(bad);
  Record(story.records[0], &writer);
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(JournalError(writer.Flush()), HasSubstr("decisions[0].kind: 99"));
  EXPECT_EQ(bytes.size(), before);
}

TEST(JournalTest, WhatWasToldBeforeAnErrorIsWritten) {
  const Scratch scratch;
  const Story story(1, 1);
  const std::string path = scratch.Path("journal");
  auto writer = *JournalWriter::Create(path, story.start,
                                       {.flush = JournalFlush::kWhenFull});
  Record(story.records[0], writer.get());
  PlanRecord bad;
  bad.decisions.push_back({.kind = static_cast<DecisionKind>(99)});
  writer->Planned(bad);
  EXPECT_THAT(JournalError(writer->status()),
              StartsWith(path + ": a record: "));
  EXPECT_EQ(Scratch::Read(path), Written(story));
}

TEST(JournalTest, AFullDiskIsAnError) {
  auto full = internal::File::OpenToAppend("/dev/full");
  if (!full.ok()) GTEST_SKIP() << full.status();
  const absl::Status status = full->Append("bytes");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(JournalError(status), HasSubstr("/dev/full: cannot write"));
}

// --- Torn tails -------------------------------------------------------------

TEST(JournalTest, TruncationAtEveryByteKeepsTheWholeRecordsBeforeIt) {
  const Story story(4);
  std::vector<size_t> ends;
  const std::string bytes = Written(story, &ends);
  for (size_t n = 0; n < bytes.size(); ++n) {
    SCOPED_TRACE("cut at byte " + std::to_string(n));
    const Reading reading =
        ReadBytes(std::string_view(bytes).substr(0, n), story);
    if (n < ends[0]) {
      ASSERT_EQ(reading.status.code(), absl::StatusCode::kDataLoss);
      continue;
    }
    ASSERT_TRUE(reading.status.ok()) << reading.status;
    size_t whole = 0;
    while (ends[whole + 1] <= n) ++whole;
    ASSERT_EQ(reading.records, whole);
    ASSERT_EQ(reading.torn.has_value(), n != ends[whole]);
    if (!reading.torn) continue;
    ASSERT_EQ(reading.torn->offset, ends[whole]);
    ASSERT_EQ(reading.torn->bytes, n - ends[whole]);
  }
}

TEST(JournalTest, ALastRecordWithMissingPagesIsTorn) {
  const Story story(4);
  std::vector<size_t> ends;
  std::string bytes = Written(story, &ends);
  const size_t last = ends[ends.size() - 2];
  // Its second half never reached the disk; then, nothing of it did.
  for (const size_t from : {(last + kFrame + bytes.size()) / 2, last}) {
    std::fill(bytes.begin() + from, bytes.end(), '\0');
    const Reading reading = ReadBytes(bytes, story);
    EXPECT_TRUE(reading.status.ok()) << reading.status;
    EXPECT_EQ(reading.records, story.records.size() - 1);
    ASSERT_TRUE(reading.torn.has_value());
    EXPECT_EQ(reading.torn->offset, last);
  }
}

TEST(JournalTest, RecoverCutsTheTornTailOffAndTheJournalGoesOn) {
  const Scratch scratch;
  const Story story(5);
  std::vector<size_t> ends;
  const std::string bytes = Written(story, &ends);
  const size_t whole = ends[ends.size() - 2];
  const std::string path =
      scratch.Write("journal", bytes.substr(0, bytes.size() - 1));

  const auto torn = RecoverJournal(path);
  ASSERT_TRUE(torn.ok()) << torn.status();
  ASSERT_TRUE(torn->has_value());
  EXPECT_EQ((*torn)->offset, whole);
  EXPECT_EQ(Scratch::Read(path), bytes.substr(0, whole));
  EXPECT_EQ(*RecoverJournal(path), std::nullopt);

  auto writer = JournalWriter::Continue(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ((*writer)->bytes(), whole);
  Record(story.records.back(), writer->get());
  ASSERT_TRUE((*writer)->Sync().ok());
  EXPECT_EQ(Scratch::Read(path), bytes);
}

TEST(JournalTest, ContinueCutsTheTornTailOffFirst) {
  const Scratch scratch;
  const Story story(5);
  const std::string bytes = Written(story);
  const std::string path =
      scratch.Write("journal", bytes.substr(0, bytes.size() - 3));
  auto writer = JournalWriter::Continue(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  Record(story.records.back(), writer->get());
  ASSERT_TRUE((*writer)->Flush().ok());
  EXPECT_EQ(Scratch::Read(path), bytes);
}

// --- Damage -----------------------------------------------------------------

TEST(JournalTest, EveryFlippedBitIsFound) {
  const Story story(6, 4);
  std::vector<size_t> ends;
  const std::string bytes = Written(story, &ends);
  const size_t last = ends[ends.size() - 2] + kFrame;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE("bit " + std::to_string(bit) + " of byte " +
                   std::to_string(i));
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const Reading reading = ReadBytes(flipped, story);
      if (i >= last - 4) {  // The last record or its checksum: as if torn.
        ASSERT_TRUE(reading.status.ok()) << reading.status;
        ASSERT_TRUE(reading.torn.has_value());
      } else {
        ASSERT_FALSE(reading.status.ok());
        ASSERT_THAT(JournalError(reading.status), StartsWith("j: "));
      }
    }
  }
}

TEST(JournalTest, DamageIsNamedByRecordAndByteAndNothingIsCutOff) {
  const Scratch scratch;
  const Story story(6);
  std::vector<size_t> ends;
  std::string bytes = Written(story, &ends);
  bytes[ends[1] + kFrame + 1] ^= 1;
  const std::string path = scratch.Write("journal", bytes);
  const auto torn = RecoverJournal(path);
  EXPECT_EQ(torn.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(JournalError(torn.status()),
            path + ": record 2 at byte " + std::to_string(ends[1]) +
                ": the checksum is not that of the record");
  EXPECT_EQ(Scratch::Read(path), bytes);
  EXPECT_FALSE(JournalWriter::Continue(path).ok());
}

TEST(JournalTest, AnErrorStays) {
  const Story story(6);
  std::vector<size_t> ends;
  std::string bytes = Written(story, &ends);
  bytes[ends[0]] ^= 1;
  auto reader = JournalReader::OfBytes(bytes);
  JournalRecord record;
  const absl::Status first = reader->Next(&record).status();
  EXPECT_THAT(JournalError(first), HasSubstr("record 1"));
  EXPECT_EQ(reader->Next(&record).status(), first);
}

TEST(JournalTest, AnUnknownRecordIsRefusedThoughItIsWhole) {
  const Story story(6, 0);
  std::string bytes = Written(story);
  const size_t at = bytes.size();
  // A later version's journal: record 9 of JournalRecord.
  std::string later;
  {
    JournalWriter writer({}, &later);
    const size_t start = later.size();
    writer.Applied({.what = NodeUp{"n"}});
    later.erase(0, start);
  }
  std::string record = later.substr(kFrame);
  record[0] = 9 << 3 | 2;
  internal::PutFrame(record, later.data());
  later.replace(kFrame, std::string::npos, record);
  bytes += later;
  const Reading reading = ReadBytes(bytes, story);
  EXPECT_EQ(reading.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(JournalError(reading.status),
            "j: record 1 at byte " + std::to_string(at) +
                ": field 9 is not known to this version (byte " +
                std::to_string(at + kFrame) + ")");
}

TEST(JournalTest, ASecondHeaderIsAnError) {
  const Story story(6, 0);
  const std::string bytes = Written(story);
  const Reading reading = ReadBytes(bytes + bytes.substr(kPreamble), story);
  EXPECT_THAT(JournalError(reading.status), HasSubstr("record 1"));
  EXPECT_THAT(JournalError(reading.status), HasSubstr("a second header"));
}

TEST(JournalTest, AJournalThatBeginsWithAnEventIsAnError) {
  std::vector<size_t> ends;
  std::string bytes = Written(Story(6), &ends);
  bytes.erase(kPreamble, ends[0] - kPreamble);
  EXPECT_EQ(JournalError(JournalReader::OfBytes(bytes, "j").status()),
            "j: record 0 at byte 12: the first record is no header");
}

TEST(JournalTest, ForeignFilesAreNamed) {
  const Scratch scratch;
  const std::string path = scratch.Write("foreign", "name,cpu_milli,memory\n");
  const auto reader = JournalReader::Open(path);
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(JournalError(reader.status()),
            path + ": byte 0: is not a Muster journal");
  EXPECT_FALSE(RecoverJournal(path).ok());
  EXPECT_EQ(Scratch::Read(path), "name,cpu_milli,memory\n");

  const std::string snapshot = *EncodeSnapshot({});
  EXPECT_FALSE(JournalReader::OfBytes(snapshot).ok());
  EXPECT_EQ(JournalReader::Open(scratch.Path("absent")).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace muster::wire
