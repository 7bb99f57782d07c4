// Comparing variants: what is set, what is paired, how it is judged.
#include "adapters/experiments/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "adapters/experiments/variant.h"

namespace muster::inprocess {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

// --- Variants ----------------------------------------------------------------

struct Target {
  SchedulerConfig config{};
  HostModel host{};
  std::vector<Queue> queues{{.key = "a"}, {.key = "b"}};
  TracePolicy policy = TracePolicy::kFifo;
};

absl::Status Apply(const std::string& text, Target* t, bool trace = false) {
  const absl::StatusOr<Variant> v = ParseVariant(text);
  if (!v.ok()) return v.status();
  return ApplyVariant(*v, {.config = &t->config,
                           .host = &t->host,
                           .queues = &t->queues,
                           .policy = trace ? &t->policy : nullptr});
}

TEST(VariantTest, IsANameAndSettings) {
  const absl::StatusOr<Variant> v = ParseVariant(
      "packed:placement.policy=binpack,scheduler.preemption=false");
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(v->name, "packed");
  EXPECT_THAT(v->settings, ElementsAre(Pair("placement.policy", "binpack"),
                                       Pair("scheduler.preemption", "false")));
  EXPECT_EQ(SettingsText(*v),
            "placement.policy=binpack,scheduler.preemption=false");
  EXPECT_TRUE(ParseVariant("as-it-is")->settings.empty());
}

TEST(VariantTest, SetsWhatItNamesAndNothingElse) {
  Target t;
  t.config.placement.seed = 9;
  t.config.work_budget = 77;
  ASSERT_TRUE(
      Apply("v:placement.policy=least-allocated,scheduler.preemption=false,"
            "scheduler.backoff_base=1m,host.start_time=30s,"
            "queues.ordering=strict-fifo,host.capabilities.grace=false",
            &t)
          .ok());
  EXPECT_EQ(t.config.placement.policy, PlacementPolicy::kLeastAllocated);
  EXPECT_FALSE(t.config.preemption);
  EXPECT_EQ(t.config.backoff_base, 60 * kSecond);
  EXPECT_EQ(t.host.start_time, 30 * kSecond);
  EXPECT_FALSE(t.config.host.grace);
  EXPECT_EQ(t.queues[0].ordering, QueueOrdering::kStrictFifo);
  EXPECT_EQ(t.queues[1].ordering, QueueOrdering::kStrictFifo);
  EXPECT_EQ(t.config.placement.seed, 9U);
  EXPECT_EQ(t.config.work_budget, 77U);
  EXPECT_TRUE(t.config.host.shrink);
}

TEST(VariantTest, EveryPlacementPolicyCanBeNamed) {
  for (const std::string_view name : EnumNames(PlacementPolicy{})) {
    Target t;
    EXPECT_TRUE(Apply("v:placement.policy=" + std::string(name), &t).ok());
    EXPECT_EQ(Name(t.config.placement.policy), name);
  }
}

TEST(VariantTest, MistakesNameTheKeyAndWhatIsAllowed) {
  const struct {
    const char* text;
    const char* error;
  } kCases[] = {
      {"v:placement.policy=tetris",
       "--variant v: placement.policy: 'tetris' is none of: muster, binpack,"},
      {"v:placement.polcy=spread",
       "--variant v: placement: unknown key 'polcy' (known here: policy,"},
      {"v:polcy=spread",
       "--variant v: unknown key 'polcy' (known here: host, placement, queues, "
       "scheduler)"},
      {"v:policy=priority", "unknown key 'policy'"},  // No trace.
      {"v:scheduler.preemption=no", "'no' is neither true nor false"},
      {"v:scheduler.backoff_max=30",
       "scheduler.backoff_max: '30' lacks a unit"},
      {"v:scheduler.work_budget=-1", "scheduler.work_budget: '-1' is not"},
      {"v:queues.ordering=lifo", "best-effort-fifo, strict-fifo"},
      {"v:scheduler=1", "scheduler: expected a mapping"},
      {"v:a..b=1", "unknown key 'a'"},
      {"v:nonsense", "--variant v: 'nonsense' is not KEY=VALUE"},
      {"v:x=1,x=2", "--variant v: x is set twice"},
      {"v:x.y=1,x=2", "--variant v: x is set twice"},
      {"placement.policy=least-allocated", "should be NAME:KEY=VALUE"},
      {":placement.policy=least-allocated", "should be NAME:KEY=VALUE"},
      {"", "should be NAME:KEY=VALUE"},
  };
  for (const auto& c : kCases) {
    Target t;
    const absl::Status status = Apply(c.text, &t);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.error)) << c.text;
  }
}

