// What runs is not stopped for what others bind, resize, delete or ask for, and
// what they hold is not given away.
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// One node of four processors.
class HarmTest : public ::testing::Test {
 protected:
  HarmTest() {
    api_.AddNode("n", 0);
    SetCpus(4);
  }

  void SetCpus(int64_t cpus) {
    api_.EditNode(
        "n", [&](api::Node& node) { node.allocatable["cpu"] = cpus * 1000; });
    api_.Pass(kSecond);
  }

  void Add(const std::string& name, int64_t cpus, int32_t priority = 0) {
    api_.AddPod({.name = name, .milli_cpu = cpus * 1000, .priority = priority});
    api_.Pass(kSecond);
  }

  // Bound past the scheduler; its kubelet has not looked at it.
  void Intrude(const std::string& name, int64_t cpus,
               const std::string& scheduler = "other") {
    api_.AddPod(
        {.name = name, .milli_cpu = cpus * 1000, .scheduler = scheduler});
    api_.EditPod(name, [](api::Pod& pod) { pod.node_name = "n"; });
    api_.Pass(kSecond);
  }

  void Start(const std::string& name) {
    api_.EditPod(name, [&](api::Pod& pod) {
      pod.phase = "Running";
      pod.start_time = api_.now() / kMillisecond;
    });
    api_.Pass(kSecond);
  }

  void Resize(const std::string& name, int64_t cpus) {
    api_.EditPod(name,
                 [&](api::Pod& pod) { pod.requests["cpu"] = cpus * 1000; });
    api_.Pass(kSecond);
  }

  // A gang whose pods are "g0", "g1", ... of one processor each.
  void AddGang(int pods, int32_t minimum, int32_t priority = 0) {
    SetMinimum(minimum);
    for (int i = 0; i < pods; ++i) AddMember(i, priority);
    api_.Pass(kSecond);
  }
  void SetMinimum(int32_t minimum) {
    api::PodGroup group;
    group.meta.name = "g";
    group.meta.uid = "uid-of-g";
    group.min_count = minimum;
    api_.Put(group);
    api_.Pass(kSecond);
  }
  void AddMember(int i, int32_t priority = 0) {
    api_.AddPod({.name = absl::StrCat("g", i),
                 .milli_cpu = 1000,
                 .priority = priority,
                 .group = "g"});
  }

  void Delete(const std::string& name) {
    api_.EditPod(name, [&](api::Pod& pod) {
      pod.meta.deletion = api_.now() / kMillisecond;
    });
    api_.Pass(kSecond);
  }

  // So many were asked for.
  size_t Evictions() const { return Seen<EvictRequest>(api_).size(); }

  FakeApi api_;
};

TEST_F(HarmTest, WhoIsBoundPastTheSchedulerStopsNothing) {
  for (const char* scheduler : {"other", "muster"}) {
    const std::string name = absl::StrCat("intruder-of-", scheduler);
    if (api_.On("n").empty()) AddGang(4, 4, 100);
    Intrude(name, 3, scheduler);
    EXPECT_EQ(api_.On("n"), "g0 g1 g2 g3 " + name);
    Start(name);  // Whatever the kubelet thought of it.
    api_.Pass(400 * kSecond);
    EXPECT_EQ(Evictions(), 0u);
    api_.Finish(name, false);
    api_.Pass(kSecond);
  }
  EXPECT_EQ(api_.On("n"), "g0 g1 g2 g3");
}

TEST_F(HarmTest, NorWhereTheyAskForDevices) {
  api_.AddNode("m", 2);
  api_.AddGang("h", {"h0", "h1"});
  api_.Pass(kSecond);
  for (int i = 0; i < 3; ++i) {
    const std::string name = absl::StrCat("intruder", i);
    api_.AddPod({.name = name, .gpus = 2, .scheduler = "other"});
    api_.EditPod(name, [](api::Pod& pod) { pod.node_name = "m"; });
    api_.Pass(kSecond);
    EXPECT_EQ(api_.controller().counts().exceeded, 0u);
    Start(name);
    EXPECT_EQ(api_.controller().counts().exceeded, 1u);
    api_.Pass(400 * kSecond);
    EXPECT_EQ(api_.NodeOf("h0") + api_.NodeOf("h1"), "mm");
    api_.Finish(name, false);
    api_.Pass(kSecond);
  }
  EXPECT_EQ(Evictions(), 0u);
  EXPECT_EQ(api_.controller().counts().exceeded, 0u);
}

