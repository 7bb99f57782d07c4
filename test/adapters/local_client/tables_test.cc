#include "adapters/local/client/tables.h"

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "adapters/local/client/queue_text.h"
#include "adapters/text/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

Json Job(uint64_t id, const std::string& name, const std::string& phase) {
  return {{"id", id},         {"name", name},       {"uid", 0},
          {"queue", "q"},     {"priority", "high"}, {"phase", phase},
          {"submitted", 10.0}};
}

TEST(TablesTest, TheQueueIsATableOfJobs) {
  Json running = Job(7, "train", "running");
  running["started"] = 100.5;
  Json waiting = Job(12, "über", "queued");
  waiting["why"] = "needs 2 gpu";
  Json held = Job(13, "x", "queued");
  held["held"] = true;
  held["array"] = 13;
  held["array_index"] = 4;
  const Json jobs{{"jobs", {running, waiting, held}}};
  EXPECT_EQ(QueueText(jobs.dump(), 3'761, false),
            "ID    NAME   QUEUE  PRIORITY  STATE    TIME     REASON\n"
            "7     train  q      high      running  1:01:00\n"
            "12    über   q      high      queued   -        needs 2 gpu\n"
            "13_4  x      q      high      held     -\n");
  EXPECT_THAT(QueueText(jobs.dump(), 0, true), HasSubstr("root"));
  EXPECT_EQ(QueueText("{\"jobs\":[]}", 0, false),
            "ID  NAME  QUEUE  PRIORITY  STATE  TIME  REASON\n");
}

TEST(TablesTest, NothingOfAJobMovesTheCursor) {
  const Json jobs{{"jobs",
                   {Job(1,
                        "a\033[2Jb\r\n\x7f\xc2\x9b"
                        "c",
                        "queued")}}};
  const std::string text = QueueText(jobs.dump(), 0, false);
  EXPECT_THAT(text, HasSubstr("a [2Jb    c"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(JobText(Job(1, "a\033[2J", "queued"), 0), Not(HasSubstr("\033")));
}

TEST(TablesTest, CpusOfATaskAreToldWhereOneHasItsOwn) {
  Json job = Job(1, "x", "running");
  job["tasks"] = {{{"task", "a-0"}, {"state", "run"}, {"cpus", {0, 1, 8}}},
                  {{"task", "a-1"}, {"state", "run"}}};
  EXPECT_THAT(JobText(job, 0), HasSubstr("DEVICES  CPUS   TIME"));
  EXPECT_THAT(JobText(job, 0), HasSubstr("-        0-1,8  -"));
  EXPECT_THAT(JobText(job, 0), HasSubstr("-        -      -"));
  job["tasks"].erase(0);
  EXPECT_THAT(JobText(job, 0), Not(HasSubstr("CPUS")));
}

TEST(TablesTest, TheHistoryTellsHowJobsEnded) {
  setenv("TZ", "UTC", 1);
  tzset();
  Json failed = Job(7, "train", "failed");
  failed["started"] = 100.0;
  failed["finished"] = 165.0;
  failed["exit_code"] = 3;
  failed["reason"] = "BackoffLimitExceeded";
  const std::string text =
      HistoryText({{"jobs", {failed, Job(6, "y", "forgotten")}}}, false);
  EXPECT_THAT(text, HasSubstr("failed"));
  EXPECT_THAT(text, HasSubstr("1:05  3     BackoffLimitExceeded"));
  EXPECT_THAT(text, HasSubstr("cancelled"));
}

TEST(TablesTest, WhatIsKeptNoMoreIsToldWithWhy) {
  const std::string text = RemovedText(Json::parse(R"({"jobs":[
    {"id":7,"name":"x","uid":0,"phase":"forgotten","finished":1.0,
     "removed":2.0,"why":"bytes","bytes":2048},
    {"id":6,"name":"y","uid":0,"phase":"failed","finished":1.0,
     "removed":2.0,"why":"ttl"}]})"));
  EXPECT_THAT(text, HasSubstr("2.0K   bytes"));
  EXPECT_THAT(text, HasSubstr("-      ttl"));
  EXPECT_THAT(text, HasSubstr("cancelled"));
}

TEST(TablesTest, CalendarsTellTheirNextStart) {
  const std::string text = CronsText(Json::parse(R"({"crons":[
    {"id":1,"name":"tick","uid":0,"schedule":"*/10 * * * *","concurrency":
     "Allow","suspended":false,"jobs":[7,8],"time_zone":"UTC","next":1000.0,
     "last":400.0,"said":"job 8"},
    {"id":2,"name":"tock","uid":0,"schedule":"@daily","concurrency":"Allow",
     "suspended":true,"jobs":[]}]})"),
                                     false);
  EXPECT_THAT(text, HasSubstr("*/10 * * * *  UTC"));
  EXPECT_THAT(text, HasSubstr("2        job 8"));
  EXPECT_THAT(text, HasSubstr("local  suspended"));
}

TEST(TablesTest, WhatIsDrainedIsToldWithItsReason) {
  const std::string text = NodesText(Json::parse(R"({"nodes":[{"name":"box",
    "capacity":{},"used":{},"others":{},
    "drained":{"since":1.0,"quarantine":false,"uid":0,"reason":"fan"},
    "devices":[{"index":0,"model":"","memory":0,"healthy":false,"others":0,
      "held":[],"drained":{"since":1.0,"quarantine":true,
      "reason":"tasks failed"}}]}]})"));
  EXPECT_THAT(text, HasSubstr("box drained: fan\n"));
  EXPECT_THAT(text, HasSubstr("quarantine: tasks failed"));
}

