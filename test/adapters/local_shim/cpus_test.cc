// Tasks on CPUs, and on others while they run.
#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <string>
#include <vector>

#include "adapters/local/model/cpu_list.h"
#include "adapters/local/shim/cpu_binding.h"
#include "adapters/local/shim/shim_spec.h"
#include "adapters/local/shim/task_cgroup.h"
#include "test/adapters/local_shim/shim_run.h"
#include "test/adapters/local_shim/usable_cpus.h"

namespace muster::local {
namespace {

// Cpus_allowed_list of the kernel.
std::string AllowedList(int32_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  constexpr std::string_view kName = "Cpus_allowed_list:\t";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kName)) return line.substr(kName.size());
  }
  return "none";
}

// A main process, a child, and a child of it in a session of its own.
constexpr char kTree[] =
    "sh -c 'setsid -w sh -c \"echo \\$\\$ > $SAY; read line < $HEAR\" & "
    "echo $$ > $SAY; wait' & "
    "echo $$ > $SAY; wait";

TEST(CpuListTest, IsAsTheKernelHasIt) {
  EXPECT_EQ(CpuListText({}), "");
  EXPECT_EQ(CpuListText({7}), "7");
  EXPECT_EQ(CpuListText({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(CpuListText({0, 2, 4, 5}), "0,2,4-5");
}

class ShimCpusTest : public testing::Test {
 protected:
  void SetUp() override {
    if (cpus_.size() < 2) GTEST_SKIP() << "there is one CPU";
  }
  std::vector<uint32_t> One(size_t i) const { return {cpus_[i]}; }

  const std::vector<uint32_t> cpus_ = UsableCpus();
  ShimRun run_;
};

TEST_F(ShimCpusTest, AllProcessesAreBoundAnewAlsoWhileTheyAreSuspended) {
  ShimSpec spec = run_.Script(kTree);
  spec.cpus = One(0);
  Shim shim = run_.Start(spec);
  const std::vector<int32_t> tree = {run_.Number(), run_.Number(),
                                     run_.Number()};
  const auto all_on = [&](const std::vector<uint32_t>& cpus) {
    for (const int32_t pid : tree) {
      if (AllowedList(pid) != CpuListText(cpus)) return false;
    }
    return true;
  };
  EXPECT_TRUE(all_on(One(0)));
  ASSERT_TRUE(shim.Bind(One(1)).ok());
  EXPECT_TRUE(Eventually([&] { return all_on(One(1)); }));
  ASSERT_TRUE(shim.Suspend().ok());
  ASSERT_TRUE(shim.Bind({cpus_[0], cpus_[1]}).ok());
  EXPECT_TRUE(Eventually([&] { return all_on({cpus_[0], cpus_[1]}); }));
  ASSERT_TRUE(shim.Resume().ok());
  run_.Tell("go");
  EXPECT_EQ(run_.End(&shim).code, 0);
  EXPECT_TRUE(shim.Bind(One(0)).ok()) << "it has ended, which is no error";
}

TEST_F(ShimCpusTest, WhatHasBoundItselfToLessStaysThere) {
  ShimSpec spec = run_.Script(
      "taskset -c $CPU sh -c 'echo $$ > $SAY; read line < $HEAR' & "
      "echo $$ > $SAY; wait");
  spec.environment.push_back("CPU=" + std::to_string(cpus_[1]));
  spec.cpus = One(0);
  Shim shim = run_.Start(spec);
  const std::vector<int32_t> both = {run_.Number(), run_.Number()};
  const auto count = [&](const std::vector<uint32_t>& cpus) {
    return (AllowedList(both[0]) == CpuListText(cpus)) +
           (AllowedList(both[1]) == CpuListText(cpus));
  };
  ASSERT_TRUE(shim.Bind({cpus_[0], cpus_[1]}).ok());
  EXPECT_TRUE(Eventually([&] { return count({cpus_[0], cpus_[1]}) == 1; }));
  EXPECT_EQ(count(One(1)), 1);
  ASSERT_TRUE(shim.Bind(One(0)).ok());
  EXPECT_TRUE(Eventually([&] { return count(One(0)) == 2; }));
  run_.Tell("go");
  EXPECT_EQ(run_.End(&shim).code, 0);
}

TEST_F(ShimCpusTest, WhatWasBoundToNothingCanBe) {
  Shim shim = run_.Start(run_.Script("echo $$ > $SAY; read line < $HEAR"));
  const int32_t pid = run_.Number();
  EXPECT_EQ(AllowedList(pid), CpuListText(cpus_));
  ASSERT_TRUE(shim.Bind(One(1)).ok());
  EXPECT_TRUE(
      Eventually([&] { return AllowedList(pid) == CpuListText(One(1)); }));
  run_.Tell("go");
  run_.End(&shim);
}

TEST(ShimBindTest, OnlyCpusThatCanBeAreTaken) {
  ShimRun run;
  Shim shim = run.Start(run.Script("read line < $HEAR"));
  EXPECT_TRUE(absl::IsInvalidArgument(shim.Bind({})));
  EXPECT_TRUE(absl::IsInvalidArgument(shim.Bind({0, CPU_SETSIZE})));
  run.Tell("go");
  run.End(&shim);
}

TEST(ShimBindTest, TheFileIsReadAsItWasWritten) {
  std::vector<uint32_t> cpus;
  ASSERT_TRUE(DecodeCpus(EncodeCpus({0, 3, 17}), &cpus));
  EXPECT_EQ(cpus, (std::vector<uint32_t>{0, 3, 17}));
  EXPECT_FALSE(DecodeCpus("", &cpus));
  EXPECT_FALSE(DecodeCpus(EncodeCpus({5000}), &cpus));
  EXPECT_FALSE(DecodeCpus(Encode(ShimSpec{.command = {"true"}}), &cpus));
}

// The kernel's part is for where cgroups have the controller: here the folder
// is any, and has the file.
TEST(ShimBindTest, ACgroupHoldsTheTaskToThem) {
  ShimRun run;
  const std::string file = run.folder() + "/cpuset.cpus";
  std::ofstream(file) << "";
  TaskCgroup cgroup;
  EXPECT_EQ(cgroup.Prepare({.command = {"true"},
                            .cpus = {0, 1, 2, 5},
                            .cpuset = true,
                            .cgroup = run.folder()}),
            "");
  EXPECT_EQ(ReadText(file), "0-2,5");
  EXPECT_EQ(cgroup.Hold({7}), "");
  EXPECT_TRUE(ReadText(file).starts_with("7"));
}

}  // namespace
}  // namespace muster::local
