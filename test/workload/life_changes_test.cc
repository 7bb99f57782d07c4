// Stories of jobs that are moved, resized, suspended, forgotten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/workload/life_fixture.h"

namespace muster::workload {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LifeChangesTest : public LifeTest {};

// --- What is nobody's failure ------------------------------------------------

TEST_F(LifeChangesTest, ALostNodeCostsNothing) {
  LifeHost& h = Run("pytorch-kubeflow");
  for (int i = 0; i < 20; ++i) {
    h.Exits({1, 0}, 0, ExitReason::kNodeLost);
    h.FinishStops();
    EXPECT_EQ(h.phase(), LifePhase::kQueued);  // For one place.
    EXPECT_EQ(h.places(), 3u);
    h.PlaceAll();
    h.RunAll();
    EXPECT_EQ(h.phase(), LifePhase::kRunning);
  }
  EXPECT_EQ(h.state().restarts, 0u);
}

TEST_F(LifeChangesTest, APreemptedJobWaitsAndStartsAgain) {
  LifeHost& h = Run("pytorch-kubeflow");
  h.Tell(Preempted{30 * kSecond});
  EXPECT_EQ(h.Acted(ActionKind::kStop).size(), 4u);
  EXPECT_EQ(h.output().actions[0].grace, 30 * kSecond);
  h.FinishStops();
  EXPECT_EQ(h.phase(), LifePhase::kQueued);
  EXPECT_EQ(h.places(), 0u);
  EXPECT_EQ(h.state().restarts, 0u);
  EXPECT_EQ(h.state().preemptions, 1u);
  h.PlaceAll();
  EXPECT_EQ(h.Live().size(), 4u);
}

TEST_F(LifeChangesTest, WhatHasSucceededInAJobStaysDone) {
  LifeHost& h = Run(AllIndexes());
  h.Exits({0, 0}, 0);
  h.Tell(Preempted{0});
  h.FinishStops();
  h.PlaceAll();
  h.RunAll();
  EXPECT_EQ(h.state().roles[0].succeeded, 1u);
  EXPECT_THAT(h.LiveNames(), testing::Not(testing::Contains("task-0")));
}

TEST_F(LifeChangesTest, AJobThatIsNotRequeuedFailsByAPreemption) {
  Job job = JobOf("sbatch");
  job.requeue = false;
  LifeHost& h = Run(job);
  h.Tell(Preempted{0});
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  h.FinishStops();
}

// --- Checkpoints and sizes ---------------------------------------------------

TEST_F(LifeChangesTest, ACheckpointComesBeforeTheStop) {
  LifeHost& h = Run("pytorch-kubedl");
  h.Tell(Preempted{60 * kSecond});
  EXPECT_EQ(h.phase(), LifePhase::kCheckpointing);
  EXPECT_EQ(h.Acted(ActionKind::kCheckpoint).size(), 1u);
  EXPECT_EQ(h.output().wake_at, 60 * kSecond);
  h.At(20 * kSecond);
  h.Tell(CheckpointDone{1});
  EXPECT_EQ(h.phase(), LifePhase::kStopping);
  EXPECT_EQ(h.output().actions[0].grace, 30 * kSecond);
  EXPECT_EQ(h.state().checkpoint_at, 20 * kSecond);
  h.FinishStops();
  EXPECT_EQ(h.phase(), LifePhase::kQueued);
}

TEST_F(LifeChangesTest,
       ACheckpointThatNeverEndsIsWaitedForNoLonger) {  // Defect 22.
  LifeHost& h = Run("pytorch-kubedl");
  h.Tell(Preempted{60 * kSecond});
  h.At(60 * kSecond);
  h.Tell(TimePassed{});
  EXPECT_EQ(h.phase(), LifePhase::kStopping);
  h.Tell(CheckpointDone{1});  // Too late, and true.
  h.FinishStops();
  EXPECT_EQ(h.phase(), LifePhase::kQueued);
}

TEST_F(LifeChangesTest, ANoticeThatIsTooShortIsNoReasonToAsk) {
  Job job = JobOf("pytorch-kubedl");
  job.checkpoint.least_notice = 10 * kSecond;
  LifeHost& h = Run(job);
  h.Tell(Preempted{5 * kSecond});
  EXPECT_EQ(h.phase(), LifePhase::kStopping);
}

TEST_F(LifeChangesTest, AJobOfOneSizeMovesAsAWhole) {
  LifeHost& h = Run("pytorch-kubedl");
  h.Tell(PlacesTaken{{{1, 2}}, 60 * kSecond, /*moved=*/true});
  EXPECT_EQ(h.phase(), LifePhase::kCheckpointing);
  h.Tell(PlacesTaken{{{1, 1}}, 30 * kSecond, /*moved=*/true});
  EXPECT_EQ(h.output().wake_at, 30 * kSecond);
  h.Tell(CheckpointDone{1});
  h.FinishStops();
  EXPECT_EQ(h.phase(), LifePhase::kQueued);
  EXPECT_EQ(h.places(), 2u);
  h.PlaceAll();
  EXPECT_EQ(h.Live().size(), 1u);  // The master, then its workers.
  EXPECT_EQ(h.state().restarts, 0u);
}

TEST_F(LifeChangesTest, AnElasticJobGoesOnWithFewer) {
  LifeHost& h = Run("pytorch-elastic");
  EXPECT_EQ(h.Live().size(), 4u);
  h.Tell(PlacesTaken{{{0, 3}, {0, 1}}, kSecond});
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  EXPECT_THAT(h.Acted(ActionKind::kStop), ElementsAre("worker-3", "worker-1"));
  h.FinishStops();
  EXPECT_EQ(h.state().roles[0].size, 2u);
  h.Tell(Placed{{{0, 1}}});
  EXPECT_THAT(h.Acted(ActionKind::kStart), ElementsAre("worker-1"));
  h.Exits({0, 0}, 1);  // torchrun's own affair: only it starts again.
  EXPECT_THAT(h.Acted(ActionKind::kStop), IsEmpty());
}

TEST_F(LifeChangesTest, SizesAreAskedOfTheScheduler) {
  LifeHost& h = Run("ray-cluster");
  h.Tell(ResizeAsked{1, 4});
  ASSERT_EQ(h.output().actions.size(), 1u);
  EXPECT_EQ(h.output().actions[0].kind, ActionKind::kResize);
  EXPECT_EQ(h.output().actions[0].slot, 4u);
  h.Tell(Placed{{{1, 2}, {1, 3}}});
  EXPECT_THAT(h.Acted(ActionKind::kStart), ElementsAre("small-2", "small-3"));
  LifeState state = h.state();
  LifeOutput output;
  EXPECT_TRUE(absl::IsInvalidArgument(
      life_->Step(ResizeAsked{1, 6}, 0, &state, &output)));
  EXPECT_EQ(state, h.state());
  Begin("jax");
  EXPECT_TRUE(absl::IsFailedPrecondition(
      life_->Step(ResizeAsked{0, 1}, 0, &state, &output)));
}

// --- Suspension, deadlines, the end ------------------------------------------

TEST_F(LifeChangesTest, ASuspendedJobHoldsNothingUntilItIsResumed) {
  LifeHost& h = Run("pytorch-kubeflow");
  h.Tell(SuspendAsked{});
  h.FinishStops();
  EXPECT_EQ(h.phase(), LifePhase::kSuspended);
  EXPECT_EQ(h.Acted(ActionKind::kRelease).size(), 1u);
  EXPECT_EQ(h.places(), 0u);
  h.Tell(ResumeAsked{});
  EXPECT_EQ(h.Acted(ActionKind::kReserve).size(), 1u);
  h.PlaceAll();
  EXPECT_EQ(h.Live().size(), 4u);
}

TEST_F(LifeChangesTest, AJobMayBeginSuspended) {
  Job job = JobOf("jax");
  job.suspend = true;
  LifeHost& h = Begin(job);
  h.Submit();
  EXPECT_EQ(h.phase(), LifePhase::kSuspended);
  EXPECT_THAT(h.output().actions, IsEmpty());
  h.Tell(ResumeAsked{});
  EXPECT_EQ(h.phase(), LifePhase::kQueued);
}

TEST_F(LifeChangesTest, TheDeadlineCountsTheTimeWithPlaces) {
  Job job = JobOf("jax");
  job.active_deadline = 100 * kSecond;
  LifeHost& h = Begin(job);
  h.Submit();
  h.At(kHour);  // In the queue.
  h.PlaceAll();
  EXPECT_EQ(h.output().wake_at, kHour + 100 * kSecond);
  h.RunAll();
  h.At(kHour + 60 * kSecond);
  h.Tell(Preempted{0});
  h.FinishStops();
  h.At(2 * kHour);
  h.PlaceAll();
  EXPECT_EQ(h.output().wake_at, 2 * kHour + 40 * kSecond);
  h.At(2 * kHour + 40 * kSecond);
  h.Tell(TimePassed{});
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  EXPECT_EQ(Conditions().back(), "Failed:DeadlineExceeded");
  h.FinishStops();
}

TEST_F(LifeChangesTest, AFinishedJobIsForgottenInTime) {
  LifeHost& h = Run("ray-job");
  h.Exits({2, 0}, 0);
  h.FinishStops();
  EXPECT_EQ(h.output().wake_at, 60 * kSecond);
  h.At(60 * kSecond);
  h.Tell(TimePassed{});
  EXPECT_EQ(h.phase(), LifePhase::kForgotten);
  EXPECT_EQ(h.output().wake_at, kForever);
}

TEST_F(LifeChangesTest, DeletionStopsAndForgets) {
  LifeHost& h = Run("tf-kubeflow");
  h.Tell(DeletionAsked{});
  h.FinishStops();
  EXPECT_EQ(h.phase(), LifePhase::kForgotten);
  EXPECT_EQ(h.Acted(ActionKind::kForget).size(), 1u);
}

TEST_F(LifeChangesTest, CleanPolicyAllRemovesWhatIsKept) {
  Job job = JobOf("jax");
  job.clean = CleanPolicy::kAll;
  LifeHost& h = Run(job);
  h.Exits({0, 0}, 0);
  h.Exits({0, 1}, 0);
  EXPECT_EQ(h.Acted(ActionKind::kCleanUp).size(), 1u);
}

// --- After a crash of the host -----------------------------------------------

TEST_F(LifeChangesTest, WhatIsGoneStartsAgainAndWhatIsTooManyStops) {
  LifeHost& h = Run("tf-kubeflow");
  const uint32_t attempt = h.attempt({2, 0});
  h.Tell(TasksListed{{{{0, 0}, 1, true},
                      {{0, 1}, 1, true},
                      {{1, 0}, 1, true},
                      {{2, 1}, 1, true},
                      {{3, 0}, 7, true}}});
  EXPECT_THAT(h.Acted(ActionKind::kStart),
              ElementsAre("worker-0", "evaluator-0"));
  EXPECT_THAT(h.Acted(ActionKind::kStop), ElementsAre("evaluator-0"));
  EXPECT_EQ(h.output().actions.back().attempt, 7u);
  EXPECT_EQ(h.attempt({2, 0}), attempt + 1);
  EXPECT_EQ(h.state().restarts, 0u);
}

TEST_F(LifeChangesTest, SpansThatNoTimeCanHoldAreRefused) {
  Begin("jax");
  Duration Job::* const spans[] = {&Job::active_deadline, &Job::ttl};
  for (const auto span : spans) {
    Job job = JobOf("jax");
    job.*span = kMaxDuration;
    EXPECT_TRUE(Life::Make(job).ok());
    job.*span = kMaxDuration + 1;
    EXPECT_TRUE(absl::IsInvalidArgument(Life::Make(job).status()));
  }
  Job job = JobOf("jax");
  job.checkpoint.timeout = kForever;
  EXPECT_TRUE(absl::IsInvalidArgument(Life::Make(job).status()));
  job = JobOf("jax");
  job.failure.backoff_max = -1;
  EXPECT_TRUE(absl::IsInvalidArgument(Life::Make(job).status()));
}

TEST_F(LifeChangesTest, RefusedEventsChangeNothing) {
  LifeHost& h = Run("jax");
  LifeState state = h.state();
  LifeOutput output;
  for (const LifeEvent& event :
       {LifeEvent(TaskExited{{0, 2}, 1, 0}), LifeEvent(Placed{{{1, 0}}}),
        LifeEvent(PlacesTaken{{{0, 5}}, 0}), LifeEvent(Preempted{-1}),
        LifeEvent(Preempted{kMaxDuration + 1}),
        LifeEvent(PlacesTaken{{{0, 0}}, kForever})}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(life_->Step(event, 0, &state, &output)));
    EXPECT_EQ(state, h.state());
  }
}

}  // namespace
}  // namespace muster::workload
