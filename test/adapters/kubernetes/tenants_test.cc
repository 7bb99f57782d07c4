// What a tenant writes into his objects gives him nothing that is not his.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/objects.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<UnscheduledRequest> Told(const FakeApi& api,
                                     const std::string& pod) {
  return SeenOfPod<UnscheduledRequest>(api, pod);
}

api::Queue QueueOf(const std::string& name,
                   std::vector<std::string> namespaces = {}) {
  api::Queue queue = QueueNamed(name);
  queue.has_namespaces = !namespaces.empty();
  queue.namespace_names = std::move(namespaces);
  return queue;
}

PodSpec ForgedJobPod(const std::string& name, const std::string& ns) {
  return {.name = name, .namespace_name = ns, .gpus = 1, .job = "theirs"};
}

// The only GPU is in use, and "waits" waits for it in queue "q".
void OneWaitsInQueue(FakeApi* api) {
  api->AddNode("n", 1);
  api->Put(QueueOf("q"));
  api->AddPod({.name = "first", .gpus = 1});
  api->Settle();
  api->AddPod({.name = "waits", .gpus = 1, .labels = {{kQueueLabel, "q"}}});
  api->Settle();
}

TEST(TenantsTest, AForgedOwnerIsAnotherGroup) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddPod(ForgedJobPod("attacker", "b"));
  api.Settle();
  api.AddPod(ForgedJobPod("victim", "a"));
  api.Settle();
  EXPECT_EQ(api.On("n"), "attacker victim");
}

TEST(TenantsTest, AForgedOwnerTakesNoKeyOfAnotherGroup) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddPod(
      {.name = "attacker", .namespace_name = "b", .gpus = 1, .job = "x"});
  api.EditPod("attacker", [](api::Pod& pod) {
    pod.meta.owners[0].uid = "group/default/g";
  });
  api.Settle();
  api.AddPod({.name = "victim",
              .gpus = 1,
              .labels = {{kPodGroupLabel, "g"}},
              .annotations = {{kMinPodsAnnotation, "1"}}});
  api.Settle();
  EXPECT_EQ(api.NodeOf("victim"), "n");
}

TEST(TenantsTest, AForgedOwnerGetsNoOlderPlace) {
  FakeApi api;
  api.AddNode("n", 1);
  api::Owner job;
  job.meta = {.name = "theirs", .namespace_name = "a", .uid = "job-theirs"};
  job.meta.creation = 1;
  api.Put(job);
  api.AddPod({.name = "first", .gpus = 1});
  api.Settle();
  api.AddPod({.name = "victim", .gpus = 1});
  api.Pass(10 * kSecond);
  api.AddPod(ForgedJobPod("attacker", "b"));
  api.Settle();
  api.Finish("first");
  api.Settle();
  EXPECT_EQ(api.On("n"), "victim");
}

TEST(TenantsTest, AGroupIsAsImportantAsItsLeastImportantPod) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddPod({.name = "victim", .gpus = 2, .priority = 5, .job = "victim"});
  api.Settle();
  // He may have one important pod, and makes it the first of many.
  api.AddGroup("g", 2);
  api.AddPod({.name = "a0",
              .gpus = 1,
              .priority = 9,
              .group = "g",
              .annotations = {{kTaskAnnotation, "0"}}});
  api.AddPod({.name = "a1",
              .gpus = 1,
              .group = "g",
              .annotations = {{kTaskAnnotation, "1"}}});
  api.Settle();
  EXPECT_EQ(api.On("n"), "victim");
}

TEST(TenantsTest, APodThatMayNotPreemptKeepsItsGroupFromIt) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddPod({.name = "victim", .gpus = 2, .job = "victim"});
  api.Settle();
  api.AddGroup("g", 2);
  for (const char* name : {"a0", "a1"}) {
    api.AddPod(
        {.name = name, .gpus = 1, .priority = 9, .group = "g", .gated = true});
  }
  api.EditPod("a1", [](api::Pod& pod) { pod.preemption_policy = "Never"; });
  for (const char* name : {"a0", "a1"}) {
    api.EditPod(name, [](api::Pod& pod) { pod.scheduling_gates.clear(); });
  }
  api.Settle();
  EXPECT_EQ(api.On("n"), "victim");
}

TEST(TenantsTest, AQueueOfOthersTakesNoPod) {
  FakeApi api;
  api.AddNode("n", 2);
  api.Put(QueueOf("rich", {"rich-ns"}));
  api.AddPod(
      {.name = "attacker", .gpus = 1, .labels = {{kQueueLabel, "rich"}}});
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.NodeOf("attacker"), "");
  ASSERT_FALSE(Told(api, "attacker").empty());
  EXPECT_THAT(Told(api, "attacker")[0].message,
              HasSubstr("queue 'rich' takes no pods of namespace 'default'"));
  api::MusterPodGroup group;
  group.meta.name = "g";
  group.queue = "rich";
  api.Put(group);
  api.AddPod(MemberOfG("sly"));
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.NodeOf("sly"), "");
}

TEST(TenantsTest, AQueueThatIsTakenAwayStartsNothingMore) {
  FakeApi api;
  OneWaitsInQueue(&api);
  api.Put(QueueOf("q", {"others"}));
  api.Finish("first");
  api.Settle();
  EXPECT_EQ(api.NodeOf("waits"), "");
  api.Put(QueueOf("q"));
  api.Settle();
  EXPECT_EQ(api.NodeOf("waits"), "n");
}

