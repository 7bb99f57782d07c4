// The Lease says which pod to ask.
#include "adapters/kubernetes/plugin/leader.h"

#include "gtest/gtest.h"
#include "test/adapters/kubernetes_client/recorded_transport.h"

namespace muster::kubernetes::plugin {
namespace {

using client::RecordedTransport;
using client::Recording;

absl::StatusOr<std::string> LeaderBy(Recording recording) {
  RecordedTransport transport;
  transport.Play(std::move(recording));
  auto pod = LeaderPod(&transport, "muster-system", "muster-kube");
  EXPECT_EQ(transport.last().path,
            "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/"
            "muster-kube");
  EXPECT_EQ(transport.open(), 0u);
  return pod;
}

Recording LeaseOf(const std::string& holder) {
  return {.chunks = {R"({"metadata": {"name": "muster-kube", "uid": "u",
              "resourceVersion": "1"}, "spec": {"holderIdentity": ")",
                     holder, R"(", "leaseDurationSeconds": 15}})"}};
}

TEST(LeaderPodTest, IsTheHostNameOfTheHolder) {
  const auto pod = LeaderBy(LeaseOf("muster-kube-7d9f-x2x_1_18a2"));
  ASSERT_TRUE(pod.ok()) << pod.status();
  EXPECT_EQ(*pod, "muster-kube-7d9f-x2x");
}

TEST(LeaderPodTest, NobodyHoldsIt) {
  EXPECT_TRUE(absl::IsUnavailable(LeaderBy(LeaseOf("")).status()));
  EXPECT_TRUE(absl::IsUnavailable(LeaderBy(LeaseOf("../secrets_1")).status()));
}

TEST(LeaderPodTest, WhatTheServerRefusesIsAnError) {
  EXPECT_TRUE(absl::IsNotFound(LeaderBy({.status = 404}).status()));
  EXPECT_TRUE(absl::IsPermissionDenied(LeaderBy({.status = 403}).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      LeaderBy({.status = 0, .end = client::NoConnection()}).status()));
  EXPECT_FALSE(LeaderBy({.chunks = {"<html>"}}).ok());
}

TEST(LeaderPodTest, AnAnswerThatDoesNotComeIsWaitedForSoLong) {
  RecordedTransport transport;
  EXPECT_TRUE(absl::IsDeadlineExceeded(GetNow(&transport, "/x", 50).status()));
  EXPECT_EQ(transport.open(), 0u);
}

}  // namespace
}  // namespace muster::kubernetes::plugin
