// Requests, turn by turn, on a real controller and a real store.
#include "adapters/local/api/api.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_api/daemon.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string Of(uint64_t job, const std::string& rest = "") {
  return absl::StrCat("/v1/jobs/", job, rest);
}

TEST(ApiTest, ASubmissionIsAnsweredWhenItIsKept) {
  Daemon daemon;
  const auto answered =
      daemon.Begin("POST", "/v1/jobs", SubmissionOf(ManifestOf("train")));
  EXPECT_EQ(daemon.woken, 1);
  daemon.api->Turn(daemon.controller.get(), &daemon.store->history(),
                   daemon.now);
  const Turn turn = daemon.controller->Step(daemon.now);
  EXPECT_TRUE(turn.save.sync);
  EXPECT_EQ(answered->status, 0);
  ASSERT_TRUE(daemon.store->Commit(turn.save).ok());
  EXPECT_EQ(answered->status, 0);
  daemon.api->Kept(daemon.controller.get(), &daemon.store->history(),
                   daemon.now);
  EXPECT_EQ(answered->status, 201);
  EXPECT_EQ(answered->json()["jobs"][0]["id"], 1);
  EXPECT_EQ(answered->json()["jobs"][0]["name"], "train");
}

TEST(ApiTest, WhatCannotBeKeptIsRefusedAndHasNotHappened) {
  Daemon daemon;
  const uint64_t job = daemon.Submit(ManifestOf("first"));
  const auto submitted =
      daemon.Begin("POST", "/v1/jobs", SubmissionOf(ManifestOf("lost")));
  const auto cancelled = daemon.Begin("DELETE", Of(job));
  const auto seen = daemon.Begin("GET", "/v1/jobs");
  const auto waits = daemon.Begin("GET", Of(job, "?wait=10"));
  daemon.LoseTurn();
  for (const auto& answered : {submitted, cancelled}) {
    EXPECT_EQ(answered->status, 503);
    EXPECT_EQ(answered->json()["error"], "the disk is full");
  }
  // Of what was kept all is told.
  EXPECT_EQ(seen->status, 200);
  ASSERT_EQ(seen->json()["jobs"].size(), 1u);
  EXPECT_EQ(seen->json()["jobs"][0]["phase"], "running");
  EXPECT_EQ(waits->status, 0);
  const Json jobs = daemon.Ask("GET", "/v1/jobs").json()["jobs"];
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0]["name"], "first");
  EXPECT_EQ(jobs[0]["phase"], "running");
}

TEST(ApiTest, WhileNothingCanBeKeptAllIsAnsweredAndCancellingWaits) {
  Daemon daemon;
  const uint64_t job = daemon.Submit(ManifestOf("fills"));
  const auto rest = [&](const absl::Status& why) {
    Controller* const controller = daemon.controller.get();
    History* const history = &daemon.store->history();
    daemon.api->Rest(controller, history, daemon.now, why);
    daemon.api->Kept(controller, history, daemon.now);
  };
  const auto seen = daemon.Begin("GET", Of(job));
  const auto submitted =
      daemon.Begin("POST", "/v1/jobs", SubmissionOf(ManifestOf("waits")));
  rest(absl::OkStatus());
  EXPECT_EQ(seen->json()["phase"], "running");
  EXPECT_EQ(submitted->status, 0);
  const auto hers = daemon.Begin("DELETE", Of(job));
  const auto his = daemon.Begin("DELETE", Of(job), "", Daemon::kBob);
  const auto none = daemon.Begin("DELETE", Of(99));
  rest(absl::ResourceExhaustedError("full"));
  EXPECT_EQ(submitted->json()["error"], "full");
  EXPECT_EQ(hers->status, 0);
  daemon.Turn();
  EXPECT_EQ(hers->status, 200);
  EXPECT_EQ(his->status, 403);
  EXPECT_EQ(none->status, 404);
  EXPECT_EQ(daemon.Ask("GET", Of(job)).json()["phase"], "forgotten");
}

TEST(ApiTest, WhereNothingCanBeReadAllAreRefused) {
  Daemon daemon;
  const auto seen = daemon.Begin("GET", "/v1/jobs");
  daemon.api->RefuseAll(absl::DataLossError("damaged"));
  EXPECT_EQ(seen->status, 503);
  EXPECT_EQ(seen->json()["error"], "damaged");
}

