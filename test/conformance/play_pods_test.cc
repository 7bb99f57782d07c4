// Kinds cycle and converge, end to end: what passes, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/conformance/scenario_text.h"

namespace muster::conformance {
namespace {

using ::testing::HasSubstr;

// Two nodes of two GPUs each, and one queue.
Json TwoNodes(const std::string& kind, const std::string& gangs,
              const std::string& expect) {
  return MakeScenario(kind, {{"cluster", Parse(R"({"nodes": [
                        {"name": "a", "capacity": {"cpu": 8000, "gpu": 2},
                         "gpuMemoryMiB": 1024},
                        {"name": "b", "capacity": {"cpu": 8000, "gpu": 2},
                         "gpuMemoryMiB": 1024}]})")},
                             {"queues", Parse(R"([{"name": "q"}])")},
                             {"gangs", Parse(gangs)},
                             {"expect", Parse(expect)}});
}

std::string Pods(const std::string& gang, int count, const std::string& rest) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += std::string(i == 0 ? "" : ", ") + R"({"name": ")" + gang + "-" +
            std::to_string(i) + "\"" + rest + "}";
  }
  return "[" + list + "]";
}

constexpr char kOneGpu[] = R"(, "requests": {"gpu": 1})";

TEST(Cycle, AGangThatFitsIsPlacedAndNothingIsNot) {
  const Json s = TwoNodes(
      "cycle",
      R"([{"name": "g", "queue": "q", "minMember": 3, "pods": )" +
          Pods("g", 3, kOneGpu) + "}]",
      R"({"pods": {"g-0": {"state": "placed"}, "g-2": {"state": "placed"}},
          "placedCount": 3})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  EXPECT_EQ(RunJson(s, false).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s, false).why, HasSubstr("expected placed, is pending"));
}

TEST(Cycle, AGangIsPlacedWhollyOrNotAtAll) {
  const std::string gang =
      R"([{"name": "g", "queue": "q", "minMember": 5, "pods": )" +
      Pods("g", 5, kOneGpu) + "}]";
  const Json waits =
      TwoNodes("cycle", gang, R"({"pods": {"g-0": {"state": "pending"}},
                                  "placedCount": 0, "placedExact": true})");
  EXPECT_EQ(RunJson(waits).verdict, Verdict::kPass) << RunJson(waits).why;
  const Json hopes =
      TwoNodes("cycle", gang, R"({"pods": {"g-0": {"state": "placed"}}})");
  EXPECT_EQ(RunJson(hopes).verdict, Verdict::kFail);
}

TEST(Cycle, WhichOfLikePodsWaitsIsNoMatter) {
  const std::string gang =
      R"([{"name": "g", "queue": "q", "minMember": 1, "pods": )" +
      Pods("g", 5, kOneGpu) + "}]";
  std::string expect = R"({"pods": {"g-0": {"state": "pending"})";
  for (const char* p : {"g-1", "g-2", "g-3", "g-4"}) {
    expect += std::string(", \"") + p + R"(": {"state": "placed"})";
  }
  EXPECT_EQ(RunJson(TwoNodes("cycle", gang, expect + "}}")).verdict,
            Verdict::kFail);
  EXPECT_EQ(RunJson(TwoNodes("cycle", gang, expect + R"(}, "interchangeable":
                                [["g-0", "g-1", "g-2", "g-3", "g-4"]]})"))
                .verdict,
            Verdict::kPass);
}

TEST(Cycle, NodesCountUnlessTheGradeIsRelaxed) {
  Json s = TwoNodes("cycle", R"([{"name": "g", "queue": "q", "minMember": 1,
                      "pods": [{"name": "p", "requests": {"gpu": 1},
                                "nodeSelector": {"kind": "no"}}]}])",
                    R"({"pods": {"p": {"state": "placed", "node": "b"}}})");
  s["cluster"]["nodes"][0]["labels"] = {{"kind", "no"}};
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("placed on a"));
  s["grade"] = "generic-relaxed";
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass);
}

// Low runs on all four GPUs; high needs two.
Json Preemption(const std::string& kind, const std::string& expect) {
  return TwoNodes(
      kind,
      R"([{"name": "low", "queue": "q", "priority": 1, "minMember": 1,
           "order": 0, "pods": [
        {"name": "l0", "requests": {"gpu": 2}, "state": "running", "node": "a"},
        {"name": "l1", "requests": {"gpu": 2}, "state": "running", "node": "b"}
      ]}, {"name": "high", "queue": "q", "priority": 9, "minMember": 1,
           "order": 1, "pods": [{"name": "h", "requests": {"gpu": 2}}]}])",
      expect);
}

