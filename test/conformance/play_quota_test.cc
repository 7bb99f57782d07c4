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
  s["expect"]["victims"] = Json::object();
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("not to be evicted"));
}

TEST(Victims, APolicyTheLibraryLacksIsNotSupported) {
  Json s = Quotas("victims",
                  "[" + Gang("other", "y", 9, 6, "running") + ", " +
                      Gang("in", "x", 5, 4, "pending") + "]",
                  R"({"victims": {}, "victimsExact": true})");
  s["query"] = {{"preemptor", "in"}};
  s["queues"][1]["preemption"]["reclaim"] = "lower-priority";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kUnsupported);
  // Where nothing may be preempted at all, the library has the word.
  s["queues"][1].erase("preemption");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
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

}  // namespace
}  // namespace muster::conformance
