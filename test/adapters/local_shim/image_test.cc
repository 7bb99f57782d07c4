// Tasks in the root file system of an image: the command that makes it, and
// what becomes of stops, codes and volumes in it.
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/bubblewrap.h"
#include "adapters/local/shim/image_tree.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint32_t kNobody = 65534;
constexpr Duration kLong = 3600 * kSecond;
constexpr const char* kBubblewrap = "/usr/bin/bwrap";

using Words = std::vector<std::string>;

void Write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

class ImageTreeTest : public testing::Test {
 protected:
  ImageTreeTest() {
    fs::create_directories(root_ + "/etc");
    fs::create_directories(root_ + "/usr/bin");
    fs::create_symlink("usr/bin", root_ + "/bin");
    Write(root_ + "/etc/os", "test\n");
  }
  std::string Place(const std::string& path) {
    std::string at;
    return tree_.Place(path, &at) ? at : std::string(std::strerror(errno));
  }
  Words Options() {
    Words options;
    EXPECT_TRUE(tree_.Make(&options)) << tree_.where();
    return options;
  }

  ShimRun run_;
  const std::string root_ = run_.folder() + "/root";
  ImageTree tree_{root_};
};

TEST_F(ImageTreeTest, WhatIsThereIsUsedAsItIs) {
  EXPECT_EQ(Place("/etc/os"), "/etc/os");
  EXPECT_EQ(Place("/usr//bin/./"), "/usr/bin");
  EXPECT_THAT(Options(), ElementsAre("--ro-bind", root_, "/"));
  EXPECT_THAT(tree_.Close(), IsEmpty());
}

TEST_F(ImageTreeTest, APlaceIsMadeInTheNearestDirectoryAboveIt) {
  EXPECT_EQ(Place("/etc/deep/er"), "/etc/deep/er");
  EXPECT_THAT(Options(),
              ElementsAre("--ro-bind", root_, "/", "--perms", "0755", "--tmpfs",
                          "/etc", "--ro-bind", root_ + "/etc/os", "/etc/os"));
  EXPECT_THAT(tree_.Close(), ElementsAre("--remount-ro", "/etc"));
}

TEST_F(ImageTreeTest, TheRootIsMadeOfItsEntries) {
  EXPECT_EQ(Place("/data"), "/data");
  EXPECT_EQ(Place("/etc/new"), "/etc/new");
  EXPECT_EQ(Place("/usr"), "/usr");
  EXPECT_THAT(Options(), ElementsAre("--symlink", "usr/bin", "/bin", "--perms",
                                     "0755", "--tmpfs", "/etc", "--ro-bind",
                                     root_ + "/etc/os", "/etc/os"));
  EXPECT_THAT(tree_.Close(),
              ElementsAre("--remount-ro", "/etc", "--remount-ro", "/"));
}

TEST_F(ImageTreeTest, WhatIsBelowAPlaceIsThatPlacesOwn) {
  EXPECT_EQ(Place("/bin"), "/usr/bin");
  EXPECT_EQ(Place("/bin/new/x"), "/usr/bin/new/x");
  EXPECT_EQ(Place("/bing"), "/bing");
  EXPECT_EQ(tree_.Close(), Words({"--remount-ro", "/"})) << "of bing alone";
}

TEST_F(ImageTreeTest, NoLinkLeadsOutOfTheImage) {
  fs::create_symlink("/etc", root_ + "/absolute");
  fs::create_symlink("../../../../etc", root_ + "/up");
  fs::create_symlink("loop", root_ + "/loop");
  EXPECT_EQ(Place("/absolute/os"), "/etc/os");
  EXPECT_EQ(Place("/up/shadow"), "/etc/shadow");
  EXPECT_EQ(Place("/../../etc/x"), "/etc/x");
  EXPECT_EQ(Place("/bin/../.."), "Invalid argument");
  EXPECT_EQ(Place("/loop/x"), "Too many levels of symbolic links");
  EXPECT_EQ(Place("/etc/os/x"), "Not a directory");
  EXPECT_EQ(tree_.where(), "image: " + root_ + "/etc/os/x");
}

