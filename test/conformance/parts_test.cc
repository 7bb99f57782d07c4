// The parts of the runner that are worth a test by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/conformance/compare.h"
#include "test/conformance/device_book.h"
#include "test/conformance/flavors.h"
#include "test/conformance/kinds.h"
#include "test/conformance/report.h"
#include "test/conformance/scenario_text.h"
#include "test/conformance/session.h"
#include "test/conformance/translation.h"

namespace muster::conformance {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(DeviceBook, LabelsNameDevicesAndNumbersNameThemselves) {
  DeviceBook book(3, 8 * kGiB);
  const DeviceRequest half{.count = 1, .milli = 500};
  EXPECT_THAT(book.Enter(half, {"2"}), ElementsAre(2));
  EXPECT_THAT(book.Enter(half, {"some-uuid"}), ElementsAre(0));
  EXPECT_THAT(book.Enter(half, {"some-uuid"}), ElementsAre(0));
  EXPECT_THAT(book.Enter({.count = 1}, {}), ElementsAre(1));
  EXPECT_THAT(book.Enter({.count = 1}, {}), IsEmpty());
  const DeviceRequest memory{.count = 1, .milli = 0, .memory_bytes = 4 * kGiB};
  EXPECT_THAT(book.Enter(memory, {}), ElementsAre(2));
}

TEST(DeviceBook, SharesOfOnePodAreOnDifferentDevices) {
  const DeviceRequest two{.count = 2, .milli = 300};
  EXPECT_THAT(DeviceBook(2, 0).Enter(two, {"x", "y"}), ElementsAre(0, 1));
  EXPECT_THAT(DeviceBook(2, 0, 1).Enter(two, {"x", "y"}), IsEmpty());
}

// Labels are names that the peer gives devices. Where they name more devices
// than whole ones leave, what runs still has its devices.
TEST(DeviceBook, LabelsForWhichThereAreTooFewDevicesShareOne) {
  const auto devices_with = [](int gpus) {
    Json json = MakeScenario("cycle", Parse(R"({
      "cluster": {"nodes": [{"name": "n", "capacity": {"cpu": 1000}}]},
      "queues": [{"name": "q"}],
      "gangs": [{"name": "g", "queue": "q", "pods": [
          {"name": "two", "requests": {"gpu": 2}},
          {"name": "this", "gpuShare": {"fraction": 0.5},
           "gpuDevices": ["one"]},
          {"name": "that", "gpuShare": {"fraction": 0.5},
           "gpuDevices": ["other"]}]}]})"));
    json["cluster"]["nodes"][0]["capacity"]["gpu"] = gpus;
    for (Json& pod : json["gangs"][0]["pods"]) {
      pod.update({{"state", "running"}, {"node", "n"}});
    }
    std::vector<std::vector<uint32_t>> devices;
    const auto t = Translate(ReadOrDie(json));
    EXPECT_TRUE(t.ok()) << t.status().message();
    for (const Unit& unit : t->units) devices.push_back(unit.devices);
    return devices;
  };
  EXPECT_THAT(devices_with(4),
              ElementsAre(ElementsAre(2, 3), ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(devices_with(3),
              ElementsAre(ElementsAre(1, 2), ElementsAre(0), ElementsAre(0)));
}

TEST(Flavors, PodsThatOnlyStayTogetherAskForNoTopology) {
  const auto flavor_of = [](const char* topology) {
    Json json = MakeScenario("flavors", Parse(R"({
      "cluster": {"flavors": [{"name": "f"}]},
      "queues": [{"name": "q", "quotas": [
          {"resource": "cpu", "flavor": "f", "quota": 4000}]}],
      "gangs": [{"name": "g", "queue": "q", "pods": [
          {"name": "p", "requests": {"cpu": 1000}}]}]})"));
    json["gangs"][0]["pods"][0]["topology"] = Parse(topology);
    const Scenario s = ReadOrDie(json);
    return Flavors(s).Choices(s.gangs[0].pods[0], s.queues[0], {})[0].at("cpu");
  };
  EXPECT_EQ(flavor_of(R"({"colocateGroup": "together"})"), "f");
  for (const char* asks :
       {R"({"required": "rack"})", R"({"preferred": "rack"})",
        R"({"unconstrained": true})",
        R"({"slice": {"required": "rack", "size": 2}})"}) {
    EXPECT_EQ(flavor_of(asks), kNoFlavor) << asks;
  }
}

TEST(Kinds, UnitsAreWholeAndRoundedTheSafeWay) {
  const Scenario s = ReadOrDie(MakeScenario("cycle", Parse(R"({
    "cluster": {"nodes": [{"name": "n", "capacity":
        {"cpu": 1000, "gpu": 4, "memory": 144115188075855872, "pods": 5}}]},
    "gangs": [{"name": "g", "pods": [{"name": "p", "requests":
        {"cpu": 0.4, "memory": 1025, "gpu": 1}}]}]})")));
  const Kinds kinds(s);
  EXPECT_TRUE(kinds.gpus_are_devices());
  const Resources asked = kinds.Request(s.gangs[0].pods[0], s.cluster);
  const Resources there = kinds.Capacity(s.cluster.nodes[0], s.cluster);
  EXPECT_EQ(asked[kinds.Find("cpu")], 1);
  EXPECT_EQ(asked[kinds.Find("pods")], 1);
  EXPECT_EQ(asked[kinds.Find("gpu")], 0);  // They are devices.
  EXPECT_EQ(asked[kinds.Find("memory")], 2);
  EXPECT_EQ(there[kinds.Find("memory")], int64_t{1} << 47);
  EXPECT_LE(there[kinds.Find("memory")], Resources::kMaxQuantity);
}

TEST(Kinds, MoreGpusThanANodeHasDevicesAreCounted) {
  const Scenario s = ReadOrDie(MakeScenario("cycle", Parse(R"({
    "cluster": {"nodes": [{"name": "n", "capacity": {"gpu": 200}}]}})")));
  const Kinds kinds(s);
  EXPECT_FALSE(kinds.gpus_are_devices());
  EXPECT_EQ(kinds.Capacity(s.cluster.nodes[0], s.cluster)[kinds.Find("gpu")],
            200'000);
}

TEST(Kinds, PartitionsCountInAQuotaOfGpus) {
  const Scenario s = ReadOrDie(MakeScenario("cycle", Parse(R"({
    "cluster": {"nodes": [{"name": "n", "capacity":
        {"gpu": 1, "nvidia.com/mig-2g.10gb": 3}}]},
    "queues": [{"name": "q", "quotas": [{"resource": "gpu", "quota": 2}]}],
    "gangs": [{"name": "g", "pods": [{"name": "p",
        "requests": {"nvidia.com/mig-2g.10gb": 1},
        "mig": {"nvidia.com/mig-2g.10gb": 1}}]}]})")));
  const Kinds kinds(s);
  const ResourceKind quota = kinds.QuotaKind(s.queues[0].quotas[0]);
  EXPECT_EQ(kinds.Request(s.gangs[0].pods[0], s.cluster)[quota], 2000);
  EXPECT_EQ(kinds.Capacity(s.cluster.nodes[0], s.cluster)[quota], 7000);
}

TEST(Translate, AgesFollowTheOrderOfCreation) {
  const Scenario s = ReadOrDie(MakeScenario("cycle", Parse(R"({
    "queues": [{"name": "q"}],
    "gangs": [{"name": "young", "queue": "q", "order": 4,
               "pods": [{"name": "a"}]},
              {"name": "old", "queue": "q", "order": 1,
               "pods": [{"name": "b"}]}]})")));
  const auto t = Translate(s);
  ASSERT_TRUE(t.ok()) << t.status().message();
  EXPECT_GT(t->gangs[0].gang.submitted, t->gangs[1].gang.submitted);
}

TEST(Translate, ANonPreemptibleGangAndQuotasWithoutAShare) {
  Json json = MakeScenario("cycle", Parse(R"({
    "queues": [{"name": "leaf", "parent": "root",
                "quotas": [{"resource": "gpu", "limit": 2}]},
               {"name": "root"}],
    "gangs": [{"name": "g", "queue": "leaf", "preemptible": false,
               "pods": [{"name": "p"}]}]})"));
  auto t = Translate(ReadOrDie(json));
  ASSERT_TRUE(t.ok()) << t.status().message();
  EXPECT_FALSE(t->gangs[0].gang.preemptible);
  ASSERT_EQ(t->queues.size(), 2u);
  EXPECT_EQ(t->queues[0].key, "root");  // Parents first.
  EXPECT_EQ(t->queues[1].quotas[0].limit, 2000);
  EXPECT_EQ(t->queues[1].quotas[0].guarantee, 2000);  // All it may have.
  json["source"]["project"] = "Volcano";
  t = Translate(ReadOrDie(json));
  EXPECT_FALSE(t->queues[1].quotas[0].guarantee.has_value());
}

// There is room for one of four gangs, of which three are alike.
Scenario RoomForOneOfFour() {
  return ReadOrDie(MakeScenario("cycle", Parse(R"({
    "cluster": {"nodes": [{"name": "n", "capacity": {"cpu": 1000}}]},
    "queues": [{"name": "q"}],
    "gangs": [
      {"name": "a", "queue": "q", "order": 1,
       "pods": [{"name": "a0", "requests": {"cpu": 1000}}]},
      {"name": "b", "queue": "q", "order": 2,
       "pods": [{"name": "b0", "requests": {"cpu": 1000}}]},
      {"name": "c", "queue": "q", "order": 3,
       "pods": [{"name": "c0", "requests": {"cpu": 1000}}]},
      {"name": "d", "queue": "q", "order": 4,
       "pods": [{"name": "d0", "requests": {"cpu": 900}}]}]})")));
}

TEST(Session, WhatAPassHasAnsweredWaitsForAChange) {
  auto t = Translate(RoomForOneOfFour());
  ASSERT_TRUE(t.ok()) << t.status().message();
  auto session = Session::Open(*t, true);
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_EQ(session->WaitOf("d"), Wait::kNextPass);
  session->Pass();
  EXPECT_EQ(session->WaitOf("a"), Wait::kNone);
  EXPECT_EQ(session->WaitOf("b"), Wait::kUntilChange);
  EXPECT_EQ(session->WaitOf("c"), Wait::kUntilChange);  // Of the same class.
  EXPECT_EQ(session->WaitOf("d"), Wait::kUntilChange);
  EXPECT_EQ(session->WaitOf("e"), Wait::kUntilChange);
}

TEST(Session, WhatThePassesBudgetPutsOffIsLookedAtInTheNext) {
  auto t = Translate(RoomForOneOfFour());
  ASSERT_TRUE(t.ok()) << t.status().message();
  t->config.work_budget = 1;
  auto session = Session::Open(*t, true);
  ASSERT_TRUE(session.ok()) << session.status().message();
  session->Pass();
  EXPECT_EQ(session->WaitOf("d"), Wait::kNextPass);
  for (int pass = 0; pass < 10; ++pass) session->Pass();
  EXPECT_EQ(session->WaitOf("d"), Wait::kUntilChange);
}

TEST(Session, TellsWhatQueuesHeldBeforeThePass) {
  auto t = Translate(RoomForOneOfFour());
  ASSERT_TRUE(t.ok()) << t.status().message();
  auto session = Session::Open(*t, true);
  ASSERT_TRUE(session.ok()) << session.status().message();
  session->Pass();
  const ResourceKind cpu = 0;
  ASSERT_EQ(t->config.resources[cpu], "cpu");
  EXPECT_EQ(session->QueueUsageBefore("q")[cpu], 0);
  EXPECT_EQ(session->QueueUsage("q")[cpu], 1000);
  session->Pass();
  EXPECT_EQ(session->QueueUsageBefore("q")[cpu], 1000);
}

TEST(Session, AsksAboutAGangInThePlaceOfOneThatWaits) {
  auto t = Translate(RoomForOneOfFour());
  ASSERT_TRUE(t.ok()) << t.status().message();
  auto session = Session::Open(*t, true);
  ASSERT_TRUE(session.ok()) << session.status().message();
  session->Pass();
  Gang gang = t->gangs[3].gang;
  EXPECT_EQ(session->WhyWouldWait(gang), ReasonCode::kInsufficient);
  gang.roles[0].shape.resources.Set(0, 2000);
  EXPECT_EQ(session->WhyWouldWait(gang), ReasonCode::kNeverFits);
  gang.roles[0].shape.resources.Set(0, 0);
  EXPECT_EQ(session->WhyWouldWait(gang), ReasonCode::kNone);
  gang.queue = "nowhere";
  EXPECT_EQ(session->WhyWouldWait(gang), std::nullopt);
  EXPECT_EQ(session->WaitOf("d"), Wait::kUntilChange);  // As it was.
}

TEST(StateMatches, OnePassIsStricterThanSeveral) {
  EXPECT_TRUE(StateMatches("unplaced", "nominated", false));
  EXPECT_TRUE(StateMatches("unplaced", "pending", false));
  EXPECT_FALSE(StateMatches("unplaced", "placed", false));
  EXPECT_FALSE(StateMatches("pending", "nominated", false));
  EXPECT_FALSE(StateMatches("pending", "evicted", false));
  EXPECT_TRUE(StateMatches("pending", "evicted", true));
  EXPECT_FALSE(StateMatches("running", "placed", true));
}

TEST(Report, CountsByProjectKindAndGradeAndNamesWhatFails) {
  const std::vector<CaseResult> results = {
      {"a/1", "A", "cycle", "policy", Verdict::kPass, ""},
      {"a/2", "A", "cycle", "policy", Verdict::kFail, "too late"},
      {"b/1", "B", "victims", "policy", Verdict::kUnsupported, "no word"}};
  const std::string table = ToTable(results, false);
  EXPECT_THAT(table, HasSubstr("A cycle policy"));
  EXPECT_THAT(table, HasSubstr("a/2"));
  EXPECT_THAT(table, Not(HasSubstr("too late")));
  EXPECT_THAT(ToTable(results, true), HasSubstr("too late"));
  EXPECT_THAT(ToTable(results, true), HasSubstr("no word"));

  // A pass that takes no decision is told apart from the others.
  std::vector<CaseResult> null = results;
  for (CaseResult& r : null) r.verdict = Verdict::kFail;
  EXPECT_THAT(ToSummary(results, null), ContainsRegex("\nA +1 / 2 +1 / 2\n"));
  null[0].verdict = Verdict::kPass;
  const std::string summary = ToSummary(results, null);
  EXPECT_THAT(summary, ContainsRegex("\nA +1 / 2 +0 / 1\n"));
  EXPECT_THAT(summary, ContainsRegex("\nB +0 / 1 +0 / 1\n"));
  EXPECT_THAT(summary, ContainsRegex("\npolicy +1 / 3 +0 / 2\n"));
  EXPECT_THAT(summary, ContainsRegex("\ntogether +1 / 3 +0 / 2\n"));

  const Json json = Json::parse(ToJson(results));
  EXPECT_EQ(json["pass"], 1);
  EXPECT_EQ(json["fail"], 1);
  EXPECT_EQ(json["unsupported"], 1);
  ASSERT_EQ(json["cases"].size(), 3u);
  EXPECT_EQ(json["cases"][1],
            Parse(R"({"id": "a/2", "project": "A", "kind": "cycle",
                      "grade": "policy", "result": "fail",
                      "why": "too late"})"));
}

}  // namespace
}  // namespace muster::conformance