TEST(VariantTest, ATracesPolicyIsAKeyOfTraces) {
  Target t;
  ASSERT_TRUE(Apply("v:policy=priority", &t, true).ok());
  EXPECT_EQ(t.policy, TracePolicy::kPriority);
  EXPECT_THAT(std::string(Apply("v:policy=sjf", &t, true).message()),
              HasSubstr("policy: 'sjf' is none of: fifo, priority"));
}

// --- Verdicts ----------------------------------------------------------------

PairedDifference Interval(double low, double high) {
  return {.mean = (low + high) / 2, .half_width = (high - low) / 2};
}

TEST(VerdictTest, FollowsTheDirectionOfTheMeasure) {
  EXPECT_EQ(Judge(Good::kLess, Interval(-3, -1)), Verdict::kBetter);
  EXPECT_EQ(Judge(Good::kLess, Interval(1, 3)), Verdict::kWorse);
  EXPECT_EQ(Judge(Good::kMore, Interval(1, 3)), Verdict::kBetter);
  EXPECT_EQ(Judge(Good::kMore, Interval(-3, -1)), Verdict::kWorse);
  EXPECT_EQ(Judge(Good::kNeither, Interval(1, 3)), Verdict::kNone);
}

TEST(VerdictTest, AnIntervalWithZeroShowsNothing) {
  EXPECT_EQ(Judge(Good::kLess, Interval(-1, 3)), Verdict::kNotShown);
  EXPECT_EQ(Judge(Good::kMore, Interval(0, 4)), Verdict::kNotShown);
  EXPECT_EQ(Judge(Good::kLess, Interval(0, 0)), Verdict::kEqual);
}

TEST(VerdictTest, OneInputIsJudgedForItselfAlone) {
  EXPECT_EQ(Judge(Good::kLess, {.mean = -1}), Verdict::kBetterHere);
  EXPECT_EQ(Judge(Good::kMore, {.mean = -1}), Verdict::kWorseHere);
  EXPECT_EQ(Judge(Good::kLess, {.mean = 0}), Verdict::kEqual);
}

TEST(MeasuresTest, EachHasTheDirectionThatPeopleWant) {
  Report r;
  r.all.wait.count = r.all.completion.count = 1;
  r.by_class.push_back({.name = "high", .wait = {.count = 1}});
  r.utilisation = {{"cpu", 0.1}, {"gpu", 0.5}};
  r.counts.stops[static_cast<size_t>(StopCause::kFinished)] = 100;
  r.counts.stops[static_cast<size_t>(StopCause::kPreempted)] = 3;
  r.counts.lost_gpu_s[static_cast<size_t>(StopCause::kPreempted)] = 7200;
  std::vector<std::string> less, more, neither;
  for (const Measured& m : MeasuresOf(r, "gpu")) {
    (m.measure.good == Good::kLess   ? less
     : m.measure.good == Good::kMore ? more
                                     : neither)
        .push_back(m.measure.name);
    if (m.measure.name == "stops") {
      EXPECT_EQ(m.value, 3);
    }
    if (m.measure.name == "GPU-hours lost") {
      EXPECT_EQ(m.value, 2);
    }
  }
  EXPECT_THAT(less,
              ElementsAre("wait, mean", "wait, 99 %", "wait of high, mean",
                          "wait of high, 99 %", "completion, mean",
                          "free GPUs partly used", "free GPUs scattered",
                          "GPU-hours lost", "stops", "makespan"));
  EXPECT_THAT(more, ElementsAre("GPUs used", "gangs finished"));
  EXPECT_THAT(neither, ElementsAre("CPU of passes"));
}

// --- Pairs -------------------------------------------------------------------

ComparedRun Ran(std::vector<std::pair<std::string, double>> values,
                uint64_t hash) {
  ComparedRun run{.decisions_hash = hash};
  for (auto& [name, value] : values) run.measured.push_back({{name}, value});
  return run;
}

