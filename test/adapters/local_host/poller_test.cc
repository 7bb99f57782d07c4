#include "adapters/local/host/poller.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class PollerTest : public testing::Test {
 protected:
  PollerTest() : poller_(*Poller::Create()) {}
  ~PollerTest() override {
    for (const int fd : files_) close(fd);
  }

  // A descriptor that can be read if `ready`.
  int Open(bool ready) {
    files_.push_back(eventfd(ready ? 1 : 0, EFD_NONBLOCK));
    return files_.back();
  }

  Poller poller_;
  std::vector<int> files_;
};

TEST_F(PollerTest, ThoseThatCanBeReadAreTold) {
  ASSERT_TRUE(poller_.Add(Open(true), 7).ok());
  ASSERT_TRUE(poller_.Add(Open(false), 8).ok());
  ASSERT_TRUE(poller_.Add(Open(true), uint64_t{1} << 40).ok());
  EXPECT_THAT(poller_.Wait(-1), UnorderedElementsAre(7, uint64_t{1} << 40));
  // And again, until they have been read.
  EXPECT_THAT(poller_.Wait(0), SizeIs(2));
  uint64_t count = 0;
  ASSERT_EQ(read(files_[0], &count, sizeof count),
            static_cast<ssize_t>(sizeof count));
  EXPECT_THAT(poller_.Wait(0), UnorderedElementsAre(uint64_t{1} << 40));
}

TEST_F(PollerTest, WithNoneItWaitsForTheTime) {
  ASSERT_TRUE(poller_.Add(Open(false), 7).ok());
  EXPECT_THAT(poller_.Wait(1), IsEmpty());
}

TEST_F(PollerTest, OneThatWasRemovedIsNotTold) {
  ASSERT_TRUE(poller_.Add(Open(true), 7).ok());
  poller_.Remove(files_[0]);
  EXPECT_THAT(poller_.Wait(0), IsEmpty());
}

TEST_F(PollerTest, WhatCannotBeWaitedForIsAnError) {
  EXPECT_FALSE(poller_.Add(-1, 7).ok());
  ASSERT_TRUE(poller_.Add(Open(true), 7).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(poller_.Add(files_[0], 8)));
}

TEST_F(PollerTest, OneThatIsMovedKeepsWhatItWaitsFor) {
  ASSERT_TRUE(poller_.Add(Open(true), 7).ok());
  Poller moved(std::move(poller_));
  EXPECT_THAT(moved.Wait(0), UnorderedElementsAre(7));
  Poller other = *Poller::Create();
  other = std::move(moved);
  EXPECT_THAT(other.Wait(0), UnorderedElementsAre(7));
  poller_ = *Poller::Create();
}

TEST_F(PollerTest, AtMost256AreToldAtATime) {
  for (uint64_t id = 0; id < 300; ++id) {
    ASSERT_TRUE(poller_.Add(Open(true), id).ok());
  }
  EXPECT_THAT(poller_.Wait(0), SizeIs(256));
}

}  // namespace
}  // namespace muster::local
