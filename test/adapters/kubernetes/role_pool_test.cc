#include "adapters/kubernetes/controller/role_pool.h"

#include <functional>
#include <memory>
#include <vector>

#include "adapters/kubernetes/model/translate_pod.h"
#include "gtest/gtest.h"

namespace muster::kubernetes {
namespace {

class RolePoolTest : public testing::Test {
 protected:
  RolePoolTest() {
    plain_.requests = {{"cpu", 1000}};
    plain_.node_selector = {{"zone", "a"}};
  }

  ResourceKinds kinds_{"nvidia.com/gpu"};
  RolePool pool_;
  api::PodDemand plain_;
};

TEST_F(RolePoolTest, LikeDemandsShareOneRole) {
  const auto first = pool_.Share(plain_, kinds_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*pool_.Share(api::PodDemand(plain_), kinds_), *first);
  EXPECT_EQ(**first, *ToRole(plain_, kinds_));
  // So do other demands that come to the same.
  EXPECT_EQ(pool_.Share(*ToRole(plain_, kinds_)), *first);
  api::PodDemand none_of_another = plain_;
  none_of_another.requests["memory"] = 0;
  EXPECT_EQ(*pool_.Share(none_of_another, kinds_), *first);
  EXPECT_EQ(pool_.size(), 1u);
}

TEST_F(RolePoolTest, WhatDiffersInAnyFieldIsAskedAnew) {
  const auto first = *pool_.Share(plain_, kinds_);
  const std::vector<std::function<void(api::PodDemand*)>> edits = {
      [](auto* p) { p->requests["cpu"] = 2000; },
      [](auto* p) { p->node_selector["zone"] = "b"; },
      [](auto* p) { p->has_required_node_affinity = true; },
      [](auto* p) {
        p->required_node_affinity = {
            {.match_expressions = {{"zone", "In", {"a", "b"}}}}};
      },
      [](auto* p) {
        p->preferred_node_affinity = {
            {.weight = 1,
             .preference = {.match_expressions = {{"zone", "Exists", {}}}}}};
      },
      [](auto* p) { p->tolerations = {{.key = "k", .op = "Exists"}}; },
      [](auto* p) { p->host_ports = {"TCP/0.0.0.0/80"}; },
      [](auto* p) { p->not_understood = {"spec.resourceClaims"}; },
  };
  for (const auto& edit : edits) {
    api::PodDemand other = plain_;
    edit(&other);
    const auto expected = ToRole(other, kinds_);
    const auto role = pool_.Share(other, kinds_);
    ASSERT_EQ(role.status(), expected.status());
    if (role.ok()) {
      EXPECT_EQ(**role, *expected);
      EXPECT_NE(*role, first);
    }
  }
}

TEST_F(RolePoolTest, WhatNobodyHoldsIsForgotten) {
  const std::weak_ptr<const Role> held = *pool_.Share(plain_, kinds_);
  EXPECT_TRUE(held.expired());
  const auto again = *pool_.Share(plain_, kinds_);
  EXPECT_EQ(*again, *ToRole(plain_, kinds_));
  EXPECT_EQ(*pool_.Share(plain_, kinds_), again);
}

}  // namespace
}  // namespace muster::kubernetes
