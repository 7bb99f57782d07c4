// What the page asks for beside what the command line does.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/api/event_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_api/daemon.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

std::string Submission(const std::string& name, int gpus,
                       const std::string& priority, bool held = false) {
  Json body = Json::parse(SubmissionOf(ManifestOf(name, gpus)));
  if (!priority.empty()) body["priority"] = priority;
  body["hold"] = held;
  return body.dump();
}

std::vector<std::string> Names(const Json& list) {
  std::vector<std::string> names;
  for (const Json& job : list["jobs"]) names.push_back(job["name"]);
  return names;
}

TEST(QueueRouteTest, JobsComeInTheOrderInWhichTheyAreDecided) {
  Daemon daemon;
  for (const std::string& body :
       {Submission("held", 1, "high", true), Submission("runs", 2, "high"),
        Submission("low", 2, "low"), Submission("first", 2, "high"),
        Submission("last", 1, "low")}) {
    ASSERT_EQ(daemon.Ask("POST", "/v1/jobs", body).status, 201);
    daemon.now += kSecond;
  }
  const Json list = daemon.Ask("GET", "/v1/queue").json();
  EXPECT_THAT(Names(list), ElementsAre("runs", "first", "low", "last", "held"));
  EXPECT_EQ(list["running"], 1);
  EXPECT_EQ(list["waiting"], 4);
  EXPECT_EQ(list["left_out"], 0);
  EXPECT_EQ(list["jobs"][0]["gpus"], 2000);
  EXPECT_FALSE(list["jobs"][0].contains("why"));
  EXPECT_EQ(list["jobs"][2]["ahead"], 1);
  EXPECT_EQ(list["jobs"][1]["blocked_by"]["needed"], 2000);
  EXPECT_NE(list["jobs"][4]["why"], "");
  const Json two = daemon.Ask("GET", "/v1/queue?limit=2").json();
  EXPECT_THAT(Names(two), ElementsAre("runs", "first"));
  EXPECT_EQ(two["left_out"], 3);
}

TEST(TimelineRouteTest, WhatHappenedOutlivesTheJob) {
  Daemon daemon;
  const uint64_t job = daemon.Submit(ManifestOf("one", 2));
  daemon.now += 10 * kSecond;
  daemon.controller->CheckpointDone(job, 0, daemon.now);
  daemon.Turn();
  daemon.now += 10 * kSecond;
  const Answered high =
      daemon.Ask("POST", "/v1/jobs", Submission("high", 2, "high"));
  ASSERT_EQ(high.status, 201);
  daemon.Turn();
  daemon.now += 60 * kSecond;
  daemon.Exit(high.json()["jobs"][0]["id"], 0);
  daemon.Turn();
  daemon.now += 60 * kSecond;
  daemon.Exit(job, 0);
  daemon.Turn();
  const Answered line =
      daemon.Ask("GET", absl::StrCat("/v1/jobs/", job, "/timeline"));
  std::vector<std::string> told;
  ASSERT_EQ(line.status, 200) << line.body;
  double lost = -1;
  const Json json = line.json();
  for (const Json& event : json["events"]) {
    told.push_back(event["what"]);
    if (event.contains("lost")) lost = event["lost"];
  }
  EXPECT_THAT(told, ElementsAre("submitted", "started", "checkpoint",
                                "preempted", "started again", "succeeded"));
  EXPECT_EQ(lost, 10);
  EXPECT_EQ(json["attempts"].size(), 2u);
}

TEST(UsersRouteTest, OneLearnsWhoOneIs) {
  Daemon daemon;
  const Json users = daemon.Ask("GET", "/v1/users", "", 0).json();
  EXPECT_EQ(users["self"], 0);
  EXPECT_THAT(users["users"].dump(), HasSubstr(R"({"name":"root","uid":0})"));
  for (const uint32_t uid : {0u, Daemon::kOwner, Daemon::kAlice}) {
    const Json of = daemon.Ask("GET", "/v1/users", "", uid).json();
    EXPECT_EQ(of["self"], uid);
    EXPECT_EQ(of["privileged"], uid != Daemon::kAlice);
  }
}

TEST(JobRouteTest, OfAnElasticJobItIsToldHowItCanBeResized) {
  Daemon daemon;
  Json manifest = Json::parse(ManifestOf("elastic"));
  manifest["spec"]["parallelism"] = 2;
  manifest["spec"]["completions"] = 2;
  manifest["spec"]["completionMode"] = "Indexed";
  const uint64_t job = daemon.Submit(manifest.dump());
  const std::string path = absl::StrCat("/v1/jobs/", job);
  const Json elastic = daemon.Ask("GET", path).json()["elastic"];
  ASSERT_EQ(elastic.size(), 1u);
  EXPECT_EQ(elastic[0]["max"], 2);
  const uint32_t least = elastic[0]["min"];
  EXPECT_LT(least, 2u);
  const auto resize = [&](uint32_t size) {
    return daemon.Ask("POST", path + "/resize", Json{{"size", size}}.dump())
        .status;
  };
  EXPECT_EQ(resize(3), 422);
  EXPECT_EQ(resize(1), 200);
  daemon.Turn();
  const uint64_t one = daemon.Submit(ManifestOf("one"));
  EXPECT_FALSE(daemon.Ask("GET", absl::StrCat("/v1/jobs/", one))
                   .json()
                   .contains("elastic"));
}

