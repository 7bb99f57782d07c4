// Pods that lost their nodes, and gangs of another size, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "test/conformance/scenario_text.h"

namespace muster::conformance {
namespace {

using ::testing::HasSubstr;

// "a:2 b:1": two pods in host a, one in host b.
Json On(const std::string& hosts) {
  Json domains = Json::array();
  std::istringstream words(hosts);
  for (std::string word; words >> word;) {
    domains.push_back({{"values", {word.substr(0, 1)}},
                       {"count", std::stoi(word.substr(2))}});
  }
  return {{"levels", {"hostname"}}, {"domains", domains}};
}

// Zones z1 (hosts a, b, c) and z2 (hosts d, e), two pods a host. Nodes are
// named "node-a" and so on, as domains they are named "a".
Json Zones(const std::string& kind) {
  Json s = MakeScenario(kind, {{"cluster", Parse(R"({"topologies": [
      {"name": "t", "levels": ["zone", "hostname"]}]})")}});
  for (const char* host : {"a", "b", "c", "d", "e"}) {
    s["cluster"]["nodes"].push_back(
        {{"name", std::string("node-") + host},
         {"capacity", {{"cpu", 2000}, {"pods", 10}}},
         {"labels",
          {{"pool", "f"},
           {"zone", host[0] < 'd' ? "z1" : "z2"},
           {"hostname", host}}}});
  }
  return s;
}

// --- Placement ---------------------------------------------------------------

// A gang of one pod set, of which some pods are to be placed again.
Json Again(int count, const std::string& topology, const std::string& places,
           const std::string& expected) {
  Json s = Zones("placement");
  s["gangs"].push_back({{"name", "g"},
                        {"state", "running"},
                        {"pods",
                         {{{"name", "main"},
                           {"count", count},
                           {"requests", {{"cpu", 1000}}},
                           {"topology", Parse(topology)},
                           {"currentAssignment", On(places)}}}}});
  if (expected.empty()) {
    s["expect"]["infeasible"]["main"] = "no room";
  } else {
    s["expect"]["assignments"]["main"] = On(expected);
  }
  return s;
}

Json Unhealthy(Json s, const char* node) {
  s["gangs"][0]["unhealthyNodes"].push_back(node);
  return s;
}

TEST(Replacement, OnlyWhatWasLostIsPlacedAgain) {
  const char* zone = R"({"required": "zone"})";
  const auto with = [&](const char* expected, bool decides = true) {
    return RunJson(Unhealthy(Again(4, zone, "a:2 b:2", expected), "b"),
                   decides);
  };
  EXPECT_EQ(with("a:2 c:2").verdict, Verdict::kPass) << with("a:2 c:2").why;
  EXPECT_EQ(with("a:2 c:2", false).verdict, Verdict::kFail);
  EXPECT_EQ(with("d:2 e:2").verdict, Verdict::kFail);
  EXPECT_EQ(with("a:2 c:1 d:1").verdict, Verdict::kFail);
  EXPECT_EQ(with("a:2").verdict, Verdict::kFail);
  EXPECT_EQ(with("").verdict, Verdict::kFail);
}

TEST(Replacement, NothingIsPlacedAgainWhereNothingWasLost) {
  const char* zone = R"({"required": "zone"})";
  const Json s = Again(4, zone, "a:2 b:2", "a:2 b:2");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  EXPECT_EQ(RunJson(Unhealthy(s, "c")).verdict, Verdict::kPass);
  EXPECT_EQ(RunJson(Again(4, zone, "a:2 b:2", "")).verdict, Verdict::kFail);
}

TEST(Replacement, InfeasibleIsInfeasible) {
  const char* zone = R"({"required": "zone"})";
  const Json full = Unhealthy(Again(4, zone, "d:2 e:2", ""), "e");
  EXPECT_EQ(RunJson(full).verdict, Verdict::kPass) << RunJson(full).why;
  const Json hopes = Unhealthy(Again(4, zone, "d:2 e:2", "d:2 c:2"), "e");
  EXPECT_EQ(RunJson(hopes).verdict, Verdict::kFail);
  // With a bigger host beside it, there is room.
  Json fits = full;
  fits["cluster"]["nodes"][3]["capacity"]["cpu"] = 4000;
  EXPECT_EQ(RunJson(fits).verdict, Verdict::kFail);
  // What others use counts as before.
  Json used = fits;
  used["cluster"]["domainUsage"] = Parse(R"([
      {"domain": ["z2", "d"], "perPod": {"cpu": 500}, "count": 1}])");
  EXPECT_EQ(RunJson(used).verdict, Verdict::kPass) << RunJson(used).why;
}

TEST(Replacement, ABrokenSliceIsMadeWholeWhereItsRestIs) {
  const char* slices =
      R"({"preferred": "zone", "slice": {"required": "zone", "size": 4}})";
  Json broken = Unhealthy(Again(4, slices, "a:2 b:2", "a:2 c:2"), "b");
  EXPECT_EQ(RunJson(broken).verdict, Verdict::kPass) << RunJson(broken).why;
  broken["cluster"]["nodes"].erase(2);
  EXPECT_EQ(RunJson(broken).verdict, Verdict::kFail);
}

TEST(Replacement, AGangThatLostAllIsPlacedAnewAndNotOnTheSameNode) {
  for (const char* name : {"a", "node-a"}) {
    Json s =
        Unhealthy(Again(2, R"({"required": "hostname"})", "a:2", "b:2"), name);
    EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
    // That the node is known not to be ready changes nothing.
    s["cluster"]["nodes"][0]["ready"] = false;
    EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  }
}

TEST(Replacement, APlaceThatIsLostIsNotKept) {
  Json s = Again(2, R"({"required": "hostname"})", "a:2", "a:2");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s = Unhealthy(s, "a");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("keep its place on a, which is"));
}

TEST(Replacement, ANodeUnhealthyForOneOfTwoGangsIsNotSupported) {
  Json s =
      Unhealthy(Again(1, R"({"required": "hostname"})", "a:1", "b:1"), "a");
  s["gangs"].push_back(s["gangs"][0]);
  s["gangs"][1]["name"] = "other";
  EXPECT_NE(RunJson(s).verdict, Verdict::kUnsupported);
  s["gangs"][1].erase("unhealthyNodes");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kUnsupported);
  EXPECT_THAT(RunJson(s).why, HasSubstr("not for another"));
}

