// Answers as people read them, and answers that are none.
#include "adapters/kubernetes/plugin/answer_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace muster::kubernetes::plugin {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Queues(const Json& items) {
  const auto text = QueuesText(Json{{"items", items}}.dump());
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

TEST(QueuesTextTest, IsATreeWithWhatIsUsedOfLimits) {
  const Json limits = {{{"resource", "nvidia.com/gpu"}, {"limit", "8"}},
                       {{"resource", "memory"}, {"guarantee", "1024"}}};
  EXPECT_EQ(
      Queues({{{"name", "alice"}, {"parent", "research"}, {"held", true}},
              {{"name", "default"}, {"runningGroups", 3}, {"runningPods", 12}},
              {{"name", "research"},
               {"pendingGroups", 2},
               {"pendingPods", 9},
               {"used", {{"nvidia.com/gpu", "4"}, {"memory", "34359738368"}}},
               {"quotas", limits}}}),
      "QUEUE      STATE   PENDING   RUNNING   PODS PENDING   PODS RUNNING   "
      "USED\n"
      "default    open    0         3         0              12\n"
      "research   open    2         0         9              0              "
      "memory 32Gi, nvidia.com/gpu 4/8\n"
      "  alice    held    0         0         0              0\n");
}

TEST(QueuesTextTest, AQueueOfWhichNothingIsUsedShowsItsLimit) {
  const std::string text =
      Queues({{{"name", "q"},
               {"quotas", {{{"resource", "cpu"}, {"limit", "1500m"}}}}}});
  EXPECT_THAT(text, HasSubstr("cpu 0/1500m"));
}

TEST(QueuesTextTest, ParentsThatFormACircleOrLackAreShown) {
  const std::string text = Queues({{{"name", "a"}, {"parent", "b"}},
                                   {{"name", "b"}, {"parent", "a"}},
                                   {{"name", "c"}, {"parent", "missing"}}});
  EXPECT_THAT(text, HasSubstr("\na"));
  EXPECT_THAT(text, HasSubstr("\n  b"));
  EXPECT_THAT(text, HasSubstr("\nc"));
}

TEST(NodesTextTest, NamesWhatIsExceeded) {
  const auto text = NodesText(
      R"({"items": [{"name": "a", "exceeded": ["cpu", "pods", 1]}, {}]})");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "NODE   MORE IN USE THAN IT HAS OF\na      cpu, pods\n\n");
  EXPECT_FALSE(NodesText("[]").ok());
}

TEST(QueuesTextTest, WhyAQueueIsRefusedIsItsState) {
  EXPECT_THAT(Queues({{{"name", "q"}, {"refused", "no such parent"}}}),
              HasSubstr("refused: no such parent"));
}

TEST(ExplanationTextTest, SaysWhyItWaitsBehindWhomAndItsPods) {
  const Json json = {
      {"kind", "PodGroup"},
      {"namespace", "default"},
      {"name", "blue"},
      {"queue", "research"},
      {"phase", "waiting"},
      {"minPods", 2},
      {"pendingPods", 2},
      {"message", "insufficient: 2 nvidia.com/gpu needed, 0 there"},
      {"ahead", 1},
      {"pods",
       {{{"name", "blue-0"}, {"phase", "pending"}, {"node", ""}},
        {{"name", "blue-1"}, {"phase", "running"}, {"node", "n1"}}}},
      {"allPods", 5}};
  EXPECT_EQ(*ExplanationText(json.dump()),
            "PodGroup default/blue: waiting\n"
            "  why:       insufficient: 2 nvidia.com/gpu needed, 0 there\n"
            "  queue:     research, 1 group ahead of it\n"
            "  pods:      2 pending, 0 running, 2 needed\n"
            "\n"
            "POD      PHASE     NODE\n"
            "blue-0   pending\n"
            "blue-1   running   n1\n"
            "... and 3 more\n");
}

TEST(GroupsTextTest, SaysHowManyAreLeftOut) {
  const auto text = GroupsText(
      Json{{"items", {{{"kind", "Job"}, {"name", "j"}, {"namespace", "n"}}}},
           {"all", 3}}
          .dump());
  EXPECT_THAT(*text, HasSubstr("Job/j"));
  EXPECT_THAT(*text, HasSubstr("... and 2 more"));
}

