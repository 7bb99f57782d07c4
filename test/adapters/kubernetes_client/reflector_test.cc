#include "adapters/kubernetes/client/reflector.h"

#include <gtest/gtest.h>

#include "test/adapters/kubernetes_client/recorded_transport.h"

namespace muster::kubernetes::client {
namespace {

using Strings = std::vector<std::string>;

class Story final : public Sink {
 public:
  void OnListBegin() override { lines.push_back("begin"); }
  absl::Status OnListPage(std::string_view body) override {
    lines.push_back("page " + std::to_string(body.size()));
    return answer;
  }
  void OnListEnd() override { lines.push_back("end"); }
  absl::Status OnEvent(EventType type, std::string_view) override {
    lines.push_back("event " + std::to_string(static_cast<int>(type)));
    return answer;
  }
  Strings lines{};
  absl::Status answer = absl::OkStatus();
};

std::string List(const std::string& version, const std::string& next = "") {
  return R"({"metadata":{"resourceVersion":")" + version + R"(","continue":")" +
         next + R"("},"items":[]})";
}

std::string Event(const std::string& type, const std::string& version) {
  return R"({"type":")" + type +
         R"(","object":{"metadata":{"resourceVersion":")" + version +
         R"("}}})" + "\n";
}

const char kExpiredEvent[] =
    R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
    "\n";

