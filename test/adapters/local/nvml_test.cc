#include "adapters/local/gpu/nvml.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kTwo[] =
    "gpu GPU-b NVIDIA_H100_80GB_HBM3 85520809984 00000000:3B:00.0 1 0\n"
    "gpu GPU-a NVIDIA_H100_80GB_HBM3 85520809984 00000000:17:00.0 1 0\n";

// A machine whose driver says what the lines say.
class NvmlTest : public testing::Test {
 protected:
  NvmlTest() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~NvmlTest() override { std::filesystem::remove_all(folder_); }

  const std::string& folder() const { return folder_; }

  absl::StatusOr<std::unique_ptr<Nvml>> Load(const std::string& lines) {
    const std::string file = folder_ + "/fake_nvml.txt";
    std::ofstream(file) << lines;
    setenv("FAKE_NVML", file.c_str(), 1);
    return Nvml::Load(FAKE_NVML_LIBRARY, folder_ + "/no-sysfs");
  }

  std::vector<Gpu> List(const std::string& lines) {
    auto nvml = Load(lines);
    if (!nvml.ok()) {
      ADD_FAILURE() << nvml.status();
      return {};
    }
    auto gpus = (*nvml)->List();
    EXPECT_TRUE(gpus.ok()) << gpus.status();
    return gpus.ok() ? *gpus : std::vector<Gpu>();
  }

 private:
  std::string folder_ = testing::TempDir() + "nvml-XXXXXX";
};

TEST_F(NvmlTest, AMachineWithoutADriverIsNotFound) {
  const auto nvml = Nvml::Load("libno-such-library.so.1");
  EXPECT_TRUE(absl::IsNotFound(nvml.status())) << nvml.status();
}

TEST_F(NvmlTest, ALibraryThatIsAnotherOneIsRefusedByTheFunctionItLacks) {
  const auto nvml = Nvml::Load("libm.so.6");
  EXPECT_TRUE(absl::IsFailedPrecondition(nvml.status())) << nvml.status();
  EXPECT_THAT(std::string(nvml.status().message()), HasSubstr("nvmlInit_v2"));
}

TEST_F(NvmlTest, ADriverThatDoesNotStartSaysWhy) {
  const auto nvml = Load("fail init 15\n");
  EXPECT_TRUE(absl::IsFailedPrecondition(nvml.status()));
  EXPECT_THAT(std::string(nvml.status().message()), HasSubstr("GPU is lost"));
}

TEST_F(NvmlTest, NoGpuIsNoError) { EXPECT_THAT(List(""), IsEmpty()); }

TEST_F(NvmlTest, GpusComeInTheOrderOfTheirAddresses) {
  const auto gpus = List(kTwo);
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[0].uuid, "GPU-a");
  EXPECT_EQ(gpus[0].model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpus[0].memory_bytes, 85520809984);
  EXPECT_EQ(gpus[0].pci, "00000000:17:00.0");
  EXPECT_EQ(gpus[0].numa, -1);
  EXPECT_FALSE(gpus[0].mig);
  EXPECT_EQ(gpus[1].uuid, "GPU-b");
}

TEST_F(NvmlTest, LinkedGpusAreOneIslandAlsoByWayOfAThird) {
  std::string lines;
  for (int i = 0; i < 5; ++i) {
    lines += absl::StrCat("gpu GPU-", i, " A40 1000 00000000:0", i, ":00.0",
                          " 0 0\n");
  }
  const auto gpus = List(lines + "link 4 1\nlink 3 4\n");
  std::vector<int32_t> islands;
  for (const Gpu& gpu : gpus) islands.push_back(gpu.island);
  EXPECT_THAT(islands, ElementsAre(0, 1, 2, 1, 1));
}

TEST_F(NvmlTest, WhereNobodyKnowsOfLinksEachGpuIsAnIsland) {
  const auto gpus = List(std::string(kTwo) + "link 0 1\nfail p2p 3\n");
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_NE(gpus[0].island, gpus[1].island);
}

TEST_F(NvmlTest, ProcessesOfAnybodyAreSeenHoweverMany) {
  std::string lines = kTwo;
  for (int pid = 140; pid > 100; --pid) {
    lines += absl::StrCat("process 0 ", pid, " 1048576\n");
  }
  const auto gpus = List(lines + "process 1 7 18446744073709551615\n");
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_THAT(gpus[0].processes, ElementsAre(GpuProcess{7, 0}));
  ASSERT_THAT(gpus[1].processes, SizeIs(40));
  EXPECT_EQ(gpus[1].processes[0], (GpuProcess{101, 1048576}));
}

