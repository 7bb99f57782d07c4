// The figures of the generated workloads that docs/workload.md calls measured,
// measured again.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "adapters/text/csv.h"
#include "adapters/workloads/generate_model.h"
#include "adapters/workloads/openb_csv.h"
#include "adapters/workloads/trace.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

constexpr char kMissing[] = "is not there: MUSTER_SHARED names its folder";

// Seconds, sorted.
using Times = std::vector<int64_t>;

// Every point of the table is the trace's, up to the longest run allowed and
// the seconds that a trace's own quantile may be read differently by.
void ExpectMeasured(std::span<const Quantile> table, Times times,
                    const std::string& what) {
  std::ranges::sort(times);
  for (const Quantile& q : table) {
    if (q.per_mille == 0 || q.per_mille == 1000) continue;
    const auto at = static_cast<size_t>(q.per_mille) * times.size() / 1000;
    const int64_t measured = std::min(times[at], kLongestRun);
    EXPECT_NEAR(static_cast<double>(q.seconds), static_cast<double>(measured),
                1 + 0.001 * static_cast<double>(measured))
        << what << " at " << q.per_mille;
  }
}

std::string Pods() {
  return SharedFile("data/openb/openb_pod_list_default.csv.gz");
}
std::string Nodes() {
  return SharedFile("data/openb/openb_node_list_gpu_node.csv.gz");
}

std::span<const Quantile> TimesOf(uint32_t gpus, bool shares) {
  for (const JobSize& size : JobSizes()) {
    if (size.gpus == gpus && size.shares == shares) return size.run_times;
  }
  return {};
}

