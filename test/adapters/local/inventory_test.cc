#include "adapters/local/gpu/inventory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Gpu H100(const std::string& uuid) {
  return {.uuid = uuid,
          .model = "NVIDIA H100 80GB HBM3",
          .memory_bytes = 85'520'809'984,
          .pci = "00000000:17:00.0",
          .numa = 1,
          .island = 2};
}

Gpu CutH100(const std::string& uuid) {
  Gpu gpu = H100(uuid);
  gpu.mig = true;
  gpu.instances = {{"MIG-x", "3g.40gb", 0, 42'000'000'000},
                   {"MIG-y", "1g.10gb", 6, 10'000'000'000}};
  return gpu;
}

TEST(InventoryTest, AGpuIsADeviceWithWhatTheDriverTells) {
  const auto devices =
      ToDevices(std::vector{H100("GPU-a")}, CommonPartitionSchemes());
  EXPECT_THAT(devices, ElementsAre(Device{.model = "NVIDIA H100 80GB HBM3",
                                          .memory_bytes = 85'520'809'984,
                                          .island = 2,
                                          .numa = 1}));
}

TEST(InventoryTest, AGpuThatIsCutHasItsPieces) {
  const auto devices =
      ToDevices(std::vector{CutH100("GPU-a")}, CommonPartitionSchemes());
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_TRUE(devices[0].healthy);
  EXPECT_EQ(devices[0].partition_scheme, "h100-80gb");
  EXPECT_THAT(devices[0].partitions,
              ElementsAre(DevicePartition{"3g.40gb", 0},
                          DevicePartition{"1g.10gb", 6}));
}

TEST(InventoryTest, TheNameNeedNotTellTheMemory) {
  Gpu gpu = CutH100("GPU-a");
  gpu.model = "NVIDIA H100 PCIe";
  const auto devices = ToDevices(std::vector{gpu}, CommonPartitionSchemes());
  EXPECT_EQ(devices[0].partition_scheme, "h100-80gb");
  gpu.memory_bytes = 40'000'000'000;
  EXPECT_FALSE(
      ToDevices(std::vector{gpu}, CommonPartitionSchemes())[0].healthy);
}

TEST(InventoryTest, AGpuInMigModeThatNoSchemeFitsTakesNothing) {
  Gpu empty = H100("GPU-a");
  empty.mig = true;
  Gpu other = CutH100("GPU-b");
  other.instances[0].start = 1;  // No 3g.40gb can begin there.
  Gpu unknown = CutH100("GPU-c");
  unknown.model = "NVIDIA B200";
  for (const Device& device : ToDevices(std::vector{empty, other, unknown},
                                        CommonPartitionSchemes())) {
    EXPECT_FALSE(device.healthy);
    EXPECT_EQ(device.partition_scheme, "");
  }
}

TEST(InventoryTest, AGpuOnWhichSomebodyElseComputesIsUsedByOthers) {
  std::vector<Gpu> gpus{H100("GPU-a"), H100("GPU-b"), H100("GPU-c")};
  gpus[1].processes = {{41, 1}, {42, 1}};
  gpus[2].processes = {{41, 1}};
  const auto ours = [](uint32_t pid) { return pid == 41; };
  const ExternalUsage usage = UsedByOthers("box", gpus, ours);
  EXPECT_EQ(usage.node, "box");
  ASSERT_THAT(usage.devices, SizeIs(1));
  EXPECT_EQ(usage.devices[0].device, 1u);
  EXPECT_EQ(usage.devices[0].milli, kWholeDevice);
}

TEST(InventoryTest, ATaskIsToldTheUuidsOfWhatItHolds) {
  const std::vector<Gpu> gpus{H100("GPU-a"), CutH100("GPU-b"), H100("GPU-c")};
  const std::vector<DeviceShare> none, two{{.device = 2}, {.device = 0}},
      piece{{.device = 1, .partition = "1g.10gb", .first_slice = 6}};
  EXPECT_THAT(*VisibleDevices(gpus, none), IsEmpty());
  EXPECT_EQ(*VisibleDevices(gpus, two), "GPU-c,GPU-a");
  EXPECT_EQ(*VisibleDevices(gpus, piece), "MIG-y");
}

TEST(InventoryTest, WhatIsNotThereIsAnError) {
  const std::vector<Gpu> gpus{CutH100("GPU-b")};
  const std::vector<DeviceShare> gpu{{.device = 1}},
      piece{{.device = 0, .partition = "1g.10gb", .first_slice = 5}};
  EXPECT_TRUE(absl::IsInternal(VisibleDevices(gpus, gpu).status()));
  EXPECT_EQ(VisibleDevices(gpus, piece).status().message(),
            "GPU-b has no instance 1g.10gb at slice 5");
}

}  // namespace
}  // namespace muster::local
