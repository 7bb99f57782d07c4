// Kinds victims, admission-cycle and flavors, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/conformance/scenario_text.h"

namespace muster::conformance {
namespace {

using ::testing::HasSubstr;

// Queues x and y of four cpus each in one group, one flavour, no nodes.
Json Quotas(const std::string& kind, const std::string& gangs,
            const std::string& expect) {
  Json s = MakeScenario(kind, {{"cluster", Parse(R"({"flavors": [
                          {"name": "f"}]})")},
                               {"queues", Parse(R"([
                          {"name": "both", "kind": "group"}])")},
                               {"gangs", Parse(gangs)},
                               {"expect", Parse(expect)}});
  for (const char* name : {"x", "y"}) {
    s["queues"].push_back(Parse(R"({"parent": "both",
        "quotas": [{"resource": "cpu", "flavor": "f", "quota": 4000}],
        "preemption": {"withinQueue": "lower-priority", "reclaim": "any"}})"));
    s["queues"].back()["name"] = name;
  }
  return s;
}

std::string Gang(const std::string& name, const std::string& queue,
                 int priority, int cpus, const std::string& state) {
  std::string pod = R"({"name": "main", "count": )" + std::to_string(cpus) +
                    R"(, "requests": {"cpu": 1000})";
  if (state == "running") pod += R"(, "flavors": {"cpu": "f"})";
  return R"({"name": ")" + name + R"(", "queue": ")" + queue +
         R"(", "priority": )" + std::to_string(priority) + R"(, "state": ")" +
         state + R"(", "pods": [)" + pod + "}]}";
}

TEST(Victims, OfTheSameQueueAndOfAnotherAreToldApart) {
  Json s = Quotas("victims",
                  "[" + Gang("borrower", "y", 0, 6, "running") + ", " +
                      Gang("in", "x", 0, 4, "pending") + "]",
                  R"({"victims": {"borrower": "InCohortReclamation"},
                      "victimsExact": true})");
  s["query"] = Parse(R"({"preemptor": "in", "need": [{"podSet": "main",
      "resource": "cpu", "flavor": "f", "mode": "preempt"}]})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  EXPECT_EQ(RunJson(s, false).verdict, Verdict::kFail);
  s["expect"]["victims"]["borrower"] = "InClusterQueue";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("another queue"));
}

// A reclaim for queue x, which is guaranteed four cpus and as much memory.
Json Reclaim(int memory, const std::string& reason) {
  Json s = Quotas("victims",
                  "[" + Gang("borrower", "y", 0, 8, "running") + ", " +
                      Gang("in", "x", 0, 1, "pending") + "]",
                  R"({"victimsExact": true})");
  for (int queue : {1, 2}) {
    s["queues"][queue]["quotas"].push_back(
        Parse(R"({"resource": "memory", "flavor": "f", "quota": 4000})"));
  }
  Json& borrower = s["gangs"][0]["pods"][0];
  borrower["requests"]["memory"] = 1000;
  borrower["flavors"]["memory"] = "f";
  s["gangs"][1]["pods"][0]["requests"]["memory"] = memory;
  s["query"] = {{"preemptor", "in"}};
  s["expect"]["victims"]["borrower"] = reason;
  return s;
}

TEST(Victims, WithinTheGuaranteeIsReclamationBeyondItBorrowing) {
  const std::string within = "InCohortReclamation";
  const std::string beyond = "InCohortReclaimWhileBorrowing";
  EXPECT_EQ(RunJson(Reclaim(4000, within)).verdict, Verdict::kPass)
      << RunJson(Reclaim(4000, within)).why;
  EXPECT_EQ(RunJson(Reclaim(4000, beyond)).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(Reclaim(4000, beyond)).why,
              HasSubstr("evicted for InCohortReclamation"));
  // Its memory would be beyond: it is owed nothing that holds memory, and takes
  // it as a borrower alone, if it may.
  EXPECT_EQ(RunJson(Reclaim(5000, beyond)).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(Reclaim(5000, beyond)).why,
              HasSubstr("expected to be evicted"));
  const auto borrows = [&](const std::string& reason) {
    Json s = Reclaim(5000, reason);
    s["gangs"][1]["priority"] = 1;
    s["queues"][1]["preemption"]["borrow"] = {{"policy", "lower-priority"}};
    return RunJson(s);
  };
  EXPECT_EQ(borrows(beyond).verdict, Verdict::kPass) << borrows(beyond).why;
  EXPECT_EQ(borrows(within).verdict, Verdict::kFail);
  EXPECT_THAT(borrows(within).why,
              HasSubstr("evicted for InCohortReclaimWhileBorrowing"));
}

