// ResourceQuotas of namespaces, read as limits of queues.
#include "adapters/kubernetes/model/namespace_quota.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::HasSubstr;

constexpr char kGpu[] = "nvidia.com/gpu";

api::ResourceQuota QuotaOf(const std::string& namespace_name,
                           api::ResourceList hard,
                           const std::string& name = "quota") {
  api::ResourceQuota quota;
  quota.meta = {.name = name, .namespace_name = namespace_name};
  quota.hard = std::move(hard);
  return quota;
}

TEST(PodLimitsTest, AreByTheNamesThatPodsUse) {
  EXPECT_EQ(PodLimits(QuotaOf("a", {{"requests.cpu", 4'000},
                                    {"memory", 8'000},
                                    {"requests.ephemeral-storage", 9'000},
                                    {"requests.nvidia.com/gpu", 2'000},
                                    {"requests.hugepages-2Mi", 1'000},
                                    {"pods", 10'000}})),
            (api::ResourceList{{"cpu", 4'000},
                               {"memory", 8'000},
                               {"ephemeral-storage", 9'000},
                               {kGpu, 2'000},
                               {"hugepages-2Mi", 1'000},
                               {"pods", 10'000}}));
}

TEST(PodLimitsTest, OfTwoWordsForOneResourceTheLesserHolds) {
  EXPECT_EQ(PodLimits(QuotaOf("a", {{"cpu", 3'000}, {"requests.cpu", 4'000}})),
            (api::ResourceList{{"cpu", 3'000}}));
  EXPECT_EQ(PodLimits(QuotaOf("a", {{"cpu", 5'000}, {"requests.cpu", 4'000}})),
            (api::ResourceList{{"cpu", 4'000}}));
}

TEST(PodLimitsTest, WhatPodsDoNotAskForIsLeftOut) {
  EXPECT_EQ(
      PodLimits(QuotaOf(
          "a", {{"limits.cpu", 1'000},
                {"requests.storage", 1'000},
                {"persistentvolumeclaims", 1'000},
                {"gold.storageclass.storage.k8s.io/requests.storage", 1'000},
                {"count/jobs.batch", 1'000},
                {"services", 1'000}})),
      api::ResourceList());
}

TEST(PodLimitsTest, AQuotaWithScopesSaysNothing) {
  api::ResourceQuota quota = QuotaOf("a", {{"cpu", 1'000}});
  quota.scoped = true;
  EXPECT_EQ(PodLimits(quota), api::ResourceList());
}

class NamespaceQuotaTest : public ::testing::Test {
 protected:
  NamespaceQuotaTest() { api.AddNode("n", 8); }
  ~NamespaceQuotaTest() override {
    EXPECT_TRUE(api.Check().ok()) << api.Check();
  }

  // GPUs of the namespace.
  void Limit(const std::string& namespace_name, int64_t gpus,
             const std::string& name = "quota") {
    api.Put(QuotaOf(namespace_name, {{"requests.nvidia.com/gpu", gpus * 1'000}},
                    name));
  }

  void AddPods(const std::string& namespace_name, int pods,
               const api::StringMap& labels = {}) {
    for (int i = 0; i < pods; ++i) {
      api.AddPod({.name = namespace_name + std::to_string(i),
                  .namespace_name = namespace_name,
                  .gpus = 1,
                  .labels = labels});
      api.Pass(kSecond);
    }
  }

  FakeApi api{{.quota_from_namespaces = true}};
};

TEST_F(NamespaceQuotaTest, PodsOfTheNamespaceKeepToIt) {
  Limit("a", 2);
  AddPods("a", 3);
  AddPods("b", 3);
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.On("n"), "a0 a1 b0 b1 b2");
  EXPECT_THAT(ToldTo(api, "a2"), HasSubstr("Pending: queue-limit (default/a)"));
  api.Finish("a0");
  api.Settle();
  EXPECT_EQ(api.On("n"), "a1 a2 b0 b1 b2");
}

TEST_F(NamespaceQuotaTest, TheLeastOfSeveralHolds) {
  Limit("a", 3, "large");
  Limit("a", 1, "small");
  AddPods("a", 3);
  EXPECT_EQ(api.On("n"), "a0");
  api.RemoveQuota("a", "small");
  api.Settle();
  EXPECT_EQ(api.On("n"), "a0 a1 a2");
}

TEST_F(NamespaceQuotaTest, NoPodGetsRoundItByNamingTheDefaultQueue) {
  Limit("a", 1);
  AddPods("a", 2, {{kQueueLabel, "default"}});
  EXPECT_EQ(api.On("n"), "a0");
}

TEST_F(NamespaceQuotaTest, PodsOfAnotherQueueHaveThatOnesLimits) {
  Limit("a", 1);
  api::Queue queue;
  queue.meta.name = "q";
  api.Put(queue);
  AddPods("a", 2, {{kQueueLabel, "q"}});
  EXPECT_EQ(api.On("n"), "a0 a1");
}

TEST_F(NamespaceQuotaTest, ItComesChangesAndGoesWhilePodsRunAndWait) {
  AddPods("a", 2);
  Limit("a", 1);
  api.Settle();
  EXPECT_EQ(api.On("n"), "a0 a1");  // What runs is not stopped.
  api.AddPod({.name = "more", .namespace_name = "a", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.On("n"), "a0 a1");
  Limit("a", 3);
  api.Settle();
  EXPECT_EQ(api.On("n"), "a0 a1 more");
  Limit("a", 1);
  api.AddPod({.name = "other", .namespace_name = "a", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.NodeOf("other"), "");
  api.RemoveQuota("a", "quota");
  api.Settle();
  EXPECT_EQ(api.NodeOf("other"), "n");
  for (const Queue& queue : api.controller().scheduler().State().queues) {
    EXPECT_NE(queue.key, "default/a");
  }
}

TEST_F(NamespaceQuotaTest, ItsQueueStandsWhereTheDefaultOneDoes) {
  Limit("a", 4);
  api::Queue parent;
  parent.meta.name = "all";
  parent.quotas = {{kGpu, std::nullopt, 2'000}};
  api.Put(parent);
  api::Queue queue;
  queue.meta.name = "default";
  queue.parent = "all";
  queue.quotas = {{kGpu, std::nullopt, 1'000}};  // Its own, and no other's.
  api.Put(queue);
  api.Settle();
  AddPods("a", 3);
  EXPECT_EQ(api.On("n"), "a0 a1");
}

TEST_F(NamespaceQuotaTest, ItIsThereAfterARestart) {
  Limit("a", 2);
  AddPods("a", 3);
  api.Restart();
  api.Settle();
  EXPECT_EQ(api.On("n"), "a0 a1");
}

TEST_F(NamespaceQuotaTest, PriorityStillPreemptsWithinTheNamespace) {
  Limit("a", 1);
  AddPods("a", 1);
  api.AddPod({.name = "high", .namespace_name = "a", .gpus = 1, .priority = 5});
  api.Settle();
  EXPECT_EQ(api.On("n"), "high");
}

TEST(NoNamespaceQuotaTest, WithoutTheOptionItIsPassedOver) {
  FakeApi api;
  api.AddNode("n", 2);
  api.Put(QuotaOf("a", {{"requests.nvidia.com/gpu", 1'000}}));
  for (const char* name : {"x", "y"}) {
    api.AddPod({.name = name, .namespace_name = "a", .gpus = 1});
  }
  api.Settle();
  EXPECT_EQ(api.On("n"), "x y");
}

}  // namespace
}  // namespace muster::kubernetes