TEST(CompareTest, ASeedIsComparedWithItself) {
  const Comparison c =
      Compare("t", {{.name = "a"}, {.name = "b"}}, {4, 5, 6}, true,
              {{Ran({{"w", 10}}, 1), Ran({{"w", 20}}, 2), Ran({{"w", 90}}, 3)},
               {Ran({{"w", 9}}, 1), Ran({{"w", 19}}, 7), Ran({{"w", 89}}, 8)}});
  ASSERT_EQ(c.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(c.rows[0].cells[0].mean, 40);
  const Comparison::Cell& b = c.rows[0].cells[1];
  EXPECT_THAT(b.values, ElementsAre(9, 19, 89));
  EXPECT_DOUBLE_EQ(b.difference->mean, -1);
  EXPECT_EQ(b.verdict, Verdict::kBetter);
  EXPECT_THAT(c.same, ElementsAre(3, 1));
}

TEST(CompareTest, ASeedWithoutAClassIsLeftOutOfItsPairs) {
  const Comparison c =
      Compare("t", {{.name = "a"}, {.name = "b"}}, {1, 2}, true,
              {{Ran({{"w", 1}, {"end", 5}}, 1),
                Ran({{"w", 1}, {"class", 8}, {"end", 5}}, 2)},
               {Ran({{"w", 1}, {"class", 2}, {"end", 5}}, 3),
                Ran({{"w", 1}, {"class", 3}, {"end", 5}}, 4)}});
  std::vector<std::string> names;
  for (const Comparison::Row& row : c.rows) names.push_back(row.measure.name);
  EXPECT_THAT(names, ElementsAre("w", "class", "end"));
  const Comparison::Row& row = c.rows[1];
  EXPECT_EQ(row.cells[0].values[0], std::nullopt);
  EXPECT_DOUBLE_EQ(row.cells[1].difference->mean, -5);
  EXPECT_EQ(row.cells[1].verdict, Verdict::kBetterHere);
}

TEST(CompareTest, JsonHasWhatIsDocumented) {
  const Comparison c =
      Compare("t \xff",
              {{.name = "a"}, {"b", {{"placement.policy", "least-allocated"}}}},
              {4, 5}, true,
              {{Ran({{"w", 10}}, 1), Ran({{"w", 20}}, 2)},
               {Ran({{"w", 12}}, 1), Ran({{"w", 22}}, 2)}});
  const json j = json::parse(ComparisonJson(c));
  EXPECT_EQ(j["title"], "t \xef\xbf\xbd");
  EXPECT_EQ(j["confidence"], 0.95);
  EXPECT_EQ(j["runs"], 2);
  EXPECT_EQ(j["seeds"], (json{4, 5}));
  EXPECT_EQ(j["variants"][0]["settings"], json::object());
  EXPECT_EQ(j["variants"][1]["settings"]["placement.policy"],
            "least-allocated");
  EXPECT_EQ(j["variants"][1]["same_decisions"], 2);
  const json& w = j["measures"][0];
  EXPECT_EQ(w["name"], "w");
  EXPECT_EQ(w["unit"], "s");
  EXPECT_EQ(w["better"], "less");
  EXPECT_EQ(w["variants"][0], (json{{"mean", 15.0}, {"values", {10.0, 20.0}}}));
  EXPECT_EQ(w["variants"][1]["difference"], 2.0);
  EXPECT_EQ(w["variants"][1]["interval"], (json{2.0, 2.0}));
  EXPECT_EQ(w["variants"][1]["verdict"], "worse");
}

TEST(CompareTest, TheTableTellsOfTheSameDecisionsAndNoMore) {
  const Comparison c =
      Compare("t", {{.name = "a"}, {.name = "b"}, {.name = "c"}}, {1, 2}, true,
              {{Ran({{"w", 100}}, 1), Ran({{"w", 200}}, 2)},
               {Ran({{"w", 100}}, 1), Ran({{"w", 200}}, 2)},
               {Ran({{"w", 40}}, 3), Ran({{"w", 140}}, 2)}});
  std::ostringstream out;
  PrintComparison(c, out);
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("2 runs of each variant, seeds 1 to 2"),
                    HasSubstr("b, compared with a: the same decisions in every "
                              "run"),
                    HasSubstr("-1.00 min (-40.0 %)"), HasSubstr("better"),
                    HasSubstr("in 1 run of 2 the decisions were the same"),
                    Not(HasSubstr("no interval"))));
}

}  // namespace
}  // namespace muster::inprocess