TEST(Replacement, PlacesForMorePodsThanThereAreAreNotSupported) {
  const Json s = Again(3, R"({"required": "zone"})", "a:2 b:2", "a:2 b:1");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kUnsupported);
  EXPECT_THAT(RunJson(s).why, HasSubstr("4 places for 3 pods"));
}

// --- Another size ------------------------------------------------------------

Json Resized(int count, const std::string& before, const std::string& now) {
  Json s = Again(count, R"({"unconstrained": true})", before, now);
  Json& gang = s["gangs"][0];
  gang["state"] = "pending";
  gang["pods"][0]["previousAssignment"] = gang["pods"][0]["currentAssignment"];
  gang["pods"][0].erase("currentAssignment");
  return s;
}

TEST(Resize, WhatRunsStaysAndTheRestIsPlacedBesideIt) {
  const auto with = [](int count, const char* before, const char* now) {
    return RunJson(Resized(count, before, now));
  };
  EXPECT_EQ(with(3, "b:2 e:1", "b:2 e:1").verdict, Verdict::kPass);
  EXPECT_EQ(with(3, "b:2 e:1", "b:1 e:2").verdict, Verdict::kFail);
  EXPECT_EQ(with(4, "b:2 e:1", "b:2 e:2").verdict, Verdict::kPass)
      << with(4, "b:2 e:1", "b:2 e:2").why;
  EXPECT_EQ(with(4, "b:2 e:1", "b:2 e:1").verdict, Verdict::kFail);
  EXPECT_EQ(RunJson(Resized(4, "b:2 e:1", "b:2 e:2"), false).verdict,
            Verdict::kFail);
}

TEST(Resize, WhatRanOnANodeThatIsGoneIsPlacedAnew) {
  const Json s = Resized(3, "b:2 x:1", "b:2 a:1");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
}

TEST(Resize, BeyondWhatThereIsNothingIsAdded) {
  Json s = Resized(11, "b:2 e:1", "b:2 e:2");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  s["expect"] = Parse(R"({"infeasible": {"main": "too many"}})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["gangs"][0]["pods"][0]["count"] = 10;
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
}

TEST(Resize, WhichTasksGoIsNotAsked) {
  const CaseResult smaller = RunJson(Resized(2, "b:2 e:1", "b:2"));
  EXPECT_EQ(smaller.verdict, Verdict::kUnsupported);
  EXPECT_THAT(smaller.why, HasSubstr("made smaller"));
}

// --- Admission ---------------------------------------------------------------

// One queue of a flavour that covers all nodes; gang g runs in it.
Json Admitted(int count, const std::string& places, const Json& expected) {
  Json s = Zones("admission-cycle");
  s["cluster"]["flavors"] = Parse(R"([
      {"name": "f", "nodeLabels": {"pool": "f"}, "topology": "t"}])");
  s["queues"] = Parse(R"([{"name": "q", "quotas": [
      {"resource": "cpu", "flavor": "f", "quota": 10000}]}])");
  s["gangs"].push_back({{"name", "g"},
                        {"queue", "q"},
                        {"state", "running"},
                        {"pods",
                         {{{"name", "main"},
                           {"count", count},
                           {"requests", {{"cpu", 1000}}},
                           {"topology", {{"required", "zone"}}},
                           {"flavors", {{"cpu", "f"}}},
                           {"assignment", On(places)}}}}});
  s["expect"]["admitted"] = expected;
  return s;
}

