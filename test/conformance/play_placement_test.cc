// Kind placement, and topologies, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/conformance/scenario_text.h"

namespace muster::conformance {
namespace {

using ::testing::HasSubstr;

// Racks r1 (hosts a, b) and r2 (hosts c, d) of two pods a host.
Json Racks(const std::string& pods, const std::string& expect) {
  Json s = MakeScenario(
      "placement",
      {{"cluster", Parse(R"({"topologies": [
          {"name": "t", "levels": ["rack", "hostname"]}]})")},
       {"gangs",
        Parse(R"([{"name": "g", "state": "pending", "pods": )" + pods + "}]")},
       {"expect", Parse(expect)}});
  for (const char* node : {"a", "b", "c", "d"}) {
    const bool first = node[0] < 'c';
    s["cluster"]["nodes"].push_back(
        {{"name", node},
         {"capacity", {{"cpu", 2000}, {"pods", 10}}},
         {"labels", {{"rack", first ? "r1" : "r2"}, {"hostname", node}}}});
  }
  return s;
}

Json Relaxed(Json s) {
  s["grade"] = "generic-relaxed";
  return s;
}

std::string Main(int count, const std::string& topology) {
  return R"([{"name": "main", "count": )" + std::to_string(count) +
         R"(, "requests": {"cpu": 1000}, "topology": )" + topology + "}]";
}

TEST(Placement, MayNotNeedMoreDomainsThanThePeerWhereTheyAreBound) {
  const std::string pods = Main(6, R"({"preferred": "rack"})");
  const auto with = [&](int racks) {
    return RunJson(Relaxed(
        Racks(pods, R"({"domainCounts": {"main": {"rack": )" +
                        std::to_string(racks) + R"(, "hostname": 1}}})")));
  };
  EXPECT_EQ(with(2).verdict, Verdict::kPass) << with(2).why;
  EXPECT_EQ(with(1).verdict, Verdict::kFail);
  EXPECT_THAT(with(1).why, HasSubstr("2 domains of rack"));
}

TEST(Placement, InfeasibleIsInfeasible) {
  const std::string pods = Main(5, R"({"required": "rack"})");
  const Json s = Racks(pods, R"({"infeasible": {"main": "too many"}})");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  const Json fits = Racks(Main(4, R"({"required": "rack"})"),
                          R"({"infeasible": {"main": "too many"}})");
  EXPECT_EQ(RunJson(fits).verdict, Verdict::kFail);
  const Json hopes = Relaxed(Racks(pods, R"({"domainCounts": {}})"));
  EXPECT_EQ(RunJson(hopes).verdict, Verdict::kFail);
}

TEST(Placement, AnExactAssignmentIsComparedByDomain) {
  Json s = Racks(Main(4, R"({"required": "rack"})"), R"({"assignments": {
      "main": {"levels": ["rack"], "domains": [
        {"values": ["r2"], "count": 4}]}}})");
  s["gangs"][0]["pods"][0]["nodeSelector"] = {{"rack", "r2"}};
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
  s["gangs"][0]["pods"][0]["nodeSelector"] = {{"rack", "r1"}};
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
  EXPECT_THAT(RunJson(s).why, HasSubstr("r1:4"));
}

TEST(Placement, CountsUsageByOthersAndByDomain) {
  const std::string pods = Main(8, R"({"unconstrained": true})");
  const std::string placed = R"({"domainCounts": {}})";
  EXPECT_EQ(RunJson(Relaxed(Racks(pods, placed))).verdict, Verdict::kPass);
  Json foreign = Relaxed(Racks(pods, placed));
  foreign["cluster"]["foreignPods"] = Parse(R"([
      {"name": "f", "node": "a", "phase": "running", "requests": {"cpu": 1}}])");
  EXPECT_EQ(RunJson(foreign).verdict, Verdict::kFail);
  foreign["cluster"]["foreignPods"][0]["phase"] = "succeeded";
  EXPECT_EQ(RunJson(foreign).verdict, Verdict::kPass);
  Json used = Relaxed(Racks(pods, placed));
  used["cluster"]["domainUsage"] = Parse(R"([
      {"domain": ["r1", "b"], "perPod": {"cpu": 500}, "count": 1}])");
  EXPECT_EQ(RunJson(used).verdict, Verdict::kFail);
}

