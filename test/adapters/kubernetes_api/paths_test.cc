#include "adapters/kubernetes/api/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kubernetes::api {
namespace {

TEST(PathsTest, NameTheGroupTheVersionAndTheNamespace) {
  EXPECT_EQ(*CollectionPath(kPods, ""), "/api/v1/pods");
  EXPECT_EQ(*CollectionPath(kPods, "ns"), "/api/v1/namespaces/ns/pods");
  EXPECT_EQ(*CollectionPath(PodGroupsOf("v1beta1"), "ns"),
            "/apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups");
  EXPECT_EQ(*ObjectPath(kNodes, "", "gpu-17"), "/api/v1/nodes/gpu-17");
  EXPECT_EQ(*ObjectPath(kQueues, "", "research", "status"),
            "/apis/muster.dev/v1alpha1/queues/research/status");
  EXPECT_EQ(*BindingPath("ns", "p-0"),
            "/api/v1/namespaces/ns/pods/p-0/binding");
  EXPECT_EQ(*EvictionPath("ns", "p-0"),
            "/api/v1/namespaces/ns/pods/p-0/eviction");
}

TEST(PathsTest, ANameCannotLeaveItsSegment) {
  for (const std::string_view name :
       {std::string_view(""), std::string_view("."), std::string_view(".."),
        std::string_view("a/b"), std::string_view("../secrets/x"),
        std::string_view("%2e%2e"), std::string_view("a%2fb"),
        std::string_view("a\r\nHost: b"), std::string_view("a\0b", 3)}) {
    EXPECT_FALSE(BindingPath("ns", name).ok()) << name;
    EXPECT_FALSE(ObjectPath(kNodes, "", name).ok()) << name;
    EXPECT_FALSE(ObjectPath(kPods, name, "p").ok()) << name;
    EXPECT_FALSE(OwnerPath("batch/v1", name, "ns", "p").ok()) << name;
  }
  EXPECT_FALSE(BindingPath("ns", std::string(254, 'a')).ok());
  EXPECT_TRUE(BindingPath("ns", std::string(253, 'a')).ok());
}

TEST(PathsTest, WhatIsNoPlainCharacterIsEncoded) {
  EXPECT_EQ(*ObjectPath(kNodes, "", "a?b=c#d&e f:g;h@é"),
            "/api/v1/nodes/a%3Fb%3Dc%23d%26e%20f%3Ag%3Bh%40%C3%A9");
}

TEST(PathsTest, ANamespaceIsGivenWhereThereIsOne) {
  EXPECT_FALSE(ObjectPath(kNodes, "ns", "n").ok());
  EXPECT_FALSE(ObjectPath(kPods, "", "p").ok());
  EXPECT_FALSE(CollectionPath(kNodes, "ns").ok());
}

TEST(PathsTest, OwnersAreFoundByTheirKind) {
  EXPECT_EQ(*OwnerPath("batch/v1", "Job", "ns", "j"),
            "/apis/batch/v1/namespaces/ns/jobs/j");
  EXPECT_EQ(*OwnerPath("jobset.x-k8s.io/v1alpha2", "JobSet", "ns", "j"),
            "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ns/jobsets/j");
  EXPECT_EQ(*OwnerPath("v1", "ReplicationController", "ns", "r"),
            "/api/v1/namespaces/ns/replicationcontrollers/r");
  EXPECT_EQ(*OwnerPath("x.io/v1", "Mesh", "ns", "m"),
            "/apis/x.io/v1/namespaces/ns/meshes/m");
  EXPECT_FALSE(OwnerPath("a/b/c", "Job", "ns", "j").ok());
  EXPECT_FALSE(OwnerPath("", "Job", "ns", "j").ok());
}

TEST(PercentEncodedTest, LeavesWhatHasNoMeaningInAUrl) {
  EXPECT_EQ(PercentEncoded("a+b/c="), "a%2Bb%2Fc%3D");
  EXPECT_EQ(PercentEncoded("a in (b,c)"), "a%20in%20%28b%2Cc%29");
}

}  // namespace
}  // namespace muster::kubernetes::api
