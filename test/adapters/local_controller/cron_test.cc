// Calendars: when their jobs are submitted, whatever the clocks do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Duration kMinute = 60 * kSecond;
constexpr Time kNoon = 1'000 * 24 * kHour + 12 * kHour;

// A CronJob around a Job of one task; `more`: members of its spec, each with a
// comma behind it.
std::string CronManifest(const std::string& schedule,
                         const std::string& more = "") {
  return absl::StrCat(
      R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"tick"},)"
      R"("spec":{"timeZone":"UTC",)",
      more, R"("schedule":")", schedule,
      R"(","jobTemplate":{"spec":{"backoffLimit":0,"template":{"spec":)"
      R"({"restartPolicy":"Never","containers":[{"name":"main",)"
      R"("command":["true"]}]}}}}}})");
}

class CronTest : public testing::Test {
 protected:
  CronTest() {
    w.wall = kNoon;
    w.Turn();
  }
  // A calendar; its number.
  uint64_t Add(const std::string& manifest) {
    const auto result = w.controller->Submit(
        {.uid = 7, .manifest = manifest, .environment = {"A=b"}}, w.now);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok() || result->crons.size() != 1) return 0;
    EXPECT_THAT(result->jobs, IsEmpty());
    w.Settle();
    return result->crons[0].id;
  }
  // Both clocks move.
  void Pass(Duration span) {
    w.now += span;
    *w.wall += span;
    w.Settle();
  }
  CronView View(uint64_t id = 1) {
    for (CronView& view : w.controller->Crons()) {
      if (view.row.id == id) return view;
    }
    ADD_FAILURE() << "there is no calendar " << id;
    return {};
  }
  // By id: of all jobs so far.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [id, row] : w.jobs) names.push_back(row.name);
    return names;
  }
  static std::string At(Time time) {
    return absl::StrCat("tick-", time / kMinute);
  }

  World w{OneBox(0)};
};

TEST_F(CronTest, AJobIsSubmittedAtEachTimeAsItsSubmitter) {
  const auto result =
      w.controller->Submit({.uid = 7,
                            .manifest = CronManifest("*/10 * * * *"),
                            .directory = "/data",
                            .environment = {"A=b"}},
                           w.now);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->crons[0].next, kNoon + 10 * kMinute);
  w.Settle();
  EXPECT_THAT(w.jobs, IsEmpty());
  Pass(9 * kMinute);
  EXPECT_THAT(w.jobs, IsEmpty());
  Pass(kMinute);
  Pass(10 * kMinute);
  EXPECT_THAT(Names(),
              ElementsAre(At(kNoon + 10 * kMinute), At(kNoon + 20 * kMinute)));
  EXPECT_EQ(w.Row(1).uid, 7u);
  EXPECT_EQ(w.Row(1).cron, 1u);
  EXPECT_EQ(w.Row(1).directory, "/data");
  EXPECT_EQ(w.Env(1, "A"), "b");
  const CronView view = View();
  EXPECT_EQ(view.next, kNoon + 30 * kMinute);
  EXPECT_EQ(view.row.started, kNoon + 20 * kMinute);
  EXPECT_EQ(view.row.said, "job 2");
  EXPECT_THAT(view.jobs, ElementsAre(1, 2));
  w.Exit(1, 0);
  w.Settle();
  EXPECT_THAT(View().jobs, ElementsAre(2));
}

TEST_F(CronTest, ManifestsOfBothKindsGiveJobsAndCalendars) {
  const auto result = w.controller->Submit(
      {.manifest = absl::StrCat(Manifest({.name = "first"}), "\n---\n",
                                CronManifest("* * * * *"), "\n---\n",
                                Manifest({.name = "last"}))},
      w.now);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->jobs.size(), 2u);
  ASSERT_EQ(result->crons.size(), 1u);
  w.Settle();
  Pass(kMinute);
  EXPECT_THAT(Names(), ElementsAre("first", "last", At(kNoon + kMinute)));
  EXPECT_EQ(w.Row(result->jobs[1].id).name, "last");
}

TEST_F(CronTest, WhatCannotRunIsRefusedAtSubmission) {
  const auto refusal = [&](Submission submission) {
    const auto result = w.controller->Submit(submission, w.now);
    EXPECT_FALSE(result.ok());
    EXPECT_THAT(w.controller->Crons(), IsEmpty());
    return std::string(result.status().message());
  };
  EXPECT_THAT(refusal({.manifest = CronManifest("61 * * * *")}),
              HasSubstr("minute '61'"));
  EXPECT_THAT(refusal({.manifest = CronManifest("* * * * *"), .queue = "no"}),
              HasSubstr("there is no queue 'no'"));
}

