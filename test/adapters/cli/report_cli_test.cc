// muster-sim run --report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "adapters/report/page.h"
#include "test/adapters/cli/sim_run.h"
#include "test/adapters/report/page_data.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const char kPreciousNode[] = MUSTER_SCENARIO_DIR "/story-a-precious-node.yaml";

TEST(ReportCliTest, ARunWritesAPageWithTheFiguresThatItPrints) {
  if (!FindWebBundle("report").has_value()) {
    GTEST_SKIP() << "built without npm";
  }
  const TempFile page("page.html");
  const SimRun ran =
      Sim({"run", kPreciousNode, "--json", "--report", page.path()});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json data = PageDataOf(page.Read());
  json printed = json::parse(ran.out);
  EXPECT_EQ(data["run"], printed);
  EXPECT_EQ(data["title"], "(a) The precious node");
  EXPECT_THAT(data["story"].get<std::string>(), HasSubstr("has a GPU"));
  // test2 made room for test-p1, which the page tells.
  const json& test2 = data["gangs"]["sample"][1];
  EXPECT_EQ(test2["key"], "test2");
  EXPECT_EQ(test2["work"][0]["by"], "test-p1");
  EXPECT_EQ(test2["work"][0]["end"], "preempted");
  EXPECT_EQ(data["map"]["steps_s"], (json{0, 100, 150, 250, 310, 410}));
}

TEST(ReportCliTest, WithoutABundleItIsToldBeforeAnythingRuns) {
  if (FindWebBundle("report").has_value()) {
    EXPECT_TRUE(CheckWebBundle("report").ok());
    EXPECT_FALSE(CheckWebBundle("no such page").ok());
    return;
  }
  const TempFile page("page.html", "", false);
  const SimRun ran = Sim({"run", kPreciousNode, "--report", page.path()});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--report needs a build with npm"));
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(std::filesystem::exists(page.path()));
}

TEST(ReportCliTest, AFileThatCannotBeWrittenIsBadInput) {
  if (!FindWebBundle("report").has_value()) {
    GTEST_SKIP() << "built without npm";
  }
  const SimRun ran =
      Sim({"run", kPreciousNode, "--report", "/proc/nowhere/at/all.html"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err,
            "muster-sim: /proc/nowhere/at/all.html: cannot be written\n");
  EXPECT_EQ(ran.out, "");
}

}  // namespace
}  // namespace muster::inprocess