TEST(ApiTest, AJobIsSeenFromItsSubmissionToItsEndAndBeyond) {
  Daemon daemon;
  const uint64_t job = daemon.Submit(ManifestOf("train"));
  Json json = daemon.Ask("GET", Of(job)).json();
  EXPECT_EQ(json["phase"], "running");
  EXPECT_EQ(json["submitted"], 1000.0);
  EXPECT_EQ(json["tasks"][0]["task"], "task-0");
  EXPECT_EQ(json["tasks"][0]["devices"].size(), 1u);
  EXPECT_EQ(json["environment"][0], "SECRET=x");
  daemon.now += 5 * kSecond;
  daemon.Exit(job, 3);
  daemon.Turn();
  json = daemon.Ask("GET", Of(job)).json();
  EXPECT_EQ(json["phase"], "failed");
  EXPECT_EQ(json["exit_code"], 3);
  EXPECT_EQ(json["finished"], 1005.0);
  EXPECT_EQ(json["tasks"][0]["exit_code"], 3);
  EXPECT_TRUE(daemon.Ask("GET", "/v1/jobs").json()["jobs"].empty());
  const Json history = daemon.Ask("GET", "/v1/history?name=train").json();
  ASSERT_EQ(history["jobs"].size(), 1u);
  EXPECT_EQ(history["jobs"][0]["id"], job);
}

TEST(ApiTest, WhoWaitsForAJobIsAnsweredAtItsEnd) {
  Daemon daemon;
  const uint64_t job = daemon.Submit(ManifestOf("train"));
  const auto waits = daemon.Begin("GET", Of(job, "?wait=60"));
  daemon.Turn();
  EXPECT_EQ(waits->status, 0);
  EXPECT_EQ(daemon.api->wake_at(), daemon.now + 60 * kSecond);
  daemon.Exit(job, 0);
  daemon.Turn();
  EXPECT_EQ(waits->status, 200);
  EXPECT_EQ(waits->json()["phase"], "succeeded");
  EXPECT_EQ(waits->json()["exit_code"], 0);
  EXPECT_EQ(daemon.api->wake_at(), kForever);
  EXPECT_EQ(daemon.Ask("GET", Of(job, "?wait=60")).status, 200);
}

TEST(ApiTest, OrWhenItsTimeIsOver) {
  Daemon daemon;
  const uint64_t job = daemon.Submit(ManifestOf("train"));
  const auto waits = daemon.Begin("GET", Of(job, "?wait=2"));
  daemon.Turn();
  daemon.now += 2 * kSecond - 1;
  daemon.Turn();
  EXPECT_EQ(waits->status, 0);
  daemon.now += 1;
  daemon.Turn();
  EXPECT_EQ(waits->json()["phase"], "running");
}

TEST(ApiTest, AWaitingJobSaysWhy) {
  Daemon daemon;
  daemon.Submit(ManifestOf("first", 2));
  const uint64_t job = daemon.Submit(ManifestOf("second", 1));
  const Json jobs = daemon.Ask("GET", "/v1/jobs?why=1").json()["jobs"];
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_FALSE(jobs[0].contains("why"));
  EXPECT_THAT(jobs[1]["why"].get<std::string>(), HasSubstr("gpu"));
  const Json why = daemon.Ask("GET", Of(job, "/explain")).json();
  EXPECT_EQ(why["phase"], "queued");
  EXPECT_EQ(why["why"], jobs[1]["why"]);
  EXPECT_NE(why["reason"]["code"], "none");
}

TEST(ApiTest, JobsAreHeldReleasedRaisedAndCancelled) {
  Daemon daemon;
  const uint64_t first = daemon.Submit(ManifestOf("first", 2));
  const uint64_t job = daemon.Submit(ManifestOf("second", 2));
  EXPECT_EQ(daemon.Ask("POST", Of(job, "/hold")).status, 200);
  EXPECT_EQ(daemon.Ask("GET", Of(job)).json()["held"], true);
  EXPECT_EQ(
      daemon.Ask("POST", Of(job, "/priority"), R"({"priority":"high"})").status,
      200);
  EXPECT_EQ(daemon.Ask("GET", Of(job)).json()["priority"], "high");
  EXPECT_EQ(daemon.Ask("GET", Of(job)).json()["phase"], "queued");
  EXPECT_EQ(daemon.Ask("POST", Of(job, "/release"), "{}").status, 200);
  EXPECT_EQ(daemon.Ask("DELETE", Of(first)).status, 200);
  EXPECT_EQ(daemon.Ask("GET", Of(first)).json()["phase"], "forgotten");
  EXPECT_EQ(daemon.Ask("GET", Of(job)).json()["phase"], "running");
  const Answered again = daemon.Ask("DELETE", Of(first));
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.body, HasSubstr("has finished"));
}

