// What the page shows against what the simulation measured.
#include "adapters/report/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "adapters/inprocess/timeline.h"
#include "adapters/scenario/scenario.h"

namespace muster::inprocess {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A run that is recorded and, beside that, remembered in full.
struct Recorded {
  std::unique_ptr<VectorSource> jobs{};
  Timeline timeline{};
  std::unique_ptr<Recorder> recorder{};
  std::unique_ptr<Simulator> simulator{};
  RunRecord record{};
};

std::unique_ptr<Recorded> Record(const Setup& setup, std::vector<Job> jobs,
                                 const std::vector<WorldEvent>& events,
                                 HostModel host = {}, Time until = kForever,
                                 RecorderLimits limits = {}) {
  auto r = std::make_unique<Recorded>();
  r->jobs = std::make_unique<VectorSource>(std::move(jobs));
  r->recorder = std::make_unique<Recorder>(setup.config, &r->timeline, limits);
  auto made = Simulator::Create(
      setup, r->jobs.get(), events,
      {.host = std::move(host), .observer = r->recorder.get()});
  EXPECT_TRUE(made.ok()) << made.status();
  r->simulator = std::make_unique<Simulator>(*std::move(made));
  EXPECT_TRUE(r->simulator->Run(until).ok());
  r->record = r->recorder->Finish(*r->simulator);
  return r;
}

double Total(const BucketSeries& s, size_t column) {
  double sum = 0;
  for (size_t b = 0; b < s.size(); ++b) sum += s.sum(b, column);
  return sum;
}

// The charts add up to the figures of the table.
void ExpectEqualFigures(const Recorded& r) {
  const Metrics& m = r.simulator->metrics();
  const BucketSeries& s = r.record.series;
  const auto near = [](double a, double b) {
    EXPECT_NEAR(a, b, 1e-6 * std::abs(b) + 1e-9);
  };
  EXPECT_EQ(Total(s, kSubmitted),
            static_cast<double>(m.counts.submitted - m.counts.refused));
  EXPECT_EQ(Total(s, kFinished), static_cast<double>(m.counts.finished));
  for (size_t c = 0; c < 8; ++c) {
    near(Total(s, kLost + c), m.counts.lost_gpu_s[c]);
  }
  const size_t kinds = r.simulator->scheduler().config().resources.size();
  for (size_t k = 0; k < kinds; ++k) {
    const double capacity = Total(s, kFixedColumns + 2 * k + 1);
    if (capacity == 0) continue;
    near(Total(s, kFixedColumns + 2 * k) / capacity,
         m.Utilisation(static_cast<ResourceKind>(k)));
  }
  const auto share = [&](size_t part, size_t whole) {
    return Total(s, whole) > 0 ? Total(s, part) / Total(s, whole) : 0;
  };
  near(share(kPartlyMilli, kFreeMilli), m.PartlyUsedShare());
  near(share(kScatteredFree, kWholeFree), m.ScatteredShare());
  // Gang-seconds of waiting: every wait for a first start is part of them.
  double waits = 0;
  for (const Finished& f : m.finished) {
    waits += static_cast<double>(f.wait) / kSecond;
  }
  EXPECT_GE(Total(s, kWaitingGangs) + 1e-6, waits);
}

// The sampled gangs did what really happened.
void ExpectEqualStories(const Recorded& r) {
  for (const GangSample::Picked& picked : r.record.sample) {
    const GangRecord& g = *picked.gang;
    const GangStory* story = r.timeline.Find(g.key);
    ASSERT_NE(story, nullptr) << g.key;
    ASSERT_EQ(g.stints_in_all, story->intervals.size()) << g.key;
    for (size_t i = 0; i < g.stints.size(); ++i) {
      const Interval& was = story->intervals[i];
      EXPECT_EQ(g.stints[i].from, was.from) << g.key;
      EXPECT_EQ(g.stints[i].to, was.to) << g.key;
      EXPECT_EQ(g.stints[i].cause, was.cause) << g.key;
      EXPECT_EQ(g.stints[i].lost, was.lost) << g.key;
      EXPECT_EQ(g.stints[i].saved, was.saved) << g.key;
      EXPECT_EQ(g.stints[i].on_behalf_of, was.on_behalf_of) << g.key;
      std::vector<Size> sizes = was.sizes;
      sizes.resize(std::min(sizes.size(), Stint::kMaxSizes));
      EXPECT_EQ(g.stints[i].sizes, sizes) << g.key;
    }
  }
}

TEST(RecorderTest, TheStoriesAreRecordedAsTheyWent) {
  size_t stories = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(MUSTER_SCENARIO_DIR)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto s = LoadScenario(entry.path().string());
    ASSERT_TRUE(s.ok()) << s.status();
    const auto r = Record(s->setup, s->jobs, s->events, s->host);
    ExpectEqualFigures(*r);
    ExpectEqualStories(*r);
    EXPECT_EQ(r->record.sample.size(), r->timeline.Stories().size());
    EXPECT_TRUE(r->record.sample_complete);
    ++stories;
  }
  EXPECT_GE(stories, 6U);
}

struct RandomWorld {
  Setup setup{};
  std::vector<Job> jobs{};
  std::vector<WorldEvent> events{};