TEST_F(HarmTest, ThoseThatExceedANodeKeepNewPodsAway) {
  Add("old", 2);
  Intrude("intruder", 1);
  Start("intruder");
  Resize("intruder", 3);
  Add("next", 1);
  EXPECT_EQ(api_.On("n"), "intruder old");
  api_.Finish("intruder");
  api_.Pass(kSecond);
  EXPECT_EQ(api_.On("n"), "next old");
}

TEST_F(HarmTest, WhatAKubeletHasNotSeenCountsIfItFits) {
  Intrude("fits", 3);
  Add("next", 2);
  EXPECT_EQ(api_.NodeOf("next"), "");
  Start("fits");
  EXPECT_EQ(api_.NodeOf("next"), "");
  api_.Finish("fits");
  api_.Pass(kSecond);
  EXPECT_EQ(api_.NodeOf("next"), "n");
}

TEST_F(HarmTest, WhatAKubeletWillRefuseKeepsNothingAway) {
  Add("old", 1);
  Intrude("huge", 4);
  Add("next", 3);
  EXPECT_EQ(api_.NodeOf("next"), "n");
  EXPECT_EQ(Evictions(), 0u);
}

TEST_F(HarmTest, OfTwoThatFitAloneTheOlderCounts) {
  Intrude("a-younger", 0);  // Its name is first.
  api_.EditPod("a-younger", [](api::Pod& pod) {
    pod.meta.creation += 1'000'000;
    pod.requests["cpu"] = 3'000;
  });
  Intrude("older", 2);
  Add("next", 2);
  EXPECT_EQ(api_.NodeOf("next"), "n");
}

TEST_F(HarmTest, WhatFitsWhenOthersHaveGoneCountsFromThen) {
  Add("old", 2);
  Intrude("larger", 3);
  api_.Finish("old");
  Add("next", 2);
  EXPECT_EQ(api_.NodeOf("next"), "");
}

TEST_F(HarmTest, ANodeThatSaysForAWhileThatItHasNothingStopsNothing) {
  AddGang(4, 4);
  SetCpus(0);
  Add("next", 1);
  api_.Pass(400 * kSecond);
  EXPECT_EQ(api_.On("n"), "g0 g1 g2 g3");
  SetCpus(5);
  EXPECT_EQ(api_.On("n"), "g0 g1 g2 g3 next");
  EXPECT_EQ(Evictions(), 0u);
}

TEST_F(HarmTest, DevicesOfAPlugInThatStartsAnewStopNothing) {
  api_.AddNode("m", 2);
  api_.AddPod({.name = "w", .gpus = 2, .priority = 5});
  api_.Pass(kSecond);
  const auto set_gpus = [&](int64_t gpus) {
    api_.EditNode("m", [&](api::Node& node) {
      node.allocatable["nvidia.com/gpu"] = gpus * 1000;
    });
    api_.Pass(kSecond);
  };
  set_gpus(0);
  api_.AddPod({.name = "next", .gpus = 1});
  api_.Pass(400 * kSecond);
  EXPECT_EQ(api_.NodeOf("w"), "m");
  set_gpus(3);
  EXPECT_EQ(api_.On("m"), "next w");
  EXPECT_EQ(Evictions(), 0u);
}

TEST_F(HarmTest, APodThatGrowsInPlaceHoldsMore) {
  Add("grow", 1);
  Resize("grow", 3);
  Add("next", 2);
  EXPECT_EQ(api_.NodeOf("next"), "");
  Resize("grow", 1);
  EXPECT_EQ(api_.NodeOf("next"), "n");
  Add("last", 1);
  EXPECT_EQ(api_.NodeOf("last"), "n");
  Add("beyond", 1);
  EXPECT_EQ(api_.NodeOf("beyond"), "");
}

