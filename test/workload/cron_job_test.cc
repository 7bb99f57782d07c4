// Manifests with a calendar.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

using testing::HasSubstr;

constexpr std::string_view kNightly = R"(apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, labels: {team: a}}
spec:
  schedule: "30 2 * * mon-fri"
  timeZone: UTC
  concurrencyPolicy: Replace
  startingDeadlineSeconds: 300
  suspend: true
  failedJobsHistoryLimit: 7
  jobTemplate:
    metadata:
      labels: {app: train}
      annotations: {muster.dev/checkpoint: "30s"}
    spec:
      activeDeadlineSeconds: 60
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, command: [train]}]
)";

TEST(CronJobTest, ACronJobIsItsJobWithACalendar) {
  const ParsedJob parsed = ParseOne(kNightly);
  EXPECT_TRUE(parsed.ignored.empty()) << parsed.ignored[0].path;
  const Job& job = parsed.job;
  EXPECT_EQ(job.kind, Kind::kJob);
  EXPECT_EQ(job.name, "nightly");
  EXPECT_EQ(job.active_deadline, 60 * kSecond);
  EXPECT_FALSE(job.suspend);
  EXPECT_TRUE(job.checkpoint.enabled);
  EXPECT_EQ(job.cron, (CronPolicy{.schedule = "30 2 * * mon-fri",
                                  .time_zone = "UTC",
                                  .concurrency = "Replace",
                                  .suspend = true,
                                  .starting_deadline = 300 * kSecond,
                                  .succeeded_limit = 3,
                                  .failed_limit = 7}));
}

TEST(CronJobTest, MistakesAreToldWithTheirFields) {
  EXPECT_THAT(Refusal(With(kNightly, "30 2 *", "30 25 *")),
              HasSubstr("spec.schedule: schedule: hour '25'"));
  EXPECT_THAT(Refusal(With(kNightly, "timeZone: UTC", "timeZone: Nowhere")),
              HasSubstr("time zone: 'Nowhere'"));
  EXPECT_THAT(Refusal(With(kNightly, "Replace", "Never")),
              HasSubstr("Allow, Forbid, Replace"));
  EXPECT_THAT(Refusal(With(kNightly, "jobTemplate", "template")),
              HasSubstr("jobTemplate"));
  EXPECT_THAT(Refusal(With(kNightly, "Seconds: 300", "Seconds: -1")),
              HasSubstr("startingDeadlineSeconds"));
  EXPECT_THAT(Refusal(With(kNightly, "muster.dev/checkpoint: \"30s\"",
                           "muster.dev/checkpoint: \"soon\"")),
              HasSubstr("muster.dev/checkpoint"));
}

TEST(CronJobTest, TheCalendarOfKubeDLEndsAtItsDeadline) {
  const std::string manifest =
      With(ManifestOf("pytorch-kubedl"), "schedule: \"0 3 * * *\"",
           "deadline: \"1970-01-01T01:00:00+01:00\", schedule: \"0 3 * * *\"");
  const CronPolicy cron = ParseOne(manifest).job.cron;
  EXPECT_EQ(cron.until, 0);
  EXPECT_EQ(cron.succeeded_limit, 5u);
  EXPECT_EQ(cron.failed_limit, 5u);
  EXPECT_THAT(Refusal(With(manifest, "1970-01-01T01:00:00+01:00", "soon")),
              HasSubstr("cronPolicy.deadline"));
}

}  // namespace
}  // namespace muster::workload