  RandomWorld(unsigned seed, int count) {
    std::mt19937_64 random(seed);
    setup.config.resources = {"gpu"};
    for (int n = 0; n < 8; ++n) {
      Node node{.key = "n" + std::to_string(n)};
      node.devices.assign(4, Device{});
      setup.nodes.push_back(std::move(node));
    }
    setup.queues = {{.key = "q"}};
    setup.priority_classes = {{.key = "low", .value = 0},
                              {.key = "high", .value = 10}};
    Time at = 100 * kSecond;
    for (int i = 0; i < count; ++i) {
      at += static_cast<Time>(random() % (40 * kSecond));
      Job job{.work = static_cast<Duration>(1 + random() % 600) * kSecond,
              .checkpoint_every = 60 * kSecond};
      job.gang.key = "g" + std::to_string(i);
      job.gang.queue = "q";
      job.gang.priority_class = random() % 4 == 0 ? "high" : "low";
      job.gang.submitted = at;
      job.gang.restart_cost = 5 * kSecond;
      const auto tasks = static_cast<uint32_t>(1 + random() % 12);
      Role& role = job.gang.roles.emplace_back();
      role.min_tasks = role.desired_tasks = tasks;
      role.shape.devices.count = 1;
      if (random() % 4 == 0) role.shape.devices.milli = 300;
      jobs.push_back(std::move(job));
    }
    for (int i = 0; i < count / 20; ++i) {
      const Time down = static_cast<Time>(random() % static_cast<size_t>(at));
      const std::string node = "n" + std::to_string(random() % 8);
      events.push_back({down, EventBody(NodeDown{node})});
      events.push_back({down + 300 * kSecond, EventBody(NodeUp{node})});
    }
  }
};

TEST(RecorderTest, ChartsAddUpToTheFiguresOfTheTable) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomWorld w(seed, 1500);
    const auto r = Record(w.setup, w.jobs, w.events);
    EXPECT_GT(r->simulator->metrics()
                  .counts.stops[static_cast<size_t>(StopCause::kPreempted)],
              0U);
    EXPECT_GT(r->simulator->metrics()
                  .counts.stops[static_cast<size_t>(StopCause::kNodeLost)],
              0U);
    ExpectEqualFigures(*r);
    ExpectEqualStories(*r);
    EXPECT_FALSE(r->record.sample_complete);
    EXPECT_EQ(r->record.gangs, 1500U);
  }
}

TEST(RecorderTest, EverythingStaysWithinItsLimits) {
  const RandomWorld w(9, 3000);
  const RecorderLimits limits{.buckets = 50,
                              .map_cells = 640,
                              .map_bytes = 4000,
                              .per_standing = 10,
                              .waiting = 5};
  const Time until = w.jobs[2900].gang.submitted;
  const auto r = Record(w.setup, w.jobs, w.events, {}, until, limits);
  const RunRecord& record = r->record;
  EXPECT_LE(record.series.size(), limits.buckets);
  EXPECT_LE(record.map.steps.size(), 21U);
  EXPECT_LE(record.map.changes.size(), limits.map_bytes);
  EXPECT_LE(record.sample.size(), 40U);
  EXPECT_EQ(record.waiting.size(), 5U);
  EXPECT_GT(record.waiting_in_all, 5U);
  // What is left works or waits.
  uint64_t waiting = 0;
  for (const std::string& key : r->simulator->Live()) {
    const GangStory* story = r->timeline.Find(key);
    waiting +=
        story->intervals.empty() || story->intervals.back().cause.has_value();
  }
  EXPECT_EQ(record.waiting_in_all, waiting);
  ExpectEqualFigures(*r);
}

TEST(RecorderTest, WhoWaitsAtTheEndIsListedWithTheReason) {
  inprocess::Setup setup;
  setup.config.resources = {"gpu"};
  setup.nodes = {{.key = "n"}};
  setup.nodes[0].devices.assign(4, Device{});
  setup.queues = {{.key = "q"}};
  std::vector<Job> jobs;
  for (const char* key : {"first", "second", "third"}) {
    Job& job = jobs.emplace_back();
    job.work = 100 * kSecond;
    job.gang.key = key;
    job.gang.queue = "q";
    Role& role = job.gang.roles.emplace_back();
    role.min_tasks = role.desired_tasks = 3;
    role.shape.devices.count = 1;
  }
  jobs[2].gang.submitted = 20 * kSecond;
  const auto r = Record(setup, jobs, {}, {}, 50 * kSecond);
  ASSERT_EQ(r->record.waiting.size(), 2U);
  const auto& [second, none_ahead] = r->record.waiting[0];
  EXPECT_EQ(second.key, "second");
  EXPECT_EQ(none_ahead, 0U);
  ASSERT_FALSE(second.reasons.empty());
  EXPECT_THAT(second.reasons.back().text,
              HasSubstr("insufficient: needs 3 GPUs, 1 available"));
  const auto& [third, one_ahead] = r->record.waiting[1];
  EXPECT_EQ(third.key, "third");
  EXPECT_EQ(one_ahead, 1U);
}

}  // namespace
}  // namespace muster::inprocess
