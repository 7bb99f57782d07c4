// Random histories of a cluster, with requests that fail, observations that
// come late and controllers that are killed: nothing is bound twice or beyond
// what there is, no gang runs in part, and in the end everything has run.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/checkpoint.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/random_cluster.h"
#include "test/adapters/kubernetes/random_groups.h"

namespace muster::kubernetes {
namespace {

class World : public RandomCluster {
 public:
  World(uint64_t seed, bool everything) : RandomCluster(seed) {
    for (int n = 0; n < 4; ++n) AddNode(n);
    if (!everything) return;
    api.grace = static_cast<Duration>(Upto(2)) * 10 * kSecond;
    PutQueue(false);
    PutBudget(1);
    if (OneIn(2)) api.Delay(seed);
  }

  // Pods, gangs and Jobs come, end, fail and are deleted.
  void Act() {
    switch (Below(12)) {
      case 0:
      case 1:
        AddJob();
        break;
      case 2:
        api.AddPod({.name = Name("plain"), .gpus = Upto(2)});
        break;
      case 3:
      case 4:
        AddGang();
        break;
      case 5:
      case 6:
      case 7:
        FinishOne();
        break;
      case 8:
        DeleteOne();
        break;
      case 9:
        AddFault();
        break;
      case 10:
        if (OneIn(3)) api.Restart();
        break;
      default:
        api.Pass(Upto(29) * kSecond);
    }
    api.Pass(kSecond);
  }

  // What else happens in a cluster.
  void ActMore() {
    switch (Below(16)) {
      case 0:
        ChangeNode();
        break;
      case 1:
        AddForeign();
        break;
      case 2:
        api.AddPod({.name = Name("gated"), .gpus = 1, .gated = true});
        break;
      case 3:
        EditOne([](api::Pod& pod) { pod.scheduling_gates.clear(); });
        break;
      case 4:
        AddMusterGang();
        break;
      case 5:
        if (!api.Names().empty()) Terminate(AnyOf(api.Names()));
        break;
      case 6:
        EditOne([this](api::Pod& pod) {
          pod.priority = static_cast<int32_t>(Upto(3));
        });
        break;
      case 7:
        Relabel();
        break;
      case 8:
        PutQueue(OneIn(3));
        break;
      case 9:
        PutBudget(static_cast<int32_t>(Upto(2)));
        break;
      case 10:
        api.read_faults = static_cast<size_t>(Upto(2));
        break;
      case 11:
        if (OneIn(2)) api.Die(static_cast<size_t>(Upto(5)));
        break;
      case 12:
        CollectLostPods();
        break;
      case 13:
        ChangeSpot();
        break;
      case 14:
        Save();
        break;
      default:
        api.Pass(Upto(90) * kSecond);
    }
    api.Pass(kSecond);
  }

