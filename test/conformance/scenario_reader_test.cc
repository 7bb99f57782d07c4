#include "test/conformance/scenario_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/conformance/scenario_text.h"

namespace muster::conformance {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ErrorOf(const std::string& text) {
  return std::string(ReadScenario(text, "a.json").status().message());
}

TEST(ReadScenario, KeepsWhatTheFileSays) {
  const Scenario s = ReadOrDie(MakeScenario("cycle", Parse(R"({
    "cluster": {"nodes": [{"name": "n", "capacity": {"cpu": 2000},
                           "labels": {"zone": "a"}, "ready": false}]},
    "queues": [{"name": "q", "quotas": [{"resource": "cpu", "quota": 0.5}]}],
    "gangs": [{"name": "g", "queue": "q", "minMember": 2,
               "pods": [{"name": "p", "requests": {"cpu": 100},
                         "nodeSelector": {"zone": "a"},
                         "nodeSelectorIn": {"rack": ["1", "2"]}}]}],
    "expect": {"pods": {"p": {"state": "placed"}}, "placedCount": 1}})")));
  EXPECT_THAT(s.beyond, IsEmpty());
  ASSERT_EQ(s.cluster.nodes.size(), 1u);
  EXPECT_FALSE(s.cluster.nodes[0].ready);
  EXPECT_EQ(s.queues[0].quotas[0].quota, 0.5);
  EXPECT_FALSE(s.queues[0].quotas[0].limit.has_value());
  ASSERT_EQ(s.gangs[0].pods[0].selector.size(), 2u);
  EXPECT_THAT(s.gangs[0].pods[0].selector[1].values, ElementsAre("1", "2"));
  EXPECT_EQ(s.expect.placed_count, 1);
  EXPECT_EQ(s.expect.pods.at("p").state, "placed");
}

TEST(ReadScenario, KeepsWherePodsAreAndWhichNodesTheyLost) {
  const Scenario s = ReadOrDie(MakeScenario("placement", Parse(R"({
    "gangs": [{"name": "g", "unhealthyNodes": ["n"], "ownerKinds": ["Job"],
      "pods": [
        {"name": "p", "count": 2, "admittedCount": 1, "currentAssignment":
          {"levels": ["host"], "domains": [{"values": ["n"], "count": 2}]}},
        {"name": "r", "previousAssignment":
          {"levels": ["host"], "domains": [{"values": ["m"], "count": 1}]}}]}]
    })")));
  EXPECT_THAT(s.beyond, IsEmpty());
  EXPECT_THAT(s.gangs[0].unhealthy_nodes, ElementsAre("n"));
  const PodSpec& p = s.gangs[0].pods[0];
  EXPECT_EQ(p.admitted_count, 1);
  ASSERT_TRUE(p.current_assignment.has_value());
  EXPECT_EQ(p.current_assignment->domains[0].count, 2);
  EXPECT_FALSE(p.assignment || p.previous_assignment);
  EXPECT_TRUE(s.gangs[0].pods[1].previous_assignment.has_value());
}

TEST(ReadScenario, KnowsAPeerThatWasToldToSpread) {
  const auto spreads = [](const char* config) {
    Json top = MakeScenario("cycle", Json::object());
    top["peerConfig"] = Parse(config);
    return ReadOrDie(top).spreads;
  };
  EXPECT_TRUE(spreads(R"({"tiers": [{"plugins": [{"name": "gpupack"},
      {"name": "nodeplacement", "arguments": {"gpu": "spread"}}]}]})"));
  EXPECT_FALSE(spreads(R"({"tiers": [{"plugins": [
      {"name": "nodeplacement", "arguments": {"gpu": "binpack"}}]}]})"));
  EXPECT_FALSE(spreads(R"({"tiers": [{"plugins": [{"name": "gpuspread"}]}]})"));
  EXPECT_FALSE(spreads(R"({"tiers": [[{"name": "binpack"}]]})"));
  EXPECT_FALSE(spreads(R"({"fairSharing": true})"));
}