Json MainOn(int count, const std::string& places) {
  return {{"podSets",
           {{{"name", "main"},
             {"count", count},
             {"flavors", {{"cpu", "f"}}},
             {"assignment", On(places)}}}}};
}

TEST(AdmissionAgain, LostPodsArePlacedBesideTheOthers) {
  const auto with = [](const char* places, bool decides = true) {
    return RunJson(
        Unhealthy(Admitted(4, "a:2 b:2", {{"g", MainOn(4, places)}}), "a"),
        decides);
  };
  EXPECT_EQ(with("b:2 c:2").verdict, Verdict::kPass) << with("b:2 c:2").why;
  EXPECT_EQ(with("b:2 c:2", false).verdict, Verdict::kFail);
  EXPECT_EQ(with("d:2 e:2").verdict, Verdict::kFail);
  const Json waits = Unhealthy(Admitted(4, "a:2 b:2", Json::object()), "a");
  EXPECT_EQ(RunJson(waits).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(waits).why, HasSubstr("expected to wait"));
}

// A node of which nothing is told any more than that it was there.
TEST(AdmissionAgain, TheLostNodeNeedNotBeKnown) {
  const Json s =
      Unhealthy(Admitted(3, "x:1 b:2", {{"g", MainOn(3, "a:1 b:2")}}), "x");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
}

TEST(AdmissionAgain, AGangThatLostAllComesBeforeAYoungerOne) {
  const auto with = [](const char* lost, const char* fresh) {
    Json s = Unhealthy(
        Admitted(2, "a:2",
                 {{"g", MainOn(2, lost)}, {"young", MainOn(2, fresh)}}),
        "a");
    s["cluster"]["nodes"].erase(3);
    s["cluster"]["nodes"].erase(3);
    Json& young = s["gangs"].emplace_back(s["gangs"][0]);
    young.erase("unhealthyNodes");
    young.update({{"name", "young"}, {"state", "pending"}, {"order", 1}});
    young["pods"][0].erase("assignment");
    young["pods"][0].erase("flavors");
    return RunJson(s);
  };
  EXPECT_EQ(with("b:2", "c:2").verdict, Verdict::kPass)
      << with("b:2", "c:2").why;
  EXPECT_EQ(with("c:2", "b:2").verdict, Verdict::kFail);
}

TEST(AdmissionAgain, NobodyIsStoppedForItInAQueueThatDoesNotPreempt) {
  const auto with = [](const char* within) {
    Json s = Unhealthy(Admitted(4, "a:2 b:2", Json::object()), "a");
    s["gangs"][0]["unhealthyNodes"].push_back("b");
    s["gangs"][0]["priority"] = 5;
    Json& low = s["gangs"].emplace_back(s["gangs"][0]);
    low.erase("unhealthyNodes");
    low.update({{"name", "low"}, {"priority", 0}});
    low["pods"][0]["assignment"] = On("d:2 e:2");
    s["queues"][0]["preemption"]["withinQueue"] = within;
    s["expect"] = Parse(R"({"victims": {}, "victimsExact": true})");
    return RunJson(s);
  };
  EXPECT_EQ(with("never").verdict, Verdict::kPass) << with("never").why;
  EXPECT_EQ(with("lower-priority").verdict, Verdict::kFail);
}

TEST(AdmissionAgain, APodSetIsAsLargeAsWhatWasAdmittedOfIt) {
  const auto with = [](int admitted, const char* places, int expected) {
    Json s = Admitted(4, places, {{"g", MainOn(expected, places)}});
    s["gangs"][0]["pods"][0]["admittedCount"] = admitted;
    return RunJson(s);
  };
  EXPECT_EQ(with(5, "a:2 b:2 c:1", 5).verdict, Verdict::kPass)
      << with(5, "a:2 b:2 c:1", 5).why;
  EXPECT_EQ(with(5, "a:2 b:2 c:1", 4).verdict, Verdict::kFail);
  EXPECT_EQ(with(2, "a:2", 2).verdict, Verdict::kPass) << with(2, "a:2", 2).why;
  EXPECT_EQ(with(1, "a:2", 1).verdict, Verdict::kUnsupported);
}

}  // namespace
}  // namespace muster::conformance
