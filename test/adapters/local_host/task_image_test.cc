#include "adapters/local/host/task_image.h"

#include <filesystem>

#include "adapters/local/host/volume_places.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using workload::VolumeKind;

using Words = std::vector<std::string>;

constexpr const char* kJob = "/state/jobs/7";
constexpr const char* kFolder = "/state/jobs/7/1-2/3";

class TaskImageTest : public testing::Test {
 protected:
  TaskImageTest() {
    std::filesystem::create_directories(folder_ / "train:1");
    start_.uid = 1000;
    start_.gid = 100;
    start_.image = "train:1";
    start_.image_directory = "/data/ann/";
    spec_.command = {"train", "--lr", "1"};
    spec_.environment = {"HOME=/data/ann", "MUSTER_JOB_ID=7",
                         "MUSTER_SOCKET=/run/muster/musterd.sock",
                         "CUDA_VISIBLE_DEVICES=0,1"};
    spec_.inherited = 1;
    spec_.directory = "/data/ann";
  }
  void Use(ImageProgram by) {
    images_.by = by;
    images_.program = "/usr/bin/program";
    if (by == ImageProgram::kPodman) {
      images_.allow = {"train:*"};
    } else {
      images_.folder = folder_.path();
    }
  }
  void Mount(workload::Volume volume, const std::string& path,
             const std::string& sub_path = "", bool read_only = false) {
    start_.mounts.push_back({volume.name, path, sub_path, read_only});
    start_.volumes.push_back(std::move(volume));
  }
  absl::Status Add() {
    VolumePlaces places;
    places.mounts = mounts_;
    absl::Status added = AddVolumes(start_, places, kFolder, &spec_);
    if (added.ok()) {
      added = AddImage({7, 1, 2, 3}, start_, images_, kJob, kFolder, mounts_,
                       &spec_);
    }
    if (added.ok()) {
      EXPECT_EQ(ProblemOf(spec_), "");
    }
    return added;
  }
  const ShimSpec& Spec() {
    const absl::Status added = Add();
    EXPECT_TRUE(added.ok()) << added;
    return spec_;
  }

  TemporaryFolder folder_;
  TaskStart start_;
  Images images_;
  ShimSpec spec_;
  bool mounts_ = true;
};

TEST_F(TaskImageTest, ATaskWithoutOneIsLeftAsItIs) {
  start_.image = "";
  const ShimSpec before = spec_;
  EXPECT_EQ(Spec(), before);
}

TEST_F(TaskImageTest, BubblewrapHasTheRootTheJobAndTheVolumes) {
  Use(ImageProgram::kBubblewrap);
  images_.options = {"--unshare-ipc"};
  Mount({"data", VolumeKind::kHostPath, "/data"}, "/data", "", true);
  Mount({.name = "shm", .in_memory = true}, "/x/../dev/shm/");
  const ShimSpec spec = Spec();
  const std::string own = std::string(kFolder) + "/volumes/";
  EXPECT_EQ(spec.image.root, folder_ / "train:1");
  EXPECT_EQ(spec.image.program, "/usr/bin/program");
  EXPECT_THAT(spec.image.options, ElementsAre("--unshare-ipc"));
  EXPECT_THAT(
      spec.image.binds,
      ElementsAre(ShimBind{"/etc/group", "/etc/group", true, true},
                  ShimBind{"/etc/hosts", "/etc/hosts", true, true},
                  ShimBind{"/etc/passwd", "/etc/passwd", true, true},
                  ShimBind{"/etc/resolv.conf", "/etc/resolv.conf", true, true},
                  ShimBind{"/run/muster", "/run/muster"},
                  ShimBind{"/data/ann", "/data/ann"}, ShimBind{kJob, kJob},
                  ShimBind{own + ".mounts/0", "/data", true},
                  ShimBind{own + ".mounts/1", "/dev/shm"}));
  EXPECT_THAT(spec.mounts,
              ElementsAre(ShimMount{0, own + ".mounts/0", "", true},
                          ShimMount{1, own + ".mounts/1", "", false}));
  EXPECT_EQ(spec.volumes.back(), (ShimVolume{.name = ".mounts",
                                             .form = VolumeForm::kMemory,
                                             .path = own + ".mounts"}));
  EXPECT_THAT(spec.command, ElementsAre("train", "--lr", "1"));
  EXPECT_EQ(spec.directory, "/data/ann");
  EXPECT_TRUE(spec.container);
  EXPECT_THAT(spec.environment, Contains("MUSTER_VOLUME_DATA=/data"));
  EXPECT_THAT(spec.cleanup, IsEmpty());
}