TEST(Victims, ReasonsThatTheLibraryHasNoWordForAreNotSupported) {
  const CaseResult fair = RunJson(Reclaim(4000, "InCohortFairSharing"));
  EXPECT_EQ(fair.verdict, Verdict::kUnsupported);
  EXPECT_THAT(fair.why, HasSubstr("for a share"));
  const CaseResult other = RunJson(Reclaim(4000, "Weather"));
  EXPECT_EQ(other.verdict, Verdict::kUnsupported);
  EXPECT_THAT(other.why, HasSubstr("Weather"));
  // A set of victims that differs is a difference whatever the reasons.
  Json s = Reclaim(4000, "InCohortFairSharing");
  s["expect"]["victims"]["in"] = "InClusterQueue";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("in: expected to be evicted"));
}

TEST(Victims, AloneInItsQueueTheLowestGoes) {
  Json s = Quotas("victims",
                  "[" + Gang("low", "x", 0, 2, "running") + ", " +
                      Gang("mid", "x", 1, 2, "running") + ", " +
                      Gang("in", "x", 5, 2, "pending") + "]",
                  R"({"victims": {"low": "InClusterQueue"},
                      "victimsExact": true})");
  s["queues"].erase(2);
  s["query"] = Parse(R"({"preemptor": "in", "need": [{"podSet": "main",
      "resource": "cpu", "flavor": "f", "mode": "preempt"}]})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["expect"]["victims"]["low"] = "InCohortReclamation";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("its own queue"));
  s["expect"]["victims"] = Json::object();
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("not to be evicted"));
}

TEST(Victims, AreThoseOfTheQueuesPolicy) {
  Json s = Quotas("victims",
                  "[" + Gang("other", "y", 9, 6, "running") + ", " +
                      Gang("in", "x", 5, 4, "pending") + "]",
                  R"({"victims": {}, "victimsExact": true})");
  s["query"] = {{"preemptor", "in"}};
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  s["queues"][1]["preemption"]["reclaim"] = "lower-priority";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["queues"][1].erase("preemption");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["queues"][1]["preemption"] = {{"reclaim", "some"}};
  EXPECT_THAT(RunJson(s).why, HasSubstr("'Some' is not known"));
}

TEST(Admission, OnlyTheHeadOfAQueueIsLookedAt) {
  const Json s = Quotas("admission-cycle",
                        "[" + Gang("first", "x", 0, 1, "pending") + ", " +
                            Gang("second", "x", 7, 1, "pending") + ", " +
                            Gang("other", "y", 0, 1, "pending") + "]",
                        R"({"admitted": {"second": {"podSets": [
                   {"name": "main", "count": 1, "flavors": {"cpu": "f"}}]},
                 "other": {}}, "stillQueued": ["first"]})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  Json wrong = s;
  wrong["expect"]["admitted"].erase("other");
  EXPECT_EQ(RunJson(wrong).verdict, Verdict::kFail);
}

TEST(Admission, BorrowsWhatTheGroupHasUpToItsLimit) {
  const auto waits = [](int cpus, const Json& borrow_limit) {
    Json s = Quotas("admission-cycle",
                    "[" + Gang("g", "x", 0, cpus, "pending") + "]",
                    R"({"inadmissible": ["g"]})");
    if (!borrow_limit.is_null()) {
      s["queues"][1]["quotas"][0]["borrowLimit"] = borrow_limit;
    }
    return RunJson(s).verdict == Verdict::kPass;
  };
  EXPECT_FALSE(waits(8, nullptr));
  EXPECT_TRUE(waits(9, nullptr));
  EXPECT_FALSE(waits(6, 2000));
  EXPECT_TRUE(waits(7, 2000));
}

