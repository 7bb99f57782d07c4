// Volumes of tasks: what they are, where a task finds them, and whose rights
// decide.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/shim_volume.h"
#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kAnyUser = 65534;

void Write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

// Whether this machine lets tasks have mounts.
bool CanMount() {
  const std::string command = std::string(MUSTER_SHIM) + " " + kTryMounts;
  return WEXITSTATUS(std::system(command.c_str())) == 0;
}

class ShimVolumeTest : public testing::Test {
 protected:
  void SetUp() override {
    // Tasks of others enter the folder, too.
    fs::create_directories(run_.AttemptFolder());
    for (fs::path p = run_.AttemptFolder(); p != run_.folder();
         p = p.parent_path()) {
      chmod(p.c_str(), 0755);
    }
  }

  // As nobody, where root runs the test; else as who does.
  ShimSpec Script(const std::string& script) const {
    ShimSpec spec = run_.Script(script);
    if (geteuid() == 0) {
      spec.user = ShimUser{.uid = kAnyUser, .gid = kAnyUser};
    }
    return spec;
  }
  ShimVolume Own(const std::string& name, VolumeForm form) const {
    return {.name = name,
            .form = form,
            .path = run_.AttemptFolder() + "/volumes/" + name};
  }
  // A folder that belongs to whom tasks run as.
  std::string Mine(const std::string& name) const {
    std::string path = run_.folder() + "/" + name;
    fs::create_directories(path);
    if (geteuid() == 0) {
      EXPECT_EQ(chown(path.c_str(), kAnyUser, kAnyUser), 0);
    }
    return path;
  }
  // Nothing is left of volumes that a task had for itself.
  bool NothingIsLeft() const {
    return Eventually(
        [&] { return !fs::exists(run_.AttemptFolder() + "/volumes"); });
  }

  ShimRun run_;
};

class ShimMountTest : public ShimVolumeTest {
 protected:
  void SetUp() override {
    ShimVolumeTest::SetUp();
    if (!CanMount()) GTEST_SKIP() << "tasks can have no mounts here";
  }
};

TEST_F(ShimVolumeTest, ASpecKeepsWhatItSaysOfVolumes) {
  ShimSpec spec = run_.Script("true");
  spec.volumes = {{.name = "keys",
                   .form = VolumeForm::kFiles,
                   .path = "/state/volumes/keys",
                   .sources = {"/a", "/b"},
                   .items = {{"token", "sub/token", 0400}, {"user", "user"}},
                   .mode = 0440,
                   .optional = true},
                  {.name = "shm",
                   .form = VolumeForm::kMemory,
                   .path = "/state/volumes/shm",
                   .size = 4096}};
  spec.mounts = {{.volume = 1, .target = "/dev/shm"},
                 {.volume = 0,
                  .target = "/keys",
                  .sub_path = "sub/token",
                  .read_only = true}};
  spec.inherited = 2;
  spec.variables = {{"TOKEN", "token", {"/a", "/b"}, true}, {"DB_", "", {}}};
  ShimSpec read;
  ASSERT_TRUE(Decode(Encode(spec), &read));
  EXPECT_EQ(read, spec);
}

TEST_F(ShimVolumeTest, AVolumeThatLeadsElsewhereIsRefused) {
  const ShimVolume good{.name = "v", .path = "/v"};
  const auto problem = [](ShimVolume volume, ShimMount mount) {
    return ProblemOf({std::move(volume)}, {std::move(mount)});
  };
  const ShimMount mount{.target = "/m"};
  EXPECT_EQ(problem(good, mount), "");
  ShimVolume volume = good;
  volume.path = "v";
  EXPECT_NE(problem(volume, mount), "");
  volume = good;
  volume.items = {{"key", "../key"}};
  EXPECT_NE(problem(volume, mount), "");
  volume.items = {{"a/key", "key"}};
  EXPECT_NE(problem(volume, mount), "");
  volume.items = {{"..", "key"}};
  EXPECT_NE(problem(volume, mount), "");
  EXPECT_NE(problem(good, {.volume = 1, .target = "/m"}), "");
  EXPECT_NE(problem(good, {.target = "//"}), "");
  EXPECT_NE(problem(good, {.target = "m"}), "");
  EXPECT_NE(problem(good, {.target = "/m", .sub_path = "a/../../b"}), "");
  EXPECT_NE(problem(good, {.target = "/m", .sub_path = "/a"}), "");
}