TEST(TablesTest, NodesTellWhoHoldsEachDevice) {
  const Json nodes = Json::parse(R"({"nodes":[{"name":"box",
    "capacity":{"cpu":8000,"memory":17179869184,"gpu":4000},
    "used":{"cpu":1500,"memory":0,"gpu":1500},"others":{"cpu":0},
    "devices":[
      {"index":0,"model":"H100","memory":85899345920,"healthy":true,
       "others":0,"held":[{"milli":500,"job":7},{"milli":500,"job":8}]},
      {"index":1,"model":"","memory":0,"healthy":true,"others":0,
       "held":[{"milli":1000,"job":9}]},
      {"index":2,"model":"","memory":0,"healthy":false,"others":1000,
       "held":[]},
      {"index":3,"model":"","memory":0,"healthy":true,"others":0,
       "held":[]}]}]})");
  EXPECT_EQ(NodesText(nodes),
            "box\n"
            "  RESOURCE  CAPACITY  USED  OTHERS\n"
            "  cpu       8         1.5   0\n"
            "  memory    16.0G     0B    0B\n"
            "  gpu       4         1.5   0\n"
            "  DEVICE  MODEL  MEMORY  HELD BY\n"
            "  0       H100   80.0G   7 (0.5), 8 (0.5)\n"
            "  1       -      -       9\n"
            "  2       -      -       others, unhealthy\n"
            "  3       -      -       -\n");
}

TEST(TablesTest, ANodeSaysWhyVolumesAreNotMounted) {
  const Json nodes = Json::parse(R"({"nodes":[{"name":"box","capacity":{},
    "used":{},"others":{},"devices":[],"no_mounts":"no namespace"}]})");
  EXPECT_THAT(NodesText(nodes),
              testing::EndsWith("  Volumes are not mounted: no namespace\n"));
}

TEST(TablesTest, AForecastSaysWhatWouldBecome) {
  const Json forecast = Json::parse(R"({"jobs":[
    {"name":"a","outcome":"starts","victims":[],"ahead":0,
     "places":[{"task":"task-0","devices":[0,1]}]},
    {"name":"b","outcome":"makes-room","victims":[4],"ahead":0,
     "places":[{"task":"task-0","devices":[1]}]},
    {"name":"c","outcome":"waits","victims":[],"places":[],"ahead":2,
     "why":"insufficient"}]})");
  EXPECT_EQ(ForecastText(forecast),
            "a would start now\n"
            "  task-0 on devices 0, 1\n"
            "b would start after\n"
            "  job 4 has made room\n"
            "  task-0 on device 1\n"
            "c would wait, behind 2 jobs: insufficient\n");
}

TEST(TablesTest, QueuesSayWhatTheyBorrowAndWhatTheyAreOwed) {
  const Json queues = Json::parse(R"({"queues": [
    {"name": "a", "running": 2, "used": {"cpu": 0, "gpu": 6000},
     "borrowed": {"cpu": 0, "gpu": 4000}, "unused": {"cpu": 0, "gpu": 0}},
    {"name": "b", "parent": "lab", "weight": 2, "waiting": 1, "held": true,
     "used": {"gpu": 0}, "borrowed": {"gpu": 0}, "unused": {"gpu": 2000},
     "notes": [
       {"kind": "more-below", "resource": "gpu", "asked": 8000,
        "available": 4000},
       {"kind": "more-than-nodes", "resource": "gpu", "asked": 16000,
        "available": 8500},
       {"kind": "not-stated", "resource": "cpu", "asked": 0, "available": 0}
     ]}]})");
  EXPECT_EQ(QueuesText(queues),
            "QUEUE  PARENT  WEIGHT  RUNNING  WAITING  STATE  USED   BORROWED  "
            "UNUSED\n"
            "a      -       1       2        0        open   gpu 6  gpu 4     "
            "-\n"
            "b      lab     2       0        1        held   -      -         "
            "gpu 2\n"
            "b: the queues below it are guaranteed 8 gpu, and it is 4\n"
            "b: the queues without a parent are guaranteed 16 gpu, and there "
            "are 8.5\n"
            "b: it is owed no cpu, of which a queue beside it is guaranteed "
            "some\n");
}

TEST(TablesTest, AnAnswerOfAnotherFormIsNoCrash) {
  for (const char* text :
       {"{}", R"({"jobs":[{}]})", R"({"nodes":[{}]})", R"({"queues":[{}]})"}) {
    const Json json = Json::parse(text);
    EXPECT_FALSE(QueueText(text, 0, false).empty());
    EXPECT_FALSE(HistoryText(json, false).empty());
    EXPECT_FALSE(RemovedText(json).empty());
    EXPECT_FALSE(CronsText(json, true).empty());
    EXPECT_FALSE(QueuesText(json).empty());
    NodesText(json);
    ForecastText(json);
    EXPECT_FALSE(JobText(json, 0).empty());
  }
}

TEST(TablesTest, SpansBytesAndThousandths) {
  EXPECT_EQ(SpanText(0), "0:00");
  EXPECT_EQ(SpanText(-5), "0:00");
  EXPECT_EQ(SpanText(67.9), "1:07");
  EXPECT_EQ(SpanText(2 * 86'400 + 3 * 3'600 + 240), "2d 03:04");
  EXPECT_EQ(BytesText(1'023), "1023B");
  EXPECT_EQ(BytesText(int64_t{16} << 30), "16.0G");
  EXPECT_EQ(MilliText(500), "0.5");
  EXPECT_EQ(MilliText(8'000), "8");
}

}  // namespace
}  // namespace muster::local