TEST_F(TaskImageTest, WithoutMountsVolumesAreBoundFromTheirPlaces) {
  Use(ImageProgram::kBubblewrap);
  images_.binds = {"/etc/hosts", "/opt/lib:/usr/local/lib"};
  mounts_ = false;
  Mount({"data", VolumeKind::kHostPath, "/srv"}, "/data", "sub");
  EXPECT_THAT(Spec().image.binds,
              ElementsAre(ShimBind{"/etc/hosts", "/etc/hosts", true},
                          ShimBind{"/opt/lib", "/usr/local/lib", true},
                          ShimBind{"/run/muster", "/run/muster"},
                          ShimBind{"/data/ann", "/data/ann"},
                          ShimBind{kJob, kJob}, ShimBind{"/srv/sub", "/data"}));
  EXPECT_THAT(spec_.mounts, IsEmpty());
}

TEST_F(TaskImageTest, TheRootDirectoryIsNotBound) {
  Use(ImageProgram::kBubblewrap);
  start_.image_directory = "/";
  for (const ShimBind& bind : Spec().image.binds) {
    EXPECT_NE(bind.target, "/");
  }
}

TEST_F(TaskImageTest, OnePlaceHasOneThingTheMachinesComeFirst) {
  Use(ImageProgram::kPodman);
  images_.binds = {"/usr", "/data/ann"};
  start_.mounts.clear();
  EXPECT_THAT(Spec().command, Contains("--mount=type=bind,source=/data/ann,"
                                       "destination=/data/ann"));
  EXPECT_THAT(spec_.command,
              Contains(HasSubstr("destination=/data/ann")).Times(1));
}

TEST_F(TaskImageTest, PodmanRunsItAsItsUserInTheTasksCgroup) {
  Use(ImageProgram::kPodman);
  images_.options = {"--shm-size=1g"};
  spec_.variables = {{"TOKEN", "token", {"/a"}}, {"ALL_", "", {"/a"}}};
  Mount({"data", VolumeKind::kHostPath, "/srv/a,\"b\""}, "/data", "sub", true);
  EXPECT_THAT(
      Spec().command,
      ElementsAreArray(Words{
          "/usr/bin/program",
          "--remote=false",
          "--cgroup-manager=cgroupfs",
          "run",
          "--rm",
          "--replace",
          "--name=muster-7-1-2-3",
          "--pull=never",
          "--cgroups=disabled",
          "--init",
          "--network=host",
          "--ipc=host",
          "--log-driver=none",
          "--cap-drop=all",
          "--security-opt=no-new-privileges",
          "--security-opt=label=disable",
          "--userns=keep-id",
          "--user=1000:100",
          "--env-host",
          "--env=MUSTER_JOB_ID",
          "--env=MUSTER_SOCKET",
          "--env=CUDA_VISIBLE_DEVICES",
          "--env=MUSTER_VOLUME_DATA",
          "--env=TOKEN",
          "--mount=type=bind,source=/run/muster,destination=/run/muster",
          "--mount=type=bind,source=/data/ann,destination=/data/ann",
          "--mount=type=bind,source=/state/jobs/7,destination=/state/jobs/7",
          "--mount=type=bind,\"source=/srv/a,\"\"b\"\"/sub\","
          "destination=/data,ro",
          "--workdir=/data/ann",
          "--shm-size=1g",
          "--entrypoint=train",
          "train:1",
          "--lr",
          "1"}));
  EXPECT_EQ(spec_.directory, "/");
  EXPECT_TRUE(spec_.container);
  EXPECT_THAT(spec_.mounts, IsEmpty());
  EXPECT_THAT(spec_.stop,
              ElementsAre("/usr/bin/program", "--remote=false", "kill",
                          "--signal=TERM", "muster-7-1-2-3"));
  EXPECT_THAT(spec_.cleanup,
              ElementsAre("/usr/bin/program", "--remote=false", "rm", "--force",
                          "--ignore", "--time=0", "muster-7-1-2-3"));
}

