#include "adapters/local/client/job_manifest.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/workload/parse.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The job as lib/workload reads it.
workload::ParsedJob Read(const SubmitOptions& options) {
  const auto manifest = MakeManifest(options);
  EXPECT_TRUE(manifest.ok()) << manifest.status();
  const auto parsed = workload::Parse(manifest->dump());
  EXPECT_TRUE(parsed.ok()) << parsed.status() << manifest->dump(2);
  return parsed.ok() && !parsed->empty() ? (*parsed)[0] : workload::ParsedJob();
}

TEST(JobManifestTest, ACommandIsAJobOfOneTaskThatFailsOnce) {
  const workload::ParsedJob read =
      Read({.command = {"python", "train.py", "--lr", "3"}});
  EXPECT_THAT(read.ignored, IsEmpty());
  const workload::Job& job = read.job;
  EXPECT_EQ(job.name, "python");
  ASSERT_EQ(job.roles.size(), 1u);
  EXPECT_EQ(job.roles[0].tasks(), 1u);
  EXPECT_THAT(job.roles[0].task.command,
              ElementsAre("python", "train.py", "--lr", "3"));
  EXPECT_EQ(job.failure.backoff_limit, 0u);
  EXPECT_THAT(job.roles[0].task.requests, IsEmpty());
}

TEST(JobManifestTest, AnImageHasTheDirectoryOfTheMachine) {
  const auto task = [](const SubmitOptions& options) {
    return Read(options).job.roles[0].task;
  };
  workload::TaskTemplate of =
      task({.directory = "/data", .image = "train:1", .command = {"x"}});
  EXPECT_EQ(of.image, "train:1");
  EXPECT_EQ(of.working_dir, "/data");
  ASSERT_EQ(of.mounts.size(), 1u);
  EXPECT_EQ(of.mounts[0].path, "/data");
  ASSERT_EQ(of.volumes.size(), 1u);
  EXPECT_EQ(of.volumes[0].kind, workload::VolumeKind::kHostPath);
  EXPECT_EQ(of.volumes[0].source, "/data");
  // That of the submission is there without.
  EXPECT_TRUE(task({.image = "train:1", .command = {"x"}}).mounts.empty());
  EXPECT_TRUE(task({.directory = "/data", .command = {"x"}}).mounts.empty());
}

