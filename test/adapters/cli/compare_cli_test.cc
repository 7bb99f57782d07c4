// muster-sim compare from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "adapters/report/page.h"
#include "test/adapters/cli/sim_run.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Args = std::vector<std::string>;

SimRun Compare(Args args) {
  args.insert(args.begin(), "compare");
  return Sim(std::move(args));
}

const std::string kStory =
    std::string(MUSTER_SCENARIO_DIR) + "/story-a-precious-node.yaml";

// A day on 64 GPUs, three times.
const Args kGenerated = {"--generate", "preset=small,load=0.85,days=1",
                         "--seeds", "3"};

Args With(Args args, const Args& more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

const json& Measure(const json& j, const std::string& name) {
  for (const json& m : j["measures"]) {
    if (m["name"] == name) return m;
  }
  ADD_FAILURE() << "no measure " << name;
  return j;
}

TEST(CompareCliTest, TwoPoliciesMeetOnTheSameInputs) {
  const SimRun ran = Compare(With(
      kGenerated, {"--variant", "muster", "--variant",
                   "spread:placement.policy=least-allocated", "--json", "-"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json j = json::parse(ran.out);
  EXPECT_EQ(j["title"], "preset=small,load=0.85,days=1");
  EXPECT_EQ(j["seeds"], (json{1, 2, 3}));
  EXPECT_EQ(j["variants"][1]["settings"],
            (json{{"placement.policy", "least-allocated"}}));
  // Equal inputs: as many gangs; other nodes, so that other GPUs are whole.
  const json& finished = Measure(j, "gangs finished");
  EXPECT_EQ(finished["variants"][0]["values"],
            finished["variants"][1]["values"]);
  EXPECT_NE(finished["variants"][0]["values"][0],
            finished["variants"][0]["values"][1]);
  const json& scattered = Measure(j, "free GPUs scattered");
  EXPECT_NE(scattered["variants"][0]["values"],
            scattered["variants"][1]["values"]);
  EXPECT_EQ(scattered["variants"][1]["interval"].size(), 2U);
  EXPECT_LT(j["variants"][1]["same_decisions"], 3);
}

TEST(CompareCliTest, EqualArgumentsGiveEqualResults) {
  const Args args = With(kGenerated, {"--variant", "a:placement.policy=random",
                                      "--variant", "b", "--json", "-"});
  json results[2];
  for (json& j : results) {
    const SimRun ran = Compare(args);
    ASSERT_EQ(ran.code, 0) << ran.err;
    j = json::parse(ran.out);
    ASSERT_EQ(j["measures"].back()["name"], "CPU of passes");
    j["measures"].erase(j["measures"].size() - 1);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(CompareCliTest, TheTableHasAVerdictAMeasure) {
  const SimRun ran = Compare(With(
      kGenerated,
      {"--variant", "muster", "--variant", "patient:scheduler.preemption=false",
       "--variant", "again:scheduler.preemption=true"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("3 runs of each variant, seeds 1 to 3:\n"),
            HasSubstr("  patient  scheduler.preemption=false\n"),
            HasSubstr("95 % interval"), HasSubstr("wait, 99 %"),
            HasSubstr("no difference shown"), HasSubstr("not judged"),
            HasSubstr("again, compared with muster: the same decisions in "
                      "every run\n")));
}

TEST(CompareCliTest, TheFirstSeedIsThatOfTheOptions) {
  const SimRun ran =
      Compare({"--generate", "preset=small,days=0.25,seed=7", "--seeds", "2",
               "--variant", "a", "--variant",
               "b:placement.policy=least-allocated", "--json", "-"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["seeds"], (json{7, 8}));
}

TEST(CompareCliTest, AFileIsOneInputAndHasNoInterval) {
  const SimRun ran = Compare(
      {"--variant", "a", "--variant", "b:scheduler.preemption=false", kStory});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("1 run of each variant:"), HasSubstr("better here"),
            HasSubstr("There is one input"), Not(HasSubstr("95 % interval"))));
  const SimRun named = Compare({"--file", kStory, "--variant", "a", "--variant",
                                "b:scheduler.preemption=false", "--json", "-"});
  ASSERT_EQ(named.code, 0) << named.err;
  const json j = json::parse(named.out);
  EXPECT_EQ(j["seeds"], json::array());
  // test-p1 preempts test2 in the story; here no gang is stopped.
  const json& stops = Measure(j, "stops")["variants"];
  EXPECT_EQ(stops[0]["mean"], 1);
  EXPECT_EQ(stops[1]["mean"], 0);
  EXPECT_EQ(stops[1]["interval"], nullptr);
  EXPECT_EQ(stops[1]["verdict"], "better here");
}

TEST(CompareCliTest, PlacementByLotHasSeedsOnOneInputToo) {
  // Three GPUs are wanted: of one large node, or of two of four small ones.
  const TempFile file(
      "s.yaml",
      "nodes:\n"
      "  - {key: large, capacity: {cpu: 8}, devices: 8}\n"
      "  - {key: small, count: 4, capacity: {cpu: 2}, devices: 2}\n"
      "gangs: [{key: g, copies: 3, run: 10s, per_task: {gpu: 1}}]\n");
  const Args args = {file.path(),
                     "--variant",
                     "packed",
                     "--variant",
                     "lot:placement.policy=random",
                     "--json",
                     "-"};
  const SimRun ran = Compare(args);
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json j = json::parse(ran.out);
  EXPECT_EQ(j["seeds"], (json{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  const json& scattered = Measure(j, "free GPUs scattered")["variants"];
  for (const json& value : scattered[0]["values"]) {
    EXPECT_DOUBLE_EQ(value.get<double>(), 1.0 / 13) << "packed";
  }
  EXPECT_GT(scattered[1]["mean"], 1.0 / 13) << "the large one at times";
  const SimRun fixed =
      Compare({file.path(), "--variant", "packed", "--variant",
               "lot:placement.policy=random,placement.seed=3", "--json", "-"});
  EXPECT_EQ(json::parse(fixed.out)["runs"], 1) << "the seed is set";
}

TEST(CompareCliTest, FragmentationIsToldWhatJobsAskFor) {
  // It leaves the pair whole for those who want pairs, and does not take the
  // first node by its key, as it would if it did not know of them.
  const TempFile file("s.yaml",
                      "nodes:\n"
                      "  - {key: a-pair, capacity: {cpu: 8}, devices: 2}\n"
                      "  - {key: b-single, capacity: {cpu: 8}, devices: 1}\n"
                      "gangs:\n"
                      "  - {key: one, run: 10s, per_task: {gpu: 1}}\n"
                      "  - {key: two, submit: 1s, run: 9s, per_task: {gpu: "
                      "2}}\n");
  const SimRun ran = Compare(
      {file.path(), "--variant", "fgd:placement.policy=fragmentation",
       "--variant", "spread:placement.policy=least-allocated", "--json", "-"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json wait = Measure(json::parse(ran.out), "wait, 99 %");
  EXPECT_EQ(wait["variants"][0]["mean"], 0) << "both find room at once";
  EXPECT_EQ(wait["variants"][1]["mean"], 9) << "two waits for one";
}

TEST(CompareCliTest, MistakesAreOneLineBeforeAnythingRuns) {
  const Args two = {"--variant", "a", "--variant",
                    "b:placement.policy=least-allocated"};
  const struct {
    Args args;
    const char* error;
  } kCases[] = {
      {{kStory, "--variant", "a"}, "--variant: two or more are needed"},
      {{kStory, "--variant", "a", "--variant",
        "a:placement.policy=least-allocated"},
       "--variant a: there are two of this name"},
      {{kStory, "--variant", "a", "--variant", "b:placement.policy=x"},
       "--variant b: placement.policy: 'x' is none of: muster"},
      {With({kStory, "--seeds", "3"}, two), "--seeds: all runs would be alike"},
      {With({"--generate", "preset=huge"}, two), "--generate: preset: 'huge'"},
      {With({"/proc/no-such.yaml"}, two), "/proc/no-such.yaml: cannot be read"},
      {With({kStory, "--json", "/proc/no-such/folder/c.json"}, two),
       "/proc/no-such/folder/c.json: cannot be written"},
      {With({"--nodes", "n.csv"}, two), "trace: --pods is missing"},
  };
  for (const auto& c : kCases) {
    const SimRun ran = Compare(c.args);
    EXPECT_EQ(ran.code, 2) << c.error;
    EXPECT_THAT(ran.err, HasSubstr(c.error));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  EXPECT_EQ(Compare(two).code, 2) << "no input";
  EXPECT_EQ(Compare({kStory}).code, 2) << "no variant";
}

TEST(CompareCliTest, AMuriTraceIsComparedByPolicy) {
  const TempFile nodes("n.csv",
                       "num_switch,num_node_p_switch,num_gpu_p_node\n1,1,2\n");
  const TempFile jobs("j.csv",
                      "job_id,num_gpu,submit_time,iterations,model_name,"
                      "iteration_time,priority\n"
                      "1,2,0,100,m,1000,0\n2,2,10000,10,m,1000,5\n");
  const SimRun ran =
      Compare({"--format", "muri", "--nodes", nodes.path(), "--jobs",
               jobs.path(), "--variant", "fifo", "--variant",
               "urgent:policy=priority", "--json", "-"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json j = json::parse(ran.out);
  const json& stops = Measure(j, "stops")["variants"];
  EXPECT_EQ(stops[0]["mean"], 0);
  EXPECT_EQ(stops[1]["mean"], 1) << "the second job preempts the first";
}

TEST(CompareCliTest, ThePageHoldsTheResults) {
  const TempFile page("c.html", "", false);
  const Args args = {kStory,
                     "--variant",
                     "a</script>",
                     "--variant",
                     "b:scheduler.preemption=false",
                     "--page",
                     page.path()};
  const SimRun ran = Compare(args);
  if (!FindWebBundle("compare").has_value()) {
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("--page needs a build with npm"));
    EXPECT_FALSE(std::filesystem::exists(page.path()));
    return;
  }
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string html = page.Read();
  const std::string begin = "id=\"muster-data\">";
  const size_t from = html.find(begin) + begin.size();
  const json data =
      json::parse(html.substr(from, html.find("</script", from) - from));
  EXPECT_EQ(data["variants"][0]["name"], "a</script>");
  EXPECT_EQ(data["measures"].size(), 15U);
}

}  // namespace
}  // namespace muster::inprocess
