#include "adapters/local/host/task_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/shim_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

using testing::HasSubstr;

constexpr uint32_t kNobody = 65534;

struct stat StatOf(const std::string& path) {
  struct stat is = {};
  EXPECT_EQ(lstat(path.c_str(), &is), 0) << path;
  return is;
}

class TaskFilesTest : public testing::Test {
 protected:
  TaskFilesTest() {
    EXPECT_TRUE(MakeStateFolder(folder_ / "jobs").ok());
    EXPECT_TRUE(MakeTaskFolder(job_, attempt_, owner_).ok());
  }

  TaskStart Start(const std::string& path, const std::string& content) const {
    TaskStart start;
    start.uid = owner_.uid;
    start.gid = owner_.gid;
    start.launch.files = {
        {path, std::make_shared<const std::string>(content), true}};
    return start;
  }
  absl::Status Write(const TaskStart& start) const {
    return WriteTaskFiles(job_, attempt_, start);
  }

  TemporaryFolder folder_;
  const FileOwner owner_ = geteuid() == 0 ? FileOwner{kNobody, kNobody}
                                          : FileOwner{geteuid(), getegid()};
  const std::string job_ = folder_ / "jobs/7";
  const std::string attempt_ = job_ + "/0-0/1";
};

mode_t ModeOf(const std::string& path) { return StatOf(path).st_mode & 0777; }

TEST_F(TaskFilesTest, OthersGoThroughTheStateAndIntoNoJob) {
  const bool root = geteuid() == 0;
  const mode_t before = umask(0);
  EXPECT_TRUE(MakeStateFolder(folder_ / "a/b").ok());
  umask(077);
  EXPECT_TRUE(
      MakeTaskFolder(folder_ / "jobs/8", folder_ / "jobs/8/0-0/1", owner_)
          .ok());
  umask(before);
  EXPECT_EQ(ModeOf(folder_ / "a/b"), root ? 0711u : 0700u);
  EXPECT_EQ(ModeOf(folder_ / "jobs/8"), root ? 0710u : 0700u);
  EXPECT_EQ(StatOf(folder_ / "jobs/8").st_uid, geteuid());
  EXPECT_EQ(StatOf(folder_ / "jobs/8").st_gid, owner_.gid);
  EXPECT_EQ(ModeOf(folder_ / "jobs/8/0-0"), root ? 0711u : 0700u);
  EXPECT_EQ(ModeOf(folder_ / "jobs/8/0-0/1"), root ? 0711u : 0700u);
  EXPECT_EQ(StatOf(folder_ / "jobs/8/0-0/1").st_uid, geteuid());
  WriteText(folder_ / "file", "");
  EXPECT_FALSE(MakeStateFolder(folder_ / "file/b").ok());
  if (!root) return;
  // Whoever made it before could replace what is in it.
  const std::string other = folder_ / "other";
  std::filesystem::create_directory(other);
  ASSERT_EQ(chown(other.c_str(), kNobody, kNobody), 0);
  const absl::Status made = MakeStateFolder(other);
  EXPECT_TRUE(absl::IsPermissionDenied(made)) << made;
  EXPECT_THAT(std::string(made.message()), HasSubstr("user 65534's"));
}

TEST_F(TaskFilesTest, WithoutAnOwnerAJobsFolderIsRootsUntilThereIsOne) {
  const std::string job = folder_ / "jobs/8";
  ASSERT_TRUE(MakeTaskFolder(job, job + "/0-0/1", std::nullopt).ok());
  EXPECT_EQ(ModeOf(job), 0700u);
  ASSERT_TRUE(MakeTaskFolder(job, job + "/0-0/2", owner_).ok());
  EXPECT_EQ(ModeOf(job), geteuid() == 0 ? 0710u : 0700u);
}