TEST(WebRouteTest, ADaemonWithoutAPageSaysHowToHaveOne) {
  Daemon daemon;
  const Json there = daemon.Ask("GET", "/v1/web").json();
  EXPECT_EQ(there["address"], "http://127.0.0.1:8750");
  EXPECT_EQ(there["token_file"], daemon.state + "/web-token");
  EXPECT_EQ(daemon.Ask("POST", "/v1/web/token").json()["token"],
            "token of 1001 in 100");
  EXPECT_EQ(daemon.Ask("POST", "/v1/web/token", R"({"uid":0})").status, 400);
  daemon.web.clear();
  EXPECT_EQ(daemon.Ask("POST", "/v1/web/token").status, 404);
  EXPECT_EQ(daemon.Ask("DELETE", "/v1/web/token").status, 404);
  const Answered none = daemon.Ask("GET", "/v1/web");
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr("--listen"));
}

// All parts that are there now.
struct Follower {
  explicit Follower(serve::BodySource of) : source(std::move(of)) { Ask(); }
  void Ask() {
    waits = true;
    source([this](const serve::BodyPart& part) {
      waits = false;
      text += part.bytes;
      over = part.last;
    });
  }
  std::vector<std::string> Whats() {
    std::vector<std::string> whats;
    size_t begin = 0;
    for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      const Json event = Json::parse(text.substr(begin, end - begin));
      whats.push_back(event["what"]);
      last = event["id"];
    }
    return whats;
  }

  serve::BodySource source;
  std::string text{};
  uint64_t last = 0;
  bool waits = false;
  bool over = false;
};

TEST(EventLogTest, EventsComeOnceInTheirOrderToAllWhoFollow) {
  EventLog log;
  log.Add({{1, "submitted", ""}, {1, "queued", ""}}, 5 * kSecond);
  Follower early(log.Open(0, true));
  EXPECT_THAT(early.Whats(), ElementsAre("submitted", "queued"));
  early.Ask();
  EXPECT_TRUE(early.waits);
  Follower late(log.Open(early.last, true));
  EXPECT_TRUE(late.waits);
  log.Add({}, 6 * kSecond);
  EXPECT_TRUE(late.waits);
  log.Add({{1, "started", "x"}}, 6 * kSecond);
  EXPECT_THAT(early.Whats(), ElementsAre("submitted", "queued", "started"));
  EXPECT_THAT(late.Whats(), ElementsAre("started"));
  EXPECT_FALSE(late.over);
  Follower once(log.Open(0, false));
  EXPECT_TRUE(once.over);
  EXPECT_EQ(once.text, early.text);
}

TEST(EventLogTest, IdsOfALaterDaemonAreAboveThoseOfAnEarlierOne) {
  EventLog first;
  first.Add({{1, "submitted", ""}, {1, "queued", ""}}, 5 * kSecond);
  Follower before(first.Open(0, false));
  before.Whats();
  EventLog second;
  Follower after(second.Open(before.last, true));
  second.Add({{1, "started", ""}}, 6 * kSecond);
  EXPECT_THAT(after.Whats(), ElementsAre("started"));
  EXPECT_GT(after.last, before.last);
}

TEST(EventLogTest, AClockThatWasSetBackHidesNothing) {
  EventLog log;
  Follower of_future(log.Open(uint64_t{1} << 50, true));
  log.Add({{1, "started", ""}}, 5 * kSecond);
  EXPECT_THAT(of_future.Whats(), ElementsAre("started"));
}

TEST(EventLogTest, TheLastThousandAreKept) {
  EventLog log;
  for (size_t i = 0; i < EventLog::kKept + 7; ++i) {
    log.Add({{i, "queued", ""}}, kSecond);
  }
  Follower all(log.Open(0, false));
  EXPECT_EQ(all.Whats().size(), EventLog::kKept);
  EXPECT_THAT(all.text, HasSubstr(R"("job":7,)"));
  EXPECT_EQ(all.text.find(R"("job":6,)"), std::string::npos);
}

TEST(EventLogTest, WhenTheLogHasGoneItsSourcesEnd) {
  auto log = std::make_unique<EventLog>();
  Follower follower(log->Open(0, true));
  EXPECT_TRUE(follower.waits);
  log.reset();
  follower.Ask();
  EXPECT_TRUE(follower.over);
  EXPECT_THAT(follower.text, IsEmpty());
}

}  // namespace
}  // namespace muster::local
