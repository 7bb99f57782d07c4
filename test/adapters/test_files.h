// Files that tests write and read.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace muster::inprocess {

// A file of the test's own, gone with the object.
class TempFile {
 public:
  explicit TempFile(const std::string& name, const std::string& content = {},
                    bool create = true) {
    std::string test =
        testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(test, '/', '-');
    const std::filesystem::path folder = testing::TempDir();
    path_ = (folder / (std::to_string(getpid()) + "-" + test + "-" + name))
                .string();
    if (create) Write(content);
  }
  ~TempFile() { std::remove(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }
  void Write(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
  }
  std::string Read() const {
    std::ostringstream all;
    all << std::ifstream(path_, std::ios::binary).rdbuf();
    return all.str();
  }

 private:
  std::string path_;
};

// A file of the folder that MUSTER_SHARED names, or "" if it is not there.
inline std::string SharedFile(const std::string& name) {
  const char* shared = std::getenv("MUSTER_SHARED");
  const std::filesystem::path path =
      std::filesystem::path(shared != nullptr ? shared : "../shared") / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace muster::inprocess