// As an earlier version has left them.
TEST_F(TaskFilesTest, FoldersThatAllMayReadAreClosedOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  const std::string jobs = folder_ / "jobs";
  ShimSpec spec;
  spec.command = {"true"};
  spec.user = ShimUser{.uid = kNobody, .gid = kNobody};
  ASSERT_EQ(
      WriteFile(OpenAttemptFolder(attempt_).fd(), kSpecFile, Encode(spec)), 0);
  std::filesystem::create_directories(jobs + "/8/0-0/1");
  std::filesystem::create_directory_symlink("/etc", jobs + "/9");
  for (const std::string& path : {jobs, job_, attempt_, jobs + "/8"}) {
    chmod(path.c_str(), 0755);
    EXPECT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  const mode_t etc = ModeOf("/etc/.");
  ASSERT_TRUE(MakeJobsFolder(jobs).ok());
  EXPECT_EQ(ModeOf(jobs), 0711u);
  EXPECT_EQ(ModeOf(job_), 0710u);
  EXPECT_EQ(StatOf(job_).st_gid, kNobody);
  EXPECT_EQ(ModeOf(jobs + "/8"), 0700u);  // Nobody knows whose it is.
  EXPECT_EQ(ModeOf("/etc/."), etc);
  chmod(job_.c_str(), 0700);
  ASSERT_TRUE(MakeJobsFolder(jobs).ok());
  EXPECT_EQ(ModeOf(job_), 0700u);
  EXPECT_TRUE(MakeJobsFolder(folder_ / "fresh/jobs").ok());
}

TEST_F(TaskFilesTest, FilesOfALaunchAreWrittenAsTheyAre) {
  const TaskStart start = Start(attempt_ + "/script", "#!/bin/sh\n");
  ASSERT_TRUE(Write(start).ok());
  EXPECT_EQ(TextOf(attempt_ + "/script"), "#!/bin/sh\n");
  EXPECT_EQ(ModeOf(attempt_ + "/script"), 0700u);
  for (const char* name : {"/script", "/size", "/checkpoint"}) {
    EXPECT_EQ(StatOf(attempt_ + name).st_uid, start.uid) << name;
    EXPECT_EQ(StatOf(attempt_ + name).st_gid, start.gid) << name;
  }
  EXPECT_EQ(ModeOf(attempt_ + "/checkpoint"), 0600u);
  EXPECT_EQ(ModeOf(attempt_ + "/size"), 0600u);
  TaskStart plain = Start(job_ + "/mpi/hostfile", "a\n");
  plain.launch.files[0].executable = false;
  ASSERT_TRUE(Write(plain).ok());
  EXPECT_EQ(TextOf(job_ + "/mpi/hostfile"), "a\n");
  EXPECT_EQ(ModeOf(job_ + "/mpi/hostfile"), 0600u);
  EXPECT_EQ(StatOf(job_ + "/mpi/hostfile").st_uid, start.uid);
  ASSERT_TRUE(Write(plain).ok());  // Twice does no harm.
}

TEST_F(TaskFilesTest, FilesElsewhereAreRefused) {
  for (const std::string& path :
       {folder_ / "jobs/8/script", job_ + "/../8/script", job_ + "/a/../../x",
        std::string("script"), job_, folder_ / "jobs/77/script",
        std::string("/etc/passwd")}) {
    const absl::Status written = Write(Start(path, "x"));
    EXPECT_TRUE(absl::IsPermissionDenied(written)) << path << ": " << written;
    EXPECT_THAT(std::string(written.message()), HasSubstr(path));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "jobs/8"));
}

TEST_F(TaskFilesTest, SymbolicLinksAreReplacedAndNotFollowed) {
  WriteText(folder_ / "precious", "precious");
  for (const char* name : {"script", "script.new", "checkpoint",
                           "checkpoint.new", "checkpoint-request"}) {
    std::filesystem::create_symlink(folder_ / "precious",
                                    attempt_ + "/" + name);
  }
  ASSERT_TRUE(Write(Start(attempt_ + "/script", "x")).ok());
  ASSERT_TRUE(WriteCheckpointRequest(attempt_, 3).ok());
  EXPECT_EQ(TextOf(folder_ / "precious"), "precious");
  EXPECT_EQ(TextOf(attempt_ + "/script"), "x");
  EXPECT_EQ(StatOf(folder_ / "precious").st_uid, geteuid());
}