TEST(Placement, ANodeOutsideTheTopologyTakesNothing) {
  Json s = Relaxed(
      Racks(Main(8, R"({"unconstrained": true})"), R"({"domainCounts": {}})"));
  s["cluster"]["nodes"][3]["labels"].erase("hostname");
  EXPECT_EQ(RunJson(s).verdict, Verdict::kFail);
}

TEST(Placement, ALevelThatIsNotThereIsRefused) {
  const std::string pods = Main(1, R"({"required": "planet"})");
  EXPECT_EQ(RunJson(Racks(pods, R"({"infeasible": {"main": "?"}})")).verdict,
            Verdict::kPass);
  EXPECT_EQ(RunJson(Racks(pods, R"({"domainCounts": {}})")).verdict,
            Verdict::kFail);
}

TEST(Placement, SlicesStayTogether) {
  const Json s = Relaxed(
      Racks(Main(4, R"({"slice": {"required": "hostname", "size": 2}})"),
            R"({"domainCounts": {"main": {"rack": 2, "hostname": 2}}})"));
  EXPECT_EQ(RunJson(s).verdict, Verdict::kPass) << RunJson(s).why;
}

TEST(Placement, PodSetsOfOneGroupShareADomain) {
  const auto with = [](int workers) {
    return RunJson(Relaxed(Racks(
        R"([{"name": "leader", "count": 1, "requests": {"cpu": 2000},
             "topology": {"required": "rack", "colocateGroup": "x"}},
            {"name": "workers", "count": )" +
            std::to_string(workers) +
            R"(, "requests": {"cpu": 1000},
             "topology": {"required": "rack", "colocateGroup": "x"}}])",
        R"({"domainCounts": {"leader": {"rack": 1}, "workers": {"rack": 1}}})")));
  };
  EXPECT_EQ(with(2).verdict, Verdict::kPass) << with(2).why;
  EXPECT_EQ(with(3).verdict, Verdict::kFail);
}

TEST(Domains, TiersAreLevelsAndBoundFromAbove) {
  const auto with = [](const char* required, const char* state) {
    Json s = MakeScenario("cycle", Parse(R"({
      "cluster": {"topologies": [{"name": "net",
          "levels": ["tier-2", "tier-1"], "domains": [
            {"name": "all", "tier": 2, "nodes": ["a", "b", "c"]},
            {"name": "left", "tier": 1, "nodes": ["a", "b"], "parent": "all"},
            {"name": "right", "tier": 1, "nodes": ["c"], "parent": "all"}]}]},
      "queues": [{"name": "q"}],
      "gangs": [{"name": "g", "queue": "q", "minMember": 3,
                 "topology": {"topology": "net"}}]})"));
    for (const char* node : {"a", "b", "c"}) {
      s["cluster"]["nodes"].push_back(
          {{"name", node}, {"capacity", {{"cpu", 1000}}}});
      s["gangs"][0]["pods"].push_back(
          {{"name", std::string("p") + node}, {"requests", {{"cpu", 1000}}}});
    }
    s["gangs"][0]["topology"]["required"] = required;
    s["expect"]["pods"]["pa"]["state"] = state;
    return RunJson(s);
  };
  EXPECT_EQ(with("tier-1", "pending").verdict, Verdict::kPass);
  EXPECT_EQ(with("tier-2", "placed").verdict, Verdict::kPass);
  EXPECT_EQ(with("tier-7", "placed").verdict, Verdict::kPass);
  EXPECT_EQ(with("by-another-name", "placed").verdict, Verdict::kUnsupported);
}

}  // namespace
}  // namespace muster::conformance
