// Stories of pods with claims of volumes. That no pod is bound before its
// claims are, or where its volumes cannot be reached, FakeApi checks
// throughout.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Provisioning = FakeStorage::Provisioning;

// Nodes that were selected for the claim, in that order; "-": none any more.
std::vector<std::string> Selected(const FakeApi& api,
                                  const std::string& claim) {
  std::vector<std::string> nodes;
  for (const auto& select : Seen<SelectNodeRequest>(api)) {
    if (select.claim.name != claim) continue;
    nodes.push_back(select.node.empty() ? "-" : select.node);
  }
  return nodes;
}

class VolumeTest : public ::testing::Test {
 protected:
  VolumeTest() {
    for (const char* name : {"n1", "n2", "n3"}) api.AddNode(name, 2);
    api.storage.PutClass("made", true);
    api.storage.PutClass("local", false);
  }
  ~VolumeTest() override { EXPECT_TRUE(api.Check().ok()) << api.Check(); }

  // One GPU, and claim "data".
  void AddPodWithData(const std::string& name = "p") {
    api.AddPod({.name = name, .gpus = 1, .claims = {"data"}});
  }
  // The same with a claim whose volume is made for it.
  void MakePodWithData() {
    api.storage.AddClaim("data", "made");
    AddPodWithData();
  }
  // The provisioner does this for every node.
  void Provision(Provisioning does) {
    api.storage.provisioning = [does](const std::string&) { return does; };
  }
  // All of a node's GPUs.
  void Fill(const std::string& node) {
    api.AddPod({.name = "on-" + node, .gpus = 2, .scheduler = "other"});
    api.BindBehind("on-" + node, node);
  }

  FakeApi api;
};

TEST_F(VolumeTest, APodRunsWhereItsVolumeIs) {
  api.storage.AddBound("data", {"n2"});
  AddPodWithData();
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "n2");
}

TEST_F(VolumeTest, ItWaitsForRoomThere) {
  api.storage.AddBound("data", {"n2"});
  Fill("n2");
  AddPodWithData();
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.NodeOf("p"), "");
  EXPECT_THAT(ToldTo(api, "p"), HasSubstr("Unschedulable"));
  api.DeletePod("on-n2");
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "n2");
}

TEST_F(VolumeTest, TwoClaimsLeaveTheNodesOfBoth) {
  api.storage.AddBound("a", {"n1", "n2"});
  api.storage.AddBound("b", {"n2", "n3"});
  api.AddPod({.name = "p", .gpus = 1, .claims = {"a", "b"}});
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "n2");
}

TEST_F(VolumeTest, AMissingClaimIsNamedAndWaitedFor) {
  AddPodWithData();
  api.Pass(2 * kSecond);
  EXPECT_EQ(ToldTo(api, "p"), "Pending: claim 'data' is not there");
  api.storage.AddClaim("data", "made");
  api.Settle();
  EXPECT_NE(api.NodeOf("p"), "");
}

TEST_F(VolumeTest, AClaimThatIsBoundAtOnceIsWaitedFor) {
  AddPodWithData();
  api.storage.AddClaim("data", "soon");
  api.Pass(2 * kSecond);
  EXPECT_EQ(ToldTo(api, "p"),
            "Pending: claim 'data' is of class 'soon', which is not there");
  api.storage.PutClass("soon", true, /*waits_for_consumer=*/false);
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "n1");
  EXPECT_THAT(Selected(api, "data"), IsEmpty());
}

TEST_F(VolumeTest, AVolumeIsMadeForTheNodeThatIsChosen) {
  Fill("n1");
  Fill("n3");
  MakePodWithData();
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "n2");
  EXPECT_THAT(Selected(api, "data"), ElementsAre("n2"));
  EXPECT_EQ(api.storage.ClaimNamed("data").phase, "Bound");
}

TEST_F(VolumeTest, TheTopologiesOfItsClassAreKeptTo) {
  api.storage.PutClass("made", true, true, {"n3"});
  MakePodWithData();
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "n3");
}

TEST_F(VolumeTest, WhereNoVolumeCanBeMadeAnotherNodeIsTried) {
  api.storage.provisioning = [](const std::string& node) {
    return node == "n3" ? Provisioning::kWorks : Provisioning::kFails;
  };
  MakePodWithData();
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "n3");
  EXPECT_EQ(Selected(api, "data").back(), "n3");
}

