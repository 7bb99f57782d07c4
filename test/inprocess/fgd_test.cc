// The FGD experiment on lists that can be worked out by hand.
#include "adapters/inprocess/fgd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "adapters/inprocess/fgd_report.h"
#include "test/inprocess/sim_run.h"
#include "test/inprocess/test_files.h"

namespace muster::inprocess {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kNodes[] =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "n0,64000,262144,2,T4\n"
    "n1,64000,262144,2,P100\n";
constexpr char kPods[] =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
    "p2,1000,1024,1,500,\n"
    "p0,1000,2048,1,500,\n"
    "p1,4000,1024,1,1000,T4|P100\n"
    "p3,8000,1024,0,0,\n";

// A folder with lists of its own.
class FgdTest : public testing::Test {
 protected:
  FgdTest() {
    const testing::TestInfo* info =
        testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::to_string(getpid()) + "-fgd-" + info->name());
    std::filesystem::create_directories(folder_);
    Write("openb_node_list_gpu_node.csv", kNodes);
    Write("openb_pod_list_tiny.csv", kPods);
  }
  ~FgdTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  FgdInput Load() const {
    absl::StatusOr<FgdInput> input = LoadFgd(
        Path("openb_node_list_gpu_node.csv"), Path("openb_pod_list_tiny.csv"));
    EXPECT_TRUE(input.ok()) << input.status();
    return input.value_or(FgdInput{});
  }