TEST(TenantsTest, AQueueThatIsGoneStartsNothingMore) {
  FakeApi api;
  OneWaitsInQueue(&api);
  api.RemoveQueue("q");
  api.Finish("first");
  api.Settle();
  EXPECT_EQ(api.NodeOf("waits"), "");
}

TEST(TenantsTest, AClosedQueueTakesWhatWaitsWhenItOpens) {
  FakeApi api;
  api.AddNode("n", 1);
  api::Queue queue = QueueOf("q");
  queue.closed = true;
  api.Put(queue);
  api.AddPod({.name = "w", .gpus = 1, .labels = {{kQueueLabel, "q"}}});
  api.Settle();
  EXPECT_EQ(api.NodeOf("w"), "");
  queue.closed = false;
  api.Put(queue);
  api.Settle();
  EXPECT_EQ(api.NodeOf("w"), "n");
}

// Resources that no node has do not use up the kinds there can be.
TEST(TenantsTest, InventedResourcesLeaveRoomForRealOnes) {
  FakeApi api;
  api.AddNode("n", 1);
  for (int i = 0; i < 100; ++i) {
    api.AddPod({.name = absl::StrCat("p", i), .gated = true});
    api.EditPod(absl::StrCat("p", i), [&](api::Pod& pod) {
      pod.requests[absl::StrCat("example.com/r", i)] = 1000;
      pod.scheduling_gates.clear();
    });
  }
  api.Pass(2 * kSecond);
  api.EditNode("n", [](api::Node& node) {
    node.allocatable["example.com/real"] = 1000;
  });
  api.AddPod({.name = "real", .gated = true});
  api.EditPod("real", [](api::Pod& pod) {
    pod.requests["example.com/real"] = 1000;
    pod.scheduling_gates.clear();
  });
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.NodeOf("real"), "n");
  EXPECT_EQ(api.NodeOf("p99"), "");
}

// So with topologies that nobody uses.
TEST(TenantsTest, InventedTopologiesStopNobodyElse) {
  FakeApi api;
  api.AddNode("n", 8, {{"rack", "r"}});
  for (int i = 0; i < 100; ++i) {
    api.AddGroup(absl::StrCat("g", i), 1, absl::StrCat("example.com/t", i));
    api.AddPod({.name = absl::StrCat("p", i), .group = absl::StrCat("g", i)});
  }
  api.AddGroup("too-long", 1, std::string(kMaxKeyLength + 1, 't'));
  api.AddPod({.name = "p-too-long", .group = "too-long"});
  api.Pass(2 * kSecond);
  api.EditNode("n", [](api::Node& node) {
    node.allocatable["example.com/real"] = 1000;
  });
  api.AddPod({.name = "w", .gpus = 1});
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.NodeOf("w"), "n");
  EXPECT_EQ(api.NodeOf("p-too-long"), "");
  EXPECT_THAT(Told(api, "p-too-long"), Not(IsEmpty()));
  EXPECT_THAT(api.controller().defects(), IsEmpty());
}

TEST(TenantsTest, WhatIsNotUnderstoodIsToldByItsField) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "p"});
  api.EditPod("p", [](api::Pod& pod) { pod.host_ports = {"TCP/0.0.0.0/80"}; });
  api.Pass(2 * kSecond);
  api.Pass(2 * kSecond);
  ASSERT_EQ(Told(api, "p").size(), 1u);
  EXPECT_THAT(Told(api, "p")[0].message, HasSubstr("hostPort"));
  EXPECT_EQ(api.NodeOf("p"), "");
}

TEST(TenantsTest, APodWhoseGroupIsMissingIsToldSo) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "p", .group = "none"});
  api.Pass(2 * kSecond);
  api.Pass(2 * kSecond);
  ASSERT_EQ(Told(api, "p").size(), 1u);
  EXPECT_THAT(Told(api, "p")[0].message,
              HasSubstr("PodGroup 'none' is not there"));
}

TEST(TenantsTest, KeysThatAreInventedLeaveRoomForThoseOfNodes) {
  FakeApi api;
  api.AddNode("n", 1, {{"rack", "a"}});
  for (int i = 0; i < 100; ++i) {
    api.AddGroup(absl::StrCat("t", i), 1, absl::StrCat("invented-", i));
    api.AddPod({.name = absl::StrCat("t", i), .group = absl::StrCat("t", i)});
  }
  api.Settle();
  api.AddGroup("g", 1, "rack");
  api.AddPod({.name = "w", .gpus = 1, .group = "g"});
  api.Pass(kSecond);
  EXPECT_EQ(api.NodeOf("w"), "n");
}

TEST(TenantsTest, WhoIsStoppedIsNotToldWhatOthersHave) {
  for (const char* ns : {"default", "elsewhere"}) {
    FakeApi api;
    api.AddNode("n", 1);
    api.AddPod({.name = "victim", .gpus = 1});
    api.Settle();
    api.AddPod(
        {.name = "secret", .namespace_name = ns, .gpus = 1, .priority = 100});
    api.Settle();
    std::string told;
    for (const EventRequest& event : EventsAbout(api, "Pod")) {
      if (event.reason == "Preempted") told = event.note;
    }
    EXPECT_EQ(told, std::string(ns) == "default"
                        ? "Stopped for default/secret"
                        : "Stopped for a group of another namespace");
  }
}

}  // namespace
}  // namespace muster::kubernetes