TEST_F(ShimVolumeTest, AnEmptyFolderIsTheTasksAndGoesWithIt) {
  ShimSpec spec = Script(
      "cd \"$AT\" && touch file && mkdir -p a/b && ln -s /etc link && "
      "chmod 500 a && mkdir c && touch c/x && chmod 0 c && stat -c '%a %u' . "
      "&& ls");
  const ShimVolume volume = Own("scratch", VolumeForm::kEmpty);
  spec.volumes = {volume};
  spec.environment.push_back("AT=" + volume.path);
  spec.umask = 077;
  EXPECT_EQ(run_.Run(spec).code, 0);
  const uint32_t uid = geteuid() == 0 ? kAnyUser : geteuid();
  EXPECT_EQ(run_.Output(),
            "700 " + std::to_string(uid) + "\na\nc\nfile\nlink\n");
  EXPECT_TRUE(NothingIsLeft());
  EXPECT_TRUE(fs::exists("/etc"));
}

TEST_F(ShimVolumeTest, FilesAreCopiedAsTheirVolumeSays) {
  const std::string from = Mine("secrets/keys");
  Write(from + "/token", "t0k3n");
  Write(from + "/user", "me");
  fs::create_directories(from + "/..data");
  chmod(from.c_str(), 0755);
  ShimSpec spec = Script("cd \"$AT\" && stat -c '%a %n' * && cat token");
  ShimVolume volume = Own("keys", VolumeForm::kFiles);
  volume.sources = {run_.folder() + "/nowhere", from};
  volume.mode = 0400;
  spec.volumes = {volume};
  spec.environment.push_back("AT=" + volume.path);
  EXPECT_EQ(run_.Run(spec).code, 0) << run_.Output();
  EXPECT_EQ(run_.Output(), "400 token\n400 user\nt0k3n");
  EXPECT_TRUE(NothingIsLeft());

  // Some of them, by other names.
  ShimSpec some = Script("cd $AT && find . -type f -exec stat -c '%a %n' {} +");
  ShimVolume part = Own("keys", VolumeForm::kFiles);
  part.path = run_.AttemptFolder(1) + "/volumes/keys";
  part.sources = {from};
  part.items = {{"token", "deep/er/secret", 0440}};
  some.volumes = {part};
  some.environment.push_back("AT=" + part.path);
  fs::create_directories(run_.AttemptFolder(1));
  EXPECT_EQ(run_.Run(some, 1).code, 0) << run_.Output(1);
  EXPECT_EQ(run_.Output(1), "440 ./deep/er/secret\n");
}

TEST_F(ShimVolumeTest, FilesThatAreNotThereAreTold) {
  ShimSpec spec = Script("true");
  ShimVolume volume = Own("keys", VolumeForm::kFiles);
  volume.sources = {"/proc/nowhere/a", "/proc/nowhere/b"};
  spec.volumes = {volume};
  const ShimExit exit = run_.Run(spec);
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.message,
            "volume 'keys': /proc/nowhere/a, /proc/nowhere/b: No such file or "
            "directory");
  spec.volumes[0].path = run_.AttemptFolder(1) + "/volumes/keys";
  spec.volumes[0].optional = true;
  fs::create_directories(run_.AttemptFolder(1));
  EXPECT_EQ(run_.Run(spec, 1).code, 0);
}

TEST_F(ShimVolumeTest, FilesAreReadWithTheRightsOfTheTask) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  const std::string from = run_.folder() + "/roots";
  Write(from + "/token", "t0k3n");
  chmod((from + "/token").c_str(), 0600);
  ShimSpec spec = Script("true");
  ShimVolume volume = Own("keys", VolumeForm::kFiles);
  volume.sources = {from};
  spec.volumes = {volume};
  EXPECT_EQ(run_.Run(spec).message,
            "volume 'keys': " + from + "/token: Permission denied");
  // Nor does a link of the user's lead there.
  const std::string mine = Mine("mine");
  fs::create_symlink(from + "/token", mine + "/token");
  spec.volumes[0].path = run_.AttemptFolder(1) + "/volumes/keys";
  spec.volumes[0].sources = {mine};
  fs::create_directories(run_.AttemptFolder(1));
  EXPECT_EQ(run_.Run(spec, 1).message,
            "volume 'keys': " + mine + "/token: Permission denied");
}

