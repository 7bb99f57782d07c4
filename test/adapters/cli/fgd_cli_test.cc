// muster-sim fgd, on small lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/adapters/cli/sim_run.h"
#include "test/adapters/experiments/fgd_folder.h"

namespace muster::inprocess {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class FgdCliTest : public FgdFolderTest {
 protected:
  SimRun Fgd(std::vector<std::string> args) const {
    args.insert(args.begin(),
                {"fgd", "--data", folder().string(), "--list", "tiny"});
    return Sim(std::move(args));
  }
};

TEST_F(FgdCliTest, PrintsTheDocumentedJson) {
  const SimRun ran = Fgd({"--seeds", "3", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto j = nlohmann::json::parse(ran.out);
  EXPECT_EQ(j["list"], "tiny");
  bool deviates = false;
  for (const char* name : {"Muster", "FGD", "BestFit", "GpuPacking",
                           "GpuClustering", "DotProd", "Random"}) {
    const auto& p = j["policies"][name];
    EXPECT_GT(p["at100"].get<double>(), 50) << name;
    EXPECT_GE(p["at130"].get<double>(), p["at100"].get<double>()) << name;
    deviates |= p["at100_sd"].get<double>() > 0;
    EXPECT_GT(p["cpu_us_per_pod"].get<double>(), 0) << name;
  }
  EXPECT_EQ(j["policies"].size(), 7u);
  EXPECT_TRUE(deviates);
  // One run does not.
  const SimRun once = Fgd({"--seeds", "1", "--json"});
  for (const auto& p : nlohmann::json::parse(once.out)["policies"]) {
    EXPECT_EQ(p["at100_sd"], 0);
  }
}

TEST_F(FgdCliTest, ComparesWithWhatWasPublishedWhereThatIsThere) {
  EXPECT_THAT(Fgd({"--seeds", "1"}).out, Not(HasSubstr("published")));
  Write("fgd_expected_summary.csv",
        "workload,policy,arrived_pct,alloc_mean\n"
        "tiny,FGD,100,87.5\ntiny,FGD,130,99\nother,BestFit,100,1\n");
  const SimRun ran = Fgd({"--seeds", "1", "--policy", "FGD"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("87.50"));
  EXPECT_THAT(ran.out, Not(HasSubstr("Muster")));
}

TEST_F(FgdCliTest, DrawsTheCurve) {
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

TEST_F(FgdCliTest, AnotherNodeListMayBeNamed) {
  Write("one.csv", "sn,cpu_milli,memory_mib,gpu,model\nn0,9000,9000,1,T4\n");
  const SimRun ran = Fgd({"--seeds", "1", "--nodes", Path("one.csv")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 nodes, 1 GPUs"));
}

TEST_F(FgdCliTest, BadInputIsOneMessageWithFileLineAndField) {
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
  Write("openb_pod_list_tiny.csv", kFgdPods);
  EXPECT_EQ(Fgd({"--nodes", Path("nowhere.csv")}).code, 2);
  EXPECT_EQ(Fgd({"--policy", "Best"}).code, 2);
  EXPECT_EQ(Fgd({"--plot", Path("no/such/folder.svg")}).code, 2);
}

}  // namespace
}  // namespace muster::inprocess