TEST_F(VolumeTest, WhereNoneCanBeMadeAnywhereItIsTriedAgainLater) {
  bool works = false;
  api.storage.provisioning = [&](const std::string&) {
    return works ? Provisioning::kWorks : Provisioning::kFails;
  };
  MakePodWithData();
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "");
  EXPECT_EQ(Selected(api, "data").size(), 3u);  // Each node once.
  EXPECT_EQ(api.FreeGpus("n1"), 2);
  works = true;
  api.Pass(61 * kSecond);
  EXPECT_NE(api.NodeOf("p"), "");
}

TEST_F(VolumeTest, AProvisionerThatFailsEverywhereHasARest) {
  for (int i = 4; i < 20; ++i) api.AddNode(absl::StrCat("n", i), 2);
  Provision(Provisioning::kFails);
  MakePodWithData();
  api.Settle();
  EXPECT_EQ(Selected(api, "data").size(), 8u);
  api.Pass(2 * kSecond);
  EXPECT_EQ(Selected(api, "data").size(), 8u);
  EXPECT_THAT(ToldTo(api, "p"), HasSubstr("could have no volume on 8 nodes"));
  api.Pass(59 * kSecond);
  EXPECT_GT(Selected(api, "data").size(), 8u);
}

TEST_F(VolumeTest, AProvisionerThatDoesNothingHoldsNoPlaceForEver) {
  api.storage.provisioning = [](const std::string& node) {
    return node == "n1" ? Provisioning::kHangs : Provisioning::kWorks;
  };
  MakePodWithData();
  api.Settle();
  api.Pass(599 * kSecond);
  EXPECT_EQ(api.NodeOf("p"), "");
  EXPECT_THAT(Selected(api, "data"), ElementsAre("n1"));
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.NodeOf("p"), "n2");
  EXPECT_THAT(Selected(api, "data"), ElementsAre("n1", "-", "n2"));
}

TEST_F(VolumeTest, ItsPlaceIsKeptMeanwhile) {
  Provision(Provisioning::kHangs);
  api.storage.AddClaim("data", "made");
  api.AddPod({.name = "p", .gpus = 2, .claims = {"data"}});
  api.Settle();
  api.AddPod({.name = "q", .gpus = 2});
  api.AddPod({.name = "r", .gpus = 2});
  api.AddPod({.name = "s", .gpus = 2});
  api.Settle();
  EXPECT_EQ(api.NodeOf("q") + api.NodeOf("r") + api.NodeOf("s"), "n2n3");
}

TEST_F(VolumeTest, OneThatHasToGoMeanwhileIsNotDeleted) {
  Fill("n2");
  Fill("n3");
  Provision(Provisioning::kHangs);
  api.storage.AddClaim("data", "made");
  api.AddPod({.name = "low", .gpus = 2, .claims = {"data"}});
  api.Settle();
  const std::string uid = api.PodNamed("low").meta.uid;
  api.AddPod({.name = "high", .gpus = 2, .priority = 10});
  api.Settle();
  EXPECT_EQ(api.NodeOf("high"), "n1");
  EXPECT_EQ(api.PodNamed("low").meta.uid, uid);
  Provision(Provisioning::kWorks);
  api.Finish("high");
  api.Settle();
  EXPECT_EQ(api.NodeOf("low"), "n1");
}

TEST_F(VolumeTest, NoPodOfAGangIsBoundBeforeAllHaveTheirVolumes) {
  int made = 0;
  api.storage.provisioning = [&](const std::string&) {
    return ++made > 3 ? Provisioning::kHangs : Provisioning::kWorks;
  };
  api.AddGroup("g", 4);
  for (int i = 0; i < 4; ++i) {
    api.AddPod({.name = absl::StrCat("w", i),
                .gpus = 1,
                .group = "g",
                .ephemeral = {"scratch"}});
  }
  api.Settle();
  EXPECT_EQ(api.CountBinds(), 0u);
  Provision(Provisioning::kWorks);
  api.Settle();
  EXPECT_EQ(api.CountBinds(), 4u);
}

