// Replicas of a LeaderWorkerSet, each a gang: its leader and its workers.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::HasSubstr;

class LeaderWorkerSetTest : public testing::Test {
 protected:
  void PutSet(int64_t replicas, int64_t size, bool leader_first = false) {
    api::Owner set;
    set.meta.name = "l";
    set.meta.uid = "l-uid";
    set.api_version = "leaderworkerset.x-k8s.io/v1";
    set.kind = "LeaderWorkerSet";
    set.copies = replicas;
    set.roles = {{.name = "leader", .pods = 1},
                 {.name = "worker", .pods = size - 1, .later = leader_first}};
    api_.Put(set);
  }
  // Named REPLICA-WORKER; the leader is worker 0.
  void AddPod(int replica, int worker) {
    const std::string r = absl::StrCat(replica), w = absl::StrCat(worker);
    api_.AddPod({.name = absl::StrCat(r, "-", w),
                 .gpus = 1,
                 .labels = {{"leaderworkerset.sigs.k8s.io/name", "l"},
                            {"leaderworkerset.sigs.k8s.io/group-index", r},
                            {"leaderworkerset.sigs.k8s.io/worker-index", w}}});
  }
  void AddReplica(int replica, int size) {
    for (int w = 0; w < size; ++w) AddPod(replica, w);
  }
  bool Runs(int replica, int size) const {
    for (int w = 0; w < size; ++w) {
      if (api_.NodeOf(absl::StrCat(replica, "-", w)).empty()) return false;
    }
    return true;
  }

  FakeApi api_;
};

TEST_F(LeaderWorkerSetTest, EachReplicaStartsAloneAndAsAWhole) {
  api_.AddNode("n", 5);
  PutSet(2, 3);
  AddReplica(0, 3);
  AddReplica(1, 3);
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "0-0 0-1 0-2");
  EXPECT_THAT(ToldTo(api_, "1-0"), HasSubstr("3 nvidia.com/gpu needed"));
  api_.AddNode("m", 1);
  api_.Pass(10 * kSecond);
  EXPECT_TRUE(Runs(1, 3));
}

TEST_F(LeaderWorkerSetTest, AReplicaWaitsUntilItsPodsAreThere) {
  api_.AddNode("n", 8);
  PutSet(1, 3);
  AddReplica(0, 2);
  api_.Pass(5 * kSecond);
  EXPECT_EQ(api_.On("n"), "");
  EXPECT_THAT(ToldTo(api_, "0-0"), HasSubstr("2 of 3 pods are there"));
  AddPod(0, 2);
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "0-0 0-1 0-2");
}

TEST_F(LeaderWorkerSetTest, PodsMayComeBeforeTheirSet) {
  api_.AddNode("n", 8);
  AddReplica(0, 2);
  api_.Pass(kSecond);
  EXPECT_EQ(api_.On("n"), "");
  PutSet(1, 2);
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "0-0 0-1");
  // A replica more than there are, as in a rolling update.
  AddReplica(1, 2);
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "0-0 0-1 1-0 1-1");
}

TEST_F(LeaderWorkerSetTest, WorkersOfALeaderThatIsToBeReadyComeLater) {
  api_.AddNode("n", 8);
  PutSet(1, 3, true);
  AddPod(0, 0);
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "0-0");
  AddPod(0, 1);
  AddPod(0, 2);
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "0-0 0-1 0-2");
}

TEST_F(LeaderWorkerSetTest, AnotherSizeIsThatOfEachReplica) {
  api_.AddNode("n", 8);
  PutSet(2, 4);
  AddReplica(0, 2);
  AddReplica(1, 2);
  api_.Pass(kSecond);
  EXPECT_EQ(api_.On("n"), "");
  PutSet(2, 2);
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "0-0 0-1 1-0 1-1");
}

TEST_F(LeaderWorkerSetTest, ARestartFindsEachReplica) {
  api_.AddNode("n", 5);
  PutSet(2, 3);
  AddReplica(0, 3);
  AddReplica(1, 3);
  api_.Settle();
  api_.Restart();
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "0-0 0-1 0-2");
  api_.AddNode("m", 1);
  api_.Pass(10 * kSecond);
  EXPECT_TRUE(Runs(1, 3));
}

TEST_F(LeaderWorkerSetTest, NothingIsKeptOfReplicasThatAreOver) {
  api_.AddNode("n", 2);
  PutSet(1, 2);
  for (int replica = 0; replica < 20; ++replica) {
    AddReplica(replica, 2);
    api_.Settle();
    EXPECT_NE(api_.On("n"), "") << replica;
    for (const char* pod : {"-0", "-1"}) {
      api_.DeletePod(absl::StrCat(replica, pod));
    }
    api_.Settle();
  }
  api_.Pass(601 * kSecond);
  EXPECT_EQ(api_.controller().counts().groups, 0u);
}

}  // namespace
}  // namespace muster::kubernetes
