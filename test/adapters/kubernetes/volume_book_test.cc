// Claims and volumes: whose pods are looked at when, and what is under way.
#include "adapters/kubernetes/controller/volume_book.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Stage = ClaimRequest::Stage;

const ClaimKey kClaim{"ns", "data"};

api::PersistentVolumeClaim ClaimOf(const std::string& name,
                                   const std::string& storage_class) {
  api::PersistentVolumeClaim claim;
  claim.meta = {.name = name, .namespace_name = "ns", .uid = "u-" + name};
  claim.storage_class_name = storage_class;
  claim.phase = "Pending";
  return claim;
}

api::PersistentVolume FreeVolume(const std::string& name,
                                 const std::string& storage_class) {
  api::PersistentVolume volume;
  volume.meta.name = name;
  volume.storage_class_name = storage_class;
  volume.phase = "Available";
  return volume;
}

VolumeUser UserOf(const std::string& name, std::vector<PodClaim> claims) {
  return {.uid = "pod-" + name,
          .namespace_name = "ns",
          .name = name,
          .claims = std::move(claims),
          .group = GroupRef{GroupKind::kPod, "ns", name},
          .waits = true};
}

class VolumeBookTest : public ::testing::Test {
 protected:
  VolumeBookTest() {
    local_.meta.name = "local";
    local_.provisioner = "kubernetes.io/no-provisioner";
    local_.volume_binding_mode = "WaitForFirstConsumer";
    book_.Set(local_);
    book_.SetUser(UserOf("a", {{"data"}}));
    book_.SetUser(UserOf("b", {{"other"}}));
    book_.Set(ClaimOf("data", "local"));
    book_.Set(ClaimOf("other", "made"));
    book_.TakeTouched();
  }

  // Names of the groups that are touched.
  std::vector<std::string> Touched() {
    std::vector<std::string> names;
    for (const GroupRef& ref : book_.TakeTouched()) names.push_back(ref.name);
    return names;
  }

  void Give(const std::string& volume) {
    book_.requests().Add(kClaim, {.node = "n", .volume = volume});
  }

  api::StorageClass local_;
  VolumeBook book_;
};

TEST_F(VolumeBookTest, AClaimTouchesItsPods) {
  book_.Set(ClaimOf("data", "local"));
  EXPECT_THAT(Touched(), ElementsAre("a"));
  book_.RemoveClaim(kClaim);
  EXPECT_THAT(Touched(), ElementsAre("a"));
  book_.Set(ClaimOf("nobodys", "local"));
  EXPECT_THAT(Touched(), IsEmpty());
}

TEST_F(VolumeBookTest, AFreeVolumeTouchesPodsOfUnboundClaimsOfItsClass) {
  book_.Set(FreeVolume("v", "local"));
  EXPECT_THAT(Touched(), ElementsAre("a"));
  book_.RemoveVolume("v");
  EXPECT_THAT(Touched(), ElementsAre("a"));
  api::PersistentVolume used = FreeVolume("w", "local");
  used.claim_namespace = "elsewhere";
  used.claim_name = "data";
  book_.Set(used);
  EXPECT_THAT(Touched(), IsEmpty());
}

TEST_F(VolumeBookTest, ABoundClaimIsTouchedByItsVolumeOnly) {
  api::PersistentVolumeClaim bound = ClaimOf("data", "local");
  bound.volume_name = "v";
  bound.phase = "Bound";
  book_.Set(bound);
  Touched();
  book_.Set(FreeVolume("w", "local"));
  book_.Set(local_);
  EXPECT_THAT(Touched(), IsEmpty());
  book_.Set(FreeVolume("v", "made"));
  EXPECT_THAT(Touched(), ElementsAre("a", "b"));
}

TEST_F(VolumeBookTest, AClassTouchesPodsOfItsUnboundClaims) {
  book_.RemoveClass("local");
  EXPECT_THAT(Touched(), ElementsAre("a"));
  book_.Set(local_);
  EXPECT_THAT(Touched(), ElementsAre("a"));
}

TEST_F(VolumeBookTest, PodsOfOtherSchedulersAreNotTouched) {
  VolumeUser other = UserOf("c", {{"data"}});
  other.group.reset();
  book_.SetUser(other);
  EXPECT_THAT(Touched(), ElementsAre("a"));
  book_.RemoveUser("pod-a");
  book_.RemoveUser("pod-c");
  EXPECT_THAT(Touched(), IsEmpty());
  EXPECT_EQ(book_.users(), 1u);
}

TEST_F(VolumeBookTest, AVolumeThatIsBeingGivenIsNobodyElses) {
  book_.Set(FreeVolume("v", "local"));
  book_.Set(ClaimOf("second", "local"));
  const auto* second = book_.FindClaim({"ns", "second"});
  EXPECT_NE(book_.Choose(*second, {}), nullptr);
  Give("v");
  EXPECT_EQ(book_.Choose(*second, {}), nullptr);
  EXPECT_NE(book_.Choose(*book_.FindClaim(kClaim), {}), nullptr);
}