TEST(WhatIfTextTest, ListsDecisionsOrSaysThatThereAreNone) {
  EXPECT_EQ(*WhatIfText(Json{
                {"decisions",
                 {{{"kind", "evict"},
                   {"namespace", "a"},
                   {"group", "g"},
                   {"onBehalfOf", "b/h"},
                   {"pods", 2},
                   {"nodes", {"n1", "n2"}}}}},
                {"complete",
                 false}}.dump()),
            "DECISION   GROUP   PODS   NODES   FOR\n"
            "evict      a/g     2      n1,n2   b/h\n"
            "The pass ended before it had looked at everything.\n");
  EXPECT_EQ(*WhatIfText(R"({"decisions": [], "complete": true})"),
            "Nothing would be decided.\n");
}

TEST(AnswerTextTest, NothingMovesTheCursor) {
  const Json json = {{"kind", "Pod"},
                     {"name", "x\x1b[2J"},
                     {"phase", "waiting"},
                     {"message",
                      "a\nb\r\xc2\x9b"
                      "31m"},
                     {"pods", {{{"name", "p\x1b]0;evil\x07"}}}}};
  const std::string text = *ExplanationText(
      json.dump(-1, ' ', true, Json::error_handler_t::replace));
  for (const char c : text) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
  }
  EXPECT_THAT(text, HasSubstr("why:       a b"));
  EXPECT_THAT(ErrorText("{\"error\": {\"message\": \"a\\u001b[2Jb\"}}"),
              Not(HasSubstr("\x1b")));
}

TEST(AnswerTextTest, WhatIsNoAnswerIsAnError) {
  for (const char* json :
       {"", "null", "[]", "<html>", "{}", R"({"items": 1, "decisions": {}})",
        R"({"items": [1], "pods": ["x"], "decisions": [[]]})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(QueuesText(json).status())) << json;
    EXPECT_TRUE(absl::IsInvalidArgument(GroupsText(json).status())) << json;
    EXPECT_TRUE(absl::IsInvalidArgument(ExplanationText(json).status()))
        << json;
    EXPECT_TRUE(absl::IsInvalidArgument(WhatIfText(json).status())) << json;
  }
  // Fields of other types are as if they were not there.
  EXPECT_TRUE(QueuesText(R"({"items": [{"name": 1, "used": [], "quotas": [1],
                             "parent": {}, "pendingPods": "x"}]})")
                  .ok());
  EXPECT_TRUE(WhatIfText(R"({"decisions": [{"nodes": [1, {}]}]})").ok());
}

TEST(AnswerTextTest, AnErrorIsItsMessageOrItsFirstLine) {
  EXPECT_EQ(ErrorText(R"({"error": {"code": 403, "message": "no"}})"), "no");
  EXPECT_EQ(ErrorText("plain\nmore"), "plain");
}

TEST(ReadableQuantityTest, BytesHaveUnits) {
  EXPECT_EQ(ReadableQuantity("memory", "512"), "512");
  EXPECT_EQ(ReadableQuantity("memory", "1024"), "1Ki");
  EXPECT_EQ(ReadableQuantity("memory", "1073741824"), "1Gi");
  EXPECT_EQ(ReadableQuantity("memory", "10485760"), "10Mi");
  EXPECT_EQ(ReadableQuantity("memory", "1100000000000"), "1024.5Gi");
  EXPECT_EQ(ReadableQuantity("memory", "1536"), "1536");
  EXPECT_EQ(ReadableQuantity("memory", "18446744073709551615"), "16.0Ei");
  EXPECT_EQ(ReadableQuantity("memory", "0"), "0");
  EXPECT_EQ(ReadableQuantity("memory", "2305843009213693952"), "2Ei");
  EXPECT_EQ(ReadableQuantity("ephemeral-storage", "2048"), "2Ki");
  EXPECT_EQ(ReadableQuantity("cpu", "4096"), "4096");
  EXPECT_EQ(ReadableQuantity("memory", "1500m"), "1500m");
}

}  // namespace
}  // namespace muster::kubernetes::plugin
