// Stories of one job each: from its start to its success or failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/workload/life_fixture.h"

namespace muster::workload {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// --- The way through --------------------------------------------------------

TEST_F(LifeTest, NothingStartsBeforeAllHavePlaces) {
  LifeHost& h = Begin("pytorch-kubeflow");
  h.Submit();
  EXPECT_THAT(h.Acted(ActionKind::kReserve).size(), 1u);
  h.Tell(Placed{{{0, 0}, {1, 0}}});
  EXPECT_THAT(h.Live(), IsEmpty());
  h.Tell(Placed{{{1, 1}, {1, 2}}});
  EXPECT_EQ(h.Live().size(), 4u);
  h.RunAll();
  h.Exits({0, 0}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kSucceeded);
  EXPECT_THAT(
      Conditions(),
      ElementsAre("Created:JobCreated", "Queuing:not:JobDequeued",
                  "Running:not:JobSucceeded", "Succeeded:JobSucceeded"));
  // cleanPodPolicy None: the workers end by themselves.
  EXPECT_EQ(h.Live().size(), 3u);
  EXPECT_THAT(h.Acted(ActionKind::kStop), IsEmpty());
  for (uint32_t i = 0; i < 3; ++i) h.Exits({1, i}, 0);
  EXPECT_EQ(h.Acted(ActionKind::kRelease).size(), 1u);
}

TEST_F(LifeTest, RolesStartInTheirOrderAndHoldTheirPlacesBefore) {
  LifeHost& h = Begin("tf-kubedl");
  h.Submit();
  h.PlaceAll();
  EXPECT_EQ(h.places(), 6u);
  EXPECT_THAT(h.LiveNames(), ElementsAre("ps-0", "ps-1"));
  h.Started({0, 0});
  EXPECT_EQ(h.Live().size(), 2u);
  h.Started({0, 1});
  EXPECT_EQ(h.Live().size(), 6u);
}

TEST_F(LifeTest, AnUpstreamThatFailsOpensNothing) {  // Defect 13.
  Job job = JobOf("mars");
  job.roles[0].decisive = false;
  job.success[0].roles = {2};
  LifeHost& h = Begin(job);
  h.Submit();
  h.PlaceAll();
  h.Exits({0, 0}, 1);
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  EXPECT_THAT(h.Live(), IsEmpty());
}

TEST_F(LifeTest, LaunchersStartBesideWorkersThatAreOnlyPlaces) {
  LifeHost& h = Run("mpi-kubedl");
  EXPECT_THAT(h.LiveNames(), ElementsAre("launcher-0"));
  h.Exits({1, 0}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kSucceeded);
  EXPECT_EQ(h.places(), 0u);
}

TEST_F(LifeTest, ConditionsCountSomeTasks) {
  LifeHost& h = Begin(
      ParseOne(WithOrder("worker=ps:Ready:1; evaluator=worker:Succeeded:1"))
          .job);
  h.Submit();
  h.PlaceAll();
  h.Started({0, 0});
  EXPECT_THAT(h.Acted(ActionKind::kStart), IsEmpty());
  h.IsReady({0, 0});
  EXPECT_THAT(h.Acted(ActionKind::kStart), ElementsAre("worker-0", "worker-1"));
  h.Exits({2, 1}, 0);
  EXPECT_THAT(h.Acted(ActionKind::kStart), ElementsAre("evaluator-0"));
}

// --- Success ----------------------------------------------------------------

struct SuccessRow {
  const char* manifest = "";
  std::vector<TaskId> exits{};  // The last one decides.
};

TEST_F(LifeTest, SuccessIsAsTheKindSays) {
  const SuccessRow kRows[] = {
      {"tf-kubeflow", {{1, 0}}},
      {"pytorch-kubeflow", {{0, 0}}},
      {"pytorch-kubedl", {{0, 0}, {1, 1}, {1, 0}, {1, 2}}},
      {"pytorch-elastic", {{0, 1}}},
      {"mpi-v2", {{1, 0}}},
      {"xgboost-kubedl", {{0, 0}}},
      {"mars", {{0, 0}}},
      {"jax", {{0, 1}, {0, 0}}},
      {"train-torch", {{0, 0}, {0, 2}, {0, 1}}},
      {"jobset", {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}}},
      {"ray-cluster", {{0, 0}}},
      {"ray-job", {{2, 0}}},
      {"sbatch", {{0, 0}}},
  };
  for (const SuccessRow& row : kRows) {
    SCOPED_TRACE(row.manifest);
    LifeHost& h = Run(row.manifest);
    for (const TaskId id : row.exits) {
      EXPECT_EQ(h.phase(), LifePhase::kRunning);
      h.Exits(id, 0);
    }
    EXPECT_EQ(h.phase(), LifePhase::kSucceeded);
    EXPECT_EQ(h.problem(), "");
  }
}

