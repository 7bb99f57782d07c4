#include "adapters/local/client/job_id.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using Kind = JobId::Kind;

TEST(JobIdTest, ReadsWhatPeopleType) {
  const std::pair<const char*, JobId> cases[] = {
      {"7", {.kind = Kind::kId, .first = 7}},
      {"7_3", {.kind = Kind::kElement, .first = 7, .index = 3}},
      {"7_0", {.kind = Kind::kElement, .first = 7, .index = 0}},
      {"7_*", {.kind = Kind::kElement, .first = 7}},
      {"2-10", {.kind = Kind::kRange, .first = 2, .last = 10}},
      {"2-10:2", {.kind = Kind::kRange, .first = 2, .last = 10, .step = 2}},
      {"last", {.kind = Kind::kLast}},
      {"@", {.kind = Kind::kLast}},
      {"@~2", {.kind = Kind::kLast, .first = 2}},
      {"all", {.kind = Kind::kAll}},
      {"train", {.kind = Kind::kName, .name = "train"}},
      {"train-2", {.kind = Kind::kName, .name = "train-2"}},
      {"7_x", {.kind = Kind::kName, .name = "7_x"}},
      {"99999999999999999999",
       {.kind = Kind::kName, .name = "99999999999999999999"}},
  };
  for (const auto& [text, id] : cases) {
    const auto read = ParseJobId(text);
    ASSERT_TRUE(read.ok()) << text << read.status();
    EXPECT_EQ(read->kind, id.kind) << text;
    EXPECT_EQ(read->name, id.name) << text;
    EXPECT_EQ(read->index, id.index) << text;
    if (id.kind == Kind::kName) continue;
    EXPECT_EQ(read->first, id.first) << text;
    EXPECT_EQ(read->last, id.last) << text;
    EXPECT_EQ(read->step, id.step) << text;
  }
}

TEST(JobIdTest, RefusesWhatNamesNoJob) {
  for (const char* text :
       {"", "0", "0_1", "0-5", "5-2", "1-5:0", "1-100001", "@~", "@x", "@~x"}) {
    EXPECT_EQ(ParseJobId(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
  EXPECT_TRUE(ParseJobId("1-100000").ok());
}

TEST(JobIdTest, ATaskStandsBehindADot) {
  EXPECT_EQ(SplitTask("7.worker-1").job, "7");
  EXPECT_EQ(SplitTask("7.worker-1").task, "worker-1");
  EXPECT_EQ(SplitTask("7.1").task, "1");
  EXPECT_EQ(SplitTask("last.0-3").task, "0-3");
  EXPECT_EQ(SplitTask("train.py").job, "train.py");
  EXPECT_EQ(SplitTask("train.py").task, "");
  EXPECT_EQ(SplitTask("train.py.worker-0").job, "train.py");
  EXPECT_EQ(SplitTask("7.-1").task, "");
}

TEST(IndicesTest, AreRangesAndNumbers) {
  EXPECT_THAT(*ParseIndices("0-9:3,4,4"), ElementsAre(0, 3, 4, 6, 9));
  EXPECT_THAT(*ParseIndices("7"), ElementsAre(7));
  for (const char* text : {"", ",", "x", "1-", "3-1", "1-4:0",
                           "0-4294967296:9999999", "0-100000"}) {
    EXPECT_FALSE(ParseIndices(text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::local
