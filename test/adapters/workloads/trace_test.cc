// Real traces: every pod accounted for, nothing left behind.
#include "adapters/workloads/trace.h"

#include <gtest/gtest.h>

#include "adapters/inprocess/simulator.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

constexpr char kNotThere[] = "is not there: MUSTER_SHARED names its folder";

// Runs a trace and checks the real usage; returns what was measured.
Metrics RunTrace(absl::StatusOr<Trace> trace, uint64_t jobs, bool validate) {
  EXPECT_TRUE(trace.ok()) << trace.status();
  if (!trace.ok()) return Metrics();
  EXPECT_EQ(trace->jobs->size(), jobs);
  auto simulator = Simulator::Create(trace->setup, trace->jobs.get(), {},
                                     {.validate = validate});
  EXPECT_TRUE(simulator.ok()) << simulator.status();
  if (!simulator.ok()) return Metrics();
  const absl::Status run = simulator->Run();
  EXPECT_TRUE(run.ok()) << run;
  const absl::Status audit = simulator->Audit();
  EXPECT_TRUE(audit.ok()) << audit;
  const Metrics::Counts& c = simulator->metrics().counts;
  EXPECT_EQ(c.submitted, jobs);
  EXPECT_EQ(c.finished, jobs) << "every gang came to its end";
  EXPECT_EQ(c.refused + c.cancelled, 0U);
  EXPECT_EQ(c.overcommits, 0U);
  EXPECT_EQ(simulator->real_usage().FirstInUse(), "");
  const UsageTotals& totals = simulator->real_usage().totals();
  for (const int64_t used : totals.used) EXPECT_EQ(used, 0);
  return simulator->metrics();
}

std::string Openb(const std::string& name) {
  return SharedFile("data/openb/" + name);
}
std::string Muri(const std::string& name) {
  return SharedFile("data/muri/" + name);
}

TEST(TraceTest, OpenbAsItIs) {
  const std::string nodes = Openb("openb_node_list_gpu_node.csv.gz");
  const std::string pods = Openb("openb_pod_list_default.csv.gz");
  if (nodes.empty() || pods.empty()) GTEST_SKIP() << "openb " << kNotThere;
  const Metrics m =
      RunTrace(LoadOpenb({.nodes = nodes, .pods = pods}), 8152, false);
  std::vector<Duration> completions;
  for (const Finished& f : m.finished) {
    EXPECT_EQ(f.wait, 0) << "its load is tiny: no job waits";
    completions.push_back(f.completion);
  }
  const Quantiles q = QuantilesOf(&completions);
  EXPECT_GT(q.p99, q.p90);
  EXPECT_LT(m.Utilisation(2), 0.01);
}

TEST(TraceTest, OpenbWithPrioritiesOnASixthOfItsNodes) {
  const std::string nodes = Openb("openb_node_list_gpu_node.csv.gz");
  const std::string pods = Openb("openb_pod_list_gpushare40.csv.gz");
  if (nodes.empty() || pods.empty()) GTEST_SKIP() << "openb " << kNotThere;
  auto trace = LoadOpenb({.nodes = nodes,
                          .pods = pods,
                          .copies = 3,
                          .policy = TracePolicy::kPriority,
                          .checkpoint_every = 600 * kSecond});
  ASSERT_TRUE(trace.ok()) << trace.status();
  // Of every kind of node, some: pods ask for models.
  std::vector<Node> kept;
  for (size_t i = 0; i < trace->setup.nodes.size(); i += 6) {
    kept.push_back(trace->setup.nodes[i]);
  }
  trace->setup.nodes = kept;
  RunTrace(std::move(trace), 3 * 8152, false);
}

struct MuriCase {
  const char* trace;
  uint64_t jobs;
  TracePolicy policy;
};

class MuriTest : public testing::TestWithParam<MuriCase> {};

TEST_P(MuriTest, EveryJobRuns) {
  const MuriCase& c = GetParam();
  const std::string nodes = Muri("n8g8.csv");
  const std::string jobs = Muri(std::string(c.trace) + ".csv.gz");
  const std::string overhead = Muri("overhead.csv");
  if (nodes.empty() || jobs.empty() || overhead.empty()) {
    GTEST_SKIP() << "muri " << kNotThere;
  }
  const Metrics m = RunTrace(LoadMuri({.nodes = nodes,
                                       .jobs = jobs,
                                       .overhead = overhead,
                                       .policy = c.policy}),
                             c.jobs, c.jobs < 1000);
  EXPECT_GT(m.Utilisation(2), 0.5) << "a heavy load";
  const uint64_t preempted =
      m.counts.stops[static_cast<size_t>(StopCause::kPreempted)];
  if (c.policy == TracePolicy::kFifo) {
    EXPECT_EQ(preempted, 0U);
  } else {
    EXPECT_GT(preempted, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MuriTest,
    testing::Values(MuriCase{"trace1", 1494, TracePolicy::kFifo},
                    MuriCase{"trace1", 1494, TracePolicy::kPriority},
                    MuriCase{"trace3", 992, TracePolicy::kFifo},
                    MuriCase{"trace3", 992, TracePolicy::kPriority}),
    [](const auto& tested) {
      return tested.param.trace +
             std::string(tested.param.policy == TracePolicy::kFifo
                             ? "_fifo"
                             : "_priority");
    });

}  // namespace
}  // namespace muster::inprocess