TEST_F(VolumeTest, PodsOfAGangMayShareAClaim) {
  api.storage.AddClaim("shared", "made", 1, "ReadWriteMany");
  api.AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) {
    api.AddPod({.name = absl::StrCat("w", i),
                .gpus = 1,
                .group = "g",
                .claims = {"shared"}});
  }
  api.Settle();
  EXPECT_EQ(api.On("n1"), "w0 w1");  // The volume is local to one node.
}

TEST_F(VolumeTest, AGangOfWhichOneClaimIsMissingTellsEachPodWhy) {
  api.AddGroup("g", 2);
  api.AddPod({.name = "w0", .gpus = 1, .group = "g"});
  api.AddPod({.name = "w1", .gpus = 1, .group = "g", .claims = {"data"}});
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.CountBinds(), 0u);
  EXPECT_EQ(ToldTo(api, "w0"), "Pending: 1 of 2 pods are there");
  EXPECT_EQ(ToldTo(api, "w1"), "Pending: claim 'data' is not there");
}

TEST_F(VolumeTest, OtherPodsOfAJobDoNotWaitForOnesClaim) {
  api.AddPod({.name = "a", .gpus = 1, .job = "j"});
  api.AddPod({.name = "b", .gpus = 1, .job = "j", .claims = {"data"}});
  api.Pass(2 * kSecond);
  EXPECT_NE(api.NodeOf("a"), "");
  EXPECT_EQ(ToldTo(api, "b"), "Pending: claim 'data' is not there");
  api.storage.AddBound("data", {"n3"});
  api.Settle();
  EXPECT_EQ(api.NodeOf("b"), "n3");
}

TEST_F(VolumeTest, NorForAPlaceThatOneOfThemGivesBack) {
  api.AddPod({.name = "a", .gpus = 1, .job = "j"});
  api.Settle();
  api.storage.AddVolume("only", "local", 1, {"n3"});
  for (const char* claim : {"c", "d"}) api.storage.AddClaim(claim, "local");
  api.AddPod({.name = "b", .gpus = 1, .job = "j"});
  for (const char* name : {"c", "d"}) {
    api.AddPod({.name = name, .job = "j", .claims = {name}});
  }
  api.Settle();
  EXPECT_NE(api.NodeOf("b"), "");
  EXPECT_EQ(api.NodeOf("c") + api.NodeOf("d"), "n3");
}

TEST_F(VolumeTest, TheSmallestLocalVolumeThatSuitsIsTaken) {
  api.storage.AddVolume("large", "local", 100, {"n2"});
  api.storage.AddVolume("right", "local", 10, {"n2"});
  api.storage.AddVolume("small", "local", 1, {"n2"});
  api.storage.AddClaim("data", "local", 5);
  AddPodWithData();
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "n2");
  EXPECT_EQ(api.storage.VolumeOf("data"), "right");
}

TEST_F(VolumeTest, EachPodHasALocalVolumeOfItsOwn) {
  for (const char* node : {"n1", "n2"}) {
    api.storage.AddVolume(absl::StrCat("pv-", node), "local", 10, {node});
  }
  for (const char* name : {"a", "b", "c"}) {
    api.storage.AddClaim(name, "local");
    api.AddPod({.name = name, .gpus = 1, .claims = {name}});
    api.Settle();
  }
  api.Pass(2 * kSecond);
  EXPECT_NE(api.NodeOf("a"), api.NodeOf("b"));
  EXPECT_EQ(api.NodeOf("c"), "");
  EXPECT_EQ(ToldTo(api, "c"),
            "Pending: claim 'c' finds no volume of class 'local' that suits it "
            "and is free");
  api.storage.AddVolume("more", "local", 10, {"n1"});
  api.Settle();
  EXPECT_EQ(api.NodeOf("c"), "n1");
}

TEST_F(VolumeTest, PodsThatComeAtOnceDoNotAllLookForOneLocalVolume) {
  for (int i = 4; i < 34; ++i) api.AddNode(absl::StrCat("n", i), 2);
  for (int i = 1; i < 34; ++i) {
    const std::string name = absl::StrCat("p", i);
    api.storage.AddVolume(absl::StrCat("pv", i), "local", 1,
                          {absl::StrCat("n", i)});
    api.storage.AddClaim(name, "local");
    api.AddPod({.name = name, .gpus = 1, .claims = {name}});
  }
  api.Settle();
  EXPECT_EQ(api.CountBinds(), 33u);
  for (const EventRequest& event : Seen<EventRequest>(api)) {
    EXPECT_FALSE(event.warning) << event.note;
  }
}

