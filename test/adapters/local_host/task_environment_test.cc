#include "adapters/local/host/task_environment.h"

#include <unistd.h>

#include <algorithm>

#include "adapters/local/host/machine.h"
#include "adapters/local/host/task_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using workload::EnvSource;

TaskStart Start() {
  TaskStart start;
  start.uid = 65534;
  start.gid = 65534;
  start.name = "train-worker-0";
  start.directory = "/data";
  start.launch.argv = {"python", "train.py"};
  start.launch.env = {{"HOME", "/data"}, {"MUSTER_JOB_ID", "7"}};
  return start;
}

ShimSpec SpecOf(const TaskStart& start, const std::string& visible = "0,1") {
  const auto spec = MakeShimSpec(start, visible, 3 * kSecond);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.ok() ? *spec : ShimSpec();
}

// The value that getenv gives; "unset" if there is none.
std::string Env(const ShimSpec& spec, const std::string& name) {
  for (const std::string& variable : spec.environment) {
    if (variable.starts_with(name + "=")) {
      return variable.substr(name.size() + 1);
    }
  }
  return "unset";
}

TEST(TaskEnvironmentTest, AProcessIsStartedAsTheTaskSays) {
  TaskStart start = Start();
  start.memory_bytes = int64_t{1} << 30;
  start.cpus = {2, 3};
  const ShimSpec spec = SpecOf(start);
  EXPECT_THAT(spec.cpus, ElementsAre(2, 3));
  EXPECT_THAT(spec.command, ElementsAre("python", "train.py"));
  EXPECT_THAT(spec.environment, ElementsAre("HOME=/data", "MUSTER_JOB_ID=7",
                                            "CUDA_VISIBLE_DEVICES=0,1"));
  EXPECT_EQ(spec.directory, "/data");
  EXPECT_EQ(spec.memory_limit, int64_t{1} << 30);
  EXPECT_EQ(spec.grace, 3 * kSecond);
  EXPECT_EQ(ProblemOf(spec), "");
}

TEST(TaskEnvironmentTest, OutputGoesToTheFolderOrWhereTheJobSays) {
  TaskStart start = Start();
  EXPECT_EQ(SpecOf(start).output, kOutputFile);
  EXPECT_EQ(SpecOf(start).error, kOutputFile);
  EXPECT_FALSE(SpecOf(start).append);
  start.output = "/data/out";
  EXPECT_EQ(SpecOf(start).output, "/data/out");
  EXPECT_EQ(SpecOf(start).error, "/data/out");
  EXPECT_TRUE(SpecOf(start).append);
  start.error = "/data/err";
  EXPECT_EQ(SpecOf(start).error, "/data/err");
}

TEST(TaskEnvironmentTest, OnlyRootRunsTasksAsOthers) {
  const auto user = SpecOf(Start()).user;
  ASSERT_EQ(user.has_value(), geteuid() == 0);
  if (!user) return;
  EXPECT_EQ(user->uid, 65534u);
  EXPECT_EQ(user->gid, 65534u);
  EXPECT_THAT(user->groups, Contains(65534u));  // Of nobody.
  TaskStart start = Start();
  start.uid = 4'000'000'000;  // Whom no database knows.
  EXPECT_TRUE(SpecOf(start).user->groups.empty());
}

TEST(TaskEnvironmentTest, WhichDevicesATaskSeesIsNotTheJobsToSay) {
  TaskStart start = Start();
  start.launch.env.emplace_back("CUDA_VISIBLE_DEVICES", "0,1,2,3");
  EXPECT_EQ(Env(SpecOf(start, "2"), "CUDA_VISIBLE_DEVICES"), "2");
  // None are none, and not all.
  EXPECT_EQ(Env(SpecOf(start, ""), "CUDA_VISIBLE_DEVICES"), "");
  start.launch.env = {};
  start.launch.from_host = {{.name = "CUDA_VISIBLE_DEVICES",
                             .from = EnvSource::kField,
                             .source = "metadata.name"}};
  EXPECT_EQ(Env(SpecOf(start, "2"), "CUDA_VISIBLE_DEVICES"), "2");
  EXPECT_EQ(SpecOf(start, "2").environment.size(), 1u);
}

TEST(TaskEnvironmentTest, WhoATaskIsIsNotTheJobsToSay) {
  TaskStart start = Start();
  for (const char* name : {"MUSTER_JOB_ID", "MUSTER_ARRAY_INDEX"}) {
    start.launch.from_host.push_back(
        {.name = name, .from = EnvSource::kField, .source = "metadata.name"});
  }
  EXPECT_EQ(Env(SpecOf(start), "MUSTER_JOB_ID"), "7");
  EXPECT_EQ(Env(SpecOf(start), "MUSTER_ARRAY_INDEX"), "unset");
}

TEST(TaskEnvironmentTest, NamesThatAreNoneAreRefused) {
  for (const std::string& name :
       {std::string(), std::string("MUSTER_JOB_ID=8 "),
        std::string("CUDA_VISIBLE_DEVICES=0"), std::string("A\0B", 3)}) {
    TaskStart start = Start();
    start.launch.env.emplace_back(name, "x");
    auto spec = MakeShimSpec(start, "", 0);
    EXPECT_TRUE(absl::IsInvalidArgument(spec.status())) << name;
    EXPECT_THAT(std::string(spec.status().message()), HasSubstr("variable '"));
    start = Start();
    start.launch.from_host = {
        {.name = name, .from = EnvSource::kField, .source = "metadata.name"}};
    spec = MakeShimSpec(start, "", 0);
    const bool ours = name.starts_with("MUSTER_");
    EXPECT_EQ(spec.ok(), ours) << name;
    if (ours) {
      EXPECT_EQ(spec->environment.size(), 3u);
    }
  }
}

TEST(TaskEnvironmentTest, AValueThatNoProcessCanHaveIsRefusedBeforeTheStart) {
  TaskStart start = Start();
  start.launch.env.emplace_back("A", std::string("x\0MUSTER_JOB_ID=8", 16));
  EXPECT_EQ(ProblemOf(SpecOf(start)), "environment: has a NUL");
}

TEST(TaskEnvironmentTest, FieldsAreThoseOfThisMachine) {
  TaskStart start = Start();
  const std::pair<const char*, std::string> fields[] = {
      {"metadata.name", "train-worker-0"}, {"metadata.namespace", "default"},
      {"spec.nodeName", MachineName()},    {"status.podIP", "127.0.0.1"},
      {"status.hostIP", "127.0.0.1"},      {"metadata.uid", ""}};
  for (const auto& [field, value] : fields) {
    start.launch.from_host = {
        {.name = "OF", .from = EnvSource::kField, .source = field}};
    EXPECT_EQ(Env(SpecOf(start), "OF"), value) << field;
  }
  // The manifest's own value comes first.
  start.launch.env.emplace_back("OF", "mine");
  EXPECT_EQ(Env(SpecOf(start), "OF"), "mine");
}

TEST(TaskEnvironmentTest, WhatIsInheritedIsCountedWithoutDevices) {
  TaskStart start = Start();
  start.launch.env = {
      {"CUDA_VISIBLE_DEVICES", "7"}, {"EDITOR", "ed"}, {"MUSTER_JOB_ID", "7"}};
  start.inherited = 2;
  EXPECT_EQ(SpecOf(start).inherited, 1u);
}

}  // namespace
}  // namespace muster::local