TEST_F(HarmTest, APodThatShrinksInPlaceGivesRoomBack) {
  for (const bool restarts : {false, true}) {
    const std::string shrink = absl::StrCat("shrink-", restarts);
    const std::string next = absl::StrCat("next-", restarts);
    Add(shrink, 3);
    Resize(shrink, 1);
    if (restarts) api_.Restart();
    Add(next, 3);
    EXPECT_EQ(api_.NodeOf(next), "n");
    Resize(shrink, 2);  // Beyond what is there: it keeps what it has.
    EXPECT_EQ(Evictions(), 0u);
    api_.Finish(next);
    Add("more", 3);
    EXPECT_EQ(api_.NodeOf("more"), "");
    api_.Finish(shrink);
    api_.Pass(kSecond);
    EXPECT_EQ(api_.NodeOf("more"), "n");
    Add("rest", 1);
    EXPECT_EQ(api_.NodeOf("rest"), "n");
    Add("beyond", 1);
    EXPECT_EQ(api_.NodeOf("beyond"), "");
    for (const char* name : {"more", "rest", "beyond"}) api_.DeletePod(name);
    api_.Pass(kSecond);
  }
}

TEST_F(HarmTest, WhatShrankMakesTheRoomThatItHas) {
  Add("low", 3);
  Resize("low", 1);
  Add("mate", 3);
  Add("high", 1, 100);
  api_.Pass(10 * kSecond);
  // One of them had to go, and no second one.
  EXPECT_EQ(Evictions(), 1u);
  EXPECT_EQ(api_.NodeOf("high"), "n");
  EXPECT_TRUE(api_.Check().ok()) << api_.Check();
}

TEST_F(HarmTest, PodsOfOthersAreResizedToo) {
  Intrude("foreign", 3);
  Start("foreign");
  Add("next", 2);
  EXPECT_EQ(api_.NodeOf("next"), "");
  Resize("foreign", 1);
  EXPECT_EQ(api_.NodeOf("next"), "n");
}

TEST_F(HarmTest, WhatIsBeingDeletedIsRoomOnTheWay) {
  api_.grace = 15 * kSecond;
  AddGang(4, 2);
  Delete("g2");
  Delete("g3");
  Add("mate", 2);
  api_.Pass(5 * kSecond);
  EXPECT_EQ(Evictions(), 0u);
  api_.Pass(15 * kSecond);
  EXPECT_EQ(api_.On("n"), "g0 g1 mate");
  EXPECT_EQ(Evictions(), 0u);
}

TEST_F(HarmTest, NobodyIsStoppedWhileOneLeaves) {
  api_.grace = 15 * kSecond;
  Add("one", 2);
  Add("two", 2);
  Delete("one");
  Add("urgent", 2, 100);
  api_.Pass(15 * kSecond);
  EXPECT_EQ(api_.On("n"), "two urgent");
  EXPECT_EQ(Evictions(), 0u);
}

TEST_F(HarmTest, AGangGoesOnWhileOneOfItLeaves) {
  for (const bool restarts : {false, true}) {
    api_.grace = 15 * kSecond;
    if (!restarts) AddGang(4, 4);
    Delete("g1");
    if (restarts) api_.Restart();
    api_.Pass(5 * kSecond);
    EXPECT_EQ(api_.On("n"), "g0 g1 g2 g3");
    Add(absl::StrCat("mate", restarts), 1);
    api_.Pass(10 * kSecond);
    EXPECT_EQ(api_.On("n"), "g0 g2 g3") << "the room is the gang's";
    AddMember(1);
    api_.Pass(kSecond);
    EXPECT_EQ(api_.On("n"), "g0 g1 g2 g3");
    EXPECT_EQ(Evictions(), 0u);
  }
}

TEST_F(HarmTest, ARaisedMinimumStopsNothing) {
  SetCpus(2);
  AddGang(2, 2);
  SetMinimum(3);
  AddMember(2);
  api_.Pass(400 * kSecond);
  EXPECT_EQ(api_.On("n"), "g0 g1");
  Add("small", 1);
  SetCpus(3);
  EXPECT_EQ(api_.On("n"), "g0 g1 g2");
  EXPECT_EQ(Evictions(), 0u);
}

