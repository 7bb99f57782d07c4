// The stories of examples/scenarios, as they are told by the demo.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "adapters/inprocess/simulator.h"
#include "adapters/inprocess/timeline.h"
#include "adapters/scenario/expectations.h"
#include "adapters/scenario/scenario.h"

namespace muster::inprocess {
namespace {

std::string StoryFile(const std::string& name) {
  return std::string(MUSTER_SCENARIO_DIR) + "/" + name + ".yaml";
}

// Runs a story, checks what it promises, and returns what the demo prints.
std::string RunStory(const std::string& name) {
  const auto s = LoadScenario(StoryFile(name));
  EXPECT_TRUE(s.ok()) << s.status();
  if (!s.ok()) return {};
  VectorSource jobs(s->jobs);
  Timeline timeline;
  auto simulator = Simulator::Create(
      s->setup, &jobs, s->events,
      {.host = s->host, .observer = &timeline, .validate = true});
  EXPECT_TRUE(simulator.ok()) << simulator.status();
  if (!simulator.ok()) return {};
  const absl::Status run = simulator->Run();
  EXPECT_TRUE(run.ok()) << run;
  const absl::Status audit = simulator->Audit();
  EXPECT_TRUE(audit.ok()) << audit;
  EXPECT_EQ(simulator->metrics().counts.finished, s->jobs.size());
  EXPECT_TRUE(simulator->Live().empty());
  const CheckReport checks = Check(*s, timeline, simulator->scheduler());
  EXPECT_GT(checks.checked, 0);
  for (const std::string& failure : checks.failures) ADD_FAILURE() << failure;
  std::string lines;
  for (const GangStory* g : timeline.Stories()) {
    lines += g->key + ":";
    for (const Interval& i : g->intervals) lines += " " + ToText(i) + ";";
    lines += "\n";
  }
  return lines;
}

TEST(StoriesTest, ThePreciousNode) {
  EXPECT_EQ(RunStory("story-a-precious-node"),
            "test1: 0-100;\n"
            "test2: 100-150 preempted by test-p1 with 40 s saved and 10 s "
            "lost; 250-310;\n"
            "test3: 310-410;\n"
            "test-p1: 150-250;\n");
}

TEST(StoriesTest, AllOrNothing) { RunStory("story-b-all-or-nothing"); }

TEST(StoriesTest, EachBesideItsOwn) { RunStory("story-c-beside-its-own"); }

TEST(StoriesTest, OneRackCheaply) { RunStory("story-d-one-rack"); }

TEST(StoriesTest, ANodeDies) { RunStory("story-e-node-dies"); }

TEST(StoriesTest, TheUnrulyHost) { RunStory("story-f-unruly-host"); }

TEST(StoriesTest, TheElasticJobShrinksAndGrowsBack) {
  EXPECT_EQ(RunStory("story-g-elastic"),
            "elastic: 0-115 (4 tasks, 2 from 40, 4 from 70);\n"
            "short: 40-70;\n");
}

TEST(StoriesTest, ThreeShareInTurns) { RunStory("story-h-in-turns"); }

TEST(StoriesTest, TheLauncherComesLast) { RunStory("story-i-launcher"); }

TEST(StoriesTest, AStartOrderThatNeverBlocksItself) {
  RunStory("story-j-start-order");
}

TEST(StoriesTest, EveryScenarioOfTheExamplesHolds) {
  for (const auto& entry :
       std::filesystem::directory_iterator(MUSTER_SCENARIO_DIR)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().filename().string());
    RunStory(entry.path().stem().string());
  }
}

}  // namespace
}  // namespace muster::inprocess
