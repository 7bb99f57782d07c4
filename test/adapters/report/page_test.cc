// The page: hostile names stay text, and everything is in one file.
#include "adapters/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/adapters/report/page_data.h"

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
    EXPECT_EQ(PageDataOf(html)["key"], key);
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

}  // namespace
}  // namespace muster::inprocess
