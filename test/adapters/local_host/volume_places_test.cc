#include "adapters/local/host/volume_places.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using workload::EnvSource;
using workload::Volume;
using workload::VolumeKind;

constexpr const char* kFolder = "/state/jobs/7/0-0/1";

class VolumePlacesTest : public testing::Test {
 protected:
  VolumePlacesTest() {
    places_.mounts = true;
    start_.uid = 4'000'000'000;  // Whom no database knows.
    spec_.environment = {"HOME=/data/ann", "MUSTER_VOLUME_DATA=/old"};
    spec_.output = "output";
  }

  void Mount(Volume volume, const std::string& path,
             const std::string& sub_path = "") {
    start_.mounts.push_back({volume.name, path, sub_path, false});
    start_.volumes.push_back(std::move(volume));
  }
  ShimSpec Spec() {
    const absl::Status added = AddVolumes(start_, places_, kFolder, &spec_);
    EXPECT_TRUE(added.ok()) << added;
    EXPECT_EQ(ProblemOf(spec_.volumes, spec_.mounts), "");
    return spec_;
  }

  TaskStart start_;
  VolumePlaces places_;
  ShimSpec spec_;
};

TEST_F(VolumePlacesTest, EachKindHasItsPlace) {
  places_.claims["team"] = "/srv/team";
  Mount({"data", VolumeKind::kHostPath, "/srv/data"}, "/data");
  Mount({.name = "scratch", .kind = VolumeKind::kEmptyDir}, "/scratch");
  Mount({"mine", VolumeKind::kClaim, "mine"}, "/mine");
  Mount({.name = "team",
         .kind = VolumeKind::kClaim,
         .source = "team",
         .read_only = true},
        "/team");
  Mount({.name = "shm",
         .kind = VolumeKind::kEmptyDir,
         .in_memory = true,
         .size_limit = 4096},
        "/dev/shm");
  const ShimSpec spec = Spec();
  const std::string own = std::string(kFolder) + "/volumes/";
  EXPECT_THAT(
      spec.volumes,
      ElementsAre(
          ShimVolume{.name = "data", .path = "/srv/data"},
          ShimVolume{.name = "scratch",
                     .form = VolumeForm::kEmpty,
                     .path = own + "scratch"},
          ShimVolume{.name = "mine",
                     .form = VolumeForm::kDirectory,
                     .path = "/data/ann/.local/share/muster/claims/mine"},
          ShimVolume{.name = "team", .path = "/srv/team"},
          ShimVolume{.name = "shm",
                     .form = VolumeForm::kMemory,
                     .path = own + "shm",
                     .size = 4096}));
  EXPECT_THAT(spec.mounts, ElementsAre(ShimMount{0, "/data", "", false},
                                       ShimMount{1, "/scratch", "", false},
                                       ShimMount{2, "/mine", "", false},
                                       ShimMount{3, "/team", "", true},
                                       ShimMount{4, "/dev/shm", "", false}));
  EXPECT_THAT(spec.environment, Contains("MUSTER_VOLUME_DATA=/srv/data"));
  EXPECT_THAT(spec.environment, Contains("MUSTER_VOLUME_TEAM=/srv/team"));
  EXPECT_THAT(spec.environment, Not(Contains("MUSTER_VOLUME_DATA=/old")));
}

TEST_F(VolumePlacesTest, FilesAreLookedForFromTheJobToTheMachine) {
  places_.secrets = "/etc/muster/secrets";
  spec_.environment.push_back("MUSTER_JOB_FILES=/data/ann/files");
  Mount({.name = "db-keys",
         .kind = VolumeKind::kSecret,
         .source = "db",
         .items = {{"token", "t", 0400}, {"user", "u", 0}},
         .default_mode = 0440,
         .optional = true},
        "/keys");
  const ShimSpec spec = Spec();
  EXPECT_THAT(spec.volumes,
              ElementsAre(ShimVolume{
                  .name = "db-keys",
                  .form = VolumeForm::kFiles,
                  .path = std::string(kFolder) + "/volumes/db-keys",
                  .sources = {"/data/ann/files/secrets/db",
                              "/data/ann/.config/muster/secrets/db",
                              "/etc/muster/secrets/db"},
                  .items = {{"token", "t", 0400}, {"user", "u", 0440}},
                  .mode = 0440,
                  .optional = true}));
  EXPECT_TRUE(spec.mounts[0].read_only);
  EXPECT_THAT(spec.environment, Contains(HasSubstr("MUSTER_VOLUME_DB_KEYS=")));
}