TEST_F(TaskImageTest, PodmanKnowsTheImagesOwnCommand) {
  Use(ImageProgram::kPodman);
  images_.pull = ImagePull::kMissing;
  start_.uid = 0;
  start_.image_command = true;
  spec_.command = {"--lr", "1"};
  const Words words = Spec().command;
  EXPECT_THAT(Words(words.end() - 3, words.end()),
              ElementsAre("train:1", "--lr", "1"));
  EXPECT_THAT(words, Contains("--pull=missing"));
  for (const std::string& word : words) {
    EXPECT_FALSE(word.starts_with("--entrypoint")) << word;
    EXPECT_FALSE(word.starts_with("--user")) << "root is root: " << word;
  }
}

TEST_F(TaskImageTest, ApptainerRunsAFile) {
  Use(ImageProgram::kApptainer);
  images_.options = {"--writable-tmpfs"};
  Mount({"data", VolumeKind::kHostPath, "/srv"}, "/data");
  EXPECT_THAT(
      Spec().command,
      ElementsAre(
          "/usr/bin/program", "--quiet", "exec", "--no-privs",
          "--no-mount=home,cwd",
          "--mount=type=bind,source=/run/muster,destination=/run/muster",
          "--mount=type=bind,source=/data/ann,destination=/data/ann",
          "--mount=type=bind,source=/state/jobs/7,destination=/state/"
          "jobs/7",
          "--mount=type=bind,source=/srv,destination=/data", "--pwd=/data/ann",
          "--writable-tmpfs", folder_ / "train:1", "train", "--lr", "1"));
  EXPECT_EQ(spec_.directory, "/");
}

TEST_F(TaskImageTest, OnlyGpusThatAreThereAreGiven) {
  Use(ImageProgram::kPodman);
  EXPECT_THAT(Spec().command, Not(Contains(HasSubstr("nvidia"))));
  spec_ = ShimSpec{.command = {"train"},
                   .environment = {"CUDA_VISIBLE_DEVICES=GPU-1,MIG-2"}};
  EXPECT_THAT(Spec().command, Contains("--device=nvidia.com/gpu=GPU-1"));
  EXPECT_THAT(spec_.command, Contains("--device=nvidia.com/gpu=MIG-2"));
  Use(ImageProgram::kApptainer);
  spec_ = ShimSpec{.command = {"train"},
                   .environment = {"CUDA_VISIBLE_DEVICES=GPU-1"}};
  EXPECT_THAT(Spec().command, Contains("--nv"));
}

TEST_F(TaskImageTest, WhatCannotBeRunIsTold) {
  const auto message = [this] { return std::string(Add().message()); };
  EXPECT_EQ(message(), "image 'train:1': there are none here");
  Use(ImageProgram::kBubblewrap);
  start_.image_command = true;
  EXPECT_EQ(message(),
            "command: is missing, and bubblewrap does not know that of image "
            "'train:1'");
  start_.image = "../train:1";
  EXPECT_THAT(message(), HasSubstr("image '../train:1': expected a name"));
  start_.image = "other";
  EXPECT_EQ(message(), "image 'other': is none of those allowed here: train:1");
}

}  // namespace
}  // namespace muster::local
