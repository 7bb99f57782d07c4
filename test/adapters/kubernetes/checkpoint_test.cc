// Checkpoints that pods tell of, and who is preempted by them.
#include "adapters/kubernetes/model/checkpoint.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::HasSubstr;

TEST(CheckpointTest, ATimeOrSecondsSince1970) {
  struct Case {
    const char* text = "";
    Time time = 0;
  };
  for (const Case& c :
       std::vector<Case>{{"0", 0},
                         {"1772360430", 1'772'360'430 * kSecond},
                         {"2026-03-01T10:20:30Z", 1'772'360'430 * kSecond},
                         {"2026-03-01T11:20:30.5+01:00",
                          1'772'360'430 * kSecond + kSecond / 2}}) {
    const auto time = CheckpointOf({{kCheckpointAnnotation, c.text}});
    ASSERT_TRUE(time.ok()) << c.text << ": " << time.status();
    EXPECT_EQ(*time, c.time) << c.text;
  }
  EXPECT_EQ(*CheckpointOf({{"other", "1"}}), std::nullopt);
}

TEST(CheckpointTest, WhatIsNoTimeIsRefusedByTheAnnotationsName) {
  for (const char* text :
       {"", "yesterday", "-1", "1.5", "2026-03-01", "99999999999999999999",
        "9223372036854775807", "2026-03-01T10:20:30"}) {
    const auto time = CheckpointOf({{kCheckpointAnnotation, text}});
    EXPECT_EQ(time.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(time.status().message()),
                HasSubstr("metadata.annotations[muster.dev/checkpoint]"));
  }
  const auto time =
      CheckpointOf({{kCheckpointAnnotation, std::string(5'000, 'x')}});
  EXPECT_LT(time.status().message().size(), 300u);
}

class CheckpointStories : public testing::Test {
 protected:
  void Say(const std::string& pod, const std::string& checkpoint) {
    api_->EditPod(pod, [&](api::Pod& p) {
      p.meta.annotations[kCheckpointAnnotation] = checkpoint;
    });
  }
  std::string Ago(Duration time) {
    return absl::StrCat((api_->now() - time) / kSecond);
  }
  // Two pods run for ten minutes; each can make room for the next.
  void RunTwo() {
    api_->AddNode("n", 2);
    api_->AddPod({.name = "a", .gpus = 1, .job = "a"});
    api_->AddPod({.name = "b", .gpus = 1, .job = "b"});
    api_->Settle();
    api_->Pass(600 * kSecond);
  }
  // Who makes room for one that is important.
  std::string Victim() {
    api_->AddPod({.name = "high", .gpus = 1, .priority = 10});
    api_->Pass(kSecond);
    EXPECT_EQ(api_->NodeOf("high"), "n");
    EXPECT_TRUE(api_->Check().ok()) << api_->Check();
    return api_->NodeOf("a").empty() ? "a" : "b";
  }
  int Complaints() const {
    int count = 0;
    for (const EventRequest& event : Seen<EventRequest>(*api_)) {
      if (event.reason != "InvalidAnnotation") continue;
      EXPECT_THAT(event.note, HasSubstr(kCheckpointAnnotation));
      ++count;
    }
    return count;
  }

  std::optional<FakeApi> api_{std::in_place};
};

TEST_F(CheckpointStories, WhoLosesLeastWorkMakesRoom) {
  for (const char* saved : {"a", "b"}) {
    api_.emplace();
    RunTwo();
    Say(saved, Ago(5 * kSecond));
    EXPECT_EQ(Victim(), saved);
  }
}

TEST_F(CheckpointStories, ANewLeaderReadsThem) {
  for (const char* saved : {"a", "b"}) {
    api_.emplace();
    RunTwo();
    Say(saved, Ago(5 * kSecond));
    Say(saved == std::string("a") ? "b" : "a", Ago(300 * kSecond));
    api_->Restart();
    api_->Settle();
    EXPECT_EQ(Victim(), saved);
  }
}

TEST_F(CheckpointStories, AGangIsSavedWhenAllHaveSavedThatTellIt) {
  for (const bool late : {true, false}) {
    api_.emplace();
    api_->AddNode("n", 2);
    api_->AddNode("m", 2);
    api_->AddGang("g", {"g0", "g1"});
    api_->Settle();
    api_->AddGang("h", {"h0", "h1"});
    api_->Settle();
    api_->Pass(600 * kSecond);
    Say("h0", Ago(100 * kSecond));
    Say("g0", Ago(5 * kSecond));
    if (late) Say("g1", Ago(500 * kSecond));
    api_->AddPod({.name = "high", .gpus = 2, .priority = 10});
    api_->Pass(kSecond);
    EXPECT_EQ(api_->NodeOf(late ? "h0" : "g0"), "gone") << late;
    EXPECT_NE(api_->NodeOf(late ? "g0" : "h0"), "gone") << late;
  }
}

TEST_F(CheckpointStories, OneInTheFutureIsOneOfNow) {
  RunTwo();
  Say("a", Ago(-1'000'000 * kSecond));
  Say("b", Ago(kSecond));
  api_->Pass(kSecond);  // The scheduler refuses none: Settle looks for defects.
  EXPECT_EQ(Victim(), "a");
}

TEST_F(CheckpointStories, OneThatIsNoneIsToldOnceAndTheRestGoesOn) {
  RunTwo();
  Say("a", "soon");
  api_->Settle();
  EXPECT_EQ(Complaints(), 1);
  api_->EditPod("a", [](api::Pod& p) { p.meta.labels["x"] = "y"; });
  api_->Settle();
  EXPECT_EQ(Complaints(), 1);
  Say("a", "sooner");
  api_->Settle();
  EXPECT_EQ(Complaints(), 2);
  EXPECT_EQ(api_->On("n"), "a b");
  Say("b", Ago(kSecond));
  EXPECT_EQ(Victim(), "b");
}

}  // namespace
}  // namespace muster::kubernetes
