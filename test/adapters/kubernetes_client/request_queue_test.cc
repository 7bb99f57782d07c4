#include "adapters/kubernetes/client/request_queue.h"

#include <gtest/gtest.h>

#include "test/adapters/kubernetes_client/recorded_transport.h"

namespace muster::kubernetes::client {
namespace {

using Strings = std::vector<std::string>;

class RequestQueueTest : public testing::Test {
 protected:
  Write Of(const std::string& path, Urgency urgency = Urgency::kDecision) {
    return {.http = {.method = "POST", .path = path}, .urgency = urgency};
  }
  void Submit(Write write) {
    const std::string path = write.http.path;
    ASSERT_TRUE(queue_
                    .Submit(std::move(write),
                            [this, path](const Outcome& outcome) {
                              ended_.push_back(path);
                              outcomes_.push_back(outcome);
                            })
                    .ok());
  }
  void Turn(Millis wait = 0) {
    now_ += wait;
    queue_.Advance(now_);
    transport_.Poll(0);
    next_ = queue_.Advance(now_);
  }
  Strings Started() const {
    Strings paths;
    for (const HttpRequest& r : transport_.requests()) paths.push_back(r.path);
    return paths;
  }
  void PlayStatus(int status) { transport_.Play({.status = status}); }

  RecordedTransport transport_;
  RequestQueue queue_{&transport_,
                      {.in_flight = {3, 2, 1}, .most_waiting = {4, 4, 2}}};
  Strings ended_;
  std::vector<Outcome> outcomes_;
  Millis now_ = 1000;
  Millis next_ = 0;
};

TEST_F(RequestQueueTest, AWriteThatIsDoneBringsItsBody) {
  transport_.Play({.status = 201, .chunks = {"{\"a\"", ":1}"}});
  Submit(Of("/a"));
  Turn();
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kDone);
  EXPECT_EQ(outcomes_[0].http_status, 201);
  EXPECT_EQ(outcomes_[0].body, "{\"a\":1}");
  EXPECT_EQ(outcomes_[0].tries, 1);
}

TEST_F(RequestQueueTest, UrgentOnesGoFirstAndOthersLeaveRoomForThem) {
  Submit(Of("/e1", Urgency::kEvent));
  Submit(Of("/e2", Urgency::kEvent));
  Submit(Of("/s1", Urgency::kStatus));
  Submit(Of("/s2", Urgency::kStatus));
  Turn();
  EXPECT_EQ(Started(), (Strings{"/s1", "/s2"}));
  Submit(Of("/d1"));
  Submit(Of("/d2"));
  Turn();
  EXPECT_EQ(Started(), (Strings{"/s1", "/s2", "/d1"}));
  EXPECT_EQ(queue_.in_flight(), 3u);
  EXPECT_EQ(queue_.waiting(Urgency::kEvent), 2u);
}

TEST_F(RequestQueueTest, WritesOfOneKeyGoOneAfterAnother) {
  Write first = Of("/1"), second = Of("/2"), third = Of("/3");
  first.key = second.key = third.key = "pod";
  first.urgency = Urgency::kEvent;
  PlayStatus(200);
  PlayStatus(200);
  for (Write* write : {&first, &second, &third}) Submit(std::move(*write));
  Submit(Of("/other"));
  queue_.Advance(now_);
  EXPECT_EQ(Started(), (Strings{"/other", "/1"}));
  Turn();
  EXPECT_EQ(ended_, (Strings{"/other", "/1"}));
  EXPECT_EQ(Started(), (Strings{"/other", "/1", "/2"}));
}

TEST_F(RequestQueueTest, AKeyWaitsWhileItsFirstBacksOff) {
  Write first = Of("/1"), second = Of("/2");
  first.key = second.key = "pod";
  transport_.Play({.status = 429, .retry_after = 5000});
  PlayStatus(200);
  PlayStatus(200);
  Submit(std::move(first));
  Submit(std::move(second));
  Turn();
  Turn(4999);
  EXPECT_EQ(Started(), Strings{"/1"});
  Turn(1);
  Turn();
  EXPECT_EQ(Started(), (Strings{"/1", "/1", "/2"}));
  EXPECT_EQ(ended_, (Strings{"/1", "/2"}));
  EXPECT_EQ(outcomes_[0].tries, 2);
  EXPECT_FALSE(outcomes_[0].earlier_try_unknown);
}

TEST_F(RequestQueueTest, ABrokenConnectionIsAnUnknownOutcome) {
  transport_.Play({.status = 0, .end = Cut()});
  Submit(Of("/bind"));
  Turn();
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kUnknown);
  EXPECT_EQ(outcomes_[0].http_status, 0);
  EXPECT_TRUE(absl::IsUnavailable(outcomes_[0].transport));
  EXPECT_EQ(queue_.counts().unknown, 1u);
}

TEST_F(RequestQueueTest, AnAnswerWhoseBodyIsCutIsAnAnswer) {
  transport_.Play({.status = 201, .end = Cut()});
  transport_.Play({.status = 409, .end = Cut()});
  Submit(Of("/a"));
  Submit(Of("/b"));
  Turn();
  ASSERT_EQ(outcomes_.size(), 2u);
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kDone);
  EXPECT_EQ(outcomes_[1].kind, OutcomeKind::kRefused);
}

