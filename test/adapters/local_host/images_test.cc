#include "adapters/local/host/images.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

using testing::HasSubstr;

TEST(ImageNameTest, NamesAreThoseOfRegistries) {
  const std::string digest(64, 'a');
  for (const std::string& name :
       {std::string("debian"), std::string("pytorch:2.1-cuda12"),
        std::string("docker.io/library/debian:12"),
        std::string("localhost:5000/team/train:1"),
        "quay.io/a/b@sha256:" + digest, "a:1@sha256:" + digest}) {
    EXPECT_TRUE(IsImageName(name)) << name;
  }
}

TEST(ImageNameTest, WhatLeadsElsewhereIsNone) {
  for (const std::string& name : {std::string(""),
                                  std::string("."),
                                  std::string(".."),
                                  std::string("../etc"),
                                  std::string("a/../b"),
                                  std::string("/srv/a"),
                                  std::string("a/"),
                                  std::string("a//b"),
                                  std::string("./a"),
                                  std::string("-v"),
                                  std::string("--rootfs"),
                                  std::string("a b"),
                                  std::string("a:"),
                                  std::string("a:b:c"),
                                  std::string(":a"),
                                  std::string("a:/b"),
                                  std::string("a\nb"),
                                  std::string("a\0b", 3),
                                  std::string(".hidden"),
                                  std::string("oci:folder"),
                                  std::string("dir:a"),
                                  std::string("docker-archive:/tmp/x.tar"),
                                  std::string("docker://debian"),
                                  std::string("containers-storage:a"),
                                  std::string("a@sha256:12"),
                                  std::string("a@md5"),
                                  std::string("h:port/a"),
                                  std::string(600, 'a')}) {
    EXPECT_FALSE(IsImageName(name)) << name;
  }
}

class ImagesTest : public testing::Test {
 protected:
  ImagesTest() {
    std::filesystem::create_directories(folder_ / "images/debian:12/usr/bin");
    std::filesystem::create_directories(folder_ / "images/.hidden");
    WriteText(folder_ / "images/train.sif", "x");
    images_.by = ImageProgram::kBubblewrap;
    images_.folder = folder_ / "images";
  }
  // The path or name, or the message.
  std::string Find(const std::string& name) const {
    const auto found = FindImage(images_, name);
    return found.ok() ? *found : std::string(found.status().message());
  }

  TemporaryFolder folder_;
  Images images_;
};

TEST_F(ImagesTest, OfAFolderOnlyItsEntriesAreImages) {
  EXPECT_EQ(Find("debian:12"), folder_ / "images/debian:12");
  images_.names["team/x:1"] = folder_.path();
  images_.names["gone"] = folder_ / "gone";
  EXPECT_EQ(Find("team/x:1"), folder_.path());
  EXPECT_EQ(Find("gone"), folder_ / "gone" + " is not there");
  const std::string none =
      "is none of those allowed here: debian:12, gone, team/x:1";
  EXPECT_EQ(Find("other"), none);
  EXPECT_EQ(Find("debian:12/usr"), none) << "a part of one";
  EXPECT_EQ(Find("debian:12/../x"),
            "expected a name, such as pytorch:2.1 or "
            "docker.io/library/debian:12");
  std::filesystem::create_directories(folder_ / "images/plain/usr");
  EXPECT_THAT(Find("plain/usr"), HasSubstr("is none of those allowed"));
  EXPECT_EQ(Find("train"), Find("other")) << "a file is no root file system";
  EXPECT_TRUE(absl::IsPermissionDenied(FindImage(images_, "other").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(FindImage(images_, "..").status()));
}

TEST_F(ImagesTest, ApptainerHasFilesToo) {
  images_.by = ImageProgram::kApptainer;
  EXPECT_EQ(Find("train"), folder_ / "images/train.sif");
  EXPECT_EQ(Find("train.sif"), folder_ / "images/train.sif");
  EXPECT_EQ(Find("debian:12"), folder_ / "images/debian:12");
}

TEST_F(ImagesTest, OfPodmanPatternsSayWhatIsAllowed) {
  images_ = {.by = ImageProgram::kPodman,
             .names = {{"torch", "quay.io/lab/torch:2"}},
             .allow = {"docker.io/library/*", "localhost/train:*"}};
  EXPECT_EQ(Find("docker.io/library/debian:12"), "docker.io/library/debian:12");
  EXPECT_EQ(Find("localhost/train:1"), "localhost/train:1");
  EXPECT_EQ(Find("torch"), "quay.io/lab/torch:2");
  EXPECT_EQ(Find("docker.io/other/x"),
            "is none of those allowed here: docker.io/library/*, "
            "localhost/train:*, torch");
  images_ = {.by = ImageProgram::kPodman};
  EXPECT_EQ(Find("debian"), "there are none here");
}

TEST_F(ImagesTest, ManyThatAreAllowedAreNotAllNamed) {
  for (int i = 0; i < 30; ++i) {
    images_.names["x" + std::to_string(i)] = "/";
  }
  EXPECT_THAT(Find("other"), testing::EndsWith(", ..."));
}

TEST_F(ImagesTest, AProgramThatIsNotThereIsToldWithEachImage) {
  images_.program = folder_ / "bwrap";
  const absl::Status gone = FindProgram(&images_);
  EXPECT_FALSE(gone.ok());
  const ImageRules rules = RulesOf(images_, gone);
  EXPECT_EQ(rules.by, "bubblewrap");
  EXPECT_THAT(
      std::string(rules.check("debian:12").message()),
      HasSubstr("images are to be run by bubblewrap, which does not work: " +
                images_.program));
  WriteText(images_.program, "#!/bin/sh\n");
  chmod(images_.program.c_str(), 0755);
  EXPECT_TRUE(FindProgram(&images_).ok());
  EXPECT_TRUE(RulesOf(images_, absl::OkStatus()).check("debian:12").ok());
  EXPECT_FALSE(RulesOf(images_, absl::OkStatus()).check("other").ok());
}

TEST_F(ImagesTest, AProgramIsLookedForInPath) {
  WriteText(folder_ / "podman", "#!/bin/sh\n");
  chmod((folder_ / "podman").c_str(), 0755);
  const std::string before = getenv("PATH");
  setenv("PATH", (":relative:" + folder_.path()).c_str(), 1);
  Images podman{.by = ImageProgram::kPodman};
  EXPECT_TRUE(FindProgram(&podman).ok());
  EXPECT_EQ(podman.program, folder_ / "podman");
  Images apptainer{.by = ImageProgram::kApptainer};
  EXPECT_EQ(FindProgram(&apptainer).message(),
            "there is no apptainer in musterd's PATH");
  setenv("PATH", before.c_str(), 1);
  Images none;
  EXPECT_TRUE(FindProgram(&none).ok());
  EXPECT_EQ(RulesOf(none, absl::OkStatus()).by, "");
}

}  // namespace
}  // namespace muster::local