TEST_F(ShimVolumeTest, ADirectoryIsMadeWithThoseAboveIt) {
  const std::string home = Mine("home");
  ShimSpec spec = Script("cd \"$AT\" && touch kept");
  spec.volumes = {
      {.name = "claim",
       .form = VolumeForm::kDirectory,
       .path = home + "/share/claims/data"},
      {.name = "log", .form = VolumeForm::kFile, .path = home + "/log"}};
  spec.environment.push_back("AT=" + spec.volumes[0].path);
  EXPECT_EQ(run_.Run(spec, 0).code, 0);
  EXPECT_EQ(run_.Run(spec, 1).code, 0) << "it is there by now";
  EXPECT_TRUE(fs::exists(home + "/share/claims/data/kept"));
  EXPECT_TRUE(fs::is_regular_file(home + "/log"));
  spec.volumes[0].form = VolumeForm::kThere;
  spec.volumes[0].path = home + "/other";
  EXPECT_EQ(run_.Run(spec, 2).message,
            "volume 'claim': " + home + "/other: No such file or directory");
}

TEST_F(ShimMountTest, ATaskFindsItsVolumesAndNobodyElseDoes) {
  const std::string data = Mine("data");
  Write(data + "/set", "42\n");
  const std::string at = Mine("at");
  ShimSpec spec = Script("cat $AT/set; echo new > $AT/made; id -u");
  spec.volumes = {{.name = "data", .path = data}};
  spec.mounts = {{.volume = 0, .target = at}};
  spec.environment.push_back("AT=" + at);
  EXPECT_EQ(run_.Run(spec).code, 0) << run_.Output();
  const uint32_t uid = geteuid() == 0 ? kAnyUser : geteuid();
  EXPECT_EQ(run_.Output(), "42\n" + std::to_string(uid) + "\n");
  EXPECT_EQ(ReadText(data + "/made"), "new\n");
  EXPECT_TRUE(fs::is_empty(at)) << "the machine has no such mount";
}

TEST_F(ShimMountTest, WhatIsReadOnlyAndWhatIsAPartOfAVolume) {
  const std::string data = Mine("data");
  const std::string at = Mine("at");
  Write(data + "/config/x.yaml", "x: 1\n");
  ShimSpec spec = Script(
      "cd $AT; cat all/config/x.yaml one.yaml; "
      "(echo > all/new) 2> /dev/null || echo read-only; "
      "echo made > made/file");
  spec.volumes = {{.name = "data", .path = data}};
  spec.mounts = {
      {.volume = 0, .target = at + "/all", .read_only = true},
      {.volume = 0, .target = at + "/one.yaml", .sub_path = "config/x.yaml"},
      {.volume = 0, .target = at + "/made", .sub_path = "new/sub"}};
  spec.environment.push_back("AT=" + at);
  EXPECT_EQ(run_.Run(spec).code, 0) << run_.Output();
  EXPECT_EQ(run_.Output(), "x: 1\nx: 1\nread-only\n");
  EXPECT_EQ(ReadText(data + "/new/sub/file"), "made\n");
}

TEST_F(ShimMountTest, MountsWithinMountsAndSourcesThatAnotherHides) {
  const std::string a = Mine("a"), b = Mine("b");
  Write(a + "/which", "a\n");
  Write(b + "/which", "b\n");
  ShimSpec spec = Script("cat $B/which $B/inner/which");
  spec.environment.push_back("B=" + b);
  spec.volumes = {{.name = "a", .path = a}, {.name = "b", .path = b}};
  // b is where a is seen, and is itself seen within.
  Mine("a/inner");
  spec.mounts = {{.volume = 1, .target = b + "/inner"},
                 {.volume = 0, .target = b}};
  EXPECT_EQ(run_.Run(spec).code, 0) << run_.Output();
  EXPECT_EQ(run_.Output(), "a\nb\n");
}