TEST(ApiTest, WhatIfTellsAndChangesNothing) {
  Daemon daemon;
  const Json free =
      daemon.Ask("POST", "/v1/what-if", SubmissionOf(ManifestOf("a", 2)))
          .json();
  EXPECT_EQ(free["jobs"][0]["outcome"], "starts");
  EXPECT_EQ(free["jobs"][0]["places"][0]["devices"].size(), 2u);
  daemon.Submit(ManifestOf("b", 2));
  const Json busy =
      daemon.Ask("POST", "/v1/what-if", SubmissionOf(ManifestOf("a", 2)))
          .json();
  EXPECT_EQ(busy["jobs"][0]["outcome"], "waits");
  EXPECT_EQ(daemon.Ask("GET", "/v1/jobs").json()["jobs"].size(), 1u);
}

TEST(ApiTest, AJobThatIsThereTellsWhyItWaits) {
  Daemon daemon;
  daemon.Submit(ManifestOf("runs", 2));
  const uint64_t waits = daemon.Submit(ManifestOf("waits", 2));
  const std::string path = absl::StrCat("/v1/jobs/", waits);
  const Json job = daemon.Ask("GET", path).json();
  EXPECT_EQ(job["explanation"]["reason"]["code"], "insufficient");
  EXPECT_EQ(job["explanation"], daemon.Ask("GET", path + "/explain").json());
}

