#include "muster/wire/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "muster/wire/convert.h"
#include "muster/wire/journal.h"
#include "test/wire/random_host.h"
#include "test/wire/scratch.h"

namespace muster::wire {
namespace {

using ::testing::HasSubstr;

constexpr ReplayMode kModes[] = {ReplayMode::kVerify, ReplayMode::kFollow};
constexpr uint64_t kSeeds = 16;
constexpr int kSteps = 120;

// A host's journal, and the state's hash wherever a step ended.
struct Past {
  std::string journal{};
  std::map<size_t, uint64_t> hashes{};  // By the journal's length.
  SchedulerState end{};

  // The journal is attached after so many steps.
  explicit Past(uint64_t seed, int attached = 0, int steps = kSteps) {
    RandomHost host(seed);
    for (int i = 0; i < attached; ++i) host.Step();
    JournalWriter writer(host.scheduler().State(), &journal);
    host.scheduler().SetJournal(&writer);
    for (int i = 0; i < steps; ++i) {
      hashes[journal.size()] = host.scheduler().StateHash();
      host.Step();
    }
    hashes[journal.size()] = host.scheduler().StateHash();
    end = host.scheduler().State();
    host.scheduler().SetJournal(nullptr);
    EXPECT_TRUE(writer.status().ok()) << writer.status();
  }
};

absl::StatusOr<Replayed> ReplayBytes(std::string_view bytes, ReplayMode mode) {
  absl::StatusOr<JournalReader> reader = JournalReader::OfBytes(bytes, "j");
  if (!reader.ok()) return reader.status();
  return Replay(&*reader, mode);
}

void ExpectReplays(const Past& past) {
  for (const ReplayMode mode : kModes) {
    SCOPED_TRACE(mode == ReplayMode::kVerify ? "verify" : "follow");
    const absl::StatusOr<Replayed> replayed = ReplayBytes(past.journal, mode);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_EQ(Difference(past.end, replayed->scheduler.State()), "");
    EXPECT_EQ(replayed->scheduler.StateHash(), past.hashes.rbegin()->second);
  }
}

TEST(ReplayTest, BothWaysEndInTheSameState) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ExpectReplays(Past(seed));
  }
}

TEST(ReplayTest, MoreThan64DevicesComeBackFromJournalAndState) {
  Scheduler scheduler = *Scheduler::Create({});
  std::string journal;
  JournalWriter writer(scheduler.State(), &journal);
  scheduler.SetJournal(&writer);
  Node node{.key = "n", .capacity = {32000, 0}};
  node.devices.resize(80);
  ASSERT_TRUE(scheduler.Apply({0, NodeChanged{node}}).ok());
  ASSERT_TRUE(scheduler.Apply({0, QueueChanged{{.key = "q"}}}).ok());
  for (const uint32_t devices : {70u, 10u}) {
    Gang gang{.key = std::to_string(devices), .queue = "q", .roles = {Role()}};
    gang.roles[0].shape.devices.count = devices;
    ASSERT_TRUE(scheduler.Apply({0, GangSubmitted{gang}}).ok());
  }
  Plan plan;
  scheduler.Schedule(0, &plan);
  ASSERT_EQ(plan.decisions.size(), 2u);
  ASSERT_TRUE(
      scheduler.Apply({0, DecisionApplied{plan.decisions[0].seq}}).ok());
  scheduler.SetJournal(nullptr);
  const SchedulerState end = scheduler.State();
  for (const ReplayMode mode : kModes) {
    const absl::StatusOr<Replayed> replayed = ReplayBytes(journal, mode);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_EQ(Difference(end, replayed->scheduler.State()), "");
    EXPECT_EQ(replayed->scheduler.StateHash(), scheduler.StateHash());
  }
  SchedulerState read;
  ASSERT_TRUE(Parse(*Serialize(end), &read).ok());
  const absl::StatusOr<Scheduler> restored = Scheduler::Restore(read);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->StateHash(), scheduler.StateHash());
}

// Else the tests around it would prove little.
TEST(ReplayTest, TheRandomHostsMeetEveryKindOfDecision) {
  std::set<DecisionKind> kinds;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Past past(seed);
    auto reader = JournalReader::OfBytes(past.journal);
    JournalRecord record;
    while (*reader->Next(&record)) {
      auto* plan = std::get_if<PlanRecord>(&record.what);
      if (plan == nullptr) continue;
      for (const DecisionRecord& d : plan->decisions) kinds.insert(d.kind);
    }
  }
  for (const DecisionKind kind :
       {DecisionKind::kNominate, DecisionKind::kStart, DecisionKind::kGrow,
        DecisionKind::kShrink, DecisionKind::kEvict, DecisionKind::kSuspend,
        DecisionKind::kResume, DecisionKind::kCancel}) {
    EXPECT_TRUE(kinds.contains(kind)) << Name(kind);
  }
}

TEST(ReplayTest, AJournalMayBeginInTheMiddleOfALife) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ExpectReplays(Past(seed, 60));
  }
}

TEST(ReplayTest, StatisticsCountWhatTheJournalHolds) {
  const Past past(1);
  const auto replayed = ReplayBytes(past.journal, ReplayMode::kFollow);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->stats.plans, uint64_t{kSteps});
  EXPECT_GT(replayed->stats.events, uint64_t{kSteps});
  EXPECT_GT(replayed->stats.decisions, 0u);
}