  SimRun Fgd(std::vector<std::string> args) const {
    args.insert(args.begin(),
                {"fgd", "--data", folder_.string(), "--list", "tiny"});
    return Sim(std::move(args));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(FgdTest, ReadsPodsByName) {
  const FgdInput input = Load();
  EXPECT_EQ(input.gpu_milli, 4000);
  ASSERT_EQ(input.pods.size(), 4u);
  std::vector<int64_t> demands;
  for (const uint32_t shape : input.pods) {
    demands.push_back(input.Demand(shape));
  }
  EXPECT_THAT(demands, ElementsAre(500, 1000, 500, 0));
  EXPECT_EQ(input.shapes.size(), 4u) << "p0 and p2 differ in memory";
  EXPECT_THAT(input.shapes[input.pods[1]].devices.models,
              ElementsAre("T4", "P100"));
}

TEST_F(FgdTest, TypicalTasksAreTheMostFrequent) {
  std::string pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
  for (int i = 0; i < 100; ++i) {
    // 60 of one kind (of two memories), 36 of another, four odd ones.
    const int cpu = i < 60 ? 1000 : i < 96 ? 2000 : 3000 + i;
    pods += "p" + std::to_string(i) + "," + std::to_string(cpu) + "," +
            std::to_string(i < 30 ? 1024 : 2048) + ",1,500\n";
  }
  Write("openb_pod_list_tiny.csv", pods);
  const FgdInput input = Load();
  const std::vector<TypicalTask> typical = TypicalTasks(input, false);
  ASSERT_EQ(typical.size(), 2u);
  EXPECT_EQ(typical[0].weight, 60);
  EXPECT_EQ(typical[0].shape.resources, Resources({1000}));
  EXPECT_EQ(typical[1].weight, 36);
  EXPECT_EQ(TypicalTasks(input, true).size(), 3u);
}

TEST_F(FgdTest, TheSameSeedGivesTheSameRun) {
  const FgdInput input = Load();
  for (const FgdPolicy& p : FgdPolicies()) {
    const FgdRun once = RunFgdOnce(input, p.policy, 7);
    const FgdRun again = RunFgdOnce(input, p.policy, 7);
    EXPECT_EQ(once.allocated, again.allocated) << p.name;
    ASSERT_EQ(once.allocated.size(), 131u);
    EXPECT_GE(once.allocated[130], once.allocated[50]) << "pods never leave";
    EXPECT_LE(once.allocated[130], 100);
  }
}

// Half-device pods alone fill the cluster to the last thousandth.
TEST_F(FgdTest, WhatFitsIsAllocated) {
  Write("openb_pod_list_tiny.csv",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
        "p0,1000,1024,1,500\n");
  const FgdInput input = Load();
  const FgdRun run = RunFgdOnce(input, PlacementPolicy::kFragmentation, 1);
  EXPECT_EQ(run.pods, 11u) << "1.3 * 4000 / 500, rounded up";
  EXPECT_DOUBLE_EQ(run.allocated[50], 50);
  EXPECT_DOUBLE_EQ(run.allocated[100], 100);
  EXPECT_DOUBLE_EQ(run.allocated[130], 100);
}

TEST_F(FgdTest, PrintsTheDocumentedJson) {
  const SimRun ran = Fgd({"--seeds", "3", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto j = nlohmann::json::parse(ran.out);
  EXPECT_EQ(j["list"], "tiny");
  for (const char* name : {"Muster", "FGD", "BestFit", "GpuPacking",
                           "GpuClustering", "DotProd", "Random"}) {
    const auto& p = j["policies"][name];
    EXPECT_GT(p["at100"].get<double>(), 50) << name;
    EXPECT_GE(p["at130"].get<double>(), p["at100"].get<double>()) << name;
    EXPECT_GE(p["at100_sd"].get<double>(), 0) << name;
    EXPECT_GT(p["cpu_us_per_pod"].get<double>(), 0) << name;
  }
  EXPECT_EQ(j["policies"].size(), 7u);
}

TEST_F(FgdTest, ComparesWithWhatWasPublishedWhereThatIsThere) {
  EXPECT_THAT(Fgd({"--seeds", "1"}).out, Not(HasSubstr("published")));
  Write("fgd_expected_summary.csv",
        "workload,policy,arrived_pct,alloc_mean\n"
        "tiny,FGD,100,87.5\ntiny,FGD,130,99\nother,BestFit,100,1\n");
  const SimRun ran = Fgd({"--seeds", "1", "--policy", "FGD"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("87.50"));
  EXPECT_THAT(ran.out, Not(HasSubstr("Muster")));
}

TEST_F(FgdTest, DrawsTheCurve) {
  const SimRun ran = Fgd({"--seeds", "1", "--policy", "FGD", "--policy",
                          "Spread", "--plot", Path("curve.svg")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("a FGD b Spread"));
  std::ostringstream svg;
  svg << std::ifstream(Path("curve.svg")).rdbuf();
  EXPECT_THAT(svg.str(), StartsWith("<svg"));
  EXPECT_THAT(svg.str(), HasSubstr("polyline"));
  EXPECT_THAT(svg.str(), HasSubstr("Spread"));
}

TEST_F(FgdTest, AnotherNodeListMayBeNamed) {
  Write("one.csv", "sn,cpu_milli,memory_mib,gpu,model\nn0,9000,9000,1,T4\n");
  const SimRun ran = Fgd({"--seeds", "1", "--nodes", Path("one.csv")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 nodes, 1 GPUs"));
}

TEST_F(FgdTest, BadInputIsOneMessageWithFileLineAndField) {
  const std::string pods = Path("openb_pod_list_tiny.csv");
  const std::string head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
  const std::pair<std::string, std::string> cases[] = {
      {head + "p0,1000,1024,1,1001\n", ":2: gpu_milli: '1001' is not between"},
      {head + "p0,1000,1024,1,500\np1,x,1,1,1\n", ":3: cpu_milli: 'x' is not"},
      {head + "p0,1,1,1,1\np0,1,1,1,1\n", ":3: name: 'p0' appears twice"},
      {head + "p0,1000,1024,1\n", ":2: has 4 fields"},
      {head + "p0,1000,1024,0,0\n", ": num_gpu: no pod asks for any"},
      {"name,cpu_milli\np0,1000\n", ":1: lacks the column 'memory_mib'"},
      {"", ": is empty"}};
  for (const auto& [content, message] : cases) {
    Write("openb_pod_list_tiny.csv", content);
    const SimRun ran = Fgd({});
    EXPECT_EQ(ran.code, 2) << content;
    EXPECT_THAT(ran.err, StartsWith("muster-sim: " + pods + message));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  }
  Write("openb_pod_list_tiny.csv", kPods);
  EXPECT_EQ(Fgd({"--nodes", Path("nowhere.csv")}).code, 2);
  EXPECT_EQ(Fgd({"--policy", "Best"}).code, 2);
  EXPECT_EQ(Fgd({"--plot", Path("no/such/folder.svg")}).code, 2);
}

}  // namespace
}  // namespace muster::inprocess