  // Everything runs to its end.
  void Drain() {
    api.bind_faults.clear();
    api.read_faults = 0;
    PutQueue(false);
    PutBudget(1'000);
    for (int n = 0; n < 4; ++n) AddNode(n);
    for (const std::string& name : api.Names()) {
      api.EditPod(name, [](api::Pod& pod) { pod.scheduling_gates.clear(); });
    }
    // Places that are kept, and then back-offs, may have to end first.
    FinishAll(4, 400 * kSecond);
  }

  // A pod that shows a node though no gang is nominated; "": none.
  std::string ShowsTooMuch() {
    const auto phases = api.controller().scheduler().PhaseCounts();
    if (phases[static_cast<size_t>(GangPhase::kNominated)] > 0) return "";
    for (const std::string& name : api.Names()) {
      const api::Pod& pod = api.PodNamed(name);
      const bool waits = pod.node_name.empty() && !pod.meta.deletion;
      if (waits && !pod.nominated_node_name.empty()) return name;
    }
    return "";
  }

  // Until a binding of which the answer was lost has been looked up.
  void FindLostBindings() {
    api.read_faults = 0;
    api.Pass(3 * kSecond);
  }

  // Why gangs wait, a line each.
  std::string Waiting() {
    const Scheduler& scheduler = api.controller().scheduler();
    std::string lines;
    for (const GangState& gang : scheduler.State().gangs) {
      const auto why = scheduler.Explain(gang.gang.key);
      absl::StrAppend(&lines, gang.gang.display, ": ",
                      why.ok() ? ToText(why->reason) : "", " ",
                      gang.gang.held_why, "\n");
    }
    return lines;
  }

 private:
  // What is refused was not done; of all else nobody knows.
  void AddFault() {
    const ApiOutcome outcome = AnyFault();
    const bool done = OneIn(2) && outcome != ApiOutcome::kRefused;
    api.bind_faults.push_back({outcome, done});
  }

  void AddNode(int n) {
    api.AddNode(absl::StrCat("n", n), 2, {{"rack", n < 2 ? "a" : "b"}});
    api.EditNode(absl::StrCat("n", n), [](api::Node& node) {
      node.unschedulable = false;
      node.taints.clear();
    });
  }

  void ChangeNode() {
    const int n = static_cast<int>(Upto(3));
    const std::string name = absl::StrCat("n", n);
    if (!api.nodes().contains(name)) return AddNode(n);
    if (OneIn(3)) {
      api.RemoveNode(name);
      if (OneIn(3)) AddNode(n);
      return;
    }
    api.EditNode(name, [this](api::Node& node) {
      node.unschedulable = OneIn(2);
      node.ready = OneIn(3) ? "False" : "True";
    });
  }

  // A cloud takes a node back, or does not after all.
  void ChangeSpot() {
    const std::string name = absl::StrCat("n", Upto(3));
    if (!api.nodes().contains(name)) return;
    api.EditNode(name, [](api::Node& node) {
      if (node.taints.empty()) {
        node.taints = {
            {.key = "karpenter.sh/disrupted", .effect = "NoSchedule"}};
      } else {
        node.taints.clear();
      }
    });
  }

  void Save() {
    const std::vector<std::string> running = Running();
    if (running.empty()) return;
    const std::string texts[] = {
        absl::StrCat((api.now() - Upto(500) * kSecond) / kSecond),
        absl::StrCat((api.now() + kSecond) / kSecond), "soon"};
    api.EditPod(AnyOf(running), [&](api::Pod& pod) {
      pod.meta.annotations[kCheckpointAnnotation] = texts[Upto(2)];
    });
  }

  // What the garbage collector of pods does.
  void CollectLostPods() {
    for (const std::string& name : api.Names()) {
      const std::string node = api.NodeOf(name);
      if (!node.empty() && !api.nodes().contains(node)) api.DeletePod(name);
    }
  }

  void PutQueue(bool closed) {
    api::Queue queue;
    queue.meta.name = "q";
    queue.closed = closed;
    queue.quotas = {{"nvidia.com/gpu", 2'000, 6'000}};
    api.Put(queue);
  }

  void PutBudget(int32_t allowed) {
    api::PodDisruptionBudget budget;
    budget.meta.name = "b";
    budget.selector.emplace().match_labels = {{"app", "careful"}};
    budget.disruptions_allowed = allowed;
    api.Put(budget);
  }

  api::StringMap SomeLabels() {
    api::StringMap labels;
    if (OneIn(3)) labels["app"] = "careful";
    if (OneIn(3)) labels[kQueueLabel] = "q";
    return labels;
  }

  void AddJob() {
    const std::string name = Name("job");
    api::Owner job;
    job.meta = {.name = name,
                .namespace_name = "default",
                .uid = "job-" + name,
                .creation = api.now() / kMillisecond};
    if (OneIn(2)) api.Put(job);
    api.AddPod({.name = name,
                .gpus = Upto(2),
                .priority = static_cast<int32_t>(Upto(3)),
                .job = name,
                .labels = SomeLabels()});
  }

  // Where nothing is reserved: two schedulers take care of each other's places,
  // but see only what is bound.
  void AddForeign() {
    const std::string name = Name("foreign");
    const ClusterView cluster = api.controller().scheduler().cluster();
    for (const auto& [node, object] : api.nodes()) {
      if (!OneIn(2) || api.FreeGpus(node) < 1) continue;
      const NodeId id = cluster.Find(node);
      if (id.valid() && cluster.free_devices(id.index, Ledger::kBoth) < 1) {
        continue;
      }
      api.AddPod({.name = name, .gpus = 1, .scheduler = "other"});
      return api.BindBehind(name, node);
    }
  }

  void AddGang() {
    const std::string group = Name("gang");
    const int64_t pods = 2 + Upto(2);
    const auto add_group = [&] {
      api.AddGroup(group, static_cast<int32_t>(pods - Upto(1)),
                   OneIn(3) ? "rack" : "");
    };
    const bool late = OneIn(3);
    if (!late) add_group();
    for (int64_t i = 0; i < pods; ++i) {
      api.AddPod({.name = absl::StrCat(group, "-", i),
                  .gpus = 1,
                  .priority = 1,
                  .group = group});
      if (OneIn(4)) api.Pass(kSecond);
    }
    if (late) add_group();
  }

  void AddMusterGang() {
    const std::string name = Name("muster");
    api::MusterPodGroup group;
    group.meta.name = name;
    group.min_member = static_cast<int32_t>(1 + Upto(3));
    if (OneIn(2)) group.queue = "q";
    if (OneIn(3)) group.topology.required = "rack";
    const bool late = OneIn(3);
    if (!late) api.Put(group);
    if (OneIn(2)) api.Pass(kSecond);
    for (int64_t i = 0; i < *group.min_member + Upto(1); ++i) {
      const std::string pod = absl::StrCat(name, "-", i);
      api.AddPod({.name = pod,
                  .gpus = 1,
                  .priority = static_cast<int32_t>(Upto(2)),
                  .job = OneIn(2) ? pod : "",
                  .labels = {{kPodGroupLabel, name}, {"app", "careful"}}});
      if (OneIn(4)) api.Pass(kSecond);
    }
    if (late) api.Put(group);
  }

  void Terminate(const std::string& name) {
    api.EditPod(name, [this](api::Pod& pod) {
      if (!pod.meta.deletion) pod.meta.deletion = api.now() / kMillisecond;
    });
  }

  void EditOne(absl::FunctionRef<void(api::Pod&)> edit) {
    std::vector<std::string> waiting;
    for (const std::string& name : api.Names()) {
      if (api.NodeOf(name).empty()) waiting.push_back(name);
    }
    if (!waiting.empty()) api.EditPod(AnyOf(waiting), edit);
  }

  // To another group, or out of any.
  void Relabel() {
    std::vector<std::string> groups{""};
    for (const std::string& name : api.Names()) {
      const auto& labels = api.PodNamed(name).meta.labels;
      const auto it = labels.find(kPodGroupLabel);
      if (it != labels.end() && !labels.contains(kSubgroupLabel)) {
        groups.push_back(it->second);
      }
    }
    const std::string group = AnyOf(groups);
    EditOne([&](api::Pod& pod) {
      const auto gpus = pod.requests.find("nvidia.com/gpu");
      if (gpus != pod.requests.end() && gpus->second > 1'000) {
        return;  // With it, a group may be too large for its rack.
      }
      if (pod.meta.labels.contains(kSubgroupLabel)) return;
      pod.meta.labels.erase(kPodGroupLabel);
      if (!group.empty()) pod.meta.labels[kPodGroupLabel] = group;
    });
  }
};

class RandomTest : public ::testing::TestWithParam<int> {
 protected:
  void Run(bool everything, bool all_kinds = false) {
    World world(static_cast<uint64_t>(GetParam()), everything);
    RandomGroups groups(&world);
    std::mt19937_64 random(static_cast<uint64_t>(GetParam()));
    for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
      if (all_kinds && random() % 4 == 0) {
        groups.Act();
      } else if (everything && random() % 2 == 0) {
        world.ActMore();
      } else {
        world.Act();
      }
      ASSERT_TRUE(world.api.Check().ok()) << world.api.Check() << " at " << i;
      if (world.ShowsTooMuch() != "") world.FindLostBindings();
      ASSERT_EQ(world.ShowsTooMuch(), "") << i;
    }
    world.Drain();
    ASSERT_TRUE(world.api.Check().ok()) << world.api.Check();
    EXPECT_EQ(world.api.Startable(), "") << world.Waiting();
  }
};

TEST_P(RandomTest, NothingIsBoundTwiceOrTooMuch) { Run(false); }

TEST_P(RandomTest, NorWhereEverythingHappens) { Run(true); }

TEST_P(RandomTest, NorOfGroupsOfEveryKind) { Run(true, true); }

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, ::testing::Range(0, 80));

}  // namespace
}  // namespace muster::kubernetes