TEST_F(CronTest, OfTimesThatPassedUnseenTheLastOneCountsOnce) {
  Add(CronManifest("*/10 * * * *"));
  Pass(5 * kHour + 3 * kMinute);
  EXPECT_THAT(Names(), ElementsAre(At(kNoon + 5 * kHour)));
  Pass(kMinute);
  EXPECT_EQ(Names().size(), 1u);
}

TEST_F(CronTest, WhatIsMissedByMoreThanItsDeadlineIsLeftOut) {
  Add(CronManifest("0 * * * *", R"("startingDeadlineSeconds":60,)"));
  Pass(kHour + kMinute);
  EXPECT_THAT(Names(), ElementsAre(At(kNoon + kHour)));
  Pass(kHour + kSecond);
  EXPECT_EQ(Names().size(), 1u);
  EXPECT_EQ(View().row.said, "missed, by 61 s");
  Pass(kHour - 2 * kMinute);
  EXPECT_EQ(Names().size(), 1u);
  Pass(kMinute - kSecond);
  EXPECT_EQ(Names().size(), 2u);
}

TEST_F(CronTest, AClockThatIsSetStartsNothingTwice) {
  Add(CronManifest("0 * * * *"));
  *w.wall += 2 * kHour + kMinute;  // Ahead.
  w.Settle();
  EXPECT_THAT(Names(), ElementsAre(At(kNoon + 2 * kHour)));
  *w.wall -= 2 * kHour;  // And back.
  w.Settle();
  EXPECT_EQ(View().next, kNoon + 3 * kHour);
  Pass(2 * kHour);
  EXPECT_EQ(Names().size(), 1u);
  Pass(kHour);
  EXPECT_THAT(Names(),
              ElementsAre(At(kNoon + 2 * kHour), At(kNoon + 3 * kHour)));
}

TEST_F(CronTest, AClockThatWasWrongByHoursHoldsUpNothing) {
  Add(CronManifest("0 * * * *"));
  *w.wall += 400 * 24 * kHour;
  w.Settle();
  EXPECT_EQ(Names().size(), 1u);
  *w.wall = kNoon + kMinute;
  w.Settle();
  EXPECT_EQ(View().next, kNoon + kHour);
  Pass(kHour);
  EXPECT_EQ(Names().size(), 2u);
}

TEST_F(CronTest, ForbidLeavesATimeOutWhileAJobRuns) {
  Add(CronManifest("*/10 * * * *", R"("concurrencyPolicy":"Forbid",)"));
  Pass(10 * kMinute);
  Pass(10 * kMinute);
  EXPECT_EQ(Names().size(), 1u);
  EXPECT_EQ(View().row.said, "left out: job 1 runs");
  w.Exit(1, 0);
  Pass(kMinute);
  EXPECT_EQ(Names().size(), 1u);
  Pass(9 * kMinute);
  EXPECT_EQ(Names().size(), 2u);
}

TEST_F(CronTest, WithADeadlineAForbiddenStartComesWhenTheJobEndsInTime) {
  Add(CronManifest(
      "*/10 * * * *",
      R"("concurrencyPolicy":"Forbid","startingDeadlineSeconds":120,)"));
  Pass(10 * kMinute);
  Pass(11 * kMinute);
  EXPECT_EQ(Names().size(), 1u);
  w.Exit(1, 0);
  w.Settle();
  EXPECT_THAT(Names(),
              ElementsAre(At(kNoon + 10 * kMinute), At(kNoon + 20 * kMinute)));
  Pass(13 * kMinute);  // 12:34: too late for 12:30.
  w.Exit(2, 0);
  w.Settle();
  EXPECT_EQ(Names().size(), 2u);
  Pass(6 * kMinute);
  EXPECT_EQ(Names().size(), 3u);
}

TEST_F(CronTest, ReplaceCancelsTheJobThatRuns) {
  Add(CronManifest("*/10 * * * *", R"("concurrencyPolicy":"Replace",)"));
  Pass(10 * kMinute);
  Pass(10 * kMinute);
  EXPECT_EQ(w.Phase(1), "forgotten");
  EXPECT_EQ(w.Row(1).reason, "Replaced");
  EXPECT_EQ(w.Phase(2), "running");
  EXPECT_THAT(View().jobs, ElementsAre(2));
}

