// What has been changed of a job, as text and on the job.
#include "adapters/local/edit/job_edits.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

workload::Job TwoRoles() {
  workload::Job job;
  job.roles.resize(2);
  job.roles[0].name = "master";
  job.roles[1].name = "worker";
  workload::TaskTemplate& task = job.roles[1].task;
  task.command = {"train"};
  task.args = {"--lr", "1"};
  task.requests = {{"cpu", 1'000}, {"memory", 1 << 20}};
  task.limits = {{"memory", 2 << 20}};
  return job;
}

JobEdits Edits(const std::string& text) {
  const auto edits = JobEditsFromJson(text);
  EXPECT_TRUE(edits.ok()) << edits.status();
  return edits.ok() ? *edits : JobEdits();
}

std::string Refusal(const std::string& later) {
  return std::string(
      WithLater({}, Edits(later), TwoRoles()).status().message());
}

TEST(JobEditsTest, JsonKeepsThem) {
  const std::string text =
      R"({"time":3600,"roles":{"worker":{"requests":{"cpu":"2"},)"
      R"("command":["a","b c"]}}})";
  const JobEdits edits = Edits(text);
  EXPECT_EQ(edits.limit, 3'600 * kSecond);
  EXPECT_EQ(ToJson(edits), text);
  EXPECT_EQ(ToJson({}), "");
  EXPECT_TRUE(Edits("").empty());
  EXPECT_TRUE(Edits("{}").empty());
}

TEST(JobEditsTest, WhatIsNoneIsRefusedWithItsMember) {
  const auto refusal = [](const std::string& text) {
    const auto edits = JobEditsFromJson(text);
    EXPECT_TRUE(absl::IsInvalidArgument(edits.status())) << text;
    return std::string(edits.status().message());
  };
  EXPECT_THAT(refusal("[]"), HasSubstr("edits"));
  EXPECT_THAT(refusal(R"({"time":"1h"})"), HasSubstr("time: expected seconds"));
  EXPECT_THAT(refusal(R"({"time":-1})"), HasSubstr("time"));
  EXPECT_THAT(refusal(R"({"time":9223372036854775807})"), HasSubstr("time"));
  EXPECT_THAT(refusal(R"({"cpus":1})"), HasSubstr("cpus"));
  EXPECT_THAT(refusal(R"({"roles":{"a":1}})"), HasSubstr("roles.a"));
  EXPECT_THAT(refusal(R"({"roles":{"a":{"image":"x"}}})"),
              HasSubstr("roles.a.image: is not known"));
  EXPECT_THAT(refusal(R"({"roles":{"a":{"requests":{"cpu":1}}}})"),
              HasSubstr("roles.a.requests.cpu: expected a string"));
  EXPECT_THAT(refusal(R"({"roles":{"a":{"command":[]}}})"),
              HasSubstr("roles.a.command"));
  EXPECT_THAT(refusal("{\"roles\":{\"a\":{\"command\":[\"x\\u0000\"]}}}"),
              HasSubstr("roles.a.command"));
}

TEST(JobEditsTest, LaterOnesReplaceEarlierOnes) {
  const JobEdits first = Edits(
      R"({"time":60,"roles":{"worker":{"requests":{"cpu":"2","memory":"1G"}}}})");
  const auto both = WithLater(
      first,
      Edits(R"({"roles":{"worker":{"requests":{"cpu":"3"},"command":["x"]}}})"),
      TwoRoles());
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(*both, Edits(R"({"time":60,"roles":{"worker":{"requests":)"
                         R"({"cpu":"3","memory":"1G"},"command":["x"]}}})"));
}

TEST(JobEditsTest, TheOnlyRoleNeedsNoName) {
  workload::Job job = TwoRoles();
  const JobEdits later = Edits(R"({"roles":{"":{"command":["x"]}}})");
  EXPECT_THAT(Refusal(ToJson(later)),
              HasSubstr("role: '' is none of: master, worker"));
  job.roles.pop_back();
  const auto edits = WithLater({}, later, job);
  ASSERT_TRUE(edits.ok()) << edits.status();
  EXPECT_TRUE(edits->roles.contains("master"));
}

TEST(JobEditsTest, WhatCannotBeIsRefusedWithItsRole) {
  EXPECT_THAT(Refusal(R"({"roles":{"none":{"command":["x"]}}})"),
              HasSubstr("'none' is none of"));
  EXPECT_THAT(Refusal(R"({"roles":{"worker":{"requests":{"cpu":"many"}}}})"),
              HasSubstr("worker.requests.cpu: "));
  EXPECT_THAT(Refusal(R"({"roles":{"worker":{"requests":{"memory":"-1"}}}})"),
              HasSubstr("worker.requests.memory: "));
  workload::Job job = TwoRoles();
  job.roles[1].task.script = "#!/bin/sh\n";
  const auto script =
      WithLater({}, Edits(R"({"roles":{"worker":{"command":["x"]}}})"), job);
  EXPECT_THAT(std::string(script.status().message()),
              HasSubstr("worker.command: it runs a script"));
}

TEST(JobEditsTest, TheJobAsksForAndRunsWhatTheySay) {
  workload::Job job = TwoRoles();
  EditRoles(
      Edits(R"({"roles":{"worker":{"requests":{"cpu":"1.5","memory":"1Gi",)"
            R"("nvidia.com/gpu":"2"},"command":["x","y"]}}})"),
      &job);
  const workload::TaskTemplate& task = job.roles[1].task;
  EXPECT_THAT(task.command, ElementsAre("x", "y"));
  EXPECT_THAT(task.args, IsEmpty());
  EXPECT_EQ(task.Requested("cpu"), 1'500);
  EXPECT_EQ(task.Requested("nvidia.com/gpu"), 2);
  // The limit of a resource goes with it; none comes to be.
  EXPECT_THAT(task.limits,
              ElementsAre(workload::Amount{"memory", int64_t{1} << 30}));
  EXPECT_TRUE(
      std::ranges::is_sorted(task.requests, {}, &workload::Amount::resource));
  EXPECT_EQ(job.roles[0], TwoRoles().roles[0]);
  EditRoles(
      Edits(R"({"roles":{"worker":{"requests":{"cpu":"0","memory":"0"}}}})"),
      &job);
  EXPECT_THAT(task.requests,
              ElementsAre(workload::Amount{"nvidia.com/gpu", 2}));
  EXPECT_THAT(task.limits, IsEmpty());
}

TEST(JobEditsTest, QuantitiesAreWrittenAsTheyAreRead) {
  EXPECT_EQ(QuantityText("cpu", 2'000), "2");
  EXPECT_EQ(QuantityText("cpu", 1'500), "1500m");
  EXPECT_EQ(QuantityText("memory", int64_t{16} << 30), "16Gi");
  EXPECT_EQ(QuantityText("memory", 1'000), "1000");
  EXPECT_EQ(QuantityText("memory", int64_t{1} << 60), "1048576Ti");
  EXPECT_EQ(QuantityText("nvidia.com/gpu", 1'024), "1024");
  EXPECT_EQ(QuantityText("memory", 0), "0");
}

}  // namespace
}  // namespace muster::local