TEST_F(ImageTreeTest, ADirectoryOfTooManyEntriesIsTold) {
  for (int i = 0; i < 2700; ++i) {
    Write(root_ + "/etc/" + std::to_string(i), "");
  }
  EXPECT_EQ(Place("/etc/new"), "/etc/new");
  Words options;
  EXPECT_FALSE(tree_.Make(&options));
  EXPECT_EQ(errno, E2BIG);
  EXPECT_THAT(tree_.where(), HasSubstr("/etc has too many entries"));
}

TEST_F(ImageTreeTest, TheCommandMountsWhatIsBelowBehindWhatIsAbove) {
  for (const char* name : {"dev", "proc", "sys", "tmp", "var/tmp", ".muster"}) {
    fs::create_directories(root_ + "/" + name);
  }
  Write(root_ + "/.muster/shim", "");
  ShimSpec spec = run_.Script("true");
  spec.command = {"train", "--lr", "1"};
  spec.directory = "/work";
  spec.image = {.root = root_,
                .program = "/usr/bin/bwrap",
                .options = {"--unshare-ipc"},
                .binds = {{"/data/ann", "/tmp/long/er"},
                          {"/srv", "/etc", /*read_only=*/true},
                          {"/x", "/usr", true, /*optional=*/true}}};
  Words command;
  std::string where;
  ASSERT_TRUE(BubblewrapCommand(spec, "/opt/muster-shim", &command, &where));
  EXPECT_THAT(
      command,
      ElementsAre("/usr/bin/bwrap", "--unshare-ipc", "--ro-bind", root_, "/",
                  "--dev-bind", "/dev", "/dev", "--ro-bind", "/sys", "/sys",
                  "--perms", "1777", "--tmpfs", "/tmp", "--ro-bind", "/srv",
                  "/etc", "--ro-bind-try", "/x", "/usr", "--proc", "/proc",
                  "--perms", "1777", "--tmpfs", "/var/tmp", "--bind",
                  "/data/ann", "/tmp/long/er", "--ro-bind", "/opt/muster-shim",
                  kShimInImage, "--", kShimInImage, kRun, "/work", "train",
                  "--lr", "1"));
}

TEST_F(ImageTreeTest, ASpecKeepsWhatItSaysOfItsImage) {
  ShimSpec spec = run_.Script("true");
  spec.image = {.root = "/images/a",
                .program = "/usr/bin/bwrap",
                .options = {"--x"},
                .binds = {{"/a", "/b"}, {"/c", "/d", true, true}}};
  spec.container = true;
  spec.stop = {"podman", "kill", "x"};
  spec.cleanup = {"podman", "rm", "x"};
  ShimSpec read;
  ASSERT_TRUE(Decode(Encode(spec), &read));
  EXPECT_EQ(read, spec);
  spec.image.binds[0].target = "/";
  EXPECT_THAT(ProblemOf(spec), HasSubstr("image: "));
  spec.image.binds.clear();
  spec.image.program = "bwrap";
  EXPECT_THAT(ProblemOf(spec), HasSubstr("image: "));
  spec.image = {.binds = {{"/usr", "/usr"}}};
  EXPECT_THAT(ProblemOf(spec), HasSubstr("image: has no directory"));
}

// Whether nobody, or who is no root, can run the shim by bubblewrap.
bool CanRunImages() {
  const pid_t pid = fork();
  if (pid == 0) {
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 ||
                           setuid(kNobody) != 0)) {
      _exit(1);
    }
    execl(kBubblewrap, kBubblewrap, "--ro-bind", "/", "/", "--", MUSTER_SHIM,
          kRun, "/", "true", nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status == 0;
}

class ShimImageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CanRunImages()) {
      GTEST_SKIP() << "bubblewrap is not there, or may not be used";
    }
    fs::create_directories(run_.AttemptFolder());
    for (fs::path p = run_.AttemptFolder(); p != run_.folder();
         p = p.parent_path()) {
      chmod(p.c_str(), 0755);
    }
    // The machine's programs in other surroundings.
    for (const char* name : {"bin", "lib", "lib64", "sbin"}) {
      if (fs::is_directory(std::string("/usr/") + name)) {
        fs::create_directories(root_);
        fs::create_symlink(std::string("usr/") + name, root_ + "/" + name);
      }
    }
    fs::create_directories(root_ + "/usr");
    Write(root_ + "/etc/os", "image\n");
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(root_)) {
      if (entry.is_directory()) chmod(entry.path().c_str(), 0755);
    }
    chmod(root_.c_str(), 0755);
  }

  ShimSpec Script(const std::string& script) const {
    ShimSpec spec = run_.Script(script);
    if (geteuid() == 0) spec.user = ShimUser{.uid = kNobody, .gid = kNobody};
    spec.image = {.root = root_,
                  .program = kBubblewrap,
                  .binds = {{"/usr", "/usr", true},
                            {run_.folder(), run_.folder()},
                            {SHIM_TASK, SHIM_TASK, true}}};
    spec.container = true;
    return spec;
  }

  ShimRun run_;
  const std::string root_ = run_.folder() + "/root";
};

TEST_F(ShimImageTest, ATaskFindsItsImageAndItsUser) {
  // Its /tmp is not the machine's, where nobody has a file of this name.
  const std::string scratch =
      "/tmp/" + fs::path(run_.folder()).filename().string() + "-new";
  ShimSpec spec = Script(
      "cat /etc/os; ls /; id -u; pwd; echo $PWD; (: > /new) 2> /dev/null || "
      "echo read-only; : > " +
      scratch +
      " && echo scratch; grep NoNewPriv "
      "/proc/self/status");
  spec.directory = "/etc";
  const ShimExit exit = run_.Run(spec);
  EXPECT_EQ(exit.code, 0) << exit.message << run_.Output();
  const std::string uid = std::to_string(geteuid() == 0 ? kNobody : geteuid());
  EXPECT_THAT(run_.Output(), testing::StartsWith("image\nbin\n"));
  EXPECT_THAT(run_.Output(),
              HasSubstr("\n" + uid + "\n/etc\n/etc\nread-only\nscratch\n"));
  EXPECT_THAT(run_.Output(), testing::Not(HasSubstr("\nhome\n")));
  EXPECT_FALSE(fs::exists(scratch));
}

TEST_F(ShimImageTest, AStopLeavesTheTaskItsGrace) {
  Shim shim = run_.Start(Script("exec $SHIM_TASK heed 7"));
  EXPECT_GT(run_.Number(), 0);
  ASSERT_TRUE(shim.Stop(kLong).ok());
  const ShimExit exit = run_.End(&shim);
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.reason, ShimReason::kStopped);
  EXPECT_EQ(run_.Output(), "saved\n");
}

TEST_F(ShimImageTest, NothingIsLeftWhenItIsKilled) {
  Shim shim = run_.Start(
      Script("setsid sleep 1000 & echo $! > $SAY; exec $SHIM_TASK hear"));
  int32_t left = run_.Number();
  if (left == 0) left = run_.Number();
  const OpenFile process = PidfdOf(left);
  ASSERT_TRUE(shim.Kill().ok());
  EXPECT_EQ(run_.End(&shim).code, 128 + SIGKILL);
  EXPECT_TRUE(IsReadable(process.fd())) << "it is not in a process namespace";
}

TEST_F(ShimImageTest, CodesAreThoseOfTheTask) {
  EXPECT_EQ(run_.Run(Script("exit 3"), 0).code, 3);
  ShimSpec killed = Script("kill -9 $$");
  killed.memory_limit = 1;
  const ShimExit exit = run_.Run(killed, 1);
  EXPECT_EQ(exit.code, 128 + SIGKILL);
  EXPECT_EQ(exit.reason, ShimReason::kOutOfMemory);
  ShimSpec missing = Script("");
  missing.command = {"no-such-program"};
  EXPECT_EQ(run_.Run(missing, 2).code, 127);
  EXPECT_EQ(run_.Output(2),
            "muster: command: no-such-program: No such file or directory\n");
  ShimSpec nowhere = Script("");
  nowhere.directory = "/proc/no-such";
  EXPECT_EQ(run_.Run(nowhere, 3).code, 126);
  EXPECT_EQ(run_.Output(3),
            "muster: directory: /proc/no-such: No such file or directory\n");
  ShimSpec gone = Script("");
  gone.image.root = run_.folder() + "/gone";
  EXPECT_THAT(run_.Run(gone, 4).message, HasSubstr("/gone: No such file"));
}

