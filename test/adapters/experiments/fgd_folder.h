// A folder with small lists of nodes and pods, as the FGD experiment reads
// them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace muster::inprocess {

inline constexpr char kFgdNodes[] =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "n0,64000,262144,2,T4\n"
    "n1,64000,262144,2,P100\n";
inline constexpr char kFgdPods[] =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
    "p2,1000,1024,1,500,\n"
    "p0,1000,2048,1,500,\n"
    "p1,4000,1024,1,1000,T4|P100\n"
    "p3,8000,1024,0,0,\n";

// A folder with lists of its own.
class FgdFolderTest : public testing::Test {
 protected:
  FgdFolderTest() {
    const testing::TestInfo* info =
        testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::to_string(getpid()) + "-fgd-" + info->name());
    std::filesystem::create_directories(folder_);
    Write("openb_node_list_gpu_node.csv", kFgdNodes);
    Write("openb_pod_list_tiny.csv", kFgdPods);
  }
  ~FgdFolderTest() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace muster::inprocess
