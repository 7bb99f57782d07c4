#include "adapters/scenario/expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "adapters/inprocess/simulator.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two nodes in two racks; `wide` needs both, `late` follows, `giant` waits.
constexpr char kWorld[] = R"(
topologies: [{key: net, levels: [rack]}]
nodes:
  - {key: a, devices: 2, labels: {rack: x}}
  - {key: b, devices: 2, labels: {rack: y}}
gangs:
  - {key: wide, run: 10s, tasks: 4, per_task: {gpu: 1}}
  - {key: late, submit: 1s, run: 10s, tasks: 2, per_task: {gpu: 1}, topology: {required: rack}}
  - {key: giant, submit: 2s, run: 10s, tasks: 5, per_task: {gpu: 1}}
expect:
)";

// What is found wrong with these expectations.
std::vector<std::string> Failures(const std::string& expect) {
  const TempFile file("s.yaml", kWorld + expect);
  const auto s = LoadScenario(file.path());
  EXPECT_TRUE(s.ok()) << s.status();
  if (!s.ok()) return {"not loaded"};
  VectorSource jobs(s->jobs);
  Timeline timeline;
  auto simulator =
      Simulator::Create(s->setup, &jobs, s->events, {.observer = &timeline});
  EXPECT_TRUE(simulator.ok() && simulator->Run().ok());
  return Check(*s, timeline, simulator->scheduler()).failures;
}

TEST(ExpectationsTest, WhatHoldsIsNotTold) {
  EXPECT_THAT(Failures("  intervals:\n"
                       "    wide: [{from: 0s, to: 10s, tasks: 4, end: finished,"
                       " nodes: [a, a, b, b]}]\n"
                       "    late: [{from: 10s, to: 20s}]\n"
                       "  together: [{gang: late, level: rack}]\n"
                       "  waiting: {giant: never-fits}\n"
                       "  stopped: []\n"),
              IsEmpty());
}

TEST(ExpectationsTest, EveryPartOfAnIntervalIsCompared) {
  EXPECT_THAT(Failures("  intervals:\n"
                       "    wide: [{from: 1s, to: 9s, tasks: 3, by: late,"
                       " end: preempted, saved: 1s, nodes: [a]}]\n"),
              testing::SizeIs(7));
}

TEST(ExpectationsTest, AllIntervalsAreNamed) {
  EXPECT_THAT(Failures("  intervals: {wide: [], nobody: []}\n"),
              ElementsAre(HasSubstr("it ran 1 times, not 0: 0-10"),
                          HasSubstr("there is no such gang")));
}

TEST(ExpectationsTest, ASpreadGangIsNotTogether) {
  EXPECT_THAT(Failures("  together: [{gang: wide, level: rack}]\n"),
              ElementsAre(HasSubstr("gang wide is spread over /x, /y")));
  EXPECT_THAT(Failures("  together: [{gang: wide, level: host}]\n"),
              ElementsAre(HasSubstr("gang wide is spread over a, b")));
  EXPECT_THAT(Failures("  together: [{gang: giant, level: host}]\n"),
              ElementsAre(HasSubstr("never ran")));
}

TEST(ExpectationsTest, WaitingHasItsReason) {
  EXPECT_THAT(Failures("  waiting: {giant: held, wide: held}\n"),
              ElementsAre(HasSubstr("gang giant is waiting: "),
                          HasSubstr("gang wide does not wait")));
}

TEST(ExpectationsTest, StoppedGangsAreExactlyThese) {
  EXPECT_THAT(Failures("  stopped: [wide]\n"),
              ElementsAre(HasSubstr("stopped were: ")));
}

}  // namespace
}  // namespace muster::inprocess
