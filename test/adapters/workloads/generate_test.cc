#include "adapters/workloads/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "adapters/inprocess/simulator.h"
#include "adapters/scenario/scenario.h"
#include "adapters/workloads/generate_cluster.h"
#include "adapters/workloads/generate_model.h"
#include "adapters/workloads/generate_stats.h"
#include "muster/scheduler.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

using testing::HasSubstr;

constexpr Preset kPresets[] = {Preset::kSmall, Preset::kMedium, Preset::kLarge};

std::string Yaml(const Generated& g) {
  std::ostringstream out;
  WriteScenario(g, out);
  return out.str();
}

// FNV-1a: what it says of a text is the same everywhere.
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

std::map<std::string, double> Values(const Generated& g) {
  std::map<std::string, double> values;
  for (const Statistic& s : StatisticsOf(g)) values[s.key] = s.value;
  return values;
}

double GpuSeconds(const GeneratedJob& j, int64_t from, int64_t to) {
  const TaskAsk& ask = JobSizes()[j.size].asks[j.ask];
  const int64_t begin = std::max<int64_t>(from, j.submit);
  const int64_t end = std::min<int64_t>(to, j.submit + int64_t{j.work});
  return static_cast<double>(std::max<int64_t>(0, end - begin)) *
         ask.gpu_milli * ask.tasks / 1000;
}

// Of a distribution's mean: the areas under its lines.
int64_t MeanSeconds(std::span<const Quantile> run_times) {
  int64_t sum = 0;
  for (size_t i = 1; i < run_times.size(); ++i) {
    sum += (run_times[i].per_mille - run_times[i - 1].per_mille) *
           (run_times[i].seconds + run_times[i - 1].seconds);
  }
  return sum / 2000;
}

// --- Options -----------------------------------------------------------------

TEST(GenerateOptionsTest, TextAndOptionsSayTheSame) {
  for (const std::string text :
       {"preset=small,load=0.85,seed=1,days=7",
        "preset=large,load=1,seed=9223372036854775807,days=0.25,no-spot",
        "preset=medium,load=0.7,seed=0,days=366,no-failures,no-spot,no-elastic,"
        "no-quotas,no-rhythm,no-warm-start"}) {
    const auto options = ParseGenerateOptions(text);
    ASSERT_TRUE(options.ok()) << options.status();
    EXPECT_EQ(ToText(*options), text);
  }
  EXPECT_EQ(*ParseGenerateOptions(""), GenerateOptions());
  EXPECT_EQ(ParseGenerateOptions("load=0.950")->load_permille, 950);
}

TEST(GenerateOptionsTest, AMistakeIsNamedWithWhatIsAllowed) {
  const auto error = [](std::string_view text) {
    return std::string(ParseGenerateOptions(text).status().message());
  };
  EXPECT_EQ(error("preset=tiny"),
            "preset: 'tiny' is not small, medium or large");
  for (const std::string load :
       {"0", "0.009", "2.001", "-1", "0.8501", "lots"}) {
    EXPECT_THAT(error("load=" + load),
                HasSubstr("load: '" + load + "' is not a number from 0.01"));
  }
  for (const std::string days : {"0", "0.3", "367", "", "7d"}) {
    EXPECT_THAT(error("days=" + days), HasSubstr("a multiple of 0.25"));
  }
  EXPECT_THAT(error("seed=-1"), HasSubstr("seed: '-1' is not"));
  EXPECT_THAT(error("seed=1,speed=2"), HasSubstr("no 'speed' (known: preset"));
  EXPECT_EQ(error("no-spot=1"), "no-spot: has no value");
}

// --- The cluster -------------------------------------------------------------