TEST(ReplayTest, AReplayedSchedulerGoesOnToTheSamePlans) {
  const Past past(2);
  auto verified = ReplayBytes(past.journal, ReplayMode::kVerify);
  auto followed = ReplayBytes(past.journal, ReplayMode::kFollow);
  ASSERT_TRUE(verified.ok() && followed.ok());
  auto restored = Scheduler::Restore(past.end);
  ASSERT_TRUE(restored.ok()) << restored.status();
  Plan plan;
  for (int i = 1; i < 50; ++i) {
    const Time now = past.end.now + i * 30 * kSecond;
    restored->Schedule(now, &plan);
    const PlanRecord expected = restored->Record(plan);
    for (Scheduler* s : {&verified->scheduler, &followed->scheduler}) {
      s->Schedule(now, &plan);
      ASSERT_EQ(Difference(expected, s->Record(plan)), "") << "pass " << i;
    }
    for (const DecisionRecord& d : expected.decisions) {
      const Event done{.at = now, .what = DecisionApplied{d.seq}};
      for (Scheduler* s :
           {&*restored, &verified->scheduler, &followed->scheduler}) {
        ASSERT_TRUE(s->Apply(done).ok());
      }
    }
  }
}

TEST(ReplayTest, ACrashLosesOnlyTheRecordItTore) {
  const Past past(3, 0, 40);
  size_t torn = 0;
  auto hash = past.hashes.begin();
  for (size_t n = hash->first; n < past.journal.size(); n += 37) {
    SCOPED_TRACE("cut at byte " + std::to_string(n));
    auto reader = JournalReader::OfBytes(
        std::string_view(past.journal).substr(0, n), "j");
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto replayed = Replay(&*reader, ReplayMode::kFollow);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    const size_t whole = reader->torn_tail() ? reader->torn_tail()->offset : n;
    torn += reader->torn_tail().has_value();
    hash = past.hashes.find(whole);
    if (hash == past.hashes.end()) continue;  // In the middle of a step.
    EXPECT_EQ(replayed->scheduler.StateHash(), hash->second);
  }
  EXPECT_GT(torn, 0u);
}

TEST(ReplayTest, AHostGoesOnWithItsJournalAfterACrash) {
  const Scratch scratch;
  const Past past(4, 0, 60);
  const std::string path = scratch.Write(
      "journal",
      std::string_view(past.journal).substr(0, past.journal.size() - 5));

  auto reader = JournalReader::Open(path);
  auto replayed = Replay(&*reader, ReplayMode::kFollow);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_TRUE(reader->torn_tail().has_value());
  auto writer = JournalWriter::Continue(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  replayed->scheduler.SetJournal(writer->get());
  Plan plan;
  for (int i = 0; i < 20; ++i) {
    replayed->scheduler.Schedule(past.end.now + i * kSecond, &plan);
  }
  ASSERT_TRUE((*writer)->Flush().ok());
  replayed->scheduler.SetJournal(nullptr);

  auto again = JournalReader::Open(path);
  const auto all = Replay(&*again, ReplayMode::kVerify);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->scheduler.StateHash(), replayed->scheduler.StateHash());
}

// The journal with its records changed by `change`.
template <class Change>
std::string Rewrite(const std::string& journal, Change change) {
  auto reader = JournalReader::OfBytes(journal);
  std::string bytes;
  JournalWriter writer(reader->header().start, &bytes);
  JournalRecord record;
  while (*reader->Next(&record)) {
    change(&record);
    if (auto* e = std::get_if<Event>(&record.what)) writer.Applied(*e);
    if (auto* p = std::get_if<PlanRecord>(&record.what)) writer.Planned(*p);
  }
  return bytes;
}

TEST(ReplayTest, VerifyNamesTheFirstDifference) {
  const Past past(5);
  bool changed = false;
  const std::string journal = Rewrite(past.journal, [&](JournalRecord* record) {
    auto* plan = std::get_if<PlanRecord>(&record->what);
    if (plan == nullptr || changed) return;
    for (DecisionRecord& d : plan->decisions) {
      if (d.kind != DecisionKind::kStart || changed) continue;
      d.tasks[0].node = "elsewhere";
      changed = true;
    }
  });
  ASSERT_TRUE(changed);
  const absl::Status status =
      ReplayBytes(journal, ReplayMode::kVerify).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("j: record "));
  EXPECT_THAT(message,
              HasSubstr("another plan is made now: modified: decisions[0]"));
  EXPECT_THAT(message, HasSubstr("\"elsewhere\" -> "));

  const std::string followed(
      ReplayBytes(journal, ReplayMode::kFollow).status().message());
  EXPECT_THAT(followed, HasSubstr("the plan cannot be followed"));
  EXPECT_THAT(followed, HasSubstr("elsewhere"));
}

TEST(ReplayTest, AnEventThatIsRefusedNowIsNamed) {
  const Past past(6);
  std::string journal = Rewrite(past.journal, [](JournalRecord* record) {
    auto* event = std::get_if<Event>(&record->what);
    if (event == nullptr) return;
    if (auto* s = std::get_if<GangSubmitted>(&event->what)) {
      s->gang.queue = "nobody's";
    }
  });
  for (const ReplayMode mode : kModes) {
    const std::string message(ReplayBytes(journal, mode).status().message());
    EXPECT_THAT(message, HasSubstr("the event is refused"));
    EXPECT_THAT(message, HasSubstr("nobody's"));
  }
}

TEST(ReplayTest, AStartThatContradictsItselfIsRefused) {
  SchedulerState start;
  start.queues = {{.key = "orphan", .parent = "nobody"}};
  std::string journal;
  JournalWriter writer(start, &journal);
  const auto replayed = ReplayBytes(journal, ReplayMode::kFollow);
  EXPECT_THAT(std::string(replayed.status().message()),
              HasSubstr("j: record 0 at byte 12: cannot start here"));
}

}  // namespace
}  // namespace muster::wire