TEST_F(VolumePlacesTest, OnlyWhatIsElsewhereIsMounted) {
  Mount({"same", VolumeKind::kHostPath, "/srv"}, "/srv");
  EXPECT_THAT(Spec().mounts, IsEmpty());
  EXPECT_EQ(spec_.volumes.size(), 1u) << "it has to be there";
}

TEST_F(VolumePlacesTest, WithoutMountsTheVolumesAreThereAllTheSame) {
  places_.mounts = false;
  Mount({"data", VolumeKind::kHostPath, "/srv/data"}, "/data");
  spec_.output = "/data/log";
  const ShimSpec spec = Spec();
  EXPECT_EQ(spec.volumes.size(), 1u);
  EXPECT_THAT(spec.mounts, IsEmpty());
  EXPECT_EQ(spec.output, "/data/log");
}

TEST_F(VolumePlacesTest, OutputIsReadWhereTheMachineHasIt) {
  Mount({"data", VolumeKind::kHostPath, "/srv/data"}, "/data");
  Mount({"runs", VolumeKind::kHostPath, "/srv/runs"}, "/data/runs", "7");
  spec_.output = "/data/log";
  spec_.error = "/data/runs/err";
  const ShimSpec spec = Spec();
  EXPECT_EQ(spec.output, "/srv/data/log");
  EXPECT_EQ(spec.error, "/srv/runs/7/err");
  spec_ = {};
  spec_.output = "/database/log";
  EXPECT_EQ(Spec().output, "/database/log");
}

TEST_F(VolumePlacesTest, VariablesAreLookedForAsFilesAre) {
  places_.config_maps = "/etc/muster/config-maps";
  start_.launch.from_host = {
      {.name = "DB_",
       .from = EnvSource::kConfigMap,
       .source = "db",
       .optional = true},
      {.name = "TOKEN", .from = EnvSource::kSecret, .source = "s", .key = "t"},
      {.name = "MUSTER_JOB_ID",
       .from = EnvSource::kSecret,
       .source = "s",
       .key = "t"},
      {.name = "NODE", .from = EnvSource::kField, .source = "spec.nodeName"}};
  ASSERT_TRUE(AddVariables(start_, places_, &spec_).ok());
  const std::string home = "/data/ann/.config/muster/";
  EXPECT_THAT(
      spec_.variables,
      ElementsAre(
          ShimVariable{"DB_",
                       "",
                       {home + "config-maps/db", "/etc/muster/config-maps/db"},
                       true},
          ShimVariable{"TOKEN", "t", {home + "secrets/s"}, false}));
  start_.launch.from_host = {
      {.name = "A=B", .from = EnvSource::kSecret, .source = "s", .key = "t"}};
  EXPECT_TRUE(absl::IsInvalidArgument(AddVariables(start_, places_, &spec_)));
}

TEST_F(VolumePlacesTest, WhatIsInheritedStaysSo) {
  spec_.environment = {"HOME=/data/ann", "MUSTER_VOLUME_DATA=/old", "A=1"};
  spec_.inherited = 2;
  Mount({"data", VolumeKind::kHostPath, "/srv"}, "/data");
  EXPECT_EQ(Spec().inherited, 1u);
  EXPECT_THAT(spec_.environment,
              ElementsAre("HOME=/data/ann", "A=1", "MUSTER_VOLUME_DATA=/srv"));
}

TEST_F(VolumePlacesTest, AClaimWithoutAPlaceIsTold) {
  spec_.environment = {"HOME=nowhere"};
  Mount({"mine", VolumeKind::kClaim, "mine"}, "/mine");
  const absl::Status added = AddVolumes(start_, places_, kFolder, &spec_);
  EXPECT_TRUE(absl::IsFailedPrecondition(added));
  EXPECT_THAT(std::string(added.message()),
              HasSubstr("volume 'mine': claim 'mine' has no directory"));
}

}  // namespace
}  // namespace muster::local