TEST_F(HarmTest, AGroupOfAnOwnerThatIsResumedStopsNothing) {
  SetCpus(2);
  api::Owner job;
  job.kind = "PyTorchJob";
  job.meta.name = "job";
  job.meta.uid = "uid-of-PyTorchJob/job";
  job.roles = {{.name = "Master", .pods = 1}, {.name = "Worker", .pods = 1}};
  api_.Put(job);
  const auto add = [&](const std::string& name) {
    api_.AddPod({.name = name, .milli_cpu = 1000, .owner = "PyTorchJob/job"});
    api_.Pass(kSecond);
  };
  add("r0");
  EXPECT_EQ(api_.On("n"), "");
  add("r1");
  EXPECT_EQ(api_.On("n"), "r0 r1");
  job.roles.push_back({.name = "more", .pods = 2});
  api_.Put(job);
  add("r2");
  add("r3");
  api_.Pass(400 * kSecond);
  EXPECT_EQ(api_.On("n"), "r0 r1");
  SetCpus(3);
  EXPECT_EQ(api_.On("n"), "r0 r1") << "what is new starts whole";
  SetCpus(4);
  EXPECT_EQ(api_.On("n"), "r0 r1 r2 r3");
  EXPECT_EQ(Evictions(), 0u);
}

TEST_F(HarmTest, AnAnnotationThatGrowsStopsNothing) {
  SetCpus(2);
  const auto add = [&](const std::string& name, const std::string& minimum) {
    api_.AddPod({.name = name,
                 .milli_cpu = 1000,
                 .labels = {{kPodGroupLabel, "a"}},
                 .annotations = {{"muster.dev/min-pods", minimum}}});
    api_.Pass(kSecond);
  };
  add("a0", "2");
  add("a1", "2");
  add("a2", "3");
  api_.Pass(400 * kSecond);
  EXPECT_EQ(api_.On("n"), "a0 a1");
  EXPECT_EQ(Evictions(), 0u);
}

TEST_F(HarmTest, MoreThanANodeHasIsToldOnceForAWhile) {
  const auto told = [&] {
    const auto events = EventsAbout(api_, "Node");
    for (const EventRequest& event : events) {
      EXPECT_EQ(event.reason, "MoreInUse");
      EXPECT_EQ(event.object.name, "n");
      EXPECT_TRUE(event.warning);
      EXPECT_THAT(event.note, HasSubstr("of cpu:"));
    }
    return events.size();
  };
  Add("w", 3);
  for (int i = 0; i < 5; ++i) {
    SetCpus(2);
    EXPECT_EQ(api_.controller().counts().exceeded, 1u);
    SetCpus(3);
    EXPECT_EQ(api_.controller().counts().exceeded, 0u);
  }
  EXPECT_EQ(told(), 1u);
  SetCpus(2);
  const auto nodes = api_.controller().overview().ExceededNodes();
  EXPECT_THAT(nodes, ElementsAre(Pair("n", ElementsAre("cpu"))));
  SetCpus(3);
  api_.Pass(600 * kSecond);
  SetCpus(2);
  EXPECT_EQ(told(), 2u);
  api_.RemoveNode("n");
  api_.Pass(kSecond);
  EXPECT_EQ(api_.controller().counts().exceeded, 0u);
}

TEST_F(HarmTest, NobodyIsStoppedForWhoseBindingIsRefused) {
  api_.bind_faults = {{ApiOutcome::kRefused, false}};
  Add("doomed", 3, 100);
  Add("fine", 3);
  EXPECT_EQ(api_.On("n"), "fine");
  for (int i = 0; i < 40; ++i) api_.Pass(10 * kSecond);
  EXPECT_EQ(api_.On("n"), "fine");
  EXPECT_EQ(Evictions(), 0u);
  EXPECT_THAT(ToldTo(api_, "doomed"),
              HasSubstr("its binding was refused: fault"));
  api_.Finish("fine");  // What is free may be tried.
  api_.Pass(400 * kSecond);
  EXPECT_EQ(api_.On("n"), "doomed");
}

}  // namespace
}  // namespace muster::kubernetes
