// 150 copies of the Alibaba trace, an hour apart: 1,222,800 pods that load the
// cluster to 87 % on average and 107 % at the peak.
#include <gtest/gtest.h>

#include "adapters/inprocess/simulator.h"
#include "adapters/workloads/trace.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

TEST(LongTraceTest, EveryOneOf1222800PodsRuns) {
  const std::string nodes =
      SharedFile("data/openb/openb_node_list_gpu_node.csv.gz");
  const std::string pods =
      SharedFile("data/openb/openb_pod_list_default.csv.gz");
  if (nodes.empty() || pods.empty()) {
    GTEST_SKIP() << "openb is not there: MUSTER_SHARED names its folder";
  }
  auto trace = LoadOpenb({.nodes = nodes, .pods = pods, .copies = 150});
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_EQ(trace->jobs->size(), 1'222'800U);
  auto simulator = Simulator::Create(trace->setup, trace->jobs.get(), {}, {});
  ASSERT_TRUE(simulator.ok()) << simulator.status();
  const absl::Status run = simulator->Run();
  ASSERT_TRUE(run.ok()) << run;
  const absl::Status audit = simulator->Audit();
  ASSERT_TRUE(audit.ok()) << audit;
  const Metrics::Counts& c = simulator->metrics().counts;
  EXPECT_EQ(c.finished, 1'222'800U);
  EXPECT_EQ(c.overcommits, 0U);
  EXPECT_GT(c.passes, 1'000'000U);
  EXPECT_EQ(simulator->real_usage().FirstInUse(), "");
}

}  // namespace
}  // namespace muster::inprocess