TEST_F(TaskFilesTest, ARequestForACheckpointIsItsNumber) {
  ASSERT_TRUE(WriteCheckpointRequest(attempt_, 3).ok());
  EXPECT_EQ(TextOf(attempt_ + "/checkpoint-request"), "3\n");
  ASSERT_TRUE(WriteCheckpointRequest(attempt_, 4).ok());
  EXPECT_EQ(TextOf(attempt_ + "/checkpoint-request"), "4\n");
  EXPECT_FALSE(WriteCheckpointRequest(folder_ / "none", 1).ok());
}

TEST_F(TaskFilesTest, TheSizeOfTheJobIsALine) {
  TaskStart start = Start(attempt_ + "/script", "");
  start.size = 3;
  ASSERT_TRUE(Write(start).ok());
  EXPECT_EQ(TextOf(attempt_ + "/size"), "3\n");
  ASSERT_TRUE(WriteSize(attempt_, 2).ok());
  EXPECT_EQ(TextOf(attempt_ + "/size"), "2\n");
}

TEST_F(TaskFilesTest, OwnLinesComeBehindWhatTheTaskHasSaid) {
  WriteText(attempt_ + "/output", "epoch 1\n");
  AppendToOutput(attempt_, "killed");
  EXPECT_EQ(TextOf(attempt_ + "/output"), "epoch 1\nmuster: killed\n");
}

TEST_F(TaskFilesTest, OwnLinesOfATaskWithoutAFolderAreThereToo) {
  AppendToOutput(job_ + "/0-1/1", "no GPU");
  EXPECT_EQ(TextOf(job_ + "/0-1/1/output"), "muster: no GPU\n");
}

TEST_F(TaskFilesTest, OwnLinesAreWrittenThroughNoLink) {
  WriteText(folder_ / "precious", "precious");
  std::filesystem::create_symlink(folder_ / "precious", attempt_ + "/output");
  AppendToOutput(attempt_, "killed");
  EXPECT_EQ(TextOf(folder_ / "precious"), "precious");
}

// Else that user could not read why his task did not start.
TEST_F(TaskFilesTest, OwnLinesBelongToTheTasksUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  AppendToOutput(attempt_, "no GPU", FileOwner{kNobody, kNobody});
  EXPECT_EQ(StatOf(attempt_ + "/output").st_uid, kNobody);
  EXPECT_EQ(StatOf(attempt_ + "/output").st_gid, kNobody);
  // After a restart nobody tells whose it is but the task's spec.
  const std::string second = job_ + "/0-0/2";
  ASSERT_TRUE(MakeTaskFolder(job_, second, owner_).ok());
  const OpenFile open = OpenAttemptFolder(second);
  ShimSpec spec;
  spec.command = {"frobnicate"};
  spec.user = ShimUser{.uid = kNobody, .gid = kNobody};
  ASSERT_EQ(WriteFile(open.fd(), kSpecFile, Encode(spec)), 0);
  AppendToOutput(second, "command: frobnicate: No such file or directory");
  EXPECT_EQ(StatOf(second + "/output").st_uid, kNobody);
  EXPECT_EQ(ModeOf(second + "/output"), 0600u);
  ASSERT_TRUE(WriteSize(second, 3).ok());
  ASSERT_TRUE(WriteCheckpointRequest(second, 3).ok());
  EXPECT_EQ(StatOf(second + "/size").st_uid, kNobody);
  EXPECT_EQ(StatOf(second + "/checkpoint-request").st_uid, kNobody);
  // One that is there stays whose it is.
  AppendToOutput(second, "more", FileOwner{1, 1});
  EXPECT_EQ(StatOf(second + "/output").st_uid, kNobody);
}

TEST_F(TaskFilesTest, AFileIsReplacedAsAWhole) {
  ASSERT_TRUE(ReplaceFile(folder_ / "clock", "1").ok());
  ASSERT_TRUE(ReplaceFile(folder_ / "clock", "2").ok());
  EXPECT_EQ(TextOf(folder_ / "clock"), "2");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "clock.new"));
  EXPECT_FALSE(ReplaceFile(folder_ / "none/clock", "1").ok());
}

}  // namespace
}  // namespace muster::local
