#include "adapters/local/host/checkpoint_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CheckpointWatchTest : public testing::Test {
 protected:
  CheckpointWatchTest() : watch_(*CheckpointWatch::Create()) {}

  std::string File(const std::string& name) {
    const std::string path = folder_ / name;
    WriteText(path, "");
    return path;
  }
  bool IsReady() const {
    pollfd poll_fd{.fd = watch_.fd(), .events = POLLIN, .revents = 0};
    return poll(&poll_fd, 1, 0) == 1;
  }

  TemporaryFolder folder_;
  CheckpointWatch watch_;
  const TaskKey one_{.job = 1, .attempt = 1};
  const TaskKey two_{.job = 2, .attempt = 1};
};

TEST_F(CheckpointWatchTest, ATouchedFileIsToldOnce) {
  const std::string first = File("a");
  const std::string second = File("b");
  ASSERT_TRUE(watch_.Add(two_, second).ok());
  ASSERT_TRUE(watch_.Add(one_, first).ok());
  EXPECT_FALSE(IsReady());
  EXPECT_THAT(watch_.Take(), IsEmpty());
  WriteText(second, "saved");
  EXPECT_TRUE(IsReady());
  EXPECT_THAT(watch_.Take(), ElementsAre(two_));
  EXPECT_FALSE(IsReady());
  ASSERT_EQ(utimensat(AT_FDCWD, first.c_str(), nullptr, 0), 0);
  WriteText(second, "again");
  EXPECT_THAT(watch_.Take(), ElementsAre(one_, two_));
  EXPECT_THAT(watch_.Take(), IsEmpty());
}

TEST_F(CheckpointWatchTest, OneThatWasRemovedIsNotTold) {
  const std::string file = File("a");
  ASSERT_TRUE(watch_.Add(one_, file).ok());
  watch_.Remove(one_);
  watch_.Remove(one_);
  WriteText(file, "saved");
  EXPECT_THAT(watch_.Take(), IsEmpty());
  ASSERT_TRUE(watch_.Add(one_, file).ok());
  WriteText(file, "saved");
  EXPECT_THAT(watch_.Take(), ElementsAre(one_));
}

TEST_F(CheckpointWatchTest, AnotherFileOfATaskReplacesTheFirst) {
  const std::string first = File("a");
  const std::string second = File("b");
  ASSERT_TRUE(watch_.Add(one_, first).ok());
  ASSERT_TRUE(watch_.Add(one_, second).ok());
  WriteText(first, "saved");
  EXPECT_THAT(watch_.Take(), IsEmpty());
  WriteText(second, "saved");
  EXPECT_THAT(watch_.Take(), ElementsAre(one_));
}

TEST_F(CheckpointWatchTest, AFileThatIsNotThereIsNamed) {
  const absl::Status added = watch_.Add(one_, folder_ / "none");
  EXPECT_TRUE(absl::IsNotFound(added)) << added;
  EXPECT_THAT(std::string(added.message()),
              testing::HasSubstr(folder_ / "none"));
}

TEST_F(CheckpointWatchTest, ADeletedFileIsNoMoreThanThat) {
  const std::string file = File("a");
  ASSERT_TRUE(watch_.Add(one_, file).ok());
  std::filesystem::remove(file);
  watch_.Take();
  WriteText(file, "another");
  EXPECT_THAT(watch_.Take(), IsEmpty());
}

TEST_F(CheckpointWatchTest, OneThatIsMovedKeepsItsFiles) {
  const std::string file = File("a");
  ASSERT_TRUE(watch_.Add(one_, file).ok());
  CheckpointWatch moved(std::move(watch_));
  WriteText(file, "saved");
  EXPECT_THAT(moved.Take(), ElementsAre(one_));
  watch_ = std::move(moved);
  WriteText(file, "saved");
  EXPECT_THAT(watch_.Take(), ElementsAre(one_));
}

}  // namespace
}  // namespace muster::local
