// What a job's time line tells of what is kept of it.
#include "adapters/local/api/timeline.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using OrderedJson = nlohmann::ordered_json;

Time At(int64_t seconds) { return seconds * kSecond; }

JobRow Job() { return {.id = 7, .submitted = At(100), .phase = "queued"}; }

TaskRow Attempt(uint32_t attempt, int64_t from, int64_t to,
                std::vector<uint32_t> devices, uint32_t index = 0) {
  return {.key = {.job = 7, .index = index, .attempt = attempt},
          .devices = std::move(devices),
          .state = to == 0 ? "run" : "ended",
          .started = At(from),
          .ended = to == 0 ? kForever : At(to)};
}

// "100 submitted", "120 preempted -5": with the work that was lost.
std::vector<std::string> Told(const JobRow& row,
                              const std::vector<TaskRow>& tasks,
                              const std::vector<NewsRow>& news) {
  std::vector<std::string> told;
  const OrderedJson line = TimelineJson(row, tasks, news);
  for (const OrderedJson& event : line["events"]) {
    told.push_back(absl::StrCat(event["at"].get<double>(), " ",
                                event["what"].get<std::string>()));
    if (event.contains("lost")) {
      absl::StrAppend(&told.back(), " -", event["lost"].get<double>());
    }
  }
  return told;
}

TEST(TimelineTest, AJobThatWaitsWasSubmitted) {
  EXPECT_THAT(Told(Job(), {}, {}), ElementsAre("100 submitted"));
}

TEST(TimelineTest, WhatWasDoneSinceTheLastCheckpointIsLost) {
  JobRow job = Job();
  job.phase = "succeeded";
  job.finished = At(190);
  EXPECT_THAT(
      Told(job, {Attempt(1, 110, 160, {0, 1}), Attempt(2, 170, 190, {2})},
           {{7, At(130), "checkpoint", "attempt 1"},
            {7, At(150), "preempted", ""},
            {7, At(180), "checkpoint", "attempt 2"}}),
      ElementsAre("100 submitted", "110 started", "130 checkpoint",
                  "150 preempted -30", "170 started again", "180 checkpoint",
                  "190 succeeded"));
}

TEST(TimelineTest, ACheckpointOnRequestIsBehindThePreemptionAndCounts) {
  EXPECT_THAT(Told(Job(), {Attempt(1, 110, 160, {0})},
                   {{7, At(150), "preempted", ""},
                    {7, At(158), "checkpoint", "attempt 1"}}),
              ElementsAre("100 submitted", "110 started", "150 preempted -2",
                          "158 checkpoint"));
}

TEST(TimelineTest, WithoutACheckpointAllWorkOfTheAttemptIsLost) {
  EXPECT_THAT(
      Told(Job(), {Attempt(1, 110, 160, {0}), Attempt(2, 170, 185, {0})},
           {{7, At(120), "checkpoint", "attempt 1"},
            {7, At(150), "preempted", ""},
            {7, At(185), "restarting", ""}}),
      ElementsAre("100 submitted", "110 started", "120 checkpoint",
                  "150 preempted -40", "170 started again",
                  "185 restarting -15"));
}

TEST(TimelineTest, WhatIsStillStoppingHasLostNothingYet) {
  EXPECT_THAT(
      Told(Job(), {Attempt(1, 110, 0, {0})}, {{7, At(150), "preempted", ""}}),
      ElementsAre("100 submitted", "110 started", "150 preempted"));
}

TEST(TimelineTest, AStartTellsItsTasksAndTheirDevices) {
  const OrderedJson line = TimelineJson(
      Job(), {Attempt(1, 110, 0, {3}), Attempt(1, 111, 0, {0, 1}, 1)}, {});
  EXPECT_EQ(line["events"][1]["text"], "2 tasks, GPU 0, 1, 3");
  EXPECT_EQ(line["attempts"].size(), 2u);
  EXPECT_EQ(line["attempts"][1]["task"], "0-1");
}

TEST(TimelineTest, ACancelledJobIsCancelled) {
  JobRow job = Job();
  job.phase = "forgotten";
  job.reason = "Cancelled";
  job.finished = At(101);
  EXPECT_THAT(Told(job, {}, {{7, At(100), "held", ""}}),
              ElementsAre("100 submitted", "100 held", "101 cancelled"));
}

}  // namespace
}  // namespace muster::local
