#include "adapters/local/host/job_files.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(JobFilesTest, AFolderGoesWithAllThatIsInItAndNothingElse) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "job/0-0/1");
  WriteText(folder / "job/0-0/1/output", "much");
  WriteText(folder / "elsewhere", "stays");
  fs::create_directory(folder / "others");
  WriteText(folder / "others/file", "stays");
  fs::create_symlink(folder / "elsewhere", folder / "job/file");
  fs::create_symlink(folder / "others", folder / "job/folder");
  size_t budget = 100;
  const auto gone = RemoveFolder(folder / "job", &budget);
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_TRUE(*gone);
  EXPECT_EQ(budget, 100u - 6);
  EXPECT_FALSE(fs::exists(folder / "job"));
  EXPECT_EQ(TextOf(folder / "elsewhere"), "stays");
  EXPECT_EQ(TextOf(folder / "others/file"), "stays");
  EXPECT_TRUE(RemoveFolder(folder / "job", &budget).value_or(false));
}

TEST(JobFilesTest, WhatIsBeyondTheBudgetIsForTheNextCall) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "job");
  for (int i = 0; i < 9; ++i)
    WriteText(folder / "job/" + std::to_string(i), "");
  size_t budget = 4;
  EXPECT_FALSE(RemoveFolder(folder / "job", &budget).value_or(true));
  EXPECT_EQ(budget, 0u);
  EXPECT_FALSE(RemoveFolder(folder / "job", &budget).value_or(true));
  budget = 5;
  EXPECT_FALSE(RemoveFolder(folder / "job", &budget).value_or(true));
  budget = 1;
  EXPECT_TRUE(RemoveFolder(folder / "job", &budget).value_or(false));
  EXPECT_FALSE(fs::exists(folder / "job"));
}

TEST(JobFilesTest, AFolderThatLiesTooDeepIsNamed) {
  const TemporaryFolder folder;
  std::string path = folder / "job";
  for (int i = 0; i < 40; ++i) path += "/d";
  fs::create_directories(path);
  size_t budget = 100;
  const auto gone = RemoveFolder(folder / "job", &budget);
  EXPECT_THAT(std::string(gone.status().message()), HasSubstr("too deep"));
}

TEST(JobFilesTest, BytesAreThoseOnTheDisk) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "job/0-0");
  const size_t none = 0;
  size_t budget = 100;
  const int64_t empty = BytesOfFolder(folder / "job", &budget);
  EXPECT_EQ(budget, 98u);
  WriteText(folder / "job/0-0/output", std::string(100'000, 'x'));
  fs::create_symlink(folder.path(), folder / "job/0-0/all");
  budget = 100;
  EXPECT_GE(BytesOfFolder(folder / "job", &budget), empty + 100'000);
  EXPECT_EQ(budget, 96u);
  budget = none;
  EXPECT_EQ(BytesOfFolder(folder / "job", &budget), 0);
  budget = 100;
  EXPECT_EQ(BytesOfFolder(folder / "none", &budget), 0);
}

}  // namespace
}  // namespace muster::local