TEST(Admission, ANamespaceTheQueueDoesNotTakeWaits) {
  Json s =
      Quotas("admission-cycle", "[" + Gang("ns/g", "x", 0, 1, "pending") + "]",
             R"({"inadmissible": ["ns/g"]})");
  s["queues"][1]["namespaceSelector"] = Parse(R"({"matchExpressions": [
      {"key": "team", "operator": "In", "values": ["red"]}]})");
  s["cluster"]["namespaces"] = Parse(R"({"ns": {"team": "blue"}})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["cluster"]["namespaces"]["ns"]["team"] = "red";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
}

// The scenario with its gang said to be still queued, or else inadmissible.
CaseResult Waits(Json s, const std::string& gang, bool queued) {
  s["expect"][queued ? "stillQueued" : "inadmissible"] = {gang};
  return RunJson(s);
}

void ExpectQueued(const Json& s, const std::string& gang,
                  const std::string& why) {
  EXPECT_EQ(Waits(s, gang, true).verdict, Verdict::kPass)
      << Waits(s, gang, true).why;
  EXPECT_EQ(Waits(s, gang, false).verdict, Verdict::kFail);
  EXPECT_THAT(Waits(s, gang, false).why, HasSubstr(why));
}

void ExpectInadmissible(const Json& s, const std::string& gang) {
  EXPECT_EQ(Waits(s, gang, false).verdict, Verdict::kPass)
      << Waits(s, gang, false).why;
  EXPECT_EQ(Waits(s, gang, true).verdict, Verdict::kFail);
  EXPECT_THAT(Waits(s, gang, true).why,
              HasSubstr("waits until something changes"));
}

TEST(Waiting, AGangThatWaitsForItsVictimsIsStillQueued) {
  ExpectQueued(Quotas("admission-cycle",
                      "[" + Gang("low", "x", 0, 8, "running") + ", " +
                          Gang("in", "x", 5, 2, "pending") + "]",
                      R"({"victims": {"low": "InClusterQueue"}})"),
               "in", "is nominated");
}

TEST(Waiting, AGangForWhichThereIsNoRoomWaitsForAChange) {
  Json s = Quotas("admission-cycle",
                  "[" + Gang("same", "x", 5, 8, "running") + ", " +
                      Gang("in", "x", 5, 2, "pending") + "]",
                  "{}");
  s["queues"][1]["preemption"]["reclaim"] = "never";
  ExpectInadmissible(s, "in");
  // Not even as the head of a queue in strict order.
  s["queues"][1]["ordering"] = "strict-fifo";
  ExpectInadmissible(s, "in");
}

TEST(Waiting, AGangBehindTheHeadIsStillQueued) {
  const Json s = Quotas("admission-cycle",
                        "[" + Gang("first", "x", 0, 1, "pending") + ", " +
                            Gang("second", "x", 7, 1, "pending") + "]",
                        R"({"admitted": {"second": {}}})");
  ExpectQueued(s, "first", "is looked at again in the next pass");
}

TEST(Waiting, AGangThatIsInactiveOrRefusedWaitsForAChange) {
  Json s = Quotas("admission-cycle",
                  "[" + Gang("in", "x", 0, 1, "pending") + "]", "{}");
  s["gangs"][0]["active"] = false;
  ExpectInadmissible(s, "in");
  s["gangs"][0]["active"] = true;
  s["gangs"][0]["queue"] = "nowhere";
  ExpectInadmissible(s, "in");
}

TEST(Waiting, WithoutAPassNothingHasBeenAnswered) {
  Json s =
      Quotas("admission-cycle", "[" + Gang("in", "x", 0, 9, "pending") + "]",
             R"({"stillQueued": ["in"]})");
  EXPECT_EQ(RunJson(s, false).verdict, Verdict::kPass);
  s["expect"] = Parse(R"({"inadmissible": ["in"]})");
  EXPECT_EQ(RunJson(s, false).verdict, Verdict::kFail);
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
}

