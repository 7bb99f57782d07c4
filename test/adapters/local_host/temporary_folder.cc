#include "test/adapters/local_host/temporary_folder.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace muster::local {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = testing::TempDir() + "host-XXXXXX";
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  path_ = std::filesystem::canonical(pattern).string();
  chmod(path_.c_str(), 0755);
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

std::string TextOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "none";
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

bool Eventually(const std::function<bool()>& is_so) {
  constexpr int kLooks = 15'000;
  for (int look = 0; look < kLooks; ++look) {
    if (is_so()) return true;
    poll(nullptr, 0, 2);
  }
  return false;
}

}  // namespace muster::local