class ReflectorTest : public testing::Test {
 protected:
  // A turn of the owner's loop, after `wait` milliseconds.
  void Turn(Millis wait = 0) {
    if (wait > 0) reflector_.Advance(now_);
    now_ += wait;
    reflector_.Advance(now_);
    transport_.Poll(0);
  }
  Millis Next() { return reflector_.Advance(now_); }
  // Long enough for any back-off.
  void TurnAfterBackoff() { Turn(60'000); }
  void Synchronise(const std::string& version) {
    transport_.Play({.chunks = {List(version)}});
    Turn();
    ASSERT_TRUE(reflector_.synced());
    sink_.lines.clear();
  }
  const std::string& path() const { return transport_.last().path; }
  bool PathHas(const std::string& text) const {
    return path().find(text) != std::string::npos;
  }

  RecordedTransport transport_;
  Story sink_;
  Reflector reflector_{&transport_,
                       {.path = "/api/v1/pods",
                        .field_selector = "spec.nodeName=",
                        .page_limit = 2},
                       &sink_};
  Millis now_ = 1'000'000;
};

TEST_F(ReflectorTest, ListsPageByPageAndWatchesFromThere) {
  transport_.Play({.chunks = {List("5", "t/1"), ""}});
  transport_.Play({.chunks = {List("5").substr(0, 9), List("5").substr(9)}});
  transport_.Play({.chunks = {Event("ADDED", "6")}, .end = std::nullopt});
  Turn();
  EXPECT_EQ(transport_.requests()[0].path,
            "/api/v1/pods?resourceVersion=&limit=2"
            "&fieldSelector=spec.nodeName%3D");
  EXPECT_FALSE(reflector_.synced());
  Turn();
  EXPECT_TRUE(reflector_.synced());
  EXPECT_NE(transport_.requests()[1].path.find("&continue=t%2F1"),
            std::string::npos);
  Turn();
  EXPECT_TRUE(PathHas("?watch=1&allowWatchBookmarks=true&resourceVersion=5&"));
  EXPECT_TRUE(transport_.last().streaming);
  EXPECT_TRUE(reflector_.watching());
  EXPECT_EQ(sink_.lines,
            (Strings{"begin", "page 64", "page 61", "end", "event 0"}));
  EXPECT_EQ(reflector_.resource_version(), "6");
}

TEST_F(ReflectorTest, ACutInsideAnObjectLosesNothing) {
  Synchronise("5");
  const std::string cut = Event("MODIFIED", "7");
  transport_.Play(
      {.chunks = {Event("ADDED", "6"), cut.substr(0, 40)}, .end = Cut()});
  Turn();
  EXPECT_EQ(sink_.lines, Strings{"event 0"});
  Turn();  // At once, since there was something new.
  EXPECT_TRUE(PathHas("resourceVersion=6&"));
}

TEST_F(ReflectorTest, ALineWithoutItsEndWasNotSaid) {
  Synchronise("5");
  std::string line = Event("ADDED", "6");
  line.pop_back();
  transport_.Play({.chunks = {line}});
  Turn();
  TurnAfterBackoff();
  EXPECT_EQ(sink_.lines, Strings{});
  EXPECT_TRUE(PathHas("resourceVersion=5&"));
}

TEST_F(ReflectorTest, ABookmarkMovesTheVersionAndTellsTheSinkNothing) {
  Synchronise("5");
  transport_.Play({.chunks = {Event("BOOKMARK", "40")}});
  Turn();
  Turn();
  EXPECT_EQ(sink_.lines, Strings{});
  EXPECT_TRUE(PathHas("resourceVersion=40&"));
  EXPECT_EQ(reflector_.counts().bookmarks, 1u);
}

TEST_F(ReflectorTest, AnExpiredVersionIsListedAgain) {
  for (const bool as_event : {false, true}) {
    Synchronise("5");
    if (as_event) {
      transport_.Play({.chunks = {kExpiredEvent}, .end = std::nullopt});
    } else {
      transport_.Play({.status = 410, .chunks = {R"({"kind":"Status"})"}});
    }
    Turn(as_event ? 60'000 : 0);
    EXPECT_EQ(transport_.open(), 0u);
    TurnAfterBackoff();
    EXPECT_TRUE(PathHas("?resourceVersion=&limit=2"));
    EXPECT_EQ(sink_.lines, Strings{"begin"});
    reflector_.Stop();
  }
  EXPECT_EQ(reflector_.counts().expired, 2u);
}

TEST_F(ReflectorTest, AnExpiredContinueTokenMakesTheNextListOnePage) {
  transport_.Play({.chunks = {List("5", "token")}});
  transport_.Play({.status = 410});
  Turn();
  Turn();
  TurnAfterBackoff();
  EXPECT_EQ(path(),
            "/api/v1/pods?resourceVersion=&fieldSelector=spec.nodeName%3D");
  EXPECT_EQ(sink_.lines, (Strings{"begin", "page 66", "begin"}));
}

TEST_F(ReflectorTest, RetryAfterIsWaitedFor) {
  transport_.Play({.status = 429, .retry_after = 120'000});
  Turn();
  EXPECT_EQ(Next(), now_ + 120'000);
  EXPECT_EQ(reflector_.last_refusal(), 429);
  Turn(119'999);
  EXPECT_EQ(transport_.requests().size(), 1u);
  Turn(1);
  EXPECT_EQ(transport_.requests().size(), 2u);
}

TEST_F(ReflectorTest, FailuresWaitLongerAndLongerUpToABound) {
  Millis longest = 0;
  for (int i = 0; i < 20; ++i) {
    transport_.Play({.status = 500});
    Turn();
    const Millis wait = Next() - now_;
    EXPECT_GE(wait, std::min<Millis>(100 << i, 15'000)) << i;
    EXPECT_LE(wait, 30'000);
    longest = std::max(longest, wait);
    now_ = Next();
  }
  EXPECT_GT(longest, 15'000);
  EXPECT_EQ(reflector_.counts().failures, 20u);
}

TEST_F(ReflectorTest, AServerThatIsAwayIsResumedNotListed) {
  Synchronise("5");
  for (int i = 0; i < 10; ++i) {
    transport_.Play({.status = 0, .end = NoConnection()});
    TurnAfterBackoff();
    EXPECT_TRUE(PathHas("watch=1"));
  }
}

TEST_F(ReflectorTest, WatchesThatTellNothingEndInAList) {
  Synchronise("5");
  for (int i = 0; i < 3; ++i) {
    transport_.Play({});
    TurnAfterBackoff();
    EXPECT_TRUE(PathHas("watch=1"));
  }
  TurnAfterBackoff();
  EXPECT_FALSE(PathHas("watch=1"));
}

TEST_F(ReflectorTest, ASinkThatCannotReadGetsANewListAfterAWait) {
  Synchronise("5");
  sink_.answer = absl::InvalidArgumentError("no");
  transport_.Play({.chunks = {Event("ADDED", "6") + Event("ADDED", "7")},
                   .end = std::nullopt});
  Turn();
  EXPECT_EQ(sink_.lines, Strings{"event 0"});
  EXPECT_EQ(transport_.open(), 0u);
  EXPECT_GT(Next(), now_);
  EXPECT_EQ(reflector_.last_error().message(), "/api/v1/pods: no");
  TurnAfterBackoff();
  EXPECT_FALSE(PathHas("watch=1"));
}

TEST_F(ReflectorTest, ASilentWatchIsBegunAgain) {
  Synchronise("5");
  transport_.Play({.chunks = {Event("ADDED", "6")}, .end = std::nullopt});
  Turn();
  EXPECT_EQ(transport_.open(), 1u);
  EXPECT_EQ(Next(), now_ + 150'000);
  Turn(149'999);
  EXPECT_EQ(transport_.cancelled(), 0);
  Turn(1);
  EXPECT_EQ(transport_.cancelled(), 1);
  // Perhaps there was nothing, and bookmarks are not sent.
  EXPECT_TRUE(reflector_.last_error().ok());
  transport_.Play({.chunks = {Event("BOOKMARK", "9")}, .end = std::nullopt});
  TurnAfterBackoff();
  EXPECT_TRUE(PathHas("resourceVersion=6&"));
  Turn(150'000);
  EXPECT_EQ(reflector_.last_error().message(),
            "/api/v1/pods: the watch was silent for too long");
  TurnAfterBackoff();
  EXPECT_TRUE(PathHas("resourceVersion=9&"));
}

TEST_F(ReflectorTest, ASilentWatchWhoseNextOnesAreSilentEndsInAList) {
  Synchronise("5");
  for (int i = 0; i < 3; ++i) {
    transport_.Play({.end = std::nullopt});
    TurnAfterBackoff();
    EXPECT_TRUE(PathHas("watch=1"));
    Turn(150'000);
  }
  TurnAfterBackoff();
  EXPECT_FALSE(PathHas("watch=1"));
}

TEST_F(ReflectorTest, AWatchWithBookmarksLivesUntilItOutlivesItsTime) {
  Synchronise("5");
  transport_.Play({.chunks = {Event("BOOKMARK", "6")}, .end = std::nullopt});
  Turn();
  for (int i = 1; i <= 10; ++i) {
    now_ += 60'000;
    transport_.Say(Event("BOOKMARK", std::to_string(6 + i)));
    EXPECT_EQ(Next(), now_ + (i < 9 ? 150'000 : 630'000 - i * 60'000));
    EXPECT_EQ(transport_.cancelled(), 0);
  }
  Turn(29'999);
  EXPECT_EQ(transport_.cancelled(), 0);
  Turn(1);
  EXPECT_EQ(transport_.cancelled(), 1);
  TurnAfterBackoff();
  EXPECT_TRUE(PathHas("resourceVersion=16&"));
}

TEST_F(ReflectorTest, StopLeavesNothingOpenAndTheNextTurnGoesOn) {
  Synchronise("5");
  Turn();
  EXPECT_EQ(transport_.open(), 1u);
  reflector_.Stop();
  EXPECT_EQ(transport_.open(), 0u);
  Turn();
  EXPECT_TRUE(PathHas("resourceVersion=5&"));
}

}  // namespace
}  // namespace muster::kubernetes::client
