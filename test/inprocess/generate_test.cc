#include "adapters/inprocess/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "adapters/inprocess/scenario.h"
#include "test/inprocess/test_files.h"

namespace muster::inprocess {
namespace {

TEST(GenerateTest, MeetsThePublishedFigures) {
  const Generated g = Generate({.nodes = 1000, .jobs = 100'000});
  std::vector<Duration> run;
  double gpus = 0, single = 0;
  for (const Job& j : g.jobs) {
    const uint32_t n = j.gang.roles[0].desired_tasks;
    gpus += n;
    single += n == 1 ? 1 : 0;
    run.push_back(j.work / kSecond);
  }
  const double count = static_cast<double>(g.jobs.size());
  EXPECT_NEAR(gpus / count, 3.72, 0.1);
  EXPECT_GT(single / count, 0.5);
  std::ranges::sort(run);
  EXPECT_NEAR(static_cast<double>(run[50'000]), 616, 20);
  EXPECT_NEAR(static_cast<double>(run[90'000]), 7764, 2500);
  EXPECT_NEAR(static_cast<double>(run[99'000]), 114'348, 6000);
}

TEST(GenerateTest, AsksForTheLoad) {
  const Generated g =
      Generate({.nodes = 50, .jobs = 20'000, .load_percent = 80});
  double asked = 0;
  for (const Job& j : g.jobs) {
    asked += static_cast<double>(j.work) * j.gang.roles[0].desired_tasks;
  }
  const double window = static_cast<double>(g.jobs.back().gang.submitted);
  EXPECT_NEAR(asked / (window * 50 * 8), 0.8, 0.01);
}

TEST(GenerateTest, EqualSeedsGiveEqualWorkloads) {
  const GenerateOptions options{.seed = 7, .nodes = 8, .jobs = 200};
  std::ostringstream a, b, c;
  WriteScenario(Generate(options), options, a);
  WriteScenario(Generate(options), options, b);
  WriteScenario(Generate({.seed = 8, .nodes = 8, .jobs = 200}), options, c);
  EXPECT_EQ(a.str(), b.str());
  EXPECT_NE(a.str(), c.str());
}

TEST(GenerateTest, WhatIsWrittenIsReadTheSame) {
  const GenerateOptions options{.seed = 3, .nodes = 20, .jobs = 300};
  const Generated g = Generate(options);
  std::ostringstream text;
  WriteScenario(g, options, text);
  const TempFile file("generated.yaml", text.str());
  const auto s = LoadScenario(file.path());
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s->setup.nodes, g.setup.nodes);
  EXPECT_EQ(s->setup.queues, g.setup.queues);
  EXPECT_EQ(s->setup.priority_classes, g.setup.priority_classes);
  EXPECT_EQ(s->setup.config, g.setup.config);
  ASSERT_EQ(s->jobs.size(), g.jobs.size());
  for (size_t i = 0; i < g.jobs.size(); ++i) {
    EXPECT_EQ(s->jobs[i].gang, g.jobs[i].gang);
    EXPECT_EQ(s->jobs[i].work, g.jobs[i].work);
    EXPECT_EQ(s->jobs[i].checkpoint_every, g.jobs[i].checkpoint_every);
  }
  EXPECT_EQ(s->events.size(), g.events.size());
}

}  // namespace
}  // namespace muster::inprocess
