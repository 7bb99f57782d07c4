// Long random histories: what is told late, twice or not at all is among them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "test/property/dice.h"
#include "test/workload/life_moves.h"
#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

#ifndef MUSTER_LIFE_EVENTS
#define MUSTER_LIFE_EVENTS 1'000'000
#endif

// Jobs of all kinds, large and small.
std::vector<Job> AllJobs() {
  std::vector<Job> jobs = SmallJobs();
  for (const Manifest& m : AllManifests()) jobs.push_back(JobOf(m.name));
  for (Job& job : jobs) {
    if (job.kind == Kind::kTrainJob) job.checkpoint.enabled = true;
  }
  return jobs;
}

// Whether an event may be told again later, when it is no longer true.
bool MayComeAgain(const LifeEvent& event) {
  return std::holds_alternative<TaskStarted>(event) ||
         std::holds_alternative<TaskReady>(event) ||
         std::holds_alternative<TaskExited>(event) ||
         std::holds_alternative<CheckpointDone>(event) ||
         std::holds_alternative<Submitted>(event);
}

// One life from its beginning to its end, or to `most` events.
class History {
 public:
  History(const Life* life, Dice* dice) : host_(life), dice_(*dice) {}

  size_t Live(size_t most) {
    size_t events = 0;
    for (; events < most && host_.phase() != LifePhase::kForgotten; ++events) {
      if (!told_.empty() && dice_.OneIn(6)) {
        Repeat();
      } else {
        One();
      }
      if (!host_.problem().empty()) break;
    }
    return events;
  }
  const LifeHost& host() const { return host_; }

 private:
  // Something that can happen; what ends a job seldom.
  void One() {
    const std::vector<Move> moves = Moves(host_, /*all=*/true);
    ASSERT_FALSE(moves.empty());
    const Move* move = &moves[dice_.Below(static_cast<uint32_t>(moves.size()))];
    for (int i = 0; i < 3 && Ends(move->event); ++i) {
      move = &moves[dice_.Below(static_cast<uint32_t>(moves.size()))];
    }
    host_.At(move->at);
    host_.Tell(move->event);
    told_.push_back(move->event);
    if (told_.size() > 16) told_.erase(told_.begin());
  }

  void Repeat() {
    const LifeEvent event =
        told_[dice_.Below(static_cast<uint32_t>(told_.size()))];
    if (!MayComeAgain(event)) return;
    const LifeState before = host_.state();
    const bool last = event.index() == told_.back().index();
    host_.Tell(event);
    if (last || std::holds_alternative<TaskExited>(event)) {
      // What was told changes nothing the second time.
      EXPECT_EQ(host_.state().live, before.live);
      EXPECT_EQ(host_.state().restarts, before.restarts);
    }
  }

  bool Ends(const LifeEvent& event) const {
    if (std::holds_alternative<DeletionAsked>(event)) return true;
    const auto* exited = std::get_if<TaskExited>(&event);
    return exited != nullptr && exited->code != 143;
  }

  LifeHost host_;
  Dice& dice_;
  std::vector<LifeEvent> told_;
};

TEST(LifeRandomTest, NoHistoryBreaksAnInvariant) {
  const char* fixed = std::getenv("MUSTER_SEED");
  std::vector<Life> lives;
  for (Job& job : AllJobs()) lives.push_back(*Life::Make(std::move(job)));
  size_t events = 0;
  int ends[static_cast<size_t>(LifePhase::kForgotten) + 1] = {};
  for (uint64_t seed = fixed != nullptr ? std::strtoull(fixed, nullptr, 10) : 1;
       events < MUSTER_LIFE_EVENTS; ++seed) {
    Dice dice(seed);
    const Life& life = lives[dice.Below(static_cast<uint32_t>(lives.size()))];
    History history(&life, &dice);
    events += history.Live(400);
    ASSERT_EQ(history.host().problem(), "")
        << "MUSTER_SEED=" << seed << ", a " << Name(life.job().kind) << " of "
        << Name(life.job().dialect);
    ++ends[static_cast<size_t>(history.host().phase())];
    if (fixed != nullptr) break;
  }
  if (fixed == nullptr) {
    EXPECT_GT(ends[static_cast<size_t>(LifePhase::kForgotten)], 100);
  }
}

// The whole state after a history is that after the same history.
TEST(LifeRandomTest, EqualHistoriesAreEqual) {
  const auto life = Life::Make(JobOf("pytorch-kubedl"));
  ASSERT_TRUE(life.ok());
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Dice a(seed), b(seed);
    History first(&*life, &a), second(&*life, &b);
    first.Live(200);
    second.Live(200);
    EXPECT_EQ(first.host().state(), second.host().state());
  }
}

// If nothing more fails, and places come, every job ends.
TEST(LifeRandomTest, EveryJobEndsWhenNothingMoreFails) {
  for (Job& job : AllJobs()) {
    const auto life = Life::Make(job);
    ASSERT_TRUE(life.ok());
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Dice dice(seed);
      History history(&*life, &dice);
      history.Live(60);
      LifeHost host = history.host();
      ASSERT_EQ(host.problem(), "");
      for (int i = 0; i < 4000 && host.phase() < LifePhase::kSucceeded; ++i) {
        if (host.phase() == LifePhase::kNew) host.Submit();
        if (host.state().suspend) host.Tell(ResumeAsked{});
        host.FinishStops();
        if (host.phase() == LifePhase::kCheckpointing) {
          host.Tell(CheckpointDone{host.state().checkpoint_asked});
        }
        if (host.phase() <= LifePhase::kBackoff) host.PlaceAll();
        host.RunAll();
        const std::vector<TaskId> live = host.Live();
        if (!live.empty()) {
          host.Exits(live[i % live.size()], 0);
        } else if (host.output().wake_at != kForever) {
          host.At(std::max(host.now(), host.output().wake_at));
          host.Tell(TimePassed{});
        }
      }
      ASSERT_EQ(host.problem(), "") << "seed " << seed;
      EXPECT_GE(host.phase(), LifePhase::kSucceeded)
          << "seed " << seed << ", " << Name(job.kind) << " of "
          << Name(job.dialect) << " is " << Name(host.phase());
    }
  }
}

}  // namespace
}  // namespace muster::workload
