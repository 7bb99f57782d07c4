// Which request a metric is about.
#include "adapters/kubernetes/host/host_metrics.h"

#include <string>

#include "gtest/gtest.h"

namespace muster::kubernetes {
namespace {

std::string KindText(const std::string& method, const std::string& path) {
  const RequestKind kind = KindOf({.method = method, .path = path});
  return kind.verb + " " + kind.resource;
}

TEST(HostMetricsTest, ARequestsKindHasNoName) {
  const std::string pod = "/api/v1/namespaces/secret-ns/pods/secret-pod";
  EXPECT_EQ(KindText("GET", pod), "get pods");
  EXPECT_EQ(KindText("POST", pod + "/binding"), "create pods/binding");
  EXPECT_EQ(KindText("PATCH", pod + "/status?x=y"), "patch pods/status");
  EXPECT_EQ(KindText("POST", "/apis/events.k8s.io/v1/namespaces/a/events"),
            "create events");
  EXPECT_EQ(KindText("PATCH", "/apis/muster.dev/v1alpha1/queues/secret/status"),
            "patch queues/status");
  EXPECT_EQ(KindText("GET", "/api/v1/namespaces/a"), "get namespaces");
  EXPECT_EQ(KindText("DELETE", "/"), "delete ");
}

TEST(HostMetricsTest, ACollectionIsNamedWithItsGroup) {
  EXPECT_EQ(ResourceOf("/api/v1/pods"), "pods");
  EXPECT_EQ(ResourceOf("/apis/scheduling.k8s.io/v1beta1/podgroups"),
            "podgroups.scheduling.k8s.io");
  EXPECT_EQ(ResourceOf(""), "");
}

TEST(HostMetricsTest, RequestsAreCountedByKindAndEnd) {
  HostMetrics metrics;
  const RequestKind bind{"create", "pods/binding"};
  metrics.AddRequest(bind,
                     {.kind = client::OutcomeKind::kDone, .http_status = 201});
  metrics.AddRequest(bind,
                     {.kind = client::OutcomeKind::kDone, .http_status = 201});
  metrics.AddRequest(
      bind, {.kind = client::OutcomeKind::kRefused, .http_status = 409});
  ASSERT_EQ(metrics.requests().size(), 2u);
  EXPECT_EQ(metrics.requests().begin()->second, 2u);
}

}  // namespace
}  // namespace muster::kubernetes