TEST_F(RequestQueueTest, AnIdempotentOneIsTriedAgainAndToldThatItMayBeItsOwn) {
  transport_.Play({.status = 0, .end = Cut()});
  transport_.Play(
      {.status = 409,
       .chunks = {R"({"kind":"Status","reason":"AlreadyExists"})"}});
  Write write = Of("/event");
  write.idempotent = true;
  Submit(std::move(write));
  Turn();
  EXPECT_TRUE(outcomes_.empty());
  EXPECT_LE(next_, now_ + 200);
  Turn(200);
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kRefused);
  EXPECT_EQ(outcomes_[0].error.reason, "AlreadyExists");
  EXPECT_TRUE(outcomes_[0].earlier_try_unknown);
}

TEST_F(RequestQueueTest, WhatWasNotSentIsTriedAgainWhateverItIs) {
  transport_.Play({.status = 0, .end = NoConnection()});
  PlayStatus(201);
  Submit(Of("/bind"));
  Turn();
  Turn(200);
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kDone);
  EXPECT_FALSE(outcomes_[0].earlier_try_unknown);
}

TEST_F(RequestQueueTest, ServerErrorsAreUnknownButForA503ThatSaysWhen) {
  PlayStatus(500);
  Submit(Of("/a"));
  PlayStatus(503);
  Submit(Of("/b"));
  transport_.Play({.status = 503, .retry_after = 1000});
  Submit(Of("/c"));
  Turn();
  ASSERT_EQ(outcomes_.size(), 2u);
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kUnknown);
  EXPECT_EQ(outcomes_[1].kind, OutcomeKind::kUnknown);
  EXPECT_EQ(next_, now_ + 1000);
}

TEST_F(RequestQueueTest, AnEvictionsRefusalByABudgetIsItsAnswer) {
  Write write = Of("/eviction");
  write.retry_429 = false;
  transport_.Play({.status = 429, .retry_after = 10'000});
  Submit(std::move(write));
  Turn();
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kRefused);
  EXPECT_EQ(outcomes_[0].http_status, 429);
}

TEST_F(RequestQueueTest, TriesAndTimeAreBounded) {
  Write few = Of("/few");
  few.most_tries = 2;
  Write late = Of("/late");
  late.last_start = now_ + 50;
  for (int i = 0; i < 9; ++i) {
    transport_.Play({.status = 429, .retry_after = 0});
  }
  Submit(std::move(few));
  Submit(std::move(late));
  Turn();
  Turn(50);
  ASSERT_EQ(ended_, Strings{"/late"});
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kRefused);
  EXPECT_EQ(outcomes_[0].http_status, 429);
  Turn(10'000);
  ASSERT_EQ(ended_.size(), 2u);
  EXPECT_EQ(outcomes_[1].tries, 2);
}

TEST_F(RequestQueueTest, NothingStartsOnceTheLeaseIsOver) {
  queue_.MayStartUntil(now_ + 10);
  Submit(Of("/a"));
  Turn(9);
  EXPECT_EQ(Started(), Strings{"/a"});
  EXPECT_EQ(transport_.last().send_before, now_ + 1);
  Submit(Of("/b"));
  Turn(1);
  EXPECT_EQ(Started(), Strings{"/a"});
  queue_.MayStartUntil(now_ + 10);
  Turn();
  EXPECT_EQ(Started(), (Strings{"/a", "/b"}));
}

TEST_F(RequestQueueTest, OldEventsMakeRoomForNewOnesAndOthersAreNotTaken) {
  queue_.MayStartUntil(0);
  for (const char* path : {"/e1", "/e2", "/e3"}) {
    Submit(Of(path, Urgency::kEvent));
  }
  EXPECT_EQ(ended_, Strings{"/e1"});
  EXPECT_EQ(outcomes_[0].kind, OutcomeKind::kDropped);
  EXPECT_EQ(queue_.counts().dropped_events, 1u);
  for (int i = 0; i < 4; ++i) Submit(Of("/d"));
  EXPECT_TRUE(absl::IsResourceExhausted(
      queue_.Submit(Of("/d"), [](const Outcome&) { FAIL(); })));
}

TEST_F(RequestQueueTest, DropWaitingTellsEachOwnerOnce) {
  Write keyed = Of("/k1");
  keyed.key = "k";
  Write behind = Of("/k2");
  behind.key = "k";
  queue_.MayStartUntil(0);
  Submit(std::move(keyed));
  Submit(std::move(behind));
  Submit(Of("/s", Urgency::kStatus));
  queue_.DropWaiting();
  EXPECT_EQ(ended_, (Strings{"/k1", "/k2", "/s"}));
  for (const Outcome& outcome : outcomes_) {
    EXPECT_EQ(outcome.kind, OutcomeKind::kNotSent);
  }
  EXPECT_EQ(queue_.waiting(Urgency::kDecision), 0u);
}

TEST_F(RequestQueueTest, AnOutcomeMaySubmitTheNextWrite) {
  PlayStatus(200);
  PlayStatus(200);
  ASSERT_TRUE(
      queue_.Submit(Of("/1"), [this](const Outcome&) { Submit(Of("/2")); })
          .ok());
  Turn();
  Turn();
  EXPECT_EQ(Started(), (Strings{"/1", "/2"}));
  EXPECT_EQ(ended_, Strings{"/2"});
}

TEST_F(RequestQueueTest, ItsEndCancelsWhatIsUnderWay) {
  RecordedTransport transport;
  {
    RequestQueue queue(&transport, {});
    ASSERT_TRUE(queue.Submit(Of("/a"), nullptr).ok());
    queue.Advance(0);
    EXPECT_EQ(transport.open(), 1u);
  }
  EXPECT_EQ(transport.cancelled(), 1);
}

}  // namespace
}  // namespace muster::kubernetes::client