TEST_F(VolumeTest, AGangHasALocalVolumeOnEachOfItsNodes) {
  api.AddGroup("g", 3);
  for (int i = 1; i <= 3; ++i) {
    const std::string name = absl::StrCat("w", i);
    api.storage.AddVolume(absl::StrCat("pv", i), "local", 10,
                          {absl::StrCat("n", i)});
    api.storage.AddClaim(name, "local");
    api.AddPod({.name = name, .gpus = 1, .group = "g", .claims = {name}});
  }
  api.Settle();
  EXPECT_EQ(api.CountBinds(), 3u);
}

TEST_F(VolumeTest, OnlyOnePodAtATimeUsesAReadWriteOncePodClaim) {
  api.storage.AddClaim("data", "made", 1, "ReadWriteOncePod");
  AddPodWithData("first");
  api.Pass(kSecond);
  AddPodWithData("second");
  api.Pass(2 * kSecond);
  EXPECT_NE(api.NodeOf("first"), "");
  EXPECT_EQ(api.NodeOf("second"), "");
  EXPECT_EQ(ToldTo(api, "second"),
            "Pending: claim 'data' is ReadWriteOncePod, and pod 'first' comes "
            "first");
  api.Finish("first");
  api.Settle();
  EXPECT_NE(api.NodeOf("second"), "");
}

TEST_F(VolumeTest, APodOfAnotherSchedulerHasTheClaimToItself) {
  api.storage.AddClaim("data", "made", 1, "ReadWriteOncePod");
  api.AddPod({.name = "other", .scheduler = "other", .claims = {"data"}});
  api.storage.AddBound("data", {});
  api.storage.EditClaim("data", [](api::PersistentVolumeClaim& claim) {
    claim.access_modes = {"ReadWriteOncePod"};
  });
  api.BindBehind("other", "n1");
  api.AddPod({.name = "p", .claims = {"data"}});
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), "");
  api.DeletePod("other");
  api.Settle();
  EXPECT_NE(api.NodeOf("p"), "");
}

TEST_F(VolumeTest, AnswersOfAllKindsComeToTheSameEnd) {
  const ApiOutcome all[] = {ApiOutcome::kConflict, ApiOutcome::kUnknown,
                            ApiOutcome::kRefused, ApiOutcome::kNotFound};
  int n = 0;
  for (const ApiOutcome outcome : all) {
    for (const char* storage_class : {"made", "local"}) {
      const std::string name = absl::StrCat("p", n++);
      api.storage.AddVolume("pv-of-" + name, "local", 1, {});
      api.storage.AddClaim(name, storage_class);
      api.storage.faults = {outcome};
      api.AddPod({.name = name, .claims = {name}});
      api.Pass(2 * kSecond);
      // Somebody else writes the objects from time to time.
      api.storage.EditClaim(name, [](api::PersistentVolumeClaim&) {});
      for (int i = 0; i < 3; ++i) api.Pass(300 * kSecond);
      EXPECT_NE(api.NodeOf(name), "")
          << static_cast<int>(outcome) << " " << storage_class;
    }
  }
}

TEST_F(VolumeTest, ANewLeaderGoesOnWhereTheFormerOneWas) {
  Provision(Provisioning::kHangs);
  MakePodWithData();
  api.Settle();
  const std::vector<std::string> before = Selected(api, "data");
  api.Restart();
  Provision(Provisioning::kWorks);
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), before[0]);
  EXPECT_EQ(Selected(api, "data"), before);
}

TEST_F(VolumeTest, APodThatIsMadeAgainFindsItsVolume) {
  api.storage.AddClaim("data", "made");
  api.AddPod({.name = "p", .gpus = 1, .job = "j", .claims = {"data"}});
  api.Settle();
  const std::string node = api.NodeOf("p");
  ASSERT_NE(node, "");
  Fill("n3");
  api.DeletePod("p");
  api.Settle();
  EXPECT_EQ(api.NodeOf("p"), node);
}

}  // namespace
}  // namespace muster::kubernetes