TEST_F(CronTest, TimesOfASuspendedCalendarAreLeftOut) {
  const uint64_t id = Add(CronManifest("*/10 * * * *", R"("suspend":true,)"));
  EXPECT_EQ(View(id).next, kForever);
  Pass(15 * kMinute);
  ASSERT_TRUE(w.controller->ResumeCron(id, w.now).ok());
  w.Settle();
  EXPECT_THAT(w.jobs, IsEmpty());
  EXPECT_EQ(View(id).next, kNoon + 20 * kMinute);
  Pass(5 * kMinute);
  EXPECT_EQ(w.jobs.size(), 1u);
  ASSERT_TRUE(w.controller->SuspendCron(id, w.now).ok());
  Pass(kHour);
  EXPECT_EQ(w.jobs.size(), 1u);
  EXPECT_TRUE(w.crons.at(id).suspended);
}

TEST_F(CronTest, OneThatIsRemovedStartsNothingAndItsJobsGoOn) {
  const uint64_t id = Add(CronManifest("*/10 * * * *"));
  Pass(10 * kMinute);
  EXPECT_EQ(w.controller->OwnerOfCron(id), 7u);
  ASSERT_TRUE(w.controller->RemoveCron(id, w.now).ok());
  Pass(kHour);
  EXPECT_EQ(w.Phase(1), "running");
  EXPECT_EQ(w.jobs.size(), 1u);
  EXPECT_THAT(w.crons, IsEmpty());
  EXPECT_EQ(w.controller->OwnerOfCron(id), std::nullopt);
  EXPECT_TRUE(absl::IsNotFound(w.controller->RemoveCron(id, w.now)));
  EXPECT_TRUE(absl::IsNotFound(w.controller->SuspendCron(id, w.now)));
  EXPECT_TRUE(absl::IsNotFound(w.controller->ResumeCron(id, w.now)));
  w.Restart();
  w.Turn();
  EXPECT_NE(Add(CronManifest("* * * * *")), id);
}

TEST_F(CronTest, AfterARestartItGoesOnWhereItWas) {
  Add(CronManifest("*/10 * * * *", R"("concurrencyPolicy":"Forbid",)"));
  Pass(10 * kMinute);
  w.Restart();
  w.Settle();
  EXPECT_EQ(Names().size(), 1u);
  EXPECT_THAT(View().jobs, ElementsAre(1));
  w.Exit(1, 0);
  w.Settle();
  w.Restart();
  Pass(3 * kHour);  // Of those that were missed, the last.
  EXPECT_THAT(Names(), ElementsAre(At(kNoon + 10 * kMinute),
                                   At(kNoon + 3 * kHour + 10 * kMinute)));
  // Killed before the turn is kept, and behind it: it is submitted once.
  w.Exit(2, 0);
  w.Settle();
  w.now += 10 * kMinute;
  *w.wall += 10 * kMinute;
  w.controller->WallClock(*w.wall);
  w.Crash(/*kept=*/false, 0);
  w.controller->WallClock(*w.wall);
  w.Crash(/*kept=*/true, 0);
  w.Settle();
  EXPECT_EQ(Names().size(), 3u);
  EXPECT_EQ(w.Phase(3), "running");
}

TEST_F(CronTest, OneThatCannotBeReadAnyMoreStaysAndSaysSo) {
  Add(CronManifest("*/10 * * * *"));
  w.crons.at(1).manifest = "kind: Pod";
  w.Restart();
  Pass(kHour);
  EXPECT_THAT(w.jobs, IsEmpty());
  EXPECT_THAT(View().row.said, HasSubstr("cannot be read"));
  EXPECT_TRUE(w.controller->RemoveCron(1, w.now).ok());
}

TEST_F(CronTest, ACalendarOfKubeDLEndsAtItsDeadline) {
  std::string manifest = CronManifest("*/10 * * * *");
  Add(manifest);
  EXPECT_EQ(View().next, kNoon + 10 * kMinute);
  ASSERT_TRUE(w.controller->RemoveCron(1, w.now).ok());
  // kNoon is 1972-09-27 12:00.
  Add(R"(
apiVersion: training.kubedl.io/v1alpha1
kind: PyTorchJob
metadata: {name: tick}
spec:
  cronPolicy: {schedule: "*/10 * * * *", deadline: "1972-09-27T12:15:00Z"}
  pytorchReplicaSpecs:
    Master:
      template: {spec: {containers: [{name: pytorch, command: ["true"]}]}}
)");
  Pass(kHour);
  EXPECT_THAT(Names(), ElementsAre(At(kNoon + 10 * kMinute)));
  EXPECT_EQ(View(2).next, kForever);
}

}  // namespace
}  // namespace muster::local
