// Machines that hwloc describes, and this one.
#include "adapters/local/host/cpu_topology.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <set>

#include "adapters/local/host/machine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

CpuTopology Of(const std::string& text) {
  const auto topology = CpuTopologyOf(text);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return topology.ok() ? *topology : CpuTopology();
}

// As hwloc 2 writes it: two NUMA nodes of a core each, a GPU near the second, a
// network card near it, and a GPU of which nothing is known.
constexpr char kXml[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
  <object type="Package" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2">
   <object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3" local_memory="1024"/>
   <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4">
    <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="5"/>
   </object>
  </object>
  <object type="Package" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="6">
   <object type="NUMANode" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="7" local_memory="1024"/>
   <object type="Core" os_index="0" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="8">
    <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="9"/>
   </object>
   <object type="Bridge" gp_index="10" bridge_type="0-1" depth="0" bridge_pci="0000:[16-18]">
    <object type="PCIDev" gp_index="11" pci_busid="0000:17:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="0.000000"/>
    <object type="PCIDev" gp_index="12" pci_busid="0000:18:00.0" pci_type="0200 [15b3:1021] [15b3:0023] 00" pci_link_speed="0.000000"/>
   </object>
  </object>
  <object type="Bridge" gp_index="13" bridge_type="0-1" depth="0" bridge_pci="0001:[00-05]">
   <object type="PCIDev" gp_index="14" pci_busid="0001:05:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="0.000000"/>
  </object>
 </object>
</topology>
)";

TEST(CpuTopologyTest, CoresHaveTheirThreadsAndTheirNodes) {
  EXPECT_THAT(Of("numa:2 core:2 pu:2").cores,
              ElementsAre(CpuCore{0, {0, 1}}, CpuCore{0, {2, 3}},
                          CpuCore{1, {4, 5}}, CpuCore{1, {6, 7}}));
  EXPECT_THAT(Of("pack:1 core:3 pu:1").cores, SizeIs(3));
}

TEST(CpuTopologyTest, TheKernelsNumbersCount) {
  // The second threads behind all first ones, as most machines have them.
  const CpuTopology topology =
      Of("numa:2(indexes=3,1) core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
  EXPECT_THAT(topology.cores,
              ElementsAre(CpuCore{3, {0, 4}}, CpuCore{3, {1, 5}},
                          CpuCore{1, {2, 6}}, CpuCore{1, {3, 7}}));
}

TEST(CpuTopologyTest, WithoutCoresEachThreadIsOne) {
  EXPECT_THAT(Of("pack:2 pu:2").cores, SizeIs(4));
}

TEST(CpuTopologyTest, GpusAreNearTheNodeTheirBusIsAt) {
  const CpuTopology topology = Of(kXml);
  EXPECT_THAT(topology.cores, ElementsAre(CpuCore{0, {0}}, CpuCore{1, {1}}));
  EXPECT_THAT(topology.gpus, ElementsAre(Pair("0000:17:00.0", 1)));
  const auto gpus = WithNumaNodes({{.pci = "00000000:17:00.0"},
                                   {.pci = "00000000:17:00.0", .numa = 0},
                                   {.pci = "00000001:05:00.0"},
                                   {.pci = ""}},
                                  topology);
  EXPECT_EQ(gpus[0].numa, 1);
  EXPECT_EQ(gpus[1].numa, 0) << "the driver knows";
  EXPECT_EQ(gpus[2].numa, -1);
  EXPECT_EQ(gpus[3].numa, -1);
}

TEST(CpuTopologyTest, WhatDescribesNoMachineIsRefused) {
  for (const char* text : {"nonsense:2", "<topology>"}) {
    const auto topology = CpuTopologyOf(text);
    EXPECT_TRUE(absl::IsInvalidArgument(topology.status()) ||
                absl::IsUnavailable(topology.status()))
        << topology.status();
  }
}

// libpciaccess, by which hwloc reads the devices of a machine, keeps what it
// read, and is unloaded: its name is no more known when leaks are looked for.
absl::StatusOr<CpuTopology> OfThisMachine() {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler not_ours;
#endif
  return ReadCpuTopology();
}

TEST(CpuTopologyTest, OfThisMachineItHasWhatThisProcessMayUse) {
  const auto topology = OfThisMachine();
  ASSERT_TRUE(topology.ok()) << topology.status();
  std::set<uint32_t> threads;
  for (const CpuCore& core : topology->cores) {
    threads.insert(core.threads.begin(), core.threads.end());
  }
  EXPECT_EQ(threads.size(), AllowedCpus());
}

// --- What of them jobs may use -----------------------------------------------

CpuPool PoolOf(CpuUnit unit, std::optional<int64_t> milli) {
  Config config;
  config.cpu_bind = CpuBind::kCores;
  config.cpu_unit = unit;
  config.cpu_milli = milli;
  const auto pool = MakeCpuPool(config, Of("numa:2 core:2 pu:2").cores);
  EXPECT_TRUE(pool.ok()) << pool.status();
  const auto node = MakeNode(config, {}, *pool);
  EXPECT_TRUE(node.ok()) << node.status();
  // The scheduler has no more than there is to be bound to.
  EXPECT_LE(node->capacity[0], static_cast<int64_t>(pool->size()) * 1000);
  if (!milli) {
    EXPECT_EQ(node->capacity[0], static_cast<int64_t>(pool->size()) * 1000);
  }
  return *pool;
}

TEST(CpuPoolTest, CountsWhatTheConfigurationCounts) {
  EXPECT_EQ(PoolOf(CpuUnit::kCore, std::nullopt).size(), 4u);
  EXPECT_EQ(PoolOf(CpuUnit::kThread, std::nullopt).size(), 8u);
  EXPECT_THAT(
      PoolOf(CpuUnit::kCore, 2500).cores,
      ElementsAre(CpuCore{0, {0, 1}}, CpuCore{0, {2, 3}}, CpuCore{1, {4, 5}}));
  EXPECT_THAT(PoolOf(CpuUnit::kThread, 3000).cores,
              ElementsAre(CpuCore{0, {0, 1}}, CpuCore{0, {2}}));
  EXPECT_THAT(PoolOf(CpuUnit::kCore, 0).cores, IsEmpty());
}

TEST(CpuPoolTest, MoreThanThereIsIsRefused) {
  Config config;
  config.cpu_bind = CpuBind::kCores;
  config.cpu_milli = 5000;
  const auto pool = MakeCpuPool(config, Of("core:4 pu:2").cores);
  EXPECT_TRUE(absl::IsFailedPrecondition(pool.status()));
  EXPECT_THAT(std::string(pool.status().message()),
              HasSubstr("node.cpus.amount: 5 cpus (cores), and there are 4"));
  config.cpu_unit = CpuUnit::kThread;
  EXPECT_TRUE(MakeCpuPool(config, Of("core:4 pu:2").cores).ok());
}

TEST(CpuPoolTest, WithoutABindingThereIsNone) {
  const auto pool = MakeCpuPool(Config(), Of("core:4 pu:2").cores);
  ASSERT_TRUE(pool.ok());
  EXPECT_THAT(pool->cores, IsEmpty());
}

}  // namespace
}  // namespace muster::local
