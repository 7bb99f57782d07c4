// Images of tasks: who may have which, and what is said of them.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ControllerConfig BoxWithImages(bool own_command = false) {
  ControllerConfig config = OneBox(1);
  config.images.by = own_command ? "podman" : "bubblewrap";
  config.images.own_command = own_command;
  config.images.memory = !own_command;
  config.images.check = [](const std::string& image) {
    if (image == "train:1") return absl::OkStatus();
    return absl::PermissionDeniedError("is none of those allowed here");
  };
  return config;
}

std::string JobOf(const std::string& container, const std::string& pod = "") {
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},)"
         R"("spec":{"template":{"spec":{"restartPolicy":"Never","containers":[)"
         R"({"name":"main",)" +
         container + "}]" + pod + "}}}}";
}

struct Told {
  std::string error{};
  std::vector<std::string> notes{};
  TaskStart start{};
};

Told Submit(const ControllerConfig& config, const std::string& manifest) {
  World world(config);
  const auto result = world.controller->Submit(
      Submission{.manifest = manifest, .directory = "/data/ann"}, world.now);
  if (!result.ok()) return {.error = std::string(result.status().message())};
  world.Settle();
  Told told{.notes = result->notes};
  if (const Process* process = world.Of(1)) told.start = process->start;
  return told;
}

TEST(ImageTest, ATaskIsStartedInItsImageAndItsSubmittersDirectory) {
  const Told told =
      Submit(BoxWithImages(),
             JobOf(R"("image":"train:1","command":["train"],"args":["x"])"));
  EXPECT_EQ(told.error, "");
  EXPECT_THAT(told.notes, IsEmpty());
  EXPECT_EQ(told.start.image, "train:1");
  EXPECT_FALSE(told.start.image_command);
  EXPECT_EQ(told.start.directory, "/data/ann");
  EXPECT_EQ(told.start.image_directory, "/data/ann");
}

TEST(ImageTest, ADirectoryOfTheManifestIsTheImages) {
  const std::string manifest = JobOf(
      R"("image":"train:1","command":["train"],"workingDir":"/workspace")");
  Told told = Submit(BoxWithImages(), manifest);
  EXPECT_EQ(told.start.directory, "/workspace");
  EXPECT_EQ(told.start.image_directory, "");
  // Where its output goes is the machine's all the same.
  std::string with_output = manifest;
  with_output.replace(
      with_output.find(R"({"name":"a"})"), 12,
      R"({"name":"a","annotations":{"muster.dev/output":"log"}})");
  EXPECT_EQ(Submit(BoxWithImages(), with_output).start.output, "/data/ann/log");
  EXPECT_EQ(Submit(OneBox(1), with_output).start.output, "/workspace/log");
  told =
      Submit(BoxWithImages(),
             JobOf(R"("image":"train:1","command":["x"],"workingDir":"sub")"));
  EXPECT_EQ(told.start.directory, "/data/ann/sub");
  EXPECT_EQ(told.start.image_directory, "/data/ann");
}

TEST(ImageTest, AnImageThatIsNotAllowedIsRefusedWithItsPlace) {
  EXPECT_EQ(
      Submit(BoxWithImages(), JobOf(R"("image":"../x","command":["x"])")).error,
      "spec: image '../x': is none of those allowed here");
}

TEST(ImageTest, OnlyPodmanKnowsTheImagesOwnCommand) {
  const std::string bare = JobOf(R"("image":"train:1")");
  const std::string args = JobOf(R"("image":"train:1","args":["--lr"])");
  const char* const missing =
      "spec: command: is missing, and bubblewrap does not know that of image "
      "'train:1'";
  EXPECT_EQ(Submit(BoxWithImages(), bare).error, missing);
  EXPECT_EQ(Submit(BoxWithImages(), args).error, missing);
  Told told = Submit(BoxWithImages(true), bare);
  EXPECT_TRUE(told.start.image_command);
  EXPECT_THAT(told.start.launch.argv, IsEmpty());
  told = Submit(BoxWithImages(true), args);
  EXPECT_TRUE(told.start.image_command);
  EXPECT_THAT(told.start.launch.argv, ElementsAre("--lr"));
  EXPECT_EQ(Submit(OneBox(1), bare).error,
            "spec: has no command, and images are not used here");
}

TEST(ImageTest, WithoutAProgramTheMachinesFileSystemIsUsedAndItIsSaid) {
  const Told told =
      Submit(OneBox(1), JobOf(R"("image":"../x","command":["train"])"));
  EXPECT_EQ(told.error, "");
  EXPECT_THAT(told.notes,
              ElementsAre("a: image '../x' is not used: tasks run in the "
                          "machine's own file system"));
  EXPECT_EQ(told.start.image, "");
}

TEST(ImageTest, VolumesInMemoryAreOnADiskWhereTheProgramHasNone) {
  const std::string manifest =
      JobOf(R"("image":"train:1","command":["x"],"volumeMounts":[)"
            R"({"name":"shm","mountPath":"/shm"}])",
            R"(,"volumes":[{"name":"shm","emptyDir":{"medium":"Memory"}}])");
  EXPECT_THAT(Submit(BoxWithImages(), manifest).notes, IsEmpty());
  EXPECT_THAT(Submit(BoxWithImages(true), manifest).notes,
              ElementsAre("a: volume 'shm' lies on a disk, not in memory"));
}

TEST(ImageTest, MpirunStartsItsRanksOutsideOfImages) {
  ControllerConfig config = BoxWithImages();
  const Told told = Submit(config, R"({
      "apiVersion":"kubeflow.org/v2beta1","kind":"MPIJob","metadata":
      {"name":"m"},"spec":{"mpiReplicaSpecs":{"Launcher":{"replicas":1,
      "template":{"spec":{"containers":[{"name":"mpi","image":"other",
      "command":["mpirun"]}]}}},"Worker":{"replicas":1,"template":{"spec":{
      "containers":[{"name":"mpi","image":"other","command":["x"]}]}}}}}})");
  EXPECT_EQ(told.error, "");
  EXPECT_THAT(told.notes, testing::Contains(
                              testing::HasSubstr("image 'other' is not used")));
}

TEST(ImageTest, TheNodeTellsHowImagesAreRun) {
  EXPECT_EQ(World(BoxWithImages()).controller->ViewNode().images, "bubblewrap");
  EXPECT_EQ(World(OneBox(1)).controller->ViewNode().images, "");
}

}  // namespace
}  // namespace muster::local
