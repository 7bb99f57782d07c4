#include "adapters/local/host/gpu_watch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kA[] = "gpu GPU-a H100 80000 00000000:17:00.0 0 0\n";
constexpr char kB[] = "gpu GPU-b H100 80000 00000000:3B:00.0 0 0\n";
constexpr char kC[] = "gpu GPU-c H100 80000 00000000:5D:00.0 0 0\n";

// A child that waits, and a child of it that does so; both end with the object.
class Family {
 public:
  Family() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    child_ = fork();
    if (child_ == 0) {
      setpgid(0, 0);
      const pid_t grandchild = fork();
      if (grandchild != 0) {
        const ssize_t n = write(ends[1], &grandchild, sizeof grandchild);
        if (n != sizeof grandchild) _exit(1);
      }
      for (;;) pause();
    }
    EXPECT_EQ(read(ends[0], &grandchild_, sizeof grandchild_),
              static_cast<ssize_t>(sizeof grandchild_));
    close(ends[0]);
    close(ends[1]);
  }
  ~Family() {
    kill(-child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  int32_t child() const { return child_; }
  int32_t grandchild() const { return grandchild_; }

 private:
  pid_t child_ = 0;
  pid_t grandchild_ = 0;
};

class GpuWatchTest : public testing::Test {
 protected:
  // Of a machine whose driver says what the lines say.
  absl::StatusOr<GpuWatch> Create(const std::string& lines,
                                  std::vector<Gpu> known = {},
                                  std::vector<std::string> forgotten = {}) {
    WriteText(folder_ / "nvml", lines);
    setenv("FAKE_NVML", (folder_ / "nvml").c_str(), 1);
    return GpuWatch::Create(std::move(known), std::move(forgotten),
                            FAKE_NVML_LIBRARY);
  }

  TemporaryFolder folder_;
};

TEST_F(GpuWatchTest, AMachineWithoutADriverHasNoGpus) {
  auto watch = GpuWatch::Create({}, {}, "libno-such-library.so.1");
  ASSERT_TRUE(watch.ok()) << watch.status();
  EXPECT_TRUE(watch->empty());
  EXPECT_THAT(watch->gpus(), IsEmpty());
  const auto usage = watch->Look("box", {});
  ASSERT_TRUE(usage.ok());
  EXPECT_EQ(*usage, ExternalUsage{.node = "box"});
}

TEST_F(GpuWatchTest, ADriverThatDoesNotWorkIsAnError) {
  EXPECT_TRUE(absl::IsFailedPrecondition(Create("fail init 15\n").status()));
}

TEST_F(GpuWatchTest, GpusOnWhichOthersComputeAreNotGivenAway) {
  const Family family;
  const uint32_t stranger = static_cast<uint32_t>(getppid());
  auto watch = Create(absl::StrCat(
      kA, kB, kC, "process 0 ", family.grandchild(), " 1000\n",  // A task's.
      "process 1 ", stranger, " 5\n", "process 1 ", family.child(), " 5\n"));
  ASSERT_TRUE(watch.ok()) << watch.status();
  const auto usage = watch->Look("box", std::vector{family.child()});
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_EQ(usage->node, "box");
  EXPECT_THAT(usage->devices,
              ElementsAre(DeviceShare{
                  .device = 1, .milli = kWholeDevice, .memory_bytes = 80'000}));
  // Without the shim, the task is a stranger as well.
  const auto others = watch->Look("box", {});
  ASSERT_TRUE(others.ok());
  EXPECT_THAT(others->devices, SizeIs(2));
}

TEST_F(GpuWatchTest, WhoseAProcessIsIsToldByItsParents) {
  const Family family;
  const auto child = static_cast<uint32_t>(family.child());
  const auto grandchild = static_cast<uint32_t>(family.grandchild());
  const std::vector<int32_t> shims = {family.child()};
  EXPECT_TRUE(DescendsFrom(child, shims));
  EXPECT_TRUE(DescendsFrom(grandchild, shims));
  EXPECT_TRUE(DescendsFrom(grandchild, std::vector{getpid()}));
  EXPECT_FALSE(DescendsFrom(static_cast<uint32_t>(getpid()), shims));
  EXPECT_FALSE(DescendsFrom(grandchild, {}));
  EXPECT_FALSE(DescendsFrom(1, shims));
  EXPECT_FALSE(DescendsFrom(0, std::vector{0}));
  EXPECT_FALSE(DescendsFrom(4'000'000'000, shims));  // There is none.
}

TEST_F(GpuWatchTest, TasksAreToldUuids) {
  const auto watch = Create(absl::StrCat(kA, kB));
  ASSERT_TRUE(watch.ok());
  const auto visible = watch->Visible({{.device = 1}, {.device = 0}});
  ASSERT_TRUE(visible.ok());
  EXPECT_EQ(*visible, "GPU-b,GPU-a");
  EXPECT_TRUE(absl::IsInternal(watch->Visible({{.device = 2}}).status()));
}

TEST_F(GpuWatchTest, OfInventedDevicesTasksAreToldNumbers) {
  const GpuWatch watch = GpuWatch::OfNone();
  EXPECT_TRUE(watch.empty());
  const auto visible = watch.Visible({{.device = 3}, {.device = 1}});
  ASSERT_TRUE(visible.ok());
  EXPECT_EQ(*visible, "3,1");
  EXPECT_EQ(*watch.Visible({}), "");
}

TEST_F(GpuWatchTest, AfterARestartGpusAreInTheirPlacesByUuid) {
  auto before = Create(absl::StrCat(kA, kB, kC));
  ASSERT_TRUE(before.ok());
  auto after = Create(absl::StrCat(kB, kC), before->gpus());
  ASSERT_TRUE(after.ok());
  ASSERT_THAT(after->gpus(), SizeIs(3));
  EXPECT_TRUE(after->gpus()[0].missing);
  EXPECT_EQ(*after->Visible({{.device = 1}}), "GPU-b");
  EXPECT_TRUE(absl::IsInternal(after->Visible({{.device = 0}}).status()));
  // Without a driver, all of them are missing, and it is no error.
  const auto none =
      GpuWatch::Create(before->gpus(), {}, "libno-such-library.so.1");
  ASSERT_TRUE(none.ok());
  ASSERT_THAT(none->gpus(), SizeIs(3));
  EXPECT_TRUE(none->gpus()[2].missing);
  // One that is gone for good gives its place away.
  auto replaced = Create(
      absl::StrCat("gpu GPU-d H100 80000 00000000:17:00.0 0 0\n", kB, kC),
      after->gpus(), {"GPU-a"});
  ASSERT_TRUE(replaced.ok());
  EXPECT_EQ(*replaced->Visible({{.device = 0}, {.device = 2}}), "GPU-d,GPU-c");
}

TEST_F(GpuWatchTest, OneThatDoesNotAnswerIsMissingAndSaysWhy) {
  auto known = Create(absl::StrCat(kA, kB));
  ASSERT_TRUE(known.ok());
  EXPECT_THAT(known->silent(), IsEmpty());
  const auto watch = Create(absl::StrCat(kA, kB, "lost 0\n"), known->gpus());
  ASSERT_TRUE(watch.ok()) << watch.status();
  ASSERT_THAT(watch->gpus(), SizeIs(2));
  EXPECT_TRUE(watch->gpus()[0].missing);
  EXPECT_FALSE(watch->gpus()[1].missing);
  ASSERT_THAT(watch->silent(), SizeIs(1));
  EXPECT_THAT(std::string(watch->silent()[0].message()),
              HasSubstr("GPU is lost"));
}

}  // namespace
}  // namespace muster::local
