#include "adapters/kubernetes/client/leader_election.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::kubernetes::client {
namespace {

using Json = nlohmann::json;

constexpr api::UnixMillis kWall = 1'769'860'800'250;  // 2026-01-31T12:00:00.25Z

Json LeaseOf(const std::string& holder, const std::string& version,
             int transitions = 3, const std::string& uid = "u") {
  return {{"metadata",
           {{"name", "muster"},
            {"namespace", "ns"},
            {"uid", uid},
            {"labels", {{"kept", "yes"}}},
            {"resourceVersion", version}}},
          {"spec",
           {{"holderIdentity", holder},
            {"leaseDurationSeconds", 15},
            {"leaseTransitions", transitions},
            {"renewTime", "2026-01-01T00:00:00.000000Z"}}}};
}

class LeaderElectionTest : public testing::Test {
 protected:
  HttpRequest Step(Millis now) {
    auto request = election_.Step(now, kWall);
    EXPECT_TRUE(request.has_value()) << "nothing to do at " << now;
    return request.value_or(HttpRequest{});
  }
  // The server does what the request says, and answers at `now`.
  Json Accept(Millis now, const HttpRequest& request,
              const std::string& version) {
    Json lease = Json::parse(request.body);
    lease["metadata"]["resourceVersion"] = version;
    if (request.method == "POST") lease["metadata"]["uid"] = "u";
    election_.OnAnswer(now, request.method == "POST" ? 201 : 200, lease.dump());
    return lease;
  }
  // Takes a lease that somebody else let run out: leads from 15'000 on.
  void Lead() {
    Step(0);
    election_.OnAnswer(0, 200, LeaseOf("other", "7").dump());
    Accept(15'100, Step(15'000), "8");
    ASSERT_GT(election_.MayActUntil(), 0);
  }

