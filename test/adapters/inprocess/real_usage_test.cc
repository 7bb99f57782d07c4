#include "adapters/inprocess/real_usage.h"

#include <gtest/gtest.h>

namespace muster::inprocess {
namespace {

constexpr ResourceKind kGpu = 2;

Node GpuNode(const char* key, size_t devices) {
  Node node{.key = key, .capacity = {8000, 1000}};
  node.devices.assign(devices, Device{.model = "T", .memory_bytes = 1000});
  return node;
}

TaskShape Gpus(uint32_t count, int32_t milli = kWholeDevice) {
  TaskShape shape{.resources = {1000, 10}};
  shape.devices = {.count = count, .milli = milli};
  return shape;
}

TEST(RealUsageTest, SumsWhatIsUsedAndHowBrokenTheRestIs) {
  RealUsage real_usage(3, kGpu);
  const uint32_t a = real_usage.Upsert(GpuNode("a", 2));
  real_usage.Upsert(GpuNode("b", 2));
  EXPECT_EQ(real_usage.totals().capacity[kGpu], 4000);
  EXPECT_EQ(real_usage.totals().whole_on_free_node, 4);

  EXPECT_TRUE(real_usage.Charge(a, Gpus(1, 300), {{0}}));
  EXPECT_EQ(real_usage.totals().used[0], 1000);
  EXPECT_EQ(real_usage.totals().used[kGpu], 300);
  EXPECT_EQ(real_usage.totals().free_milli, 3700);
  EXPECT_EQ(real_usage.totals().partly_free_milli, 700);
  EXPECT_EQ(real_usage.totals().whole_free, 3);
  EXPECT_EQ(real_usage.totals().whole_on_free_node, 2);
  EXPECT_EQ(real_usage.FirstInUse(), "a");

  real_usage.Credit(a, Gpus(1, 300), {{0}});
  EXPECT_EQ(real_usage.totals().whole_on_free_node, 4);
  EXPECT_EQ(real_usage.FirstInUse(), "");
}

TEST(RealUsageTest, SaysWhenANodeIsOvercommitted) {
  RealUsage real_usage(3, kGpu);
  const uint32_t a = real_usage.Upsert(GpuNode("a", 1));
  EXPECT_TRUE(real_usage.Charge(a, Gpus(1, 600), {{0}}));
  EXPECT_FALSE(real_usage.Charge(a, Gpus(1, 600), {{0}}));
  EXPECT_FALSE(real_usage.Charge(a, Gpus(1), {{1}}))
      << "there is no such device";
  EXPECT_FALSE(real_usage.Charge(a, Gpus(2), {{0}})) << "one device is not two";
  TaskShape hungry{.resources = {100'000}};
  EXPECT_FALSE(real_usage.Charge(a, hungry, {}));
}

TEST(RealUsageTest, PicksTheFullestDevicesThatFit) {
  RealUsage real_usage(3, kGpu);
  const uint32_t a = real_usage.Upsert(GpuNode("a", 3));
  real_usage.Charge(a, Gpus(1, 500), {{1}});
  EXPECT_EQ(real_usage.Pick(a, Gpus(1, 400).devices, {})->devices,
            DeviceSet({1}));
  EXPECT_EQ(real_usage.Pick(a, Gpus(1, 600).devices, {})->devices,
            DeviceSet({0}));
  EXPECT_EQ(real_usage.Pick(a, Gpus(1, 400).devices, {1})->devices,
            DeviceSet({0}))
      << "what is to be avoided comes last";
  EXPECT_EQ(real_usage.Pick(a, Gpus(2).devices, {})->devices,
            DeviceSet({0, 2}));
  EXPECT_FALSE(real_usage.Pick(a, Gpus(3).devices, {}).has_value());
  EXPECT_FALSE(
      real_usage.Pick(a, {.count = 1, .models = {"H"}}, {}).has_value());
}

TEST(RealUsageTest, CountsMemorySharesInThousandths) {
  RealUsage real_usage(3, kGpu);
  const uint32_t a = real_usage.Upsert(GpuNode("a", 1));
  TaskShape shape;
  shape.devices = {.count = 1, .milli = 0, .memory_bytes = 250};
  EXPECT_TRUE(real_usage.Charge(a, shape, {{0}}));
  EXPECT_EQ(real_usage.totals().used[kGpu], 250);
}

TEST(RealUsageTest, LeavesNodesThatDoNotWorkOutOfTheSums) {
  RealUsage real_usage(3, kGpu);
  const uint32_t a = real_usage.Upsert(GpuNode("a", 2));
  real_usage.SetUp(a, false);
  EXPECT_EQ(real_usage.totals().capacity[kGpu], 0);
  EXPECT_EQ(real_usage.totals().free_milli, 0);
  real_usage.SetUp(a, true);
  EXPECT_EQ(real_usage.totals().capacity[kGpu], 2000);
}

TEST(RealUsageTest, WhatOthersUseIsUsed) {
  RealUsage real_usage(3, kGpu);
  const uint32_t a = real_usage.Upsert(GpuNode("a", 2));
  ExternalUsage external{.node = "a", .amount = {500}};
  external.devices = {{.device = 1, .milli = 400}};
  real_usage.SetExternalUsage(a, external);
  EXPECT_EQ(real_usage.totals().used[0], 500);
  EXPECT_EQ(real_usage.totals().used[kGpu], 400);
  EXPECT_EQ(real_usage.FirstInUse(), "") << "others are no task of ours";
  real_usage.SetExternalUsage(a, {.node = "a"});
  EXPECT_EQ(real_usage.totals().used[kGpu], 0);
}

TEST(RealUsageTest, WhatOthersGiveInOneMeasureCountsInTheOther) {
  RealUsage real_usage(3, kGpu);
  const uint32_t a = real_usage.Upsert(GpuNode("a", 2));
  real_usage.SetExternalUsage(a,
                              {.node = "a",
                               .devices = {{.device = 0, .memory_bytes = 250},
                                           {.device = 1, .milli = 400}}});
  EXPECT_EQ(real_usage.ExternalMilli(a), 650);
  TaskShape memory{.devices = {.count = 1, .milli = 0, .memory_bytes = 601}};
  EXPECT_FALSE(real_usage.Charge(a, memory, {{1}})) << "400 of 1000 are taken";
}

TEST(RealUsageTest, PartitionsHaveSlotsOfTheirOwn) {
  RealUsage real_usage(3, kGpu, CommonPartitionSchemes());
  Node node{.key = "a"};
  node.devices.assign(2, {.partition_scheme = "a100-40gb"});
  node.devices[1].partitions = {{"1g.5gb", 3}};
  const uint32_t a = real_usage.Upsert(node);
  TaskShape three;
  three.devices.count = 1;
  three.devices.partition = "3g.20gb";
  TaskShape one = three;
  one.devices.partition = "1g.5gb";
  EXPECT_TRUE(real_usage.Charge(a, three, {{0}, 4}));
  EXPECT_EQ(real_usage.Pick(a, three.devices, {})->first_slice, 0u);
  EXPECT_EQ(real_usage.Pick(a, one.devices, {0})->devices, DeviceSet({1}));
  EXPECT_EQ(real_usage.Pick(a, one.devices, {0})->first_slice, 3u)
      << "as it is cut";
  EXPECT_FALSE(real_usage.Pick(a, Gpus(1, 300).devices, {}).has_value())
      << "one device holds a partition, the other one is cut";
  real_usage.SetExternalUsage(
      a, {.node = "a",
          .devices = {{.device = 0, .partition = "1g.5gb", .first_slice = 0}}});
  EXPECT_EQ(real_usage.ExternalMilli(a), 142);
  EXPECT_FALSE(real_usage.Pick(a, three.devices, {}).has_value());
  EXPECT_FALSE(real_usage.Charge(a, one, {{0}, 5})) << "taken";
}

}  // namespace
}  // namespace muster::inprocess