TEST(Waiting, AGangThatIsNotThereOrRunsDoesNotWait) {
  const Json s = Quotas("admission-cycle",
                        "[" + Gang("runs", "x", 0, 1, "running") + "]", "{}");
  EXPECT_EQ(Waits(s, "other", false).verdict, Verdict::kFail);
  EXPECT_THAT(Waits(s, "other", false).why, HasSubstr("is nowhere"));
  EXPECT_EQ(Waits(s, "runs", true).verdict, Verdict::kUnsupported);
}

TEST(FlavorAssignment, TakesTheFirstThatWillDo) {
  const auto with = [](const char* mode, const char* flavor, int cpus,
                       const char* type) {
    Json s =
        Quotas("flavors", "[" + Gang("g", "x", 0, cpus, "pending") + "]", "{}");
    s["queues"].erase(2);
    s["queues"].erase(0);
    s["queues"][0].erase("parent");
    s["cluster"]["flavors"] = Parse(R"([
        {"name": "f", "nodeLabels": {"type": "f"}},
        {"name": "h", "nodeLabels": {"type": "h"}}])");
    s["queues"][0]["quotas"].push_back(
        Parse(R"({"resource": "cpu", "flavor": "h", "flavorOrder": 1,
                  "quota": 4000})"));
    if (type[0] != '\0') {
      s["gangs"][0]["pods"][0]["nodeSelector"] = {{"type", type}};
    }
    s["expect"]["mode"] = mode;
    if (flavor[0] != '\0') {
      s["expect"]["flavors"] = Json::array(
          {{{"podSet", "main"}, {"resource", "cpu"}, {"flavor", flavor}}});
    }
    return RunJson(s);
  };
  EXPECT_EQ(with("fit", "f", 2, "").verdict, Verdict::kPass);
  EXPECT_EQ(with("fit", "h", 2, "").verdict, Verdict::kFail);
  EXPECT_EQ(with("fit", "h", 2, "h").verdict, Verdict::kPass);
  EXPECT_EQ(with("no-fit", "", 2, "z").verdict, Verdict::kPass);
  EXPECT_EQ(with("no-fit", "", 9, "").verdict, Verdict::kPass)
      << with("no-fit", "", 9, "").why;
}

TEST(FlavorAssignment, PodSetsThatStayTogetherTakeTheirOneFlavor) {
  Json s = Quotas("flavors", "[" + Gang("g", "x", 0, 2, "pending") + "]",
                  R"({"mode": "fit", "flavors": [
                      {"podSet": "main", "resource": "cpu", "flavor": "f"}]})");
  Json& main = s["gangs"][0]["pods"][0];
  main["topology"] = {{"colocateGroup", "together"}};
  s["gangs"][0]["pods"].push_back(main);
  s["gangs"][0]["pods"][1]["name"] = "lead";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  // Of two flavours each role would choose for itself.
  s["cluster"]["flavors"].push_back({{"name", "h"}});
  s["queues"][1]["quotas"].push_back(
      Parse(R"({"resource": "cpu", "flavor": "h", "flavorOrder": 1,
                "quota": 4000})"));
  EXPECT_EQ(RunJson(s).verdict, Verdict::kUnsupported);
  EXPECT_THAT(RunJson(s).why, HasSubstr("must share one"));
}

TEST(FlavorAssignment, UsageLeavesTheModeToPreemption) {
  Json s = Quotas("flavors", "[" + Gang("g", "x", 0, 3, "pending") + "]",
                  R"({"mode": "preempt"})");
  s["query"] = Parse(R"({"usage": {"x": [
      {"flavor": "f", "resource": "cpu", "used": 8000}]}})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["query"]["usage"]["x"][0]["used"] = 5000;
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
}

// Two pod sets in one queue of four cpus.
Json TwoPodSets(int first, int second, const std::string& expect) {
  Json s = Quotas("flavors", "[" + Gang("g", "x", 0, first, "pending") + "]",
                  expect);
  s["queues"].erase(2);
  s["queues"].erase(0);
  s["queues"][0].erase("parent");
  Json pod = s["gangs"][0]["pods"][0];
  pod["name"] = "more";
  pod["count"] = second;
  s["gangs"][0]["pods"].push_back(pod);
  return s;
}