TEST(GenerateTest, ClustersHaveTheirSizes) {
  const std::map<Preset, std::pair<size_t, int64_t>> sizes = {
      {Preset::kSmall, {8, 64}},
      {Preset::kMedium, {1213, 6212}},
      {Preset::kLarge, {12'500, 100'000}}};
  for (const Preset preset : kPresets) {
    const Generated g = Generate({.preset = preset, .hours = 6});
    EXPECT_EQ(g.setup.nodes.size(), sizes.at(preset).first);
    EXPECT_EQ(g.gpus, sizes.at(preset).second);
    std::map<std::string, std::set<std::string>> above;
    for (const Node& n : g.setup.nodes) {
      above["rack " + n.labels[1].value].insert(n.labels[0].value);
      above["block " + n.labels[0].value].insert(n.labels[2].value);
    }
    for (const auto& [domain, wider] : above) {
      EXPECT_EQ(wider.size(), 1U) << domain << " lies in one wider domain";
    }
  }
}

TEST(GenerateTest, WhatIsGuaranteedIsThereAndEveryGangFitsItsQueue) {
  for (const Preset preset : kPresets) {
    const Generated g = Generate({.preset = preset, .hours = 6});
    const auto& queues = g.setup.queues;
    std::map<std::string, int64_t> below;
    int64_t all = 0;
    for (const Queue& q : queues) {
      const Quota& quota = q.quotas.at(0);
      if (q.parent.empty()) {
        all += *quota.guarantee;
        EXPECT_FALSE(quota.limit.has_value());
        continue;
      }
      below[q.parent] += *quota.guarantee;
      if (!quota.limit) continue;
      EXPECT_GE(*quota.limit, ModelOf(preset).most_gpus * 1000);
      EXPECT_GT(*quota.limit, *quota.guarantee);
    }
    EXPECT_LE(all, g.gpus * 900);
    EXPECT_GT(all, g.gpus * 800);
    for (const Queue& q : queues) {
      if (!q.parent.empty()) continue;
      EXPECT_EQ(below[q.key], *q.quotas[0].guarantee);
    }
  }
}

TEST(GenerateTest, ANodeIsUpOrAwayAndSpotNodesAreToldBefore) {
  const Generated g = Generate({.preset = Preset::kMedium, .seed = 3});
  std::map<std::string, std::vector<std::pair<Time, EventBody>>> by_node;
  for (const WorldEvent& e : g.events) {
    const EventBody& body = std::get<EventBody>(e.what);
    const std::string node = std::visit(
        [](const auto& b) -> std::string {
          if constexpr (requires { b.node.size(); }) return b.node;
          return "";
        },
        body);
    by_node[node].emplace_back(e.at, body);
  }
  size_t notices = 0, failures = 0;
  for (const auto& [node, events] : by_node) {
    ASSERT_NE(node, "");
    bool up = true;
    Time announced = 0;
    for (const auto& [at, body] : events) {
      if (const auto* spot = std::get_if<SpotNotice>(&body)) {
        EXPECT_TRUE(up) << node;
        EXPECT_EQ(spot->at, at + 120 * kSecond);
        announced = spot->at;
        ++notices;
      } else if (std::holds_alternative<NodeDown>(body)) {
        EXPECT_TRUE(up) << node;
        failures += announced == at ? 0 : 1;
        up = false;
      } else {
        ASSERT_TRUE(std::holds_alternative<NodeUp>(body));
        EXPECT_FALSE(up) << node;
        up = true;
      }
    }
    EXPECT_TRUE(up) << node << " comes back in the end";
  }
  EXPECT_GT(notices, 600U) << "121 spot nodes, seven days, one a day";
  EXPECT_NEAR(static_cast<double>(failures), 1213 * 7 * 6.5 / 1000, 25);
  EXPECT_TRUE(Generate({.failures = false, .spot = false}).events.empty());
}

// --- Jobs --------------------------------------------------------------------