TEST(Cycle, AVictimIsSeenAndItsHeirWaitsForIt) {
  const Json s = Preemption("cycle", R"({
    "pods": {"h": {"state": "nominated"}, "l0": {"state": "running"},
             "l1": {"state": "evicted", "node": "b"}},
    "interchangeable": [["l0", "l1"]], "evictedExact": true,
    "nominatedGangs": {"high": {"anyOfNodes": ["a", "b"]}}})");
  // Which of the two goes is free, and so is the node of the one that went.
  Json either = s;
  either["expect"]["pods"]["l1"].erase("node");
  EXPECT_EQ(RunJson(either).verdict, Verdict::kPass) << RunJson(either).why;
  Json without = s;
  without["actions"] = {"allocate"};
  EXPECT_EQ(RunJson(without).verdict, Verdict::kFail);
  Json one_too_many = either;
  one_too_many["expect"]["pods"].erase("l1");
  one_too_many["expect"]["interchangeable"] = Json::array();
  one_too_many["expect"]["pods"]["l0"] = {{"state", "running"}};
  EXPECT_EQ(RunJson(one_too_many).verdict, Verdict::kFail);
}

TEST(Converge, WhatWasNominatedIsThereAPassLater) {
  Json s = Preemption("converge", R"({
    "pods": {"h": {"state": "placed"}, "l0": {"state": "running"},
             "l1": {"state": "evicted"}}, "interchangeable": [["l0", "l1"]]})");
  s["rounds"] = {{"untilMatch", 2}, {"stableAfter", 5}};
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["rounds"]["untilMatch"] = 1;
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("is nominated"));
}

TEST(Converge, WhatChangesAfterwardsIsAFailure) {
  Json s = Preemption("converge", R"({"pods": {"h": {"state": "nominated"}}})");
  s["rounds"] = {{"untilMatch", 1}, {"stableAfter", 1}};
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("passes later"));
}

TEST(Converge, PodsThatStayHoldWhatTheyHave) {
  Json s = Preemption("converge", R"({"pods": {"h": {"state": "nominated"}}})");
  s["gangs"][0]["evictedPodsStayTerminating"] = true;
  s["rounds"] = {{"untilMatch", 3}, {"stableAfter", 2}};
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
}

TEST(Cycle, SharesOfOneDeviceAreWhereTheirLabelSays) {
  // The two halves sit on one device of node a; a whole one is left there.
  const std::string gangs = R"([
    {"name": "s", "queue": "q", "minMember": 2, "order": 0, "pods": [
      {"name": "s0", "gpuShare": {"fraction": 0.5, "devices": 1},
       "gpuDevices": ["x"], "state": "running", "node": "a"},
      {"name": "s1", "gpuShare": {"fraction": 0.5, "devices": 1},
       "gpuDevices": ["LABEL"], "state": "running", "node": "a"}]},
    {"name": "w", "queue": "q", "minMember": 3, "order": 1, "pods": )" +
                            Pods("w", 3, kOneGpu) + "}]";
  const std::string expect = R"({"pods": {"w-0": {"state": "placed"}},
    "nodes": {"a": {"idleGpus": 0}}})";
  const auto with = [&](const char* label) {
    std::string text = gangs;
    return TwoNodes("cycle", text.replace(text.find("LABEL"), 5, label),
                    expect);
  };
  EXPECT_EQ(RunJson(with("x")).verdict, Verdict::kPass)
      << RunJson(with("x")).why;
  EXPECT_EQ(RunJson(with("y")).verdict, Verdict::kFail);
}

TEST(Cycle, APodStuckInTerminationIsNoVictimAndFreesNothing) {
  const Json s = TwoNodes("cycle", R"([
    {"name": "old", "queue": "q", "minMember": 2, "order": 0, "pods": [
      {"name": "o0", "requests": {"gpu": 2}, "state": "stuck-terminating",
       "node": "a"},
      {"name": "o1", "requests": {"gpu": 2}, "state": "stuck-terminating",
       "node": "b"}]},
    {"name": "new", "queue": "q", "priority": 5, "minMember": 1, "order": 1,
     "pods": [{"name": "n", "requests": {"gpu": 1}}]}])",
                          R"({"pods": {"n": {"state": "pending"},
                              "o0": {"state": "stuck-terminating"}}})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
}