  LeaderElection election_{{.namespace_name = "ns",
                            .name = "muster",
                            .identity = "me",
                            .duration = 15'000,
                            .renew_every = 3'000,
                            .margin = 2'000,
                            .longest_request = 10'000}};
};

TEST_F(LeaderElectionTest, AForeignLeaseIsWaitedOutFromWhenItWasSeenToChange) {
  EXPECT_EQ(Step(0).path,
            "/apis/coordination.k8s.io/v1/namespaces/ns/leases/muster");
  EXPECT_EQ(election_.NextStep(), kNever);  // One request at a time.
  election_.OnAnswer(100, 200, LeaseOf("other", "7").dump());
  EXPECT_EQ(election_.holder(), "other");
  EXPECT_EQ(Step(5'000).method, "GET");
  election_.OnAnswer(5'000, 200, LeaseOf("other", "8").dump());
  EXPECT_EQ(Step(19'999).method, "GET");
  election_.OnAnswer(19'999, 200, LeaseOf("other", "8").dump());
  EXPECT_EQ(election_.NextStep(), 20'000);

  const HttpRequest claim = Step(20'000);
  EXPECT_EQ(claim.method, "PUT");
  EXPECT_FALSE(claim.idempotent);
  const Json written = Accept(20'400, claim, "9");
  EXPECT_EQ(written["metadata"]["labels"]["kept"], "yes");
  EXPECT_EQ(written["spec"]["holderIdentity"], "me");
  EXPECT_EQ(written["spec"]["leaseTransitions"], 4);
  EXPECT_EQ(written["spec"]["leaseDurationSeconds"], 15);
  EXPECT_EQ(written["spec"]["acquireTime"], "2026-01-31T12:00:00.250000Z");
  EXPECT_EQ(election_.MayActUntil(), 20'000 + 15'000 - 2'000);
  EXPECT_EQ(election_.MayDecideFrom(), 20'000 + 10'000);
  EXPECT_FALSE(election_.MayAct(29'999));
  EXPECT_TRUE(election_.MayAct(30'000));
  EXPECT_FALSE(election_.MayAct(33'000));
}

TEST_F(LeaderElectionTest, AClaimCarriesTheVersionThatWasSeen) {
  Step(0);
  election_.OnAnswer(0, 200, LeaseOf("other", "7").dump());
  EXPECT_EQ(Json::parse(Step(15'000).body)["metadata"]["resourceVersion"], "7");
  election_.OnAnswer(15'100, 409, R"({"kind":"Status","reason":"Conflict"})");
  EXPECT_EQ(election_.MayActUntil(), 0);
  EXPECT_EQ(Step(16'000).method, "GET");
}

TEST_F(LeaderElectionTest, RenewingMovesTheEndAndNotTheBeginning) {
  Lead();
  EXPECT_EQ(election_.NextStep(), 18'000);
  Accept(18'900, Step(18'000), "9");
  EXPECT_EQ(election_.MayActUntil(), 18'000 + 13'000);
  EXPECT_EQ(election_.MayDecideFrom(), 25'000);
}

TEST_F(LeaderElectionTest, ARenewalWithoutAnAnswerMovesNothing) {
  Lead();
  Step(18'000);
  election_.OnNoAnswer(20'000);
  EXPECT_EQ(election_.MayActUntil(), 28'000);
  // It was carried out after all: the record is one's own, with a new version.
  EXPECT_EQ(Step(22'000).method, "GET");
  election_.OnAnswer(22'000, 200, LeaseOf("me", "9", 4).dump());
  EXPECT_EQ(election_.MayActUntil(), 28'000);
  Accept(22'100, Step(22'050), "10");
  EXPECT_EQ(election_.MayActUntil(), 22'050 + 13'000);
  EXPECT_EQ(election_.MayDecideFrom(), 25'000);
}

TEST_F(LeaderElectionTest, AnotherHolderEndsItAtOnce) {
  Lead();
  Step(18'000);
  election_.OnAnswer(18'100, 409, R"({"kind":"Status","reason":"Conflict"})");
  EXPECT_EQ(election_.MayActUntil(), 28'000);
  Step(19'000);
  election_.OnAnswer(19'000, 200, LeaseOf("other", "9", 5).dump());
  EXPECT_EQ(election_.MayActUntil(), 0);
  EXPECT_EQ(election_.MayDecideFrom(), kNever);
}

TEST_F(LeaderElectionTest, AMissingLeaseIsMadeAndAnUnseenHolderWaitedFor) {
  Step(0);
  election_.OnAnswer(0, 404, "{}");
  const HttpRequest claim = Step(0);
  EXPECT_EQ(claim.method, "POST");
  EXPECT_EQ(claim.path, "/apis/coordination.k8s.io/v1/namespaces/ns/leases");
  Accept(300, claim, "1");
  EXPECT_EQ(election_.MayActUntil(), 13'000);
  EXPECT_EQ(election_.MayDecideFrom(), 300 + 15'000 + 10'000);
}

TEST_F(LeaderElectionTest, ADeletedLeaseIsWaitedOutAsLongAsItsHolderMayAct) {
  Step(0);
  Json other = LeaseOf("other", "7");
  other["spec"]["leaseDurationSeconds"] = 60;
  election_.OnAnswer(0, 200, other.dump());
  Step(4'000);
  election_.OnAnswer(4'000, 404, "{}");
  Accept(4'200, Step(4'000), "8");
  EXPECT_EQ(election_.MayDecideFrom(), 4'000 + 60'000 + 10'000);
}

TEST_F(LeaderElectionTest, APutThatMakesTheLeaseAnewBeginsANewTerm) {
  Lead();
  const HttpRequest renewal = Step(18'000);
  Json lease = Json::parse(renewal.body);
  lease["metadata"]["resourceVersion"] = "20";
  lease["metadata"]["uid"] = "another";
  election_.OnAnswer(18'200, 201, lease.dump());
  EXPECT_EQ(election_.MayDecideFrom(), 18'200 + 25'000);
}

TEST_F(LeaderElectionTest, AResignationEndsItAndIsWritten) {
  Lead();
  election_.Resign(26'000);
  EXPECT_EQ(election_.MayActUntil(), 0);
  EXPECT_FALSE(election_.resigned());
  const HttpRequest release = Step(26'000);
  const Json written = Json::parse(release.body);
  EXPECT_EQ(written["spec"]["holderIdentity"], "");
  EXPECT_EQ(written["metadata"]["resourceVersion"], "8");
  election_.OnNoAnswer(27'000);
  EXPECT_TRUE(election_.resigned());
  EXPECT_FALSE(election_.Step(99'000, kWall).has_value());
}

TEST_F(LeaderElectionTest, WhoMayNotDecideYetKeepsTheLeaseWhenItResigns) {
  Lead();
  election_.Resign(24'999);
  EXPECT_TRUE(election_.resigned());
  EXPECT_FALSE(election_.Step(24'999, kWall).has_value());
}

TEST_F(LeaderElectionTest, AReleasedLeaseIsTakenAtOnce) {
  Step(0);
  election_.OnAnswer(0, 200, LeaseOf("other", "7").dump());
  Step(5'000);
  election_.OnAnswer(5'000, 200, LeaseOf("", "8").dump());
  EXPECT_EQ(election_.NextStep(), 5'000);
  Accept(5'100, Step(5'000), "9");
  EXPECT_EQ(election_.MayDecideFrom(), 15'000);
}

TEST_F(LeaderElectionTest, FailuresAreToldAndTriedAgain) {
  Step(0);
  election_.OnAnswer(0, 403, R"({"kind":"Status","reason":"Forbidden"})");
  EXPECT_EQ(election_.last_error().message(),
            "Lease ns/muster: HTTP 403 Forbidden");
  EXPECT_GE(election_.NextStep(), 1'000);
  EXPECT_LE(election_.NextStep(), 1'300);
  Step(2'000);
  election_.OnAnswer(2'000, 200, "<html>");
  EXPECT_TRUE(absl::IsInvalidArgument(election_.last_error()));
  Step(4'000);
  election_.OnAnswer(4'000, 200, LeaseOf("other", "7").dump());
  EXPECT_TRUE(election_.last_error().ok());
}

TEST(LeaseTest, FieldsOfAnotherTypeAreNamed) {
  const auto error = [](const std::string& json) {
    return std::string(ReadLease(json).status().message());
  };
  EXPECT_EQ(error("[]"), "Lease: is no JSON object");
  EXPECT_EQ(error("{}"),
            "Lease: metadata.resourceVersion: expected a string, not empty");
  const std::string head = R"({"metadata":{"resourceVersion":"1"},"spec":)";
  EXPECT_EQ(error(head + "1}"), "Lease: spec: expected an object");
  EXPECT_EQ(error(head + R"({"holderIdentity":1}})"),
            "Lease: spec.holderIdentity: expected a string");
  EXPECT_EQ(error(head + R"({"leaseDurationSeconds":"15"}})"),
            "Lease: spec.leaseDurationSeconds: expected an integer");
  const auto odd = ReadLease(head + R"({"leaseDurationSeconds":99999999}})");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd->duration, 0);
}

}  // namespace
}  // namespace muster::kubernetes::client