// Every share is as the model says, and the model is near what was published.
TEST(GenerateTest, StatisticsAreThoseOfTheModel) {
  const Generated g = Generate({.preset = Preset::kLarge, .seed = 2});
  std::map<std::string, double> v = Values(g);
  EXPECT_GT(v["jobs"], 250'000);
  EXPECT_NEAR(v["no_gpu"], 0.1334, 0.003);
  EXPECT_NEAR(v["small_jobs"], 0.68, 0.004);
  EXPECT_NEAR(v["sharing_jobs"], 0.4404, 0.004);
  EXPECT_NEAR(v["large_jobs"], 0.10, 0.002);
  EXPECT_NEAR(v["mean_gpus"], 3.72, 0.1);
  EXPECT_NEAR(v["small_time"], 0.022, 0.004);
  EXPECT_NEAR(v["large_time"], 0.75, 0.03);
  EXPECT_NEAR(v["run_p50_sharing"], 357, 10);
  EXPECT_NEAR(v["run_p90_sharing"], 7102, 300);
  EXPECT_NEAR(v["run_p50_one"], 587, 20);
  EXPECT_NEAR(v["run_p90_one"], 5394, 300);
  EXPECT_NEAR(v["run_p99_one"], 170'469, 20'000);
  EXPECT_NEAR(v["run_p50_eight"], 7419, 1500);
  EXPECT_NEAR(v["run_p90_eight"], 309'155, 20'000);
  EXPECT_NEAR(v["busiest_hour"], 1.62, 0.04);
  EXPECT_NEAR(v["quietest_hour"], 0.40, 0.03);
  EXPECT_NEAR(v["busiest_day"], 1.41, 0.03);
  EXPECT_NEAR(v["quietest_day"], 0.55, 0.02);
  EXPECT_NEAR(v["first_tenant"], 0.191, 0.004);
  EXPECT_NEAR(v["high_one"], 0.82, 0.01);
  EXPECT_NEAR(v["failure_rate"], 6.5, 1);
  EXPECT_NEAR(v["spot_rate"], 24.0 / 25, 0.03);
}

TEST(GenerateTest, MeanRunTimesAreThoseOfTheTables) {
  const Generated g =
      Generate({.preset = Preset::kLarge, .seed = 4, .warm_start = false});
  std::map<uint8_t, std::pair<double, double>> sums;  // By size: time, count.
  for (const GeneratedJob& j : g.jobs) {
    sums[j.size].first += j.work;
    ++sums[j.size].second;
  }
  for (size_t s = 0; s < JobSizes().size(); ++s) {
    const auto [time, count] = sums[static_cast<uint8_t>(s)];
    const auto mean = static_cast<double>(MeanSeconds(JobSizes()[s].run_times));
    // Of the rarest there are some 150.
    EXPECT_NEAR(time / count / mean, 1, count > 2000 ? 0.06 : 0.3) << s;
  }
}

TEST(GenerateTest, AsksForTheLoad) {
  for (const Preset preset : kPresets) {
    for (const int64_t load : {700, 850, 950}) {
      const GenerateOptions options{
          .preset = preset, .seed = 7, .load_permille = load, .hours = 24};
      const Generated g = Generate(options);
      double asked = 0;
      for (const GeneratedJob& j : g.jobs) asked += GpuSeconds(j, 0, 86'400);
      const double got = asked / (static_cast<double>(g.gpus) * 86'400);
      EXPECT_NEAR(got, static_cast<double>(load) / 1000, 0.0001);
    }
  }
}

// The load is there from the first hour on; a cold start takes days to it, for
// the longest jobs run a week.
TEST(GenerateTest, AWarmStartIsTheSteadyState) {
  const auto share = [](const Generated& g, int64_t day) {
    double asked = 0;
    for (const GeneratedJob& j : g.jobs) {
      asked += GpuSeconds(j, day * 86'400, (day + 1) * 86'400);
    }
    return asked / (static_cast<double>(g.gpus) * 86'400);
  };
  GenerateOptions options{.preset = Preset::kLarge, .seed = 5, .rhythm = false};
  const Generated warm = Generate(options);
  for (int64_t day = 0; day < 7; ++day) {
    EXPECT_NEAR(share(warm, day), 0.85, 0.06) << "day " << day;
  }
  options.warm_start = false;
  const Generated cold = Generate(options);
  EXPECT_LT(share(cold, 0), 0.6);
  EXPECT_GT(share(cold, 6), 0.85);
}

TEST(GenerateTest, SwitchingAPartOffLeavesTheOthersAlone) {
  const GenerateOptions options{.preset = Preset::kMedium, .hours = 48};
  const Generated g = Generate(options);
  const auto same = [&](const GenerateOptions& other) {
    const Generated h = Generate(other);
    ASSERT_EQ(h.jobs.size(), g.jobs.size());
    for (size_t i = 0; i < g.jobs.size(); ++i) {
      const auto what = [](const GeneratedJob& j) {
        return std::tuple(j.submit, j.work, j.queue, j.size, j.ask, j.priority);
      };
      ASSERT_EQ(what(h.jobs[i]), what(g.jobs[i])) << ToText(other) << " " << i;
    }
  };
  for (const std::string_view part :
       {"no-failures", "no-spot", "no-elastic", "no-quotas"}) {
    GenerateOptions other = options;
    ASSERT_TRUE(SetGenerateOption(part, "", &other).ok());
    same(other);
  }
  GenerateOptions reliable = options;
  reliable.failures = false;
  const auto spot_only = Generate(reliable).events;
  reliable.spot = false;
  EXPECT_TRUE(Generate(reliable).events.empty());
  EXPECT_LT(spot_only.size(), g.events.size());
}

// --- Equal everywhere --------------------------------------------------------

// These numbers change only with the model; then the changelog says so.
TEST(GenerateTest, EqualOptionsGiveEqualWorkloadsOnEveryMachine) {
  EXPECT_EQ(HashOf(Yaml(Generate({.seed = 1}))), 13634080983630376390U);
  EXPECT_EQ(HashOf(Yaml(Generate({.preset = Preset::kMedium, .seed = 42}))),
            14217900036527683368U);
  EXPECT_NE(Yaml(Generate({.seed = 1})), Yaml(Generate({.seed = 2})));
}

TEST(GenerateTest, WhatIsWrittenIsReadTheSame) {
  const Generated g =
      Generate({.preset = Preset::kMedium, .seed = 3, .hours = 12});
  const TempFile file("generated.yaml", Yaml(g));
  const auto s = LoadScenario(file.path());
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s->title, ToText(g.options));
  EXPECT_EQ(s->setup.nodes, g.setup.nodes);
  EXPECT_EQ(s->setup.queues, g.setup.queues);
  EXPECT_EQ(s->setup.priority_classes, g.setup.priority_classes);
  EXPECT_EQ(s->setup.config, g.setup.config);
  ASSERT_EQ(s->jobs.size(), g.jobs.size());
  for (size_t i = 0; i < g.jobs.size(); ++i) {
    const Job job = g.MakeJob(i);
    ASSERT_EQ(s->jobs[i].gang, job.gang) << i;
    EXPECT_EQ(s->jobs[i].work, job.work);
    EXPECT_EQ(s->jobs[i].checkpoint_every, job.checkpoint_every);
  }
  ASSERT_EQ(s->events.size(), g.events.size());
  for (size_t i = 0; i < g.events.size(); ++i) {
    EXPECT_EQ(s->events[i].at, g.events[i].at);
    EXPECT_EQ(std::get<EventBody>(s->events[i].what).index(),
              std::get<EventBody>(g.events[i].what).index());
  }
}

TEST(GenerateTest, TheLargePresetBoundsItsPasses) {
  const auto large = MakeSetup({.preset = Preset::kLarge});
  EXPECT_GT(large.config.work_budget, 0U);
  Generated g = Generate({.hours = 6});
  g.setup.config.work_budget = large.config.work_budget;
  const TempFile file("generated.yaml", Yaml(g));
  const auto s = LoadScenario(file.path());
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s->setup.config, g.setup.config);
}

// --- Under the scheduler -----------------------------------------------------

// One of each kind of job that the preset has, alone on the whole cluster.
class KindsOfJobsTest : public testing::TestWithParam<Preset> {};

TEST_P(KindsOfJobsTest, EachStartsOnAnIdleCluster) {
  const Generated g = Generate({.preset = GetParam(), .seed = 6});
  absl::StatusOr<Scheduler> scheduler = Scheduler::Create(g.setup.config);
  ASSERT_TRUE(scheduler.ok()) << scheduler.status();
  const auto tell = [&](EventBody body) {
    const absl::Status status = scheduler->Apply({0, std::move(body)});
    ASSERT_TRUE(status.ok()) << status;
  };
  for (const Node& n : g.setup.nodes) tell(NodeChanged{n});
  for (const PriorityClass& c : g.setup.priority_classes) {
    tell(PriorityClassChanged{c});
  }
  for (const Queue& q : g.setup.queues) tell(QueueChanged{q});
  std::set<std::tuple<uint8_t, uint8_t, uint8_t, bool, bool, bool>> seen;
  Plan plan;
  for (size_t i = 0; i < g.jobs.size(); ++i) {
    const GeneratedJob& j = g.jobs[i];
    if (!seen.emplace(j.size, j.ask, j.model, j.priority == kLow, j.elastic,
                      j.one_block)
             .second) {
      continue;
    }
    Gang gang = g.MakeJob(i).gang;
    gang.submitted = 0;
    const std::string key = gang.key;
    tell(GangSubmitted{gang});
    scheduler->Schedule(0, &plan);
    ASSERT_FALSE(plan.decisions.empty()) << key << " of " << ToText(g.options);
    EXPECT_EQ(plan.decisions[0].kind, DecisionKind::kStart) << key;
    EXPECT_EQ(plan.tasks.size(), gang.roles[0].desired_tasks) << key;
    for (const Decision& d : plan.decisions) tell(DecisionApplied{d.seq});
    tell(GangFinished{key});
  }
  EXPECT_GT(seen.size(), 50U);
}

INSTANTIATE_TEST_SUITE_P(Presets, KindsOfJobsTest, testing::ValuesIn(kPresets),
                         [](const auto& preset) {
                           return std::string(Name(preset.param));
                         });

// Runs to the last end, with the real usage audited.
void RunAll(const GenerateOptions& options, bool validate) {
  const auto g = std::make_shared<const Generated>(Generate(options));
  const std::unique_ptr<JobSource> jobs = MakeSource(g);
  auto simulator = Simulator::Create(g->setup, jobs.get(), g->events,
                                     {.validate = validate});
  ASSERT_TRUE(simulator.ok()) << simulator.status();
  const absl::Status run = simulator->Run();
  ASSERT_TRUE(run.ok()) << run;
  const absl::Status audit = simulator->Audit();
  EXPECT_TRUE(audit.ok()) << audit;
  const Metrics::Counts& c = simulator->metrics().counts;
  EXPECT_EQ(c.submitted, g->jobs.size());
  EXPECT_EQ(c.finished, g->jobs.size()) << ToText(options);
  EXPECT_EQ(c.refused + c.cancelled + c.overcommits, 0U);
  EXPECT_TRUE(simulator->refusals().empty()) << simulator->refusals()[0].error;
}

TEST(GenerateTest, TheSmallOneRunsToItsEndAtEveryLoad) {
  for (const int64_t load : {700, 850, 950}) {
    RunAll({.seed = 11, .load_permille = load}, true);
  }
}

TEST(GenerateTest, AQuarterOfADayOfTheMediumOneRunsToItsEnd) {
  RunAll({.preset = Preset::kMedium, .seed = 12, .hours = 6}, false);
}

}  // namespace
}  // namespace muster::inprocess
