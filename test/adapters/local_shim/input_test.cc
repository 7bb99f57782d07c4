// Tasks whose standard input is written to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;

class ShimInputTest : public testing::Test {
 protected:
  ShimInputTest() { signal(SIGPIPE, SIG_IGN); }
  Shim Start(const std::string& script) {
    ShimSpec spec = run_.Script(script);
    spec.input = true;
    return run_.Start(spec);
  }
  // All of it was taken.
  static void Send(Shim* shim, const std::string& text) {
    // Not before it has started.
    EXPECT_TRUE(Eventually([&] {
      const auto taken = shim->Send(text);
      EXPECT_TRUE(taken.ok()) << taken.status();
      return !taken.ok() || *taken == text.size();
    }));
  }

  ShimRun run_;
};

TEST_F(ShimInputTest, ATaskReadsWhatIsSentAndThenTheEnd) {
  Shim shim = Start("read a; echo \"$a\" > $SAY; cat; exit 3");
  Send(&shim, "first\n");
  EXPECT_EQ(run_.Line(), "first");
  Send(&shim, "second\n");
  Send(&shim, "and last");
  ASSERT_TRUE(shim.EndInput().ok());
  EXPECT_EQ(run_.End(&shim).code, 3);
  EXPECT_EQ(run_.Output(), "second\nand last");
}

TEST_F(ShimInputTest, WhatIsSentAtOnceIsNotLost) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    ShimSpec spec = run_.Script("cat");
    spec.input = true;
    Shim shim = run_.Start(spec, attempt);
    Send(&shim, "at once");
    ASSERT_TRUE(shim.EndInput().ok());
    EXPECT_EQ(run_.End(&shim).code, 0);
    EXPECT_EQ(run_.Output(attempt), "at once");
  }
}

TEST_F(ShimInputTest, WritersComeAndGo) {
  Shim shim = Start("echo up > $SAY; read a; read b; echo \"$a $b\"");
  EXPECT_EQ(run_.Line(), "up");
  Send(&shim, "one\n");
  // As a daemon that was started again.
  auto adopted = Adopt(run_.AttemptFolder(), 0);
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  ASSERT_TRUE(adopted->shim.has_value());
  Send(&*adopted->shim, "two\n");
  EXPECT_EQ(run_.End(&shim).code, 0);
  EXPECT_EQ(run_.Output(), "one two\n");
}

TEST_F(ShimInputTest, WhatThereIsNoRoomForIsToBeSentAgain) {
  Shim shim = Start("echo up > $SAY; read go < $HEAR; wc -c");
  EXPECT_EQ(run_.Line(), "up");
  const std::string text(size_t{1} << 20, 'x');
  const auto taken = shim.Send(text);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_GT(*taken, 0u);
  EXPECT_LT(*taken, text.size());
  EXPECT_EQ(*shim.Send(text), 0u);
  run_.Tell("go");
  size_t sent = *taken;
  EXPECT_TRUE(Eventually([&] {
    sent += shim.Send(std::string_view(text).substr(sent)).value_or(0);
    return sent == text.size();
  }));
  ASSERT_TRUE(shim.EndInput().ok());
  EXPECT_EQ(run_.End(&shim).code, 0);
  EXPECT_EQ(run_.Output(), std::to_string(text.size()) + "\n");
}

TEST_F(ShimInputTest, NobodyReadsIt) {
  Shim shim = Start("exec < /dev/null; echo up > $SAY; read go < $HEAR");
  EXPECT_EQ(run_.Line(), "up");
  EXPECT_THAT(std::string(shim.Send("x").status().message()),
              HasSubstr("reads no input any more"));
  run_.Tell("go");
  run_.End(&shim);

  Shim other = run_.Start(run_.Script("cat; echo up > $SAY; read go < $HEAR"),
                          /*attempt=*/1);
  EXPECT_EQ(run_.Line(), "up") << "it has the end at once";
  EXPECT_THAT(std::string(other.Send("x").status().message()),
              HasSubstr("has no input"));
  EXPECT_TRUE(other.EndInput().ok());
  run_.Tell("go");
  EXPECT_EQ(run_.End(&other).code, 0);
}

}  // namespace
}  // namespace muster::local