// The middle one; of an even number the upper.
int64_t Median(std::vector<int64_t> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

TEST(GenerateDataTest, TheMediumClusterHasOpenbsShares) {
  if (Nodes().empty()) GTEST_SKIP() << "openb " << kMissing;
  const auto nodes = LoadOpenbNodes(Nodes());
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  const ClusterModel& model = ModelOf(Preset::kMedium);
  EXPECT_EQ(model.nodes, nodes->size());
  std::map<std::pair<std::string, size_t>, std::vector<const Node*>> have;
  for (const Node& n : *nodes) {
    have[{n.devices[0].model, n.devices.size()}].push_back(&n);
  }
  EXPECT_EQ(have.size(), model.node_types.size());
  uint32_t all = 0;
  for (const NodeType& type : model.node_types) {
    all += type.permille;
    std::vector<int64_t> cpu, memory;
    for (const Node* n : have[{type.model, type.gpus}]) {
      cpu.push_back(n->capacity[0]);
      memory.push_back(n->capacity[1] >> 20);
    }
    EXPECT_NEAR(1000.0 * static_cast<double>(cpu.size()) /
                    static_cast<double>(nodes->size()),
                type.permille, 0.7)
        << type.model << " with " << type.gpus;
    EXPECT_EQ(Median(cpu), type.cpu_milli);
    EXPECT_EQ(Median(memory), type.memory_mib);
  }
  EXPECT_EQ(all, 1000U);
}

TEST(GenerateDataTest, SmallJobsRunAsInOpenb) {
  if (Pods().empty()) GTEST_SKIP() << "openb " << kMissing;
  auto trace = LoadOpenb({.nodes = Nodes(), .pods = Pods()});
  ASSERT_TRUE(trace.ok()) << trace.status();
  Times none, shared, one;
  Job job;
  while (trace->jobs->Next(&job)) {
    const DeviceRequest& d = job.gang.roles[0].shape.devices;
    const int64_t seconds = job.work / kSecond;
    if (d.count == 0) none.push_back(seconds);
    if (d.count == 1) (d.milli < 1000 ? shared : one).push_back(seconds);
  }
  EXPECT_EQ(none.size(), 1088U);
  EXPECT_EQ(shared.size(), 3078U);
  EXPECT_EQ(one.size(), 3911U);
  ExpectMeasured(TimesOf(0, false), none, "no GPU");
  ExpectMeasured(TimesOf(1, true), shared, "a part of one");
  ExpectMeasured(TimesOf(1, false), one, "one");
}

TEST(GenerateDataTest, GangsRunAsInPhilly) {
  const std::string nodes = SharedFile("data/muri/n8g8.csv");
  if (nodes.empty()) GTEST_SKIP() << "muri " << kMissing;
  std::map<uint32_t, Times> times;  // By GPUs.
  for (const char* name : {"trace1", "trace3"}) {
    auto trace = LoadMuri(
        {.nodes = nodes,
         .jobs = SharedFile(std::string("data/muri/") + name + ".csv.gz")});
    ASSERT_TRUE(trace.ok()) << trace.status();
    Job job;
    while (trace->jobs->Next(&job)) {
      const uint32_t gpus = job.gang.roles[0].desired_tasks;
      times[gpus <= 4 ? std::min(gpus, 2U) : std::min(gpus, 16U)].push_back(
          job.work / kSecond);
    }
  }
  EXPECT_EQ(times[2].size(), 484U);
  EXPECT_EQ(times[8].size(), 1156U);
  EXPECT_EQ(times[16].size(), 176U);
  for (const uint32_t gpus : {2, 8, 16}) {
    ExpectMeasured(TimesOf(gpus, false), times[gpus], std::to_string(gpus));
  }
}

// Cpu, memory, GPU.
using Ask = std::array<int64_t, 3>;

// The means of eighths of them, in their order, rounded to 100 thousandths of a
// core, 512 MiB and a hundredth of a GPU.
std::vector<Ask> MeansOfEighths(std::vector<Ask> asks) {
  constexpr Ask kRoundTo = {100, 512, 10};
  std::ranges::sort(asks);
  std::vector<Ask> means;
  for (size_t i = 0; i < 8; ++i) {
    const size_t begin = i * asks.size() / 8;
    const size_t end = (i + 1) * asks.size() / 8;
    const auto count = static_cast<int64_t>(end - begin);
    Ask& mean = means.emplace_back();
    for (size_t k = 0; k < mean.size(); ++k) {
      int64_t sum = 0;
      for (size_t j = begin; j < end; ++j) sum += asks[j][k];
      const int64_t unit = kRoundTo[k] * count;
      mean[k] = (2 * sum + unit) / (2 * unit) * kRoundTo[k];
    }
  }
  return means;
}

TEST(GenerateDataTest, AsksAndClassesAreOpenbs) {
  if (Pods().empty()) GTEST_SKIP() << "openb " << kMissing;
  auto table = CsvTable::Load(Pods());
  ASSERT_TRUE(table.ok()) << table.status();
  const auto number = [&](size_t row, const char* column) {
    return table->Integer(row, column, 0, 1'000'000'000);
  };
  std::array<std::vector<Ask>, 3> asks;  // By kind.
  std::map<int64_t, std::map<std::string, double>> classes;
  std::map<int64_t, double> counts;
  for (size_t r = 0; r < table->rows(); ++r) {
    const int64_t gpus = number(r, "num_gpu");
    if (gpus > 1) continue;
    const int64_t milli = gpus * number(r, "gpu_milli");
    const int64_t kind = milli == 0 ? 0 : milli < 1000 ? 1 : 2;
    asks[static_cast<size_t>(kind)].push_back(
        {number(r, "cpu_milli"), number(r, "memory_mib"), milli});
    ++classes[kind][std::string(table->Text(r, "qos"))];
    ++counts[kind];
  }
  ASSERT_TRUE(table->status().ok()) << table->status();
  for (int64_t kind = 0; kind < 3; ++kind) {
    const JobSize& size = JobSizes()[static_cast<size_t>(kind)];
    std::vector<Ask> eighths;
    for (const TaskAsk& ask : size.asks) {
      eighths.insert(eighths.end(), ask.weight,
                     {ask.cpu_milli, ask.memory_mib, ask.gpu_milli});
    }
    EXPECT_EQ(eighths, MeansOfEighths(asks[static_cast<size_t>(kind)]));
    auto& by = classes[kind];
    EXPECT_NEAR(1000 * (by["LS"] + by["Guaranteed"]) / counts[kind],
                static_cast<double>(size.high_permille), 1);
    EXPECT_NEAR(1000 * by["BE"] / counts[kind],
                static_cast<double>(size.low_permille), 1);
  }
}

TEST(GenerateDataTest, TheRhythmIsOpenbs) {
  if (Pods().empty()) GTEST_SKIP() << "openb " << kMissing;
  auto trace = LoadOpenb({.nodes = Nodes(), .pods = Pods()});
  ASSERT_TRUE(trace.ok()) << trace.status();
  std::vector<int64_t> created;
  Job job;
  while (trace->jobs->Next(&job))
    created.push_back(job.gang.submitted / kSecond);
  std::array<int64_t, 24> hours{};
  std::array<int64_t, 7> days{};
  for (const int64_t at : created) {
    // Hour 14 of the trace's clock is 4 o'clock here; day 122 is a Monday.
    if (at > created.back() - 90 * 86'400) {
      ++hours[static_cast<size_t>((at / 3600 + 14) % 24)];
    }
    const int64_t day = at / 86'400;
    if (day >= 122 && day <= 142) ++days[static_cast<size_t>((day - 122) % 7)];
  }
  EXPECT_EQ(hours, kHourWeights);
  EXPECT_EQ(days, kDayWeights);
}

}  // namespace
}  // namespace muster::inprocess
