#include "adapters/local/host/machine.h"

#include <sched.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/device_set.h"

namespace muster::local {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

int64_t Of(const Node& node, const Config& config, const char* resource) {
  return node.capacity[config.scheduler.KindOf(resource)];
}

TEST(MachineTest, WhatIsFoundIsWhatIsThere) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(MachineName(), name);
  EXPECT_GE(AllowedCpus(), 1u);
  EXPECT_LE(AllowedCpus(),
            static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF)));
  EXPECT_GT(AllowedMemory(), int64_t{1} << 20);
  EXPECT_LE(AllowedMemory(),
            int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE));
}

TEST(MachineTest, OnlyProcessorsThatThisProcessMayUseCount) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(AllowedCpus(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(MachineTest, TheNodeIsTheMachineWhereTheConfigurationSaysNothing) {
  const Config config;
  const auto node = MakeNode(
      config, {{.uuid = "GPU-a", .model = "H100", .memory_bytes = 80}});
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(node->key, MachineName());
  EXPECT_EQ(Of(*node, config, "cpu"), int64_t{AllowedCpus()} * 1000);
  EXPECT_EQ(Of(*node, config, "memory"), AllowedMemory());
  ASSERT_THAT(node->devices, SizeIs(1));
  EXPECT_EQ(node->devices[0].model, "H100");
}

TEST(MachineTest, WhatTheConfigurationSaysGoesBeforeWhatIsThere) {
  Config config;
  config.node = "box";
  config.cpu_milli = 1500;
  config.memory_bytes = 12345;
  config.devices.emplace();  // None.
  const auto node = MakeNode(config, {{.uuid = "GPU-a"}});
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(node->key, "box");
  EXPECT_EQ(Of(*node, config, "cpu"), 1500);
  EXPECT_EQ(Of(*node, config, "memory"), 12345);
  EXPECT_THAT(node->devices, IsEmpty());
}

TEST(MachineTest, MoreDevicesThanANodeMayHaveAreRefused) {
  Config config;
  config.devices.emplace(DeviceSet::kCapacity);
  EXPECT_TRUE(MakeNode(config, {}).ok());
  config.devices->emplace_back();
  const auto node = MakeNode(config, {});
  EXPECT_TRUE(absl::IsFailedPrecondition(node.status()));
  EXPECT_THAT(std::string(node.status().message()),
              HasSubstr("node.gpus: 129 devices, and a node has at most 128"));
}

}  // namespace
}  // namespace muster::local
