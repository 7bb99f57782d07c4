#include "adapters/local/client/code_snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "adapters/local/client/code_files.h"
#include "adapters/local/client/run_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

class CodeSnapshotTest : public ::testing::Test {
 protected:
  CodeSnapshotTest() {
    std::string name = testing::TempDir() + "code-XXXXXX";
    base_ = fs::canonical(mkdtemp(name.data()));
    code_ = base_ / "project";
    fs::create_directories(code_);
  }
  ~CodeSnapshotTest() override { fs::remove_all(base_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((code_ / path).parent_path());
    std::ofstream(code_ / path) << text;
  }
  static std::string Read(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool Git(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"git", "-C", code_.string(), "-c", "user.name=a", "-c",
                  "user.email=a@example.com", "-c", "init.defaultBranch=main"});
    return OutputOf(words).ok();
  }
  CodeFiles Find() {
    const auto code = FindCode(code_.string());
    EXPECT_TRUE(code.ok()) << code.status();
    return code.ok() ? *code : CodeFiles();
  }
  CodeSnapshot Take() {
    const auto snapshot = TakeSnapshot(Find(), store());
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot.ok() ? *snapshot : CodeSnapshot();
  }
  std::string store() const { return (base_ / "store").string(); }
  // Folders in the store.
  std::vector<std::string> Stored() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(store())) {
      if (entry.is_directory()) all.push_back(entry.path().string());
    }
    return all;
  }
  static void MakeOld(const std::string& path, int days) {
    const timespec then{time(nullptr) - days * 24 * 3600 - 60, 0};
    const timespec times[] = {then, then};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  fs::path base_{};
  fs::path code_{};
};

TEST_F(CodeSnapshotTest, WhatIsEditedLaterIsForLaterJobs) {
  Write("train.py", "old");
  Write("lib/model.py", "model");
  chmod((code_ / "train.py").c_str(), 0755);
  fs::create_symlink("lib/model.py", code_ / "link");
  fs::create_directory(code_ / "empty");
  const CodeSnapshot snapshot = Take();
  Write("train.py", "new");
  const fs::path copy = snapshot.path;
  EXPECT_EQ(Read(copy / "train.py"), "old");
  EXPECT_EQ(Read(copy / "link"), "model");
  EXPECT_TRUE(fs::is_symlink(copy / "link"));
  EXPECT_TRUE(fs::is_directory(copy / "empty"));
  struct stat at{};
  ASSERT_EQ(stat((copy / "train.py").c_str(), &at), 0);
  EXPECT_EQ(at.st_mode & 0777, 0755u);
}

TEST_F(CodeSnapshotTest, WhatGitIgnoresIsNoCode) {
  if (!Git({"init"})) GTEST_SKIP() << "there is no git";
  Write(".gitignore", "data/\n");
  Write("a.py", "1");
  Write("gone.py", "1");
  ASSERT_TRUE(Git({"add", "."}));
  ASSERT_TRUE(Git({"commit", "-m", "first"}));
  Write("a.py", "2");
  Write("new.py", "3");
  Write("data/large", "4");
  fs::remove(code_ / "gone.py");
  fs::create_directory(code_ / "sub");
  // From below, it is all of the tree.
  const auto code = FindCode((code_ / "sub").string());
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(code->root, code_.string());
  EXPECT_THAT(code->paths, ElementsAre(".gitignore", "a.py", "new.py"));
  EXPECT_THAT(code->commit, SizeIs(40));
  EXPECT_EQ(code->uncommitted, 3u);
  EXPECT_EQ(Read(fs::path(Take().path) / "a.py"), "2");
}

TEST_F(CodeSnapshotTest, AFolderThatGitKnowsAsAnotherTreeIsThereWhole) {
  if (!Git({"init"})) GTEST_SKIP() << "there is no git";
  Write("inner/x.py", "1");
  ASSERT_TRUE(OutputOf({"git", "init", (code_ / "inner").string()}).ok());
  EXPECT_THAT(Find().paths, ElementsAre("inner/x.py"));
}

TEST_F(CodeSnapshotTest, WithoutGitTheFolderSaysWhatIsNoCode) {
  Write(".musterignore", "# large\n*.bin\nruns/\nlib/skip.py\n");
  Write("a.bin", "");
  Write("lib/a.bin", "");
  Write("lib/skip.py", "");
  Write("lib/keep.py", "");
  Write("skip.py", "");
  Write("runs/1/out", "");
  mkfifo((code_ / "pipe").c_str(), 0600);
  EXPECT_THAT(Find().paths,
              ElementsAre(".musterignore", "lib/keep.py", "skip.py"));
}

TEST_F(CodeSnapshotTest, TooMuchIsRefusedWithItsFolder) {
  Write("train.py", "");
  Write("data/set", "");
  fs::resize_file(code_ / "data/set", kMostCodeBytes + 1);  // It is sparse.
  const auto code = FindCode(code_.string());
  EXPECT_EQ(code.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(code.status().message()),
              HasSubstr("most of it in 'data'"));
}

TEST_F(CodeSnapshotTest, WhatCannotBeReadLeavesNothingBehind) {
  if (geteuid() == 0) {
    // Root may read all: a folder in the place of the copy stands in the way.
    std::ofstream(base_ / "store") << "a file";
    EXPECT_FALSE(TakeSnapshot(Find(), store()).ok());
    return;
  }
  Write("secret", "x");
  chmod((code_ / "secret").c_str(), 0);
  EXPECT_FALSE(TakeSnapshot(Find(), store()).ok());
  EXPECT_THAT(Stored(), IsEmpty());
}

TEST_F(CodeSnapshotTest, OldOnesGoWhenTheirJobsAreOver) {
  Write("a", "1");
  const CodeSnapshot over = Take(), runs = Take(), young = Take(),
                     failed = Take(), others = Take();
  ASSERT_TRUE(NoteJobs(over, "here", {1, 2}).ok());
  ASSERT_TRUE(NoteJobs(runs, "here", {1, 3}).ok());
  ASSERT_TRUE(NoteJobs(young, "here", {1}).ok());
  ASSERT_TRUE(NoteJobs(others, "elsewhere", {1}).ok());
  for (const CodeSnapshot& s : {over, runs, failed, others}) MakeOld(s.path, 8);
  const Time now = static_cast<Time>(time(nullptr)) * kSecond;
  const auto is_over = [](uint64_t job) { return job != 3; };
  DropOldSnapshots(store(), "here", now, 0, is_over);
  EXPECT_THAT(Stored(), SizeIs(5));
  DropOldSnapshots(store(), "here", now, 10, is_over);
  EXPECT_THAT(Stored(), testing::UnorderedElementsAre(runs.path, young.path,
                                                      others.path));
  EXPECT_FALSE(fs::exists(over.path + ".jobs"));
}

}  // namespace
}  // namespace muster::local