TEST_F(NvmlTest, InstancesOfAGpuInMigModeAreReadWithTheirPlaces) {
  const auto gpus = List(
      "gpu GPU-a NVIDIA_H100_80GB_HBM3 85520809984 00000000:17:00.0 1 1\n"
      "instance 0 MIG-y NVIDIA_H100_80GB_HBM3_MIG_1g.10gb 10000 9 6\n"
      "instance 0 MIG-x NVIDIA_H100_80GB_HBM3_MIG_3g.40gb 40000 2 0\n");
  ASSERT_THAT(gpus, SizeIs(1));
  EXPECT_TRUE(gpus[0].mig);
  EXPECT_THAT(gpus[0].instances,
              ElementsAre(GpuInstance{"MIG-x", "3g.40gb", 0, 40000},
                          GpuInstance{"MIG-y", "1g.10gb", 6, 10000}));
}

TEST_F(NvmlTest, AGpuThatDoesNotAnswerIsNamed) {
  auto nvml = Load(std::string(kTwo) + "fail memory 15\n");
  ASSERT_TRUE(nvml.ok());
  const auto gpus = (*nvml)->List();
  EXPECT_TRUE(absl::IsUnavailable(gpus.status()));
  EXPECT_EQ(gpus.status().message(), "GPU 0: NVML: memory: GPU is lost");
}

TEST_F(NvmlTest, OneThatDoesNotAnswerIsLeftOutWhereThatIsAsked) {
  auto nvml = Load(std::string(kTwo) + "lost 1\n");
  ASSERT_TRUE(nvml.ok());
  std::vector<absl::Status> silent;
  const auto gpus = (*nvml)->List(&silent);
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  ASSERT_THAT(*gpus, SizeIs(1));
  EXPECT_EQ((*gpus)[0].uuid, "GPU-b");
  ASSERT_THAT(silent, SizeIs(1));
  EXPECT_EQ(silent[0].message(), "GPU 1: NVML: memory: GPU is lost");
}

TEST_F(NvmlTest, WhereProcessesAreNotToldThereAreNone) {
  const auto gpus = List(std::string(kTwo) + "process 0 7 1\nfail processes 3");
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_THAT(gpus[1].processes, IsEmpty());
}

TEST_F(NvmlTest, NumaNodesComeFromSysfs) {
  const std::string sysfs = folder() + "/sysfs";
  const std::string device = sysfs + "/bus/pci/devices/0000:3b:00.0";
  std::filesystem::create_directories(device);
  std::ofstream(device + "/numa_node") << "1\n";
  ASSERT_TRUE(Load(kTwo).ok());
  auto nvml = Nvml::Load(FAKE_NVML_LIBRARY, sysfs);
  ASSERT_TRUE(nvml.ok());
  const auto gpus = (*nvml)->List();
  ASSERT_TRUE(gpus.ok());
  EXPECT_EQ((*gpus)[0].numa, -1);
  EXPECT_EQ((*gpus)[1].numa, 1);
}

// Where there is a driver, and only there.
TEST(NvmlDeviceTest, TheGpusOfThisMachineAreWhatTheyCanBe) {
  auto nvml = Nvml::Load();
  if (absl::IsNotFound(nvml.status())) GTEST_SKIP() << nvml.status();
  ASSERT_TRUE(nvml.ok()) << nvml.status();
  const auto gpus = (*nvml)->List();
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  for (const Gpu& gpu : *gpus) {
    std::string text = absl::StrCat(
        gpu.uuid, " ", gpu.model, " ", gpu.memory_bytes, " ", gpu.pci, " numa ",
        gpu.numa, " island ", gpu.island, " mig ", gpu.mig, " instances ",
        gpu.instances.size(), " processes ", gpu.processes.size());
    SCOPED_TRACE(text);
    std::printf("%s\n", text.c_str());
    EXPECT_TRUE(absl::StartsWith(gpu.uuid, "GPU-"));
    EXPECT_THAT(gpu.model, HasSubstr("NVIDIA"));
    EXPECT_GT(gpu.memory_bytes, int64_t{1} << 30);
    EXPECT_THAT(gpu.pci, SizeIs(16));
    EXPECT_GE(gpu.numa, -1);
  }
}

}  // namespace
}  // namespace muster::local