TEST(ReadScenario, NoJsonIsAnErrorWithItsPlace) {
  EXPECT_THAT(ErrorOf("{\n  \"schema\": ,"), HasSubstr("a.json"));
  EXPECT_THAT(ErrorOf("{\n  \"schema\": ,"), HasSubstr("line 2"));
}

TEST(ReadScenario, AWrongTypeIsAnErrorWithItsField) {
  EXPECT_EQ(ErrorOf(MakeScenario("cycle", {{"gangs", 7}}).dump()),
            "a.json: gangs: expected a list");
  EXPECT_EQ(ErrorOf(MakeScenario("cycle", Parse(R"({"gangs": [
              {"name": "a"}, {"name": "b", "order": "first"}]})"))
                        .dump()),
            "a.json: gangs[1].order: expected an integer");
  EXPECT_EQ(ErrorOf(MakeScenario("cycle", Parse(R"({"cluster": {"nodes": [
              {"name": "a", "capacity": {"cpu": "much"}}]}})"))
                        .dump()),
            "a.json: cluster.nodes[0].capacity.cpu: expected a number");
  EXPECT_EQ(ErrorOf("[1, 2]"), "a.json: the file: expected an object");
}

TEST(ReadScenario, AMissingFieldIsAnError) {
  Json scenario = MakeScenario("cycle", Parse(R"({"gangs": [{}]})"));
  EXPECT_EQ(ErrorOf(scenario.dump()),
            "a.json: gangs[0].name: expected the field to be there");
  scenario.erase("kind");
  EXPECT_THAT(ErrorOf(scenario.dump()), HasSubstr("kind"));
}

TEST(ReadScenario, AFieldNobodyKnowsIsRemembered) {
  const Scenario s = ReadOrDie(MakeScenario("cycle", Parse(R"({
    "weather": "fine",
    "gangs": [{"name": "g", "colour": "blue",
               "pods": [{"name": "p", "volumes": 2}]}]})")));
  EXPECT_THAT(s.beyond, Contains("field weather"));
  EXPECT_THAT(s.beyond, Contains("field gangs[0].colour"));
  EXPECT_THAT(s.beyond, Contains("field gangs[0].pods[0].volumes"));
}

TEST(ReadScenario, AFieldThatSaysNothingIsNoMatter) {
  const Scenario s = ReadOrDie(MakeScenario("cycle", Parse(R"({
    "gangs": [{"name": "g", "staleForSeconds": 0, "unhealthyNodes": []}]})")));
  EXPECT_THAT(s.beyond, IsEmpty());
}

TEST(ReadScenario, AnotherFormatIsBeyond) {
  Json scenario = MakeScenario("cycle", Json::object());
  scenario["schema"] = "muster-conformance/2";
  EXPECT_THAT(ReadOrDie(scenario).beyond,
              ElementsAre("schema muster-conformance/2"));
}

class ReadFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "scenarios-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::create_directories(folder_ / "deep" / "er");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  std::filesystem::path folder_;
};

TEST_F(ReadFolderTest, FindsScenariosAtAnyDepthInOrder) {
  Json b = MakeScenario("cycle", Json::object());
  Json a = b;
  a["id"] = "first";
  b["id"] = "second";
  Write("b.json", b.dump());
  Write("a.txt", "no scenario");
  Write("index.json", "[]");
  Write("deep/schema.json", "{}");
  Write("deep/er/a.json", a.dump());
  const auto found = ReadFolder(folder_.string());
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].id, "second");
  EXPECT_EQ((*found)[1].id, "first");
}

TEST_F(ReadFolderTest, NamesTheFileThatIsBroken) {
  Write("deep/broken.json", "{");
  EXPECT_THAT(std::string(ReadFolder(folder_.string()).status().message()),
              HasSubstr("broken.json"));
}

TEST_F(ReadFolderTest, AnEmptyOrMissingFolderIsAnError) {
  EXPECT_FALSE(ReadFolder(folder_.string()).ok());
  EXPECT_THAT(
      std::string(ReadFolder((folder_ / "no").string()).status().message()),
      HasSubstr("no such folder"));
}

}  // namespace
}  // namespace muster::conformance
