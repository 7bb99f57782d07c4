// A controller that begins knows what the API server tells, and no more.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {
namespace {

TEST(RestartTest, WhatRunsGoesOnAndNothingIsBoundTwice) {
  FakeApi api;
  api.AddNode("a", 2);
  api.AddNode("b", 2);
  api.AddGang("g", {"w0", "w1", "w2"});
  api.AddPod({.name = "next", .gpus = 2});
  api.Settle();
  const size_t binds = api.CountBinds();
  const std::string before = api.On("a") + "|" + api.On("b");
  api.Restart();
  api.Settle();
  EXPECT_EQ(api.On("a") + "|" + api.On("b"), before);
  EXPECT_EQ(api.CountBinds(), binds);
  EXPECT_TRUE(api.Check().ok()) << api.Check();
  for (int i = 0; i < 3; ++i) api.Finish(absl::StrCat("w", i));
  api.Settle();
  EXPECT_NE(api.NodeOf("next"), "");
}

// Killed in the middle of a gang's binding: the next one binds the rest.
TEST(RestartTest, AGangThatIsBoundInPartIsCompleted) {
  for (size_t bound = 0; bound <= 4; ++bound) {
    FakeApi api;
    api.AddNode("a", 2);
    api.AddNode("b", 2);
    api.AddGroup("g", 4);
    for (int i = 0; i < 4; ++i) {
      api.AddPod({.name = absl::StrCat("w", i), .gpus = 1, .group = "g"});
    }
    std::vector<ApiRequest> requests;
    api.controller().Step(2'000 * kSecond, &requests);
    ASSERT_GE(requests.size(), 4u);
    for (size_t i = 0; i < bound; ++i) {
      const auto& bind = std::get<BindRequest>(requests[i].body);
      api.BindBehind(bind.pod.name, bind.node);
    }
    api.Restart();
    api.Pass(2'000 * kSecond);
    EXPECT_EQ(api.On("a") + " " + api.On("b"), "w0 w1 w2 w3") << bound;
    EXPECT_TRUE(api.Check().ok()) << api.Check();
  }
}

TEST(RestartTest, AGangThatCanNotBeCompletedGivesItsPlacesUp) {
  FakeApi api;
  api.AddNode("a", 2);
  api.AddGang("g", {"w0", "w1"});
  std::vector<ApiRequest> requests;
  api.controller().Step(2'000 * kSecond, &requests);
  api.BindBehind("w0", "a");
  api.AddPod({.name = "other", .gpus = 1, .scheduler = "default-scheduler"});
  api.BindBehind("other", "a");
  api.Restart();
  api.Pass(2'000 * kSecond);
  // It is evicted: there is no half of a gang.
  EXPECT_EQ(api.On("a"), "other");
}

}  // namespace
}  // namespace muster::kubernetes
