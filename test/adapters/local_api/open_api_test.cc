// docs/local-api.yaml says what there is, and every answer is as it says.
#include "test/adapters/local_api/open_api.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapters/local/api/route.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_api/daemon.h"

namespace muster::local {
namespace {

using Json = nlohmann::json;

TEST(OpenApiTest, TheDocumentHasTheRoutesAndNoOthers) {
  const OpenApi document;
  std::set<std::string> routes;
  for (const RouteRow& row : Routes()) {
    routes.insert(
        absl::StrCat(std::string(row.method), " ", std::string(row.path)));
    EXPECT_EQ(
        document.Parameters(std::string(row.method), std::string(row.path)),
        row.parameters)
        << row.path;
  }
  EXPECT_EQ(document.Operations(), routes);
}

TEST(OpenApiTest, TheCheckItselfFindsWhatIsWrong) {
  const OpenApi document;
  EXPECT_EQ(document.ProblemOf("Error", {{"error", "x"}, {"field", "y"}}), "");
  EXPECT_NE(document.ProblemOf("Error", {{"field", "y"}}), "");
  EXPECT_NE(document.ProblemOf("Error", {{"error", 1}}), "");
  EXPECT_NE(document.ProblemOf("Error", {{"error", "x"}, {"z", 1}}), "");
  EXPECT_NE(document.ProblemOf("Jobs", {{"jobs", {{{"id", 1}}}}}), "");
  EXPECT_NE(document.Problem("GET", "/v1/jobs", 418, "{}"), "");
}

// Every route of a machine on which something happens.
TEST(OpenApiTest, CpusOfTasksAreTold) {
  const OpenApi document;
  Daemon daemon({.cores = {{0, {0, 4}}, {0, {1, 5}}, {0, {2, 6}}}});
  auto manifest = nlohmann::json::parse(ManifestOf("own"));
  auto& container = manifest["spec"]["template"]["spec"]["containers"][0];
  container["resources"]["requests"]["cpu"] = "2";
  const uint64_t own = daemon.Submit(manifest.dump());
  container["resources"]["requests"]["cpu"] = "500m";
  const uint64_t half = daemon.Submit(manifest.dump());
  const auto get = [&](const std::string& target, const std::string& path) {
    const Answered answer = daemon.Ask("GET", target);
    EXPECT_EQ(document.Problem("GET", path, answer.status, answer.body), "");
    return answer.json();
  };
  const auto job = [&](uint64_t id) {
    return get(absl::StrCat("/v1/jobs/", id), "/v1/jobs/{id}");
  };
  using Cpus = std::vector<uint32_t>;
  EXPECT_EQ(job(own)["tasks"][0]["cpus"], Cpus({0, 1, 4, 5}));
  EXPECT_FALSE(job(half)["tasks"][0].contains("cpus"));
  const auto node = get("/v1/nodes", "/v1/nodes")["nodes"][0];
  EXPECT_EQ(node["cpus"]["unit"], "core");
  EXPECT_EQ(node["cpus"]["shared"], Cpus({2, 6}));
  ASSERT_EQ(node["cpus"]["held"].size(), 1u);
  EXPECT_EQ(node["cpus"]["held"][0]["job"], own);
  EXPECT_EQ(node["cpus"]["held"][0]["cpus"], Cpus({0, 1, 4, 5}));
  daemon.Exit(own, 0);
  daemon.Turn();
  EXPECT_FALSE(job(own)["tasks"][0].contains("cpus"));
}

TEST(OpenApiTest, EveryAnswerIsAsTheDocumentSays) {
  const OpenApi document;
  Daemon daemon;
  std::set<std::string> answered;
  const auto ask = [&](const std::string& method, const std::string& path,
                       const std::string& target, const std::string& body,
                       int status, uint32_t uid = Daemon::kAlice) {
    const Answered a = daemon.Ask(method, target, body, uid);
    EXPECT_EQ(a.status, status) << method << " " << target << " " << a.body;
    if (path != "/v1/jobs/{id}" || uid == Daemon::kAlice || status != 200) {
      EXPECT_EQ(document.Problem(method, path, a.status, a.body), "")
          << method << " " << target << " " << a.body;
    }
    if (a.status < 300) answered.insert(absl::StrCat(method, " ", path));
    return a;
  };
  const auto elastic = [](const std::string& name) {
    Json manifest = Json::parse(ManifestOf(name));
    manifest["spec"]["parallelism"] = 2;
    manifest["spec"]["completions"] = 2;
    manifest["spec"]["completionMode"] = "Indexed";
    manifest["spec"]["unknown"] = 1;
    return SubmissionOf(manifest.dump());
  };
  ask("POST", "/v1/jobs", "/v1/jobs", elastic("two"), 201);
  ask("POST", "/v1/jobs", "/v1/jobs", SubmissionOf(ManifestOf("one")), 201);
  Json array = Json::parse(SubmissionOf(ManifestOf("many")));
  array["array"] = {3, 4};
  ask("POST", "/v1/jobs", "/v1/jobs", array.dump(), 201);
  Json grid = Json::parse(SubmissionOf(ManifestOf("grid")));
  grid["parameters"] = {{{"names", {"lr"}}, {"rows", {{"1"}, {"2"}}}}};
  ask("POST", "/v1/jobs", "/v1/jobs", grid.dump(), 201);
  ask("POST", "/v1/jobs", "/v1/jobs", "{}", 400);
  ask("POST", "/v1/jobs", "/v1/jobs", R"({"manifest":"x"})", 422);
  ask("POST", "/v1/what-if", "/v1/what-if", SubmissionOf(ManifestOf("a")), 200);
  ask("POST", "/v1/what-if", "/v1/what-if", "{}", 400);
  ask("GET", "/v1/jobs", "/v1/jobs?why=1", "", 200);
  ask("GET", "/v1/jobs/{id}", "/v1/jobs/1", "", 200);
  ask("GET", "/v1/jobs/{id}", "/v1/jobs/3", "", 200);
  const Answered point = ask("GET", "/v1/jobs/{id}", "/v1/jobs/6", "", 200);
  EXPECT_EQ(point.json()["parameters"], Json::parse(R"({"lr":"2"})"));
  ask("GET", "/v1/jobs/{id}", "/v1/jobs/99", "", 404);
  const Answered others =
      ask("GET", "/v1/jobs/{id}", "/v1/jobs/1", "", 200, Daemon::kBob);
  EXPECT_EQ(document.ProblemOf("Job", others.json()), "");
  ask("GET", "/v1/jobs/{id}/logs", "/v1/jobs/1/logs", "", 200);
  const Answered part = ask("POST", "/v1/jobs/{id}/input",
                            "/v1/jobs/1/input?task=1&end=1", "line\nx", 200);
  EXPECT_EQ(part.json()["taken"], 5);
  EXPECT_THAT(daemon.sent, testing::ElementsAre("0-1 line\n end"));
  ask("POST", "/v1/jobs/{id}/input", "/v1/jobs/1/input?end=x", "", 400);
  ask("POST", "/v1/jobs/{id}/input", "/v1/jobs/1/input?task=7", "", 404);
  ask("POST", "/v1/jobs/{id}/input", "/v1/jobs/2/input", "x", 409);
  ask("GET", "/v1/jobs/{id}/explain", "/v1/jobs/1/explain", "", 200);
  ask("GET", "/v1/jobs/{id}/explain", "/v1/jobs/2/explain", "", 200);
  ask("GET", "/v1/jobs/{id}/explain", "/v1/jobs/2/explain", "", 403,
      Daemon::kBob);
  ask("POST", "/v1/jobs/{id}/hold", "/v1/jobs/2/hold", "", 200);
  ask("GET", "/v1/jobs", "/v1/jobs", "", 200);
  ask("POST", "/v1/jobs/{id}/release", "/v1/jobs/2/release", "", 200);
  ask("POST", "/v1/jobs/{id}/priority", "/v1/jobs/2/priority",
      R"({"priority":"7"})", 200);
  ask("POST", "/v1/jobs/{id}/queue", "/v1/jobs/2/queue",
      R"({"queue":"default"})", 200);
  ask("GET", "/v1/jobs/{id}/edit", "/v1/jobs/4/edit", "", 200);
  ask("GET", "/v1/jobs/{id}/edit", "/v1/jobs/4/edit", "", 403, Daemon::kBob);
  ask("POST", "/v1/jobs/{id}/edit", "/v1/jobs/4/edit",
      R"({"name":"x","time":60,"roles":{"":{"requests":{"cpu":"2"}}}})", 200);
  ask("POST", "/v1/jobs/{id}/edit", "/v1/jobs/4/edit", R"({"gpus":2})", 400);
  ask("POST", "/v1/jobs/{id}/edit", "/v1/jobs/4/edit", R"({"queue":"x"})", 422);
  ask("POST", "/v1/jobs/{id}/edit", "/v1/jobs/1/edit",
      R"({"roles":{"":{"command":["x"]}}})", 409);
  ask("POST", "/v1/jobs/{id}/order", "/v1/jobs/6/order", R"({"to":"first"})",
      200);
  ask("POST", "/v1/jobs/{id}/order", "/v1/jobs/6/order",
      R"({"to":"before","job":4})", 200);
  for (const char* body : {"{}", R"({"to":"up"})", R"({"to":"before"})",
                           R"({"to":"last","job":4})"}) {
    ask("POST", "/v1/jobs/{id}/order", "/v1/jobs/6/order", body, 400);
  }
  ask("POST", "/v1/jobs/{id}/order", "/v1/jobs/1/order", R"({"to":"first"})",
      409);
  ask("POST", "/v1/jobs/{id}/resize", "/v1/jobs/1/resize", R"({"size":1})",
      200);
  ask("POST", "/v1/jobs/{id}/suspend", "/v1/jobs/2/suspend", "", 200);
  ask("POST", "/v1/jobs/{id}/resume", "/v1/jobs/2/resume", "", 200);
  ask("DELETE", "/v1/jobs/{id}", "/v1/jobs/2", "", 200);
  ask("DELETE", "/v1/jobs/{id}", "/v1/jobs/2", "", 409);
  ask("GET", "/v1/jobs/{id}", "/v1/jobs/2", "", 200);
  ask("GET", "/v1/jobs/{id}/explain", "/v1/jobs/2/explain", "", 409);
  Json cron = Json::parse(ManifestOf("tick"));
  cron = {{"apiVersion", "batch/v1"},
          {"kind", "CronJob"},
          {"metadata", cron["metadata"]},
          {"spec",
           {{"schedule", "* * * * *"},
            {"timeZone", "UTC"},
            {"jobTemplate", {{"spec", cron["spec"]}}}}}};
  const Answered made =
      ask("POST", "/v1/jobs", "/v1/jobs", SubmissionOf(cron.dump()), 201);
  EXPECT_EQ(made.json()["crons"][0]["next"], 1'020.0) << made.body;
  ask("POST", "/v1/jobs", "/v1/jobs", SubmissionOf(cron.dump()), 201);
  daemon.now += 60 * kSecond;
  daemon.Turn();
  const Answered crons = ask("GET", "/v1/crons", "/v1/crons", "", 200);
  ASSERT_EQ(crons.json()["crons"].size(), 2u) << crons.body;
  EXPECT_EQ(crons.json()["crons"][0]["last"], 1'020.0);
  EXPECT_EQ(crons.json()["crons"][0]["jobs"].size(), 1u);
  EXPECT_EQ(ask("GET", "/v1/crons", "/v1/crons?uid=1", "", 200).json()["crons"],
            Json::array());
  ask("GET", "/v1/crons", "/v1/crons?uid=x", "", 400);
  ask("POST", "/v1/crons/{id}/suspend", "/v1/crons/1/suspend", "", 200);
  ask("POST", "/v1/crons/{id}/suspend", "/v1/crons/1/suspend", "", 403,
      Daemon::kBob);
  EXPECT_EQ(ask("GET", "/v1/crons", "/v1/crons", "", 200)
                .json()["crons"][0]["suspended"],
            true);
  ask("POST", "/v1/crons/{id}/resume", "/v1/crons/1/resume", "", 200);
  ask("POST", "/v1/crons/{id}/resume", "/v1/crons/9/resume", "", 404);
  ask("DELETE", "/v1/crons/{id}", "/v1/crons/1", "", 403, Daemon::kBob);
  ask("DELETE", "/v1/crons/{id}", "/v1/crons/1", "", 200);
  ask("DELETE", "/v1/crons/{id}", "/v1/crons/1", "", 404);
  ask("DELETE", "/v1/crons/{id}", "/v1/crons/2", "", 200);
  ask("GET", "/v1/history", "/v1/history?limit=10&since=1", "", 200);
  ask("GET", "/v1/jobs/{id}/timeline", "/v1/jobs/2/timeline", "", 200);
  ask("GET", "/v1/jobs/{id}/timeline", "/v1/jobs/2/timeline", "", 403,
      Daemon::kBob);
  ask("GET", "/v1/history/removed", "/v1/history/removed?uid=x", "", 400);
  ASSERT_TRUE(daemon.store->Forget({{{2, OverdueWhy::kAge}}}, daemon.now).ok());
  const Answered removed =
      ask("GET", "/v1/history/removed", "/v1/history/removed", "", 200);
  ASSERT_EQ(removed.json()["jobs"].size(), 1u) << removed.body;
  EXPECT_EQ(removed.json()["jobs"][0]["why"], "age");
  ask("GET", "/v1/jobs/{id}/timeline", "/v1/jobs/1/timeline", "", 200);
  ask("GET", "/v1/jobs/{id}/timeline", "/v1/jobs/99/timeline", "", 404);
  ask("GET", "/v1/queue", "/v1/queue", "", 200);
  ask("GET", "/v1/queue", "/v1/queue?limit=x", "", 400);
  ask("GET", "/v1/events", "/v1/events", "", 200);
  ask("GET", "/v1/events", "/v1/events?after=x", "", 400);
  ask("GET", "/v1/users", "/v1/users", "", 200);
  ask("GET", "/v1/web", "/v1/web", "", 200);
  ask("POST", "/v1/web/token", "/v1/web/token", "", 200);
  ask("DELETE", "/v1/web/token", "/v1/web/token", "", 200);
  ask("DELETE", "/v1/web/token", "/v1/web/token", "", 503, Daemon::kBob);
  daemon.others = {{.device = 1, .pid = 7, .uid = 8, .memory_bytes = 9},
                   {.device = 1, .pid = 8},
                   {.device = 9}};
  const Answered nodes = ask("GET", "/v1/nodes", "/v1/nodes", "", 200);
  const Json devices = nodes.json()["nodes"][0]["devices"];
  EXPECT_EQ(devices[1]["processes"],
            Json::parse(R"([{"pid":7,"uid":8,"memory":9},{"pid":8,"uid":0}])"));
  EXPECT_FALSE(devices[0].contains("processes"));
  const std::string drain = R"({"node":"local","device":1,"reason":"fan"})";
  ask("POST", "/v1/nodes/drain", "/v1/nodes/drain", drain, 403);
  ask("POST", "/v1/nodes/drain", "/v1/nodes/drain", "{}", 400, Daemon::kOwner);
  ask("POST", "/v1/nodes/drain", "/v1/nodes/drain", R"({"node":"x"})", 404,
      Daemon::kOwner);
  ask("POST", "/v1/nodes/drain", "/v1/nodes/drain",
      R"({"node":"local","device":2})", 422, Daemon::kOwner);
  ask("POST", "/v1/nodes/drain", "/v1/nodes/drain", drain, 200, Daemon::kOwner);
  ask("POST", "/v1/nodes/drain", "/v1/nodes/drain", R"({"node":"local"})", 200,
      Daemon::kOwner);
  const Json drained =
      ask("GET", "/v1/nodes", "/v1/nodes", "", 200).json()["nodes"][0];
  EXPECT_EQ(drained["devices"][1]["drained"]["reason"], "fan");
  EXPECT_EQ(drained["devices"][1]["healthy"], false);
  EXPECT_EQ(drained["drained"]["uid"], Daemon::kOwner);
  ask("POST", "/v1/nodes/resume", "/v1/nodes/resume",
      R"({"node":"local","device":0})", 409, Daemon::kOwner);
  ask("POST", "/v1/nodes/resume", "/v1/nodes/resume", R"({"node":"local"})",
      200, Daemon::kOwner);
  EXPECT_FALSE(ask("GET", "/v1/nodes", "/v1/nodes", "", 200)
                   .json()["nodes"][0]
                   .contains("drained"));
  ask("GET", "/v1/queues", "/v1/queues", "", 200);
  ask("GET", "/v1/version", "/v1/version", "", 200);
  ask("GET", "/v1/healthz", "/v1/healthz", "", 200);
  const Answered metrics = ask("GET", "/v1/metrics", "/v1/metrics", "", 200);
  EXPECT_THAT(metrics.body,
              ::testing::HasSubstr("muster_jobs_submitted_total 8\n"));
  EXPECT_EQ(answered, document.Operations());
}

}  // namespace
}  // namespace muster::local