TEST(JobManifestTest, EveryOptionMeansSomethingToItsReader) {
  const workload::ParsedJob read = Read({.name = "big",
                                         .gpus = "2",
                                         .cpus = "1.5",
                                         .memory = "2G",
                                         .tasks = 4,
                                         .time = "1:30:00",
                                         .ttl = "7d",
                                         .grace = "90s",
                                         .output = "out-%j",
                                         .error = "err",
                                         .environment = {"A=b=c", "D="},
                                         .directory = "/data",
                                         .checkpoint = "30s",
                                         .retries = 2,
                                         .command = {"x"}});
  EXPECT_THAT(read.ignored, IsEmpty());
  const workload::Job& job = read.job;
  EXPECT_EQ(job.name, "big");
  const workload::Role& role = job.roles[0];
  EXPECT_EQ(role.tasks(), 4u);
  EXPECT_EQ(job.scheduling.min_available, 4u);
  EXPECT_TRUE(job.indexed);
  EXPECT_EQ(role.task.Requested("nvidia.com/gpu"), 2);
  EXPECT_EQ(role.task.Requested("cpu"), 1'500);
  EXPECT_EQ(role.task.Requested("memory"), 2'000'000'000);
  EXPECT_EQ(job.active_deadline, 5'400 * kSecond);
  EXPECT_EQ(job.ttl, 7 * 24 * kHour);
  EXPECT_EQ(role.task.grace, 90 * kSecond);
  EXPECT_EQ(role.task.output, "out-%j");
  EXPECT_EQ(role.task.error, "err");
  EXPECT_EQ(role.task.working_dir, "/data");
  ASSERT_EQ(role.task.env.size(), 2u);
  EXPECT_EQ(role.task.env[0].name, "A");
  EXPECT_EQ(role.task.env[0].value, "b=c");
  EXPECT_EQ(role.task.env[1].value, "");
  EXPECT_TRUE(job.checkpoint.enabled);
  EXPECT_EQ(job.checkpoint.timeout, 30 * kSecond);
  EXPECT_EQ(job.failure.backoff_limit, 2u);
}

TEST(JobManifestTest, ACalendarIsACronJobAroundTheJob) {
  const workload::ParsedJob read = Read({.name = "nightly",
                                         .checkpoint = "30s",
                                         .retries = 2,
                                         .cron = "30 2 * * mon-fri",
                                         .time_zone = "UTC",
                                         .concurrency = "Forbid",
                                         .starting_deadline = "10m",
                                         .command = {"train"}});
  EXPECT_THAT(read.ignored, IsEmpty());
  EXPECT_EQ(read.job.name, "nightly");
  EXPECT_TRUE(read.job.checkpoint.enabled);
  EXPECT_EQ(read.job.failure.backoff_limit, 2u);
  EXPECT_EQ(read.job.cron,
            (workload::CronPolicy{.schedule = "30 2 * * mon-fri",
                                  .time_zone = "UTC",
                                  .concurrency = "Forbid",
                                  .starting_deadline = 600 * kSecond,
                                  .succeeded_limit = 10,
                                  .failed_limit = 10}));
  EXPECT_FALSE(MakeManifest({.time_zone = "UTC", .command = {"x"}}).ok());
  EXPECT_FALSE(
      MakeManifest(
          {.cron = "* * * * *", .starting_deadline = "soon", .command = {"x"}})
          .ok());
}

TEST(JobManifestTest, APartOfAGpuIsByThousandthsOrMemory) {
  EXPECT_EQ(Read({.gpus = "0.5", .command = {"x"}})
                .job.roles[0]
                .task.Requested("muster.dev/gpu-milli"),
            500);
  EXPECT_EQ(Read({.gpu_memory = "10G", .command = {"x"}})
                .job.roles[0]
                .task.Requested("muster.dev/gpu-memory"),
            10'000'000'000);
  EXPECT_THAT(Read({.gpus = "0", .command = {"x"}}).job.roles[0].task.requests,
              IsEmpty());
}

TEST(JobManifestTest, GpusByNumberAreSoManyIfNothingElseIsSaid) {
  const workload::TaskTemplate all =
      Read({.gpu_ids = "2-3,0", .command = {"x"}}).job.roles[0].task;
  EXPECT_EQ(all.Requested("nvidia.com/gpu"), 3);
  EXPECT_THAT(all.device_ids, ElementsAre(0, 2, 3));
  const workload::TaskTemplate one =
      Read({.gpus = "1", .gpu_ids = "0-7:2", .command = {"x"}})
          .job.roles[0]
          .task;
  EXPECT_EQ(one.Requested("nvidia.com/gpu"), 1);
  EXPECT_THAT(one.device_ids, ElementsAre(0, 2, 4, 6));
}

TEST(JobManifestTest, WhatATaskMayHaveInstead) {
  const workload::TaskTemplate task =
      Read({.gpus = "2",
            .others = {"gpus=0.5,cpus=4", "cpus=16,mem=64Gi"},
            .command = {"x"}})
          .job.roles[0]
          .task;
  ASSERT_EQ(task.alternatives.size(), 2u);
  EXPECT_EQ(task.Requested("nvidia.com/gpu"), 2);
  EXPECT_EQ(task.Requested("muster.dev/gpu-milli", 1), 500);
  EXPECT_EQ(task.Requested("cpu", 1), 4'000);
  EXPECT_EQ(task.Requested("cpu", 2), 16'000);
  EXPECT_EQ(task.Requested("memory", 2), int64_t{64} << 30);
  EXPECT_EQ(task.Requested("nvidia.com/gpu", 2), 0);
}

TEST(JobManifestTest, WhatIsWrongIsNamedByItsOption) {
  const std::pair<const char*, SubmitOptions> cases[] = {
      {"--gpus", {.gpus = "1.5", .command = {"x"}}},
      {"--gpus", {.gpus = "-1", .command = {"x"}}},
      {"--gpus", {.gpus = "many", .command = {"x"}}},
      {"--gpu-mem", {.gpu_memory = "x", .command = {"x"}}},
      {"--or", {.others = {"16"}, .command = {"x"}}},
      {"--or", {.others = {"cpus="}, .command = {"x"}}},
      {"--or", {.others = {"cpus=1,cpus=2"}, .command = {"x"}}},
      {"--or", {.others = {"gpus=x"}, .command = {"x"}}},
      {"--or", {.others = {"gpus=0"}, .command = {"x"}}},
      {"--gpu-ids", {.gpu_ids = "x", .command = {"x"}}},
      {"--cpus", {.cpus = "x", .command = {"x"}}},
      {"--mem", {.memory = "16GB", .command = {"x"}}},
      {"--time", {.time = "0", .command = {"x"}}},
      {"--time", {.time = "1:60", .command = {"x"}}},
      {"--time", {.time = "soon", .command = {"x"}}},
      {"--grace", {.grace = "x", .command = {"x"}}},
      {"--env", {.environment = {"=x"}, .command = {"x"}}},
      {"--env", {.environment = {"x"}, .command = {"x"}}},
      {"command", {}},
  };
  for (const auto& [option, options] : cases) {
    const auto manifest = MakeManifest(options);
    EXPECT_THAT(std::string(manifest.status().message()), HasSubstr(option));
  }
}

TEST(JobManifestTest, NamesAreMadeOfCommands) {
  const std::pair<const char*, const char*> cases[] = {
      {"train", "train"},
      {"./Train_1.py", "train-1.py"},
      {"/usr/bin/env", "env"},
      {"-x-", "x"},
      {"...", "job"},
      {"", "job"},
      {"\xf0\x9f\x9a\x80", "job"}};
  for (const auto& [command, name] : cases) {
    EXPECT_EQ(NameOf(command), name) << command;
  }
  EXPECT_EQ(NameOf(std::string(100, 'x')).size(), 63u);
}

TEST(JobManifestTest, TimesAreSpansOrClocks) {
  EXPECT_EQ(*ParseTime("--time", "90m"), 5'400);
  EXPECT_EQ(*ParseTime("--time", "1500ms"), 2);
  EXPECT_EQ(*ParseTime("--time", "45:00"), 2'700);
  EXPECT_EQ(*ParseTime("--time", "100:00:01"), 360'001);
  for (const char* text : {"", ":", "1:2:3:4", "1:-1", "1:99", "9999999:00"}) {
    EXPECT_FALSE(ParseTime("--time", text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::local
