// Who may do and see what.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_api/daemon.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr uint32_t kRoot = 0;

class RightsTest : public ::testing::Test {
 protected:
  RightsTest()
      : job_(absl::StrCat("/v1/jobs/", daemon_.Submit(ManifestOf("hers")))) {}

  Daemon daemon_;
  std::string job_;
};

TEST_F(RightsTest, OnlyHerselfRootAndTheDaemonsOwnerMayChangeAJob) {
  const std::pair<std::string, std::string> changes[] = {
      {"/hold", ""},
      {"/release", ""},
      {"/suspend", ""},
      {"/resume", ""},
      {"/priority", R"({"priority":"low"})"},
      {"/queue", R"({"queue":"default"})"},
      {"/edit", R"({"priority":"low"})"}};
  for (const auto& [path, body] : changes) {
    EXPECT_EQ(daemon_.Ask("POST", job_ + path, body, Daemon::kBob).status, 403)
        << path;
    for (const uint32_t uid : {kRoot, Daemon::kOwner, Daemon::kAlice}) {
      const Answered a = daemon_.Ask("POST", job_ + path, body, uid);
      EXPECT_EQ(a.status, 200) << path << uid << a.body;
    }
  }
  EXPECT_EQ(daemon_.Ask("POST", job_ + "/resize", R"({"size":2})", Daemon::kBob)
                .status,
            403);
  EXPECT_EQ(daemon_.Ask("DELETE", job_, "", Daemon::kBob).status, 403);
  EXPECT_EQ(daemon_.Ask("GET", job_).json()["phase"], "running");
  EXPECT_EQ(daemon_.Ask("DELETE", job_).status, 200);
}

TEST_F(RightsTest, NobodyElseWritesToWhatAJobReads) {
  const std::string input = job_ + "/input?task=0";
  for (const uint32_t uid : {kRoot, Daemon::kOwner, Daemon::kAlice}) {
    const Answered a = daemon_.Ask("POST", input, "yes\n", uid);
    EXPECT_EQ(a.json()["taken"], 4) << a.body;
  }
  const size_t told = daemon_.sent.size();
  EXPECT_EQ(daemon_.Ask("POST", input, "no", Daemon::kBob).status, 403);
  EXPECT_EQ(daemon_.sent.size(), told);
}

TEST_F(RightsTest, TheTimeLimitOfAJobThatRunsIsRaisedByThoseWhoMayDoAll) {
  const auto limit = [&](int seconds, uint32_t uid) {
    return daemon_
        .Ask("POST", job_ + "/edit", absl::StrCat("{\"time\":", seconds, "}"),
             uid)
        .status;
  };
  EXPECT_EQ(limit(100, Daemon::kAlice), 200);
  EXPECT_EQ(limit(200, Daemon::kAlice), 403);
  EXPECT_EQ(limit(50, Daemon::kBob), 403);
  EXPECT_EQ(limit(200, kRoot), 200);
  EXPECT_EQ(limit(300, Daemon::kOwner), 200);
  EXPECT_EQ(limit(10, Daemon::kAlice), 200);
  EXPECT_EQ(
      daemon_.Ask("POST", job_ + "/order", R"({"to":"first"})", Daemon::kBob)
          .status,
      403);
}

TEST_F(RightsTest, OthersSeeThatItIsThereAndNotWhatItIs) {
  const Json hers = daemon_.Ask("GET", job_).json();
  EXPECT_TRUE(hers.contains("environment"));
  EXPECT_THAT(hers["manifest"].get<std::string>(), HasSubstr("train"));
  const Answered his = daemon_.Ask("GET", job_, "", Daemon::kBob);
  EXPECT_EQ(his.status, 200);
  EXPECT_EQ(his.json()["name"], "hers");
  for (const char* member :
       {"manifest", "environment", "directory", "tasks", "conditions"}) {
    EXPECT_FALSE(his.json().contains(member)) << member;
  }
  const Answered all = daemon_.Ask("GET", "/v1/jobs", "", Daemon::kBob);
  EXPECT_THAT(all.body, HasSubstr("hers"));
  for (const char* secret : {"SECRET", "train", "/data/alice"}) {
    EXPECT_EQ(all.body.find(secret), std::string::npos);
    EXPECT_EQ(his.body.find(secret), std::string::npos);
  }
}

TEST_F(RightsTest, NorTheParametersOfAPoint) {
  Json body = Json::parse(SubmissionOf(ManifestOf("sweep")));
  body["parameters"] = {{{"names", {"key"}}, {"rows", {{"HIDDEN"}}}}};
  const std::string job =
      absl::StrCat("/v1/jobs/", daemon_.Ask("POST", "/v1/jobs", body.dump())
                                    .json()["jobs"][0]["id"]
                                    .get<uint64_t>());
  for (const std::string& path :
       {job, std::string("/v1/jobs"), std::string("/v1/queue"),
        std::string("/v1/history")}) {
    EXPECT_THAT(daemon_.Ask("GET", path).body, HasSubstr("HIDDEN")) << path;
    EXPECT_EQ(daemon_.Ask("GET", path, "", Daemon::kBob).body.find("HIDDEN"),
              std::string::npos)
        << path;
  }
}

TEST_F(RightsTest, NorWhatItWritesAndWhyItWaits) {
  EXPECT_EQ(daemon_.Ask("GET", job_ + "/logs", "", Daemon::kBob).status, 403);
  EXPECT_EQ(daemon_.Ask("GET", job_ + "/explain", "", Daemon::kBob).status,
            403);
  EXPECT_EQ(daemon_.Ask("GET", job_ + "/logs").status, 200);
  EXPECT_EQ(daemon_.Ask("GET", job_ + "/explain").status, 200);
}

TEST_F(RightsTest, TheSameHoldsWhenItHasFinished) {
  daemon_.Exit(1, 0);
  daemon_.Turn();
  EXPECT_EQ(daemon_.Ask("DELETE", job_, "", Daemon::kBob).status, 403);
  EXPECT_EQ(daemon_.Ask("GET", job_ + "/logs", "", Daemon::kBob).status, 403);
  const Answered his = daemon_.Ask("GET", job_, "", Daemon::kBob);
  EXPECT_FALSE(his.json().contains("environment"));
  const Answered page = daemon_.Ask("GET", "/v1/history", "", Daemon::kBob);
  EXPECT_EQ(page.json()["jobs"].size(), 1u);
  EXPECT_EQ(page.body.find("SECRET"), std::string::npos);
}

TEST_F(RightsTest, AJobIsOfWhoSubmitsItWhateverItSays) {
  const Json body{{"manifest", ManifestOf("x")}, {"uid", 0}};
  EXPECT_EQ(daemon_.Ask("POST", "/v1/jobs", body.dump()).status, 400);
  const uint64_t job = daemon_.Submit(ManifestOf("his"), Daemon::kBob);
  EXPECT_EQ(daemon_.Ask("GET", absl::StrCat("/v1/jobs/", job)).json()["uid"],
            Daemon::kBob);
}

TEST_F(RightsTest, WhoIsNotKnownMayNothing) {
  int status = 0;
  daemon_.api->Handle(
      {.method = "GET", .path = "/v1/jobs", .loopback = true},
      [&](const serve::HttpResponse& response) { status = response.status; });
  daemon_.Turn();
  EXPECT_EQ(status, 403);
}

}  // namespace
}  // namespace muster::local