TEST(ApiTest, NodesTellWhoHoldsWhat) {
  Daemon daemon;
  const uint64_t job = daemon.Submit(ManifestOf("train"));
  const Json node = daemon.Ask("GET", "/v1/nodes").json()["nodes"][0];
  EXPECT_EQ(node["capacity"]["gpu"], 2'000);
  EXPECT_EQ(node["used"]["gpu"], 1'000);
  int held = 0;
  for (const Json& device : node["devices"]) {
    for (const Json& one : device["held"]) {
      EXPECT_EQ(one["job"], job);
      held += one["milli"].get<int>();
    }
  }
  EXPECT_EQ(held, 1'000);
}

struct BadCase {
  const char* method;
  const char* target;
  std::string body;
  int status;
  const char* says;
};

TEST(ApiTest, WhatIsWrongIsNamed) {
  Daemon daemon;
  daemon.Submit(ManifestOf("one"));
  const std::string bad_gpus = SubmissionOf(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"},)"
      R"("spec":{"template":{"spec":{"containers":"none"}}}})");
  const BadCase cases[] = {
      {"POST", "/v1/jobs", "", 400, "expected a JSON object"},
      {"POST", "/v1/jobs", "[1]", 400, "expected a JSON object"},
      {"POST", "/v1/jobs", "{}", 400, R"("field":"manifest")"},
      {"POST", "/v1/jobs", R"({"manifest":"x","y":1})", 400, "not known here"},
      {"POST", "/v1/jobs", R"({"manifest":7})", 400, R"("field":"manifest")"},
      {"POST", "/v1/jobs", R"({"manifest":"x","array":[-1]})", 400,
       R"("field":"array")"},
      {"POST", "/v1/jobs", R"({"manifest":"kind: Pod"})", 422, "error"},
      {"POST", "/v1/jobs", bad_gpus, 422, "containers"},
      {"POST", "/v1/jobs",
       Json{{"manifest", ManifestOf("x")}, {"queue", "none"}}.dump(), 422,
       R"("field":"queue")"},
      {"POST", "/v1/jobs",
       Json{{"manifest", ManifestOf("x")}, {"directory", "up"}}.dump(), 422,
       R"("field":"directory")"},
      {"POST", "/v1/jobs/1/priority", R"({"priority":"none"})", 422, "none"},
      {"POST", "/v1/jobs/1/priority", "{}", 400, R"("field":"priority")"},
      {"POST", "/v1/jobs/1/resize", R"({"size":3})", 409, "one size"},
      {"POST", "/v1/jobs/1/hold", R"({"x":1})", 400, "not known here"},
      {"POST", "/v1/jobs/9/hold", "", 404, "9"},
      {"DELETE", "/v1/jobs/9", "", 404, "9"},
      {"GET", "/v1/jobs/9", "", 404, "9"},
      {"GET", "/v1/jobs/9/explain", "", 404, "9"},
      {"GET", "/v1/jobs/9/logs", "", 404, "9"},
      {"GET", "/v1/jobs/1/logs?task=chief-0", "", 404, "no such role"},
      {"GET", "/v1/jobs/1/logs?task=task-7", "", 404, "none of job 1"},
      {"GET", "/v1/jobs/1/logs?stream=x", "", 400, R"("field":"stream")"},
      {"GET", "/v1/jobs/1/logs?from=x", "", 400, R"("field":"from")"},
      {"GET", "/v1/jobs/1?wait=61", "", 400, R"("field":"wait")"},
      {"GET", "/v1/jobs?uid=-1", "", 400, R"("field":"uid")"},
      {"GET", "/v1/jobs?color=red", "", 400, "no such parameter"},
      {"GET", "/v1/history?limit=10001", "", 400, R"("field":"limit")"},
      {"GET", "/v1/history?limit=0", "", 400, "limit"},
      {"GET", "/v1/none", "", 404, "no such path"},
      {"GET", "/v1/jobs/../1", "", 404, "no such path"},
      {"GET", "/v1/jobs/01", "", 404, "no such path"},
      {"GET", "/v1/jobs/18446744073709551616", "", 404, "no such path"},
      {"PUT", "/v1/jobs", "", 405, "method"},
  };
  for (const BadCase& c : cases) {
    const Answered answered = daemon.Ask(c.method, c.target, c.body);
    EXPECT_EQ(answered.status, c.status)
        << c.method << " " << c.target << " " << c.body << answered.body;
    EXPECT_THAT(answered.body, HasSubstr(c.says)) << c.method << c.target;
    EXPECT_TRUE(answered.json().contains("error")) << answered.body;
  }
  EXPECT_EQ(daemon.Ask("GET", "/v1/jobs").json()["jobs"].size(), 1u);
}

// Parts of requests, put together at random and damaged.
TEST(ApiTest, WhateverIsAskedIsAnsweredAndNothingElseHappens) {
  const std::string submission = SubmissionOf(ManifestOf("x"));
  const std::vector<std::string> methods{"GET", "POST", "DELETE", "PUT", ""};
  const std::vector<std::string> parts{
      "/v1",     "/jobs", "/1",       "/0",      "/-1",
      "/logs",   "/hold", "/what-if", "//",      "/..",
      "?",       "&",     "=",        "wait=1",  "from=99999999999999999999",
      "%zz",     "%00",   "task=a-9", "limit=1", "/history",
      "/resize", "uid=0", "\xff"};
  const std::vector<std::string> bodies{
      "",         "{}",  "[]",       R"({"size":-1})",       R"({"size":1e99})",
      submission, "nul", "\"\xff\"", std::string(2'000, '[')};
  Daemon daemon;
  daemon.Submit(ManifestOf("one", 1));
  std::mt19937 random(7);
  const auto any = [&](const std::vector<std::string>& of) {
    return of[random() % of.size()];
  };
  std::vector<std::shared_ptr<Answered>> answered;
  for (int i = 0; i < 4'000; ++i) {
    std::string target = "/v1/jobs";
    for (uint32_t k = random() % 6; k > 0; --k) target += any(parts);
    std::string body = any(bodies);
    if (!body.empty() && random() % 4 == 0) {
      body[random() % body.size()] = static_cast<char>(random());
    }
    const std::string method = any(methods);
    // What can be meant is left out: it may be done.
    if (method != "GET" && random() % 8 != 0) target += "/damaged";
    answered.push_back(daemon.Begin(method, target, body, Daemon::kBob));
    if (i % 100 == 0) daemon.Turn();
  }
  daemon.now += 61 * kSecond;
  daemon.Turn();
  for (const auto& one : answered) {
    EXPECT_GE(one->status, 200);
    if (one->status >= 400) {
      EXPECT_TRUE(one->json().contains("error")) << one->body;
    }
  }
  EXPECT_EQ(daemon.Ask("GET", "/v1/jobs/1").json()["phase"], "running");
  EXPECT_TRUE(daemon.controller->defects().empty());
}

TEST(ApiTest, TooManyRequestsBetweenTwoTurnsAreRefused) {
  Daemon daemon;
  std::vector<std::shared_ptr<Answered>> answered;
  for (int i = 0; i < 5'000; ++i) {
    answered.push_back(daemon.Begin("GET", "/v1/version"));
  }
  EXPECT_EQ(answered.back()->status, 503);
  daemon.Turn();
  EXPECT_EQ(answered.front()->status, 200);
}

}  // namespace
}  // namespace muster::local