TEST_F(VolumeBookTest, AVolumeThatSomebodyElseTookIsGivenUp) {
  book_.Set(FreeVolume("v", "local"));
  Give("v");
  Touched();
  api::PersistentVolume taken = FreeVolume("v", "local");
  taken.claim_namespace = "ns";
  taken.claim_name = "second";
  book_.Set(taken);
  EXPECT_EQ(book_.requests().Find(kClaim), nullptr);
  EXPECT_THAT(Touched(), ElementsAre("a"));
}

TEST_F(VolumeBookTest, OneThatIsGoneIsGivenUp) {
  book_.Set(FreeVolume("v", "local"));
  Give("v");
  book_.RemoveVolume("v");
  EXPECT_EQ(book_.requests().Find(kClaim), nullptr);
}

TEST_F(VolumeBookTest, OneThatCameToTheClaimIsKept) {
  book_.Set(FreeVolume("v", "local"));
  Give("v");
  api::PersistentVolume given = FreeVolume("v", "local");
  given.claim_namespace = "ns";
  given.claim_name = "data";
  given.claim_uid = "u-data";
  book_.Set(given);
  EXPECT_NE(book_.requests().Find(kClaim), nullptr);
  EXPECT_EQ(book_.GivenTo(*book_.FindClaim(kClaim))->meta.name, "v");
}

TEST_F(VolumeBookTest, WhatIsUnderWayEndsWithTheClaim) {
  const auto under_way = [&] {
    Give("v");
    book_.requests().Refuse(kClaim, "n", 100);
  };
  under_way();
  api::PersistentVolumeClaim bound = ClaimOf("data", "local");
  bound.phase = "Bound";
  book_.Set(bound);
  EXPECT_EQ(book_.requests().size(), 0u);
  under_way();
  api::PersistentVolumeClaim another = ClaimOf("data", "local");
  another.meta.uid = "another";
  book_.Set(another);
  EXPECT_EQ(book_.requests().size(), 0u);
  under_way();
  book_.RemoveClaim(kClaim);
  EXPECT_EQ(book_.requests().size(), 0u);
}

TEST_F(VolumeBookTest, NodesThatWereTriedInVainAreAvoidedForAWhile) {
  book_.Set(FreeVolume("v", "local"));
  book_.requests().Refuse(kClaim, "n1", 100);
  book_.requests().Refuse(kClaim, "n2", 200);
  const VolumeUser user = UserOf("a", {{"data"}});
  VolumeNodes nodes = book_.Judge(user, 50);
  EXPECT_EQ(nodes.until, 100);
  EXPECT_FALSE(Matches(nodes.nodes, {{"field:metadata.name", "n1"}}));
  EXPECT_FALSE(Matches(nodes.nodes, {{"field:metadata.name", "n2"}}));
  EXPECT_TRUE(Matches(nodes.nodes, {{"field:metadata.name", "n3"}}));
  nodes = book_.Judge(user, 100);
  EXPECT_EQ(nodes.until, 200);
  EXPECT_TRUE(Matches(nodes.nodes, {{"field:metadata.name", "n1"}}));
  EXPECT_EQ(book_.Judge(user, 200).until, kForever);
  EXPECT_EQ(book_.requests().size(), 0u);
}

TEST(ClaimRequestsTest, AnAnswerIsThatOfItsRequest) {
  ClaimRequests requests;
  const uint64_t first = requests.Add(kClaim, {.node = "n1"});
  const uint64_t second = requests.Add(kClaim, {.node = "n2"});
  requests.Answer(kClaim, first, {.outcome = ApiOutcome::kDone});
  EXPECT_EQ(requests.Find(kClaim)->stage, Stage::kAsked);
  requests.Answer(kClaim, second, {.outcome = ApiOutcome::kConflict});
  EXPECT_EQ(requests.Find(kClaim)->stage, Stage::kStale);
  requests.Answer(kClaim, second, {.outcome = ApiOutcome::kUnknown});
  EXPECT_EQ(requests.Find(kClaim), nullptr);
}

TEST(ClaimRequestsTest, ARequestTakesThePlaceOfTheOneBefore) {
  ClaimRequests requests;
  requests.Add(kClaim, {.volume = "v"});
  requests.Add(kClaim, {.volume = "w"});
  EXPECT_EQ(requests.ClaimOf("v"), nullptr);
  ASSERT_NE(requests.ClaimOf("w"), nullptr);
  EXPECT_EQ(*requests.ClaimOf("w"), kClaim);
}

}  // namespace
}  // namespace muster::kubernetes