// Of the two pod sets.
Json Modes(const std::string& whole, const std::string& main,
           const std::string& more) {
  Json expect = Parse(R"({"flavors": [
      {"podSet": "main", "resource": "cpu", "flavor": "f"},
      {"podSet": "more", "resource": "cpu", "flavor": "f"}]})");
  expect["mode"] = whole;
  expect["flavors"][0]["mode"] = main;
  expect["flavors"][1]["mode"] = more;
  return expect;
}

TEST(FlavorAssignment, EachPodSetHasAModeOfItsOwn) {
  const auto with = [](int first, int second, const Json& expect) {
    Json s = TwoPodSets(first, second, "{}");
    s["query"] = Parse(R"({"usage": {"x": [
        {"flavor": "f", "resource": "cpu", "used": 2000}]}})");
    s["expect"] = expect;
    return RunJson(s);
  };
  EXPECT_EQ(with(1, 1, Modes("fit", "fit", "fit")).verdict, Verdict::kPass);
  EXPECT_EQ(with(1, 1, Modes("fit", "fit", "preempt")).verdict, Verdict::kFail);
  // The second would fit by itself, but for what the first takes.
  const CaseResult second = with(1, 2, Modes("preempt", "fit", "preempt"));
  EXPECT_EQ(second.verdict, Verdict::kPass) << second.why;
  const CaseResult wrong = with(1, 2, Modes("preempt", "fit", "fit"));
  EXPECT_EQ(wrong.verdict, Verdict::kFail);
  EXPECT_THAT(wrong.why, HasSubstr("more: cpu expected mode fit, is preempt"));
  EXPECT_EQ(with(3, 1, Modes("preempt", "fit", "preempt")).verdict,
            Verdict::kFail);
  const CaseResult never = with(1, 5, Modes("no-fit", "fit", "no-fit"));
  EXPECT_EQ(never.verdict, Verdict::kPass) << never.why;
  EXPECT_EQ(with(1, 5, Modes("no-fit", "fit", "preempt")).verdict,
            Verdict::kFail);
  // A mode that is not said is not compared.
  EXPECT_EQ(with(1, 2, Modes("preempt", "", "")).verdict, Verdict::kPass);
}

TEST(FlavorAssignment, WhatTheLibraryDoesNotTellIsNotSupported) {
  const CaseResult mode =
      RunJson(TwoPodSets(1, 1, Modes("fit", "fit", "reclaim").dump()));
  EXPECT_EQ(mode.verdict, Verdict::kUnsupported);
  EXPECT_THAT(mode.why, HasSubstr("mode reclaim"));
  // A flavour for nothing.
  Json s = TwoPodSets(1, 1, Modes("fit", "fit", "fit").dump());
  s["gangs"][0]["pods"][1]["requests"]["cpu"] = 0;
  EXPECT_EQ(RunJson(s).verdict, Verdict::kUnsupported);
  EXPECT_THAT(RunJson(s).why, HasSubstr("not asked for"));
}

TEST(FlavorAssignment, ModesAreOfOneResourceEach) {
  Json s = TwoPodSets(1, 1, R"({"mode": "preempt", "flavors": [
      {"podSet": "main", "resource": "cpu", "flavor": "f", "mode": "fit"},
      {"podSet": "main", "resource": "memory", "flavor": "f",
       "mode": "preempt"}]})");
  s["queues"][0]["quotas"].push_back(
      Parse(R"({"resource": "memory", "flavor": "f", "quota": 4000})"));
  s["gangs"][0]["pods"][0]["requests"]["memory"] = 3000;
  s["query"] = Parse(R"({"usage": {"x": [
      {"flavor": "f", "resource": "memory", "used": 2000}]}})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["expect"]["flavors"][0]["mode"] = "preempt";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("main: cpu expected mode preempt"));
}

}  // namespace
}  // namespace muster::conformance