TEST_F(LifeTest, WorkerZeroIsTheChiefOfAJobWithoutOne) {
  Job job = JobOf("tf-kubeflow");
  job.roles.erase(job.roles.begin() + 1);  // Chief.
  job.success = {{.roles = {1}, .indexes = {{0, 0}}}, {.roles = {1}}};
  LifeHost& h = Run(job);
  h.Exits({1, 1}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  h.Exits({1, 0}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kSucceeded);
}

TEST_F(LifeTest, ASetOfJobsMaySucceedWithAnyOfThem) {
  Job job = JobOf("jobset");
  job.success = {{.roles = {1}, .count = 1, .groups = true}};
  LifeHost& h = Run(job);
  h.Exits({1, 0}, 0);
  h.Exits({1, 3}, 0);
  h.Exits({1, 4}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  h.Exits({1, 5}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kSucceeded);
}

// --- Indexed jobs ------------------------------------------------------------

TEST_F(LifeTest, TasksOfAJobFollowEachOtherInItsPlaces) {
  LifeHost& h = Run(AllIndexes());
  EXPECT_EQ(h.Live().size(), 3u);
  uint32_t ended = 0;
  while (h.phase() == LifePhase::kRunning) {
    h.Exits(h.Live().front(), 0);
    ++ended;
    h.RunAll();
  }
  EXPECT_EQ(ended, 8u);
  EXPECT_EQ(h.phase(), LifePhase::kSucceeded);
}

TEST_F(LifeTest, AJobStartsWithThePlacesItGets) {
  Job job = JobOf("batch");
  LifeHost& h = Begin(job);
  h.Submit();
  h.Tell(Placed{{{0, 1}}});
  EXPECT_EQ(h.Live().size(), 1u);
  h.Tell(Placed{{{0, 0}}});
  EXPECT_EQ(h.Live().size(), 2u);
}

TEST_F(LifeTest, SuccessPolicyEndsAJobEarly) {
  LifeHost& h = Run("batch");  // Two of 0, 2 and 3.
  h.Exits({0, 1}, 0);
  h.Exits({0, 0}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  h.Exits({0, 2}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kSucceeded);
  EXPECT_THAT(h.Acted(ActionKind::kStop),
              UnorderedElementsAre("task-3", "task-4"));
  h.FinishStops();
  EXPECT_EQ(h.places(), 0u);
}

TEST_F(LifeTest, FailedIndexesAreLeftOutUpToALimit) {
  LifeHost& h = Run(AllIndexes());
  for (const uint32_t index : {0u, 1u}) {
    h.Exits({0, index}, 42);  // FailIndex, by the policy.
    EXPECT_EQ(h.phase(), LifePhase::kRunning);
  }
  EXPECT_EQ(h.state().failed_indexes, 2u);
  h.Exits({0, 2}, 42);
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  h.FinishStops();
}

TEST_F(LifeTest, AnIndexHasABudgetOfItsOwn) {
  LifeHost& h = Run(AllIndexes());
  h.Exits({0, 0}, 1);
  EXPECT_EQ(h.state().failed_indexes, 0u);
  EXPECT_EQ(h.output().wake_at, 10 * kSecond);  // As Kubernetes' back-off.
  // Its place goes to another task meanwhile.
  EXPECT_THAT(h.Acted(ActionKind::kStart), ElementsAre("task-3"));
  h.At(10 * kSecond);
  h.Exits({0, 1}, 0);
  h.Tell(TimePassed{});
  h.RunAll();
  EXPECT_THAT(h.LiveNames(), testing::Contains("task-0"));
  h.Exits({0, 0}, 1);
  EXPECT_EQ(h.state().failed_indexes, 1u);
}

TEST_F(LifeTest, AWorkQueueStartsNoMoreAfterItsFirstSuccess) {
  Job job = JobOf("batch");
  job.roles[0].completions = 0;
  job.indexed = false;
  job.failure = {};
  job.success = {{.roles = {0}, .count = 1, .and_drained = true}};
  LifeHost& h = Run(job);
  h.Exits({0, 1}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  h.Exits({0, 0}, 1);
  h.At(kHour);
  h.Tell(TimePassed{});
  EXPECT_THAT(h.LiveNames(), ElementsAre("task-2"));
  h.Exits({0, 2}, 0);
  EXPECT_EQ(h.phase(), LifePhase::kSucceeded);
}

// --- Failures ----------------------------------------------------------------

TEST_F(LifeTest, OneRankThatFailsRestartsTheWholeWorld) {
  LifeHost& h = Run("pytorch-kubeflow");
  h.Exits({1, 2}, 1);
  EXPECT_EQ(h.phase(), LifePhase::kStopping);
  EXPECT_EQ(h.Acted(ActionKind::kStop).size(), 3u);
  h.Exits({1, 0}, 1);  // It dies of it, too: no second failure.
  h.FinishStops();
  EXPECT_EQ(h.state().restarts, 1u);
  EXPECT_EQ(h.Live().size(), 4u);  // The first time at once.
  EXPECT_EQ(h.places(), 4u);       // In the same places.
  EXPECT_EQ(Conditions().back(), "Restarting:JobFailed");
  h.RunAll();
  EXPECT_EQ(Conditions().back(), "Running:JobRunning");
}

// A retry by exit code was counted nowhere: defect 9.
TEST_F(LifeTest, RestartsHaveAnEnd) {
  Job job = JobOf("tf-kubedl");
  job.failure.backoff_limit = 2;
  LifeHost& h = Run(job);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(h.phase(), LifePhase::kRunning);
    h.Exits({2, 0}, 137);
    h.At(h.now() + kHour);
    h.Tell(TimePassed{});
    h.RunAll();
  }
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  EXPECT_EQ(h.state().restarts, 2u);
  EXPECT_EQ(Conditions().back(), "Failed:BackoffLimitExceeded");
  h.FinishStops();
}

TEST_F(LifeTest, OutOfMemoryIsNotRetriedForEver) {  // Defect 10.
  LifeHost& h = Run("tf-kubedl");
  h.Exits({2, 0}, 137, ExitReason::kOutOfMemory);
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  h.RunAll();
  h.Exits({2, 0}, 137, ExitReason::kOutOfMemory);
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  EXPECT_EQ(Conditions().back(), "Failed:OutOfMemory");
  h.FinishStops();
}

TEST_F(LifeTest, APermanentFailureEndsTheJobWhateverElseRestarts) {
  LifeHost& h = Run("tf-kubedl");
  h.Exits({2, 0}, 137);  // Restarts.
  h.Exits({2, 1}, 1);    // Does not.
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  h.FinishStops();
}

TEST_F(LifeTest, AFailedJobHoldsNothing) {
  LifeHost& h = Run("xgboost-kubeflow");
  h.Exits({0, 0}, 1);
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  EXPECT_EQ(h.Acted(ActionKind::kStop).size(), 2u);
  h.FinishStops();
  EXPECT_EQ(h.places(), 0u);
}

TEST_F(LifeTest, WorkersThatDecideNothingMayFail) {
  LifeHost& h = Run("mars");
  h.Exits({2, 1}, 1);
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  h.Exits({0, 0}, 1);
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  h.FinishStops();
}

TEST_F(LifeTest, ARestartWaitsLongerEachTime) {
  Job job = JobOf("jax");
  job.roles[0].restart = RestartPolicy::kOnFailure;
  LifeHost& h = Run(job);
  const Duration kWaits[] = {0, kSecond, 2 * kSecond, 4 * kSecond};
  for (const Duration wait : kWaits) {
    h.Exits({0, 0}, 1);
    h.FinishStops();
    EXPECT_EQ(h.phase(), wait == 0 ? LifePhase::kRunning : LifePhase::kBackoff);
    if (wait > 0) {
      EXPECT_EQ(h.output().wake_at, h.now() + wait);
      h.At(h.now() + wait);
      h.Tell(TimePassed{});
    }
    h.RunAll();
  }
}

TEST_F(LifeTest, GroupsOfASetRestartByTheirRules) {
  LifeHost& h = Run("jobset");
  h.Exits({1, 3}, 1);  // Of the second job, which bears no failure.
  EXPECT_THAT(h.Acted(ActionKind::kStop),
              ElementsAre("workers-4", "workers-5"));
  h.FinishStops();
  EXPECT_EQ(h.Live().size(), 7u);
  EXPECT_EQ(h.state().restarts, 1u);
  h.RunAll();
  h.Exits({1, 0}, 1);
  h.FinishStops();
  h.RunAll();
  h.Exits({1, 0}, 1);
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  EXPECT_EQ(Conditions().back(), "Failed:ReachedMaxRestarts");
  h.FinishStops();
}

// A task that was done has lost its place: its group cannot start again there.
TEST_F(LifeTest, AGroupThatLacksAPlaceIsPlacedAnewWithTheWholeSet) {
  LifeHost& h = Run("jobset");
  h.Exits({1, 4}, 0);
  h.Tell(PlacesTaken{{{1, 4}}, kSecond, /*moved=*/true});
  h.Exits({1, 3}, 1);
  EXPECT_EQ(h.state().restarts, 1u);
  EXPECT_EQ(h.Acted(ActionKind::kStop).size(), 5u);
  h.FinishStops();
  EXPECT_EQ(h.places(), 0u);
  EXPECT_EQ(h.phase(), LifePhase::kQueued);
  h.PlaceAll();
  h.RunAll();
  EXPECT_EQ(h.LiveNames().size(), 7u);
}

TEST_F(LifeTest, ASetThatLacksAPlaceIsPlacedAnew) {
  // Its driver bears no failure, and no rule is for it.
  LifeHost& h =
      Run(ParseOne(With(ManifestOf("jobset"), "template: {spec: {template:",
                        "template: {spec: {backoffLimit: 0, template:"))
              .job);
  h.Exits({1, 4}, 0);
  h.Tell(PlacesTaken{{{1, 4}}, kSecond, /*moved=*/true});
  h.Exits({0, 0}, 1);
  h.FinishStops();
  EXPECT_EQ(h.places(), 0u);
  EXPECT_EQ(h.phase(), LifePhase::kQueued);
  h.PlaceAll();
  h.RunAll();
  EXPECT_EQ(h.LiveNames().size(), 7u);
}

}  // namespace
}  // namespace muster::workload
