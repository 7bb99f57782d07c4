// Variables whose values are in files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "adapters/local/shim/attempt_folder.h"
#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kOtherUser = 65534;

class ShimVariableTest : public testing::Test {
 protected:
  std::string Folder(const std::string& name) const {
    std::string path = run_.folder() + "/" + name;
    fs::create_directories(path);
    return path;
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  ShimRun run_;
};

TEST_F(ShimVariableTest, OneKeyIsAVariableAndAllKeysAre) {
  const std::string keys = Folder("keys"), map = Folder("map");
  Write(keys + "/token", "t0k3n\nline two\n");
  Write(map + "/HOST", "db");
  fs::create_directories(map + "/..data");
  ShimSpec spec = run_.Script("env | grep -E '^(T|line|DB|A)' | sort");
  spec.environment.push_back("A=b");
  spec.variables = {{"DB_", "", {run_.folder() + "/nowhere", map}},
                    {"TOKEN", "token", {keys}}};
  EXPECT_EQ(run_.Run(spec).code, 0);
  EXPECT_EQ(run_.Output(), "A=b\nDB_HOST=db\nTOKEN=t0k3n\nline two\n");
  EXPECT_EQ(ReadText(run_.AttemptFolder() + "/spec").find("t0k3n"),
            std::string::npos)
      << "the value is in no other file";
}

TEST_F(ShimVariableTest, TheManifestComesBeforeAllKeysAndThoseBeforeTheShell) {
  const std::string map = Folder("map");
  for (const char* name : {"SHELL_S", "MANIFEST_S", "ONE", "MUSTER_JOB_ID",
                           "CUDA_VISIBLE_DEVICES", "0"}) {
    Write(map + "/" + name, "map");
  }
  ShimSpec spec = run_.Script(
      "echo $SHELL_S $MANIFEST_S $ONE $MUSTER_JOB_ID $CUDA_VISIBLE_DEVICES");
  spec.environment = {"SHELL_S=shell", "PATH=/usr/bin:/bin",
                      "MANIFEST_S=manifest", "ONE=manifest"};
  spec.inherited = 2;
  spec.variables = {{"ONE", "SHELL_S", {map}}, {"", "", {map}}};
  EXPECT_EQ(run_.Run(spec).code, 0);
  EXPECT_EQ(run_.Output(), "map manifest map\n");
}

TEST_F(ShimVariableTest, WhatIsNotThereIsToldOrOptional) {
  const std::string keys = Folder("keys");
  ShimSpec spec = run_.Script("echo [$TOKEN]");
  spec.variables = {{"TOKEN", "token", {"/proc/nowhere", keys}}};
  ShimExit exit = run_.Run(spec, 0);
  EXPECT_EQ(exit.reason, ShimReason::kNotStarted);
  EXPECT_EQ(exit.message,
            "variable 'TOKEN': " + keys + "/token: No such file or directory");
  spec.variables[0].sources = {"/proc/nowhere", "/proc/neither"};
  EXPECT_EQ(run_.Run(spec, 1).message,
            "variable 'TOKEN': /proc/nowhere, /proc/neither: No such file or "
            "directory");
  spec.variables[0].optional = true;
  EXPECT_EQ(run_.Run(spec, 2).code, 0);
  EXPECT_EQ(run_.Output(2), "[]\n");
  Write(keys + "/token", std::string("a\0b", 3));
  spec.variables[0].sources = {keys};
  EXPECT_EQ(run_.Run(spec, 3).message,
            "variable 'TOKEN': " + keys +
                "/token: Invalid or incomplete multibyte or wide character");
}

TEST_F(ShimVariableTest, FilesAreReadWithTheRightsOfTheTask) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  const std::string keys = Folder("keys");
  Write(keys + "/token", "t0k3n");
  chmod((keys + "/token").c_str(), 0600);
  ShimSpec spec = run_.Script("true");
  spec.user = ShimUser{.uid = kOtherUser, .gid = kOtherUser};
  spec.variables = {{"TOKEN", "token", {keys}}};
  EXPECT_EQ(run_.Run(spec, 0).message,
            "variable 'TOKEN': " + keys + "/token: Permission denied");
  // Mounts are made by root; what is read is not.
  const std::string at = Folder("at");
  spec.volumes = {{.name = "at", .path = at}};
  spec.mounts = {{.volume = 0, .target = at}};
  EXPECT_EQ(run_.Run(spec, 1).message,
            "variable 'TOKEN': " + keys + "/token: Permission denied");
}

}  // namespace
}  // namespace muster::local