TEST(Cycle, ATerminatingPodIsWaitedFor) {
  const Json s = TwoNodes("cycle", R"([
    {"name": "old", "queue": "q", "minMember": 2, "order": 0, "pods": [
      {"name": "o0", "requests": {"gpu": 2}, "state": "terminating",
       "node": "a"},
      {"name": "o1", "requests": {"gpu": 2}, "state": "terminating",
       "node": "b"}]},
    {"name": "new", "queue": "q", "minMember": 1, "order": 1,
     "pods": [{"name": "n", "requests": {"gpu": 2}}]}])",
                          R"({"pods": {"n": {"state": "nominated"},
                              "o0": {"state": "terminating"}}})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
}

TEST(Cycle, RoleMinimaBindWhereTheGangsOwnCoversThem) {
  const auto with_minimum = [](int minimum, const char* state) {
    Json s = TwoNodes(
        "cycle", R"([{"name": "g", "queue": "q", "pods": [
        {"name": "m", "group": "master", "requests": {"gpu": 1},
         "nodeSelector": {"no": "where"}},
        {"name": "w", "group": "worker", "requests": {"gpu": 1}}],
        "roleMinMember": {"master": 1, "worker": 1}}])",
        std::string(R"({"pods": {"w": {"state": ")") + state + "\"}}}");
    s["gangs"][0]["minMember"] = minimum;
    return RunJson(s);
  };
  EXPECT_EQ(with_minimum(2, "unplaced").verdict, Verdict::kPass);
  EXPECT_EQ(with_minimum(1, "placed").verdict, Verdict::kPass);
}

TEST(Cycle, ATreeIsSatisfiedGroupByGroup) {
  const auto with = [](const char* tree, const char* state) {
    Json s = TwoNodes(
        "cycle", R"([{"name": "g", "queue": "q", "pods": [
        {"name": "x0", "group": "x", "requests": {"gpu": 1}},
        {"name": "x1", "group": "x", "requests": {"gpu": 2}},
        {"name": "y0", "group": "y", "requests": {"gpu": 3}}]}])",
        std::string(R"({"pods": {"x0": {"state": ")") + state + "\"}}}");
    s["gangs"][0]["tree"] = Parse(tree);
    return RunJson(s);
  };
  // Group y needs a node of three GPUs.
  EXPECT_EQ(with(R"({"children": [{"name": "x", "minMember": 2},
                                  {"name": "y", "minMember": 1}]})",
                 "pending")
                .verdict,
            Verdict::kPass);
  EXPECT_EQ(with(R"({"minChildren": 1,
                     "children": [{"name": "x", "minMember": 2},
                                  {"name": "y", "minMember": 1}]})",
                 "placed")
                .verdict,
            Verdict::kPass);
}

TEST(Cycle, AGangShortOfPodsIsRefusedAndWaits) {
  const Json s = TwoNodes("cycle", R"([{"name": "g", "queue": "q",
      "minMember": 3, "pods": [{"name": "p", "requests": {"gpu": 1}}]}])",
                          R"({"pods": {"p": {"state": "pending"}}})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
}

TEST(Cycle, WhatNobodyAnswersToIsNotSupported) {
  const char* const gangs = R"([{"name": "g", "queue": "q", "pods": [
      {"name": "p", "requests": {"gpu": 1}}]}])";
  const char* const expect = R"({"pods": {"p": {"state": "placed"}}})";
  const auto verdict = [&](const char* where, const char* patch) {
    Json s = TwoNodes("cycle", gangs, expect);
    s[Json::json_pointer(where)] = Parse(patch);
    const CaseResult result = RunJson(s);
    EXPECT_TRUE(result.verdict != Verdict::kUnsupported || !result.why.empty());
    return result.verdict;
  };
  EXPECT_EQ(verdict("/title", R"("none")"), Verdict::kPass);
  EXPECT_EQ(verdict("/gangs/0/pods/0/volumes", "1"), Verdict::kUnsupported);
  EXPECT_EQ(verdict("/gangs/0/pods/0/podAffinity", "[]"),
            Verdict::kUnsupported);
  EXPECT_EQ(verdict("/gangs/0/pods/0/deviceClaims", R"(["c"])"),
            Verdict::kUnsupported);
  EXPECT_EQ(verdict("/gangs/0/pods/0/state", R"("nominated")"),
            Verdict::kUnsupported);
  EXPECT_EQ(verdict("/cluster/nodes/0/numa", R"({"Zones": []})"),
            Verdict::kUnsupported);
  EXPECT_EQ(verdict("/queues/0/reclaimable", "false"), Verdict::kUnsupported);
  EXPECT_EQ(verdict("/kind", R"("dance")"), Verdict::kUnsupported);
  EXPECT_EQ(verdict("/expect/pods/stranger", R"({"state": "placed"})"),
            Verdict::kUnsupported);
}

}  // namespace
}  // namespace muster::conformance
