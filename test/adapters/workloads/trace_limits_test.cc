// Traces that would take all memory.
#include <gtest/gtest.h>

#include "adapters/workloads/trace.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

TEST(TraceLimitsTest, AMuriClusterOfTooManyGpusIsRefused) {
  const TempFile nodes("nodes.csv",
                       "num_switch,num_node_p_switch,num_gpu_p_node\n"
                       "10000,10000,64\n");
  const auto trace = LoadMuri({.nodes = nodes.path(), .jobs = nodes.path()});
  EXPECT_EQ(std::string(trace.status().message()),
            nodes.path() + ":2: num_switch: more than 1000000 GPUs in all");
}

}  // namespace
}  // namespace muster::inprocess