TEST_F(ShimImageTest, VolumesAreWhereTheImageHasThemToBe) {
  const std::string command = std::string(MUSTER_SHIM) + " " + kTryMounts;
  if (WEXITSTATUS(std::system(command.c_str())) != 0) {
    GTEST_SKIP() << "tasks can have no mounts here";
  }
  const std::string data = run_.folder() + "/data";
  Write(data + "/part/set", "42\n");
  chmod(data.c_str(), 0777);
  ShimSpec spec = Script(
      "cat /data/deep/set; (echo > /data/deep/new) 2> /dev/null || echo ro; "
      "stat -f -c %T /etc/shm; echo kept > /all/kept");
  const std::string own = run_.AttemptFolder() + "/volumes/";
  spec.volumes = {
      {.name = "data", .path = data},
      {.name = "shm", .form = VolumeForm::kMemory, .path = own + "shm"},
      {.name = "m", .form = VolumeForm::kMemory, .path = own + ".mounts"}};
  spec.mounts = {{.volume = 0,
                  .target = own + ".mounts/0",
                  .sub_path = "part",
                  .read_only = true},
                 {.volume = 1, .target = own + ".mounts/1"},
                 {.volume = 0, .target = own + ".mounts/2"}};
  spec.image.binds.push_back({own + ".mounts/0", "/data/deep"});
  spec.image.binds.push_back({own + ".mounts/1", "/etc/shm"});
  spec.image.binds.push_back({own + ".mounts/2", "/all"});
  const ShimExit exit = run_.Run(spec);
  EXPECT_EQ(exit.code, 0) << exit.message << run_.Output();
  EXPECT_EQ(run_.Output(), "42\nro\ntmpfs\n");
  EXPECT_EQ(ReadText(data + "/kept"), "kept\n");
  EXPECT_FALSE(fs::exists(root_ + "/data"));
}

TEST(ShimStopTest, ItIsRunUntilItSucceedsInPlaceOfASignal) {
  ShimRun run;
  const std::string times = run.folder() + "/times", go = run.folder() + "/go";
  ShimSpec spec = run.Script("echo 1 > $SAY; until [ -e " + go +
                             " ]; do sleep 0.02; done; exit 5");
  spec.grace = 60 * kSecond;
  spec.stop = {
      "/bin/sh", "-c",
      "echo x >> " + times + "; [ $(wc -l < " + times + ") = 3 ] && : > " + go};
  Shim shim = run.Start(spec);
  EXPECT_GT(run.Number(), 0);
  ASSERT_TRUE(shim.Stop(60 * kSecond).ok());
  const ShimExit exit = run.End(&shim);
  EXPECT_EQ(exit.code, 5);
  EXPECT_EQ(exit.reason, ShimReason::kStopped);
  EXPECT_EQ(ReadText(times), "x\nx\nx\n");
}

TEST(ShimCleanupTest, ItIsRunWhenTheTaskWasKilledAndElseNot) {
  ShimRun run;
  ShimSpec spec = run.Script("exec $SHIM_TASK hear");
  const std::string trace = run.folder() + "/trace";
  spec.cleanup = {"/bin/sh", "-c", "id -u > " + trace};
  if (geteuid() == 0) spec.user = ShimUser{.uid = kNobody, .gid = kNobody};
  Shim killed = run.Start(spec);
  EXPECT_GT(run.Number(), 0);
  ASSERT_TRUE(killed.Kill().ok());
  run.End(&killed);
  const std::string uid = std::to_string(geteuid() == 0 ? kNobody : geteuid());
  EXPECT_TRUE(Eventually([&] { return ReadText(trace) == uid + "\n"; }));
  ASSERT_TRUE(fs::remove(trace));
  spec.command = {"true"};
  EXPECT_EQ(run.Run(spec, 1).code, 0);
  EXPECT_FALSE(fs::exists(trace));
}

}  // namespace
}  // namespace muster::local