TEST_F(ShimMountTest, MemoryIsAFileSystemOfItsSize) {
  ShimSpec spec =
      Script("stat -f -c '%T %b' $AT; touch $AT/x && echo mine; ls -A $HERE");
  const ShimVolume volume = Own("shm", VolumeForm::kMemory);
  const std::string at = Mine("at");
  spec.volumes = {volume};
  spec.volumes[0].size = 16 << 12;
  spec.mounts = {{.volume = 0, .target = at}};
  spec.environment.push_back("AT=" + at);
  spec.environment.push_back("HERE=" + volume.path);
  EXPECT_EQ(run_.Run(spec).code, 0) << run_.Output();
  EXPECT_EQ(run_.Output(), "tmpfs 16\nmine\nx\n");
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ShimMountTest, CopiesOfFilesAreOnNoDisk) {
  const std::string from = Mine("secrets/keys");
  Write(from + "/token", "t0k3n\n");
  ShimVolume volume = Own("keys", VolumeForm::kFiles);
  volume.sources = {from};
  volume.mode = 0400;
  ShimSpec spec = Script(
      "cd $AT; stat -f -c %T .; stat -c %a token; cat token; "
      "touch new 2> /dev/null || echo read-only; echo go > $SAY; read x < "
      "$HEAR");
  const std::string at = Mine("at");
  spec.environment.push_back("AT=" + at);
  spec.volumes = {volume};
  spec.mounts = {{.volume = 0, .target = at, .read_only = true}};
  Shim shim = run_.Start(spec);
  EXPECT_EQ(run_.Line(), "go");
  EXPECT_TRUE(fs::is_empty(volume.path)) << "others do not see them";
  run_.Tell("end");
  EXPECT_EQ(run_.End(&shim).code, 0);
  EXPECT_EQ(run_.Output(), "tmpfs\n400\nt0k3n\nread-only\n");
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ShimMountTest, APlaceThatCannotBeMadeIsTold) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  ShimSpec spec = Script("true");
  spec.volumes = {{.name = "data", .path = Mine("data")}};
  const std::string place = "/" + fs::path(run_.folder()).filename().string();
  spec.mounts = {{.volume = 0, .target = place + "/data"}};
  const ShimExit exit = run_.Run(spec);
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.message, "mountPath " + place + "/data: Permission denied");
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(ShimMountTest, NoLinkLeadsToWhatTheUserCouldNotRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  const std::string secret = run_.folder() + "/private";
  Write(secret + "/inner/key", "key\n");
  chmod(secret.c_str(), 0700);
  const std::string data = Mine("data");
  fs::create_symlink(secret + "/inner", data + "/link");
  ShimSpec spec = Script("cat $AT/key");
  const std::string at = Mine("at");
  spec.environment.push_back("AT=" + at);
  spec.volumes = {{.name = "data", .path = data + "/link"}};
  spec.mounts = {{.volume = 0, .target = at}};
  EXPECT_EQ(run_.Run(spec, 0).message,
            "volume 'data': " + data + "/link: Permission denied");
  // A part of a volume is within it, even where the user could read it.
  fs::create_symlink("/etc", data + "/etc");
  spec.volumes[0].path = data;
  spec.mounts[0].sub_path = "etc";
  EXPECT_EQ(run_.Run(spec, 1).message,
            "volume 'data': " + data + "/etc: Invalid cross-device link");
  spec.mounts[0] = {.volume = 0, .target = data + "/link"};
  EXPECT_EQ(run_.Run(spec, 2).message,
            "mountPath " + data + "/link: Permission denied");
}

TEST_F(ShimMountTest, NoProgramHasTheRightsOfItsOwnerThere) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  const std::string program = run_.folder() + "/identity";
  fs::copy_file(fs::canonical("/usr/bin/id"), program);
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  ShimSpec spec = Script(program + " -u");
  EXPECT_EQ(run_.Run(spec, 0).code, 0);
  EXPECT_EQ(run_.Output(0), "0\n");
  spec.volumes = {{.name = "data", .path = Mine("data")}};
  spec.mounts = {{.volume = 0, .target = Mine("at")}};
  EXPECT_EQ(run_.Run(spec, 1).code, 0);
  EXPECT_EQ(run_.Output(1), "65534\n");
}

TEST_F(ShimMountTest, OutputIsWhereTheMachineHasIt) {
  const std::string data = Mine("data"), at = Mine("at");
  ShimSpec spec = Script("echo said");
  spec.volumes = {{.name = "data", .path = data}};
  spec.mounts = {{.volume = 0, .target = at}};
  spec.directory = at;
  spec.output = at + "/log";
  EXPECT_EQ(run_.Run(spec).code, 0);
  EXPECT_EQ(ReadText(at + "/log"), "said\n");
  EXPECT_TRUE(fs::is_empty(data));
}

}  // namespace
}  // namespace muster::local
