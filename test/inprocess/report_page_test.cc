// The page: hostile names stay text, and everything is in one file.
#include "adapters/inprocess/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/inprocess/sim_run.h"
#include "test/inprocess/test_files.h"

namespace muster::inprocess {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr WebBundle kBundle{.script = "run();", .style = "p{color:red}"};

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// The data as a browser reads it: the element ends at the first "</script".
json DataOf(const std::string& html) {
  const std::string begin = "id=\"muster-data\">";
  const size_t from = html.find(begin) + begin.size();
  return json::parse(html.substr(from, html.find("</script", from) - from));
}

const std::vector<std::string>& HostileKeys() {
  static const std::vector<std::string> keys = {
      "</script><script>alert(1)</script>",
      "<!--<script>",
      "]]>",
      "\"'`\\u003c\\",
      "a\nb\tc",
      "&lt;b&gt;",
      "\xe2\x80\xa8line",
      "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80",
      std::string("nul\0in", 6)};
  return keys;
}

TEST(ReportPageTest, HostileTextStaysText) {
  for (const std::string& key : HostileKeys()) {
    const std::string data = json{{"key", key}}.dump();
    const std::string html = HtmlPage(kBundle, key, data);
    EXPECT_EQ(DataOf(html)["key"], key);
    EXPECT_EQ(Count(html, "<script"), 2U) << key;
    EXPECT_EQ(Count(html, "</script"), 2U) << key;
    EXPECT_EQ(Count(html, "<!--"), 0U) << key;
    EXPECT_EQ(Count(html, "<title>"), 1U) << key;
  }
}

TEST(ReportPageTest, KeysThatAreNoUtf8AreReplacedEverywhere) {
  Report report{.title = "\xff\xfe"};
  report.left_over_first.push_back({.gang = "\xc3"});
  RunRecord record;
  auto gang = std::make_shared<GangRecord>();
  gang->key = "bad \xff key";
  record.sample.push_back({.gang = gang});
  const json page = json::parse(ReportPageJson(report, record, "\x80"));
  EXPECT_EQ(page["gangs"]["sample"][0]["key"], "bad \xef\xbf\xbd key");
  EXPECT_EQ(page["run"]["left_over"][0]["gang"], "\xef\xbf\xbd");
}

TEST(ReportPageTest, ThePageLoadsNothing) {
  const std::string html = HtmlPage(kBundle, "t", "{}");
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(html, HasSubstr("<style>p{color:red}</style>"));
  EXPECT_THAT(html, HasSubstr("<script>run();</script>"));
}

const char kStory[] = MUSTER_SCENARIO_DIR "/story-a-precious-node.yaml";

TEST(ReportPageTest, ARunWritesAPageWithTheFiguresThatItPrints) {
  if (!FindWebBundle("report").has_value()) {
    GTEST_SKIP() << "built without npm";
  }
  const TempFile page("page.html");
  const SimRun ran = Sim({"run", kStory, "--json", "--report", page.path()});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json data = DataOf(page.Read());
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

TEST(ReportPageTest, WithoutABundleItIsToldBeforeAnythingRuns) {
  if (FindWebBundle("report").has_value()) {
    EXPECT_TRUE(CheckWebBundle("report").ok());
    EXPECT_FALSE(CheckWebBundle("no such page").ok());
    return;
  }
  const TempFile page("page.html", "", false);
  const SimRun ran = Sim({"run", kStory, "--report", page.path()});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--report needs a build with npm"));
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(std::filesystem::exists(page.path()));
}

TEST(ReportPageTest, AFileThatCannotBeWrittenIsBadInput) {
  if (!FindWebBundle("report").has_value()) {
    GTEST_SKIP() << "built without npm";
  }
  const SimRun ran = Sim({"run", kStory, "--report", "/nowhere/at/all.html"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "muster-sim: /nowhere/at/all.html: cannot be written\n");
  EXPECT_EQ(ran.out, "");
}

}  // namespace
}  // namespace muster::inprocess
