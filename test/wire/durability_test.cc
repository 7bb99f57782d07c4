// What a crash of the process leaves of a journal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "muster/scheduler.h"
#include "muster/wire/journal.h"
#include "test/wire/child.h"
#include "test/wire/faults.h"
#include "test/wire/scratch.h"

namespace muster::wire {
namespace {

// Whole records behind the header.
struct Records {
  int events = 0;
  int plans = 0;
  friend bool operator==(const Records&, const Records&) = default;
};

Records Count(const std::string& path) {
  Records records;
  auto reader = JournalReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  JournalRecord record;
  while (reader.ok() && *reader->Next(&record)) {
    records.events += std::holds_alternative<Event>(record.what);
    records.plans += std::holds_alternative<PlanRecord>(record.what);
  }
  return records;
}

// A host applies two events, submits a gang, makes a plan, which drains it,
// applies another event, submits another gang, and is killed.
void LiveAndDie(const std::string& path, JournalOptions options,
                absl::Status (JournalWriter::*last)()) {
  Child child([&] {
    auto scheduler = Scheduler::Create({.resources = {"gpu"}});
    auto journal = JournalWriter::Create(path, scheduler->State(), options);
    if (!journal.ok()) return 1;
    scheduler->SetJournal(journal->get());
    const auto apply = [&](EventBody what) {
      return scheduler->Apply({.at = 0, .what = std::move(what)}).ok();
    };
    if (!apply(NodeChanged{{.key = "n"}}) || !apply(QueueChanged{{.key = "q"}}))
      return 2;
    const auto submit = [&](const std::string& key) {
      return scheduler->Submit({.key = key, .queue = "q", .roles = {Role{}}})
          .ok();
    };
    if (!submit("drained")) return 2;
    Plan plan;
    scheduler->Schedule(0, &plan);
    if (!plan.refused.empty()) return 3;
    if (!apply(NodeDown{"n"})) return 4;
    if (!submit("lost")) return 4;
    if (last != nullptr && !((**journal).*last)().ok()) return 5;
    KillThisProcess();
  });
  EXPECT_EQ(child.Wait(), -1) << "was to be killed";
}

// The table of docs/wire.md, of a process.
TEST(JournalCrashTest, WhatSurvivesKillIsAsTheTableSays) {
  const struct {
    JournalFlush flush;
    Records records;
  } kRows[] = {
      {JournalFlush::kWhenFull, {.events = 0, .plans = 0}},
      {JournalFlush::kEachPlan, {.events = 3, .plans = 1}},
      {JournalFlush::kEachRecord, {.events = 4, .plans = 1}},
      {JournalFlush::kSyncEachPlan, {.events = 3, .plans = 1}},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(static_cast<int>(row.flush));
    const Scratch scratch;
    LiveAndDie(scratch.Path("j"), {.flush = row.flush}, nullptr);
    EXPECT_EQ(Count(scratch.Path("j")), row.records);
    // All that Apply took, and never what Submit() took and no pass drained.
    const Records all{.events = 4, .plans = 1};
    LiveAndDie(scratch.Path("f"), {.flush = row.flush}, &JournalWriter::Flush);
    EXPECT_EQ(Count(scratch.Path("f")), all);
    LiveAndDie(scratch.Path("s"), {.flush = row.flush}, &JournalWriter::Sync);
    EXPECT_EQ(Count(scratch.Path("s")), all);
  }
}

TEST(JournalCrashTest, ByDefaultNoPlanIsForgotten) {
  const Scratch scratch;
  LiveAndDie(scratch.Path("j"), {}, nullptr);
  EXPECT_EQ(Count(scratch.Path("j")), (Records{.events = 3, .plans = 1}));
}

// The table of a machine: what was written before an fsync survives.
TEST(JournalCrashTest, WhatIsOnTheDiskIsAsTheTableSays) {
  for (const JournalFlush flush :
       {JournalFlush::kWhenFull, JournalFlush::kEachPlan,
        JournalFlush::kEachRecord, JournalFlush::kSyncEachPlan}) {
    SCOPED_TRACE(static_cast<int>(flush));
    const Scratch scratch;
    auto scheduler = Scheduler::Create({.resources = {"gpu"}});
    auto journal = JournalWriter::Create(scratch.Path("j"), scheduler->State(),
                                         {.flush = flush});
    ASSERT_TRUE(journal.ok()) << journal.status();
    scheduler->SetJournal(journal->get());
    // The calls that `something` makes come down to: has it synced, last?
    const auto synced = [&](const std::function<void()>& something) {
      faults::Record(scratch.Path("."));
      something();
      const std::vector<std::string> calls = faults::Recorded();
      return !calls.empty() && calls.back() == "fsync j";
    };
    const Event event{.at = 0, .what = QueueChanged{{.key = "q"}}};
    Plan plan;
    EXPECT_FALSE(synced([&] { ASSERT_TRUE(scheduler->Apply(event).ok()); }));
    EXPECT_EQ(synced([&] { scheduler->Schedule(0, &plan); }),
              flush == JournalFlush::kSyncEachPlan);
    EXPECT_FALSE(synced([&] { ASSERT_TRUE((*journal)->Flush().ok()); }));
    EXPECT_TRUE(synced([&] { ASSERT_TRUE((*journal)->Sync().ok()); }));
    scheduler->SetJournal(nullptr);
  }
}

}  // namespace
}  // namespace muster::wire
