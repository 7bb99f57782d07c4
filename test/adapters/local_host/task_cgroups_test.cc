// Where tasks have their cgroups, in real ones of this machine.
#include "adapters/local/host/task_cgroups.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"
#include "test/adapters/local_shim/cgroup_mount.h"

namespace muster::local {
namespace {

using testing::HasSubstr;

class TaskCgroupsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CanMakeCgroups()) GTEST_SKIP() << "no cgroup can be made here";
    ASSERT_EQ(mkdir(path_.c_str(), 0755), 0) << path_;
  }
  void TearDown() override {
    for (const char* below : {"/tasks", "/daemon", ""}) {
      rmdir((path_ + below).c_str());
    }
  }
  // What `f` says in a process of its own, which is in the cgroup.
  template <class F>
  std::string Inside(const F& f) const {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      std::ofstream(path_ + "/cgroup.procs") << getpid() << std::flush;
      const std::string said = f();
      const ssize_t n = write(pipe_ends[1], said.data(), said.size());
      _exit(n == static_cast<ssize_t>(said.size()) ? 0 : 1);
    }
    close(pipe_ends[1]);
    std::string text;
    char buffer[512];
    for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    close(pipe_ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
    return text;
  }
  static std::string OwnCgroup() {
    std::ifstream lines("/proc/self/cgroup");
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("0::")) return line.substr(3);
    }
    return "";
  }

  const std::string name_ = absl::StrCat("muster-cgroups-", getpid());
  const std::string path_ = absl::StrCat(CgroupMount(), "/", name_);
};

TEST_F(TaskCgroupsTest, AFolderIsMadeAndEachAttemptHasOneInIt) {
  const auto cgroups = TaskCgroups::Open(path_ + "/tasks");
  ASSERT_TRUE(cgroups.ok()) << cgroups.status();
  EXPECT_EQ(cgroups->folder(), path_ + "/tasks");
  EXPECT_EQ(access((path_ + "/tasks/cgroup.procs").c_str(), F_OK), 0);
  ShimSpec spec{.memory_limit = 1 << 20};
  cgroups->Hold({.job = 7, .role = 1, .index = 2, .attempt = 3}, 1'500, &spec);
  EXPECT_EQ(spec.cgroup, path_ + "/tasks/7.1-2.3");
  // What no controller enforces is asked of none.
  EXPECT_EQ(spec.memory_limit, cgroups->limits().memory ? 1 << 20 : 0);
  EXPECT_EQ(spec.cpu_weight, cgroups->limits().cpu ? 150u : 0u);
  // It is there already.
  EXPECT_TRUE(TaskCgroups::Open(path_ + "/tasks").ok());
}

TEST_F(TaskCgroupsTest, TheDaemonLeavesItsOwnToTheTasks) {
  const std::string said = Inside([&] {
    std::string text;
    for (int i = 0; i < 2; ++i) {  // Moved the first time, there the second.
      const auto cgroups = TaskCgroups::Open(kOwnCgroup);
      absl::StrAppend(
          &text, cgroups.ok() ? cgroups->folder() : cgroups.status().ToString(),
          " from ", OwnCgroup(), "\n");
    }
    return text;
  });
  const std::string once = absl::StrCat(path_, " from /", name_, "/daemon\n");
  EXPECT_EQ(said, once + once);
}

TEST_F(TaskCgroupsTest, ThatOfTheWholeMachineIsNobodysOwn) {
  if (OwnCgroup() != "/") GTEST_SKIP() << "this process is in another";
  const auto cgroups = TaskCgroups::Open(kOwnCgroup);
  EXPECT_TRUE(absl::IsFailedPrecondition(cgroups.status()));
  EXPECT_THAT(cgroups.status().message(), HasSubstr("name a folder"));
}

TEST(NoTaskCgroupsTest, NothingIsMadeWhereThereIsNone) {
  TemporaryFolder folder;
  const std::string inside = folder / "tasks";
  const auto cgroups = TaskCgroups::Open(inside);
  EXPECT_TRUE(absl::IsFailedPrecondition(cgroups.status()));
  EXPECT_NE(access(inside.c_str(), F_OK), 0);
  EXPECT_TRUE(
      absl::IsNotFound(TaskCgroups::Open(folder / "nowhere/tasks").status()));
  // Without any, a task is told nothing of them.
  ShimSpec spec{.memory_limit = 1 << 20};
  TaskCgroups().Hold({}, 1'000, &spec);
  EXPECT_EQ(spec, ShimSpec{.memory_limit = 1 << 20});
}

}  // namespace
}  // namespace muster::local
