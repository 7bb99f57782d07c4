// Random histories of pods with claims: requests fail, observations come late,
// provisioners fail or do nothing, controllers are killed. FakeApi checks each
// binding: none before its claims are bound, none where a volume is not; in the
// end everything has run.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/random_cluster.h"

namespace muster::kubernetes {
namespace {

using Provisioning = FakeStorage::Provisioning;

class World : public RandomCluster {
 public:
  // `many`: pods have several claims. Volumes of one pod may then be on nodes
  // that have nothing in common, or a gang's all on one, so that not all run.
  World(uint64_t seed, bool many) : RandomCluster(seed), many_(many) {
    for (int n = 0; n < 4; ++n) AddNode(n);
    api.storage.PutClass("made", true);
    api.storage.PutClass("narrow", true, true, {"n1", "n2"});
    api.storage.PutClass("soon", true, false);
    api.storage.PutClass("local", false);
    for (int i = 0; i < 8; ++i) AddVolume();
    api.storage.provisioning = [this](const std::string&) {
      if (drains_) return Provisioning::kWorks;
      const Provisioning all[] = {Provisioning::kWorks, Provisioning::kWorks,
                                  Provisioning::kFails, Provisioning::kHangs};
      return all[Below(4)];
    };
    if (OneIn(2)) {
      api.Delay(seed);
      api.storage.Delay(seed + 1);
    }
  }

  void Act() {
    switch (Below(14)) {
      case 0:
      case 1:
        AddPod();
        break;
      case 2:
      case 3:
        AddGang();
        break;
      case 4:
      case 5:
        FinishOne();
        break;
      case 6:
        DeleteOne();
        break;
      case 7:
        AddFault();
        break;
      case 8:
        if (OneIn(2)) api.Restart();
        break;
      case 9:
        if (OneIn(2)) api.Die(Below(5));
        break;
      case 10:
        TouchClaim();
        break;
      case 11:
        ChangeNode();
        break;
      default:
        api.Pass(static_cast<Duration>(Below(400)) * kSecond);
    }
    api.Pass(kSecond);
  }

  // Everything runs to its end.
  void Drain() {
    drains_ = true;
    api.bind_faults.clear();
    api.storage.faults.clear();
    for (int n = 0; n < 4; ++n) AddNode(n);
    FinishAll(5, 601 * kSecond, [this] {
      // A claim may be bound where there is no node for it any more.
      for (int i = 0; i < 4; ++i) AddVolume();
    });
  }

  std::string Waiting() {
    std::string lines;
    for (const std::string& name : api.Names()) {
      if (!api.NodeOf(name).empty()) continue;
      absl::StrAppend(&lines, name, "\n");
    }
    for (const auto& [name, claim] : api.storage.claims()) {
      absl::StrAppend(&lines, "claim ", name, " ", claim.phase, " ",
                      claim.selected_node, " ", api.storage.VolumeOf(name),
                      "\n");
    }
    return lines;
  }

 private:
  // Room for a gang whose volumes are all there.
  void AddNode(uint64_t n) {
    const std::string name = absl::StrCat("n", n);
    api.AddNode(name, 3);
    api.EditNode(name, [](api::Node& node) { node.unschedulable = false; });
  }

  void AddVolume() {
    const std::string node = absl::StrCat("n", Below(4));
    api.storage.AddVolume(Name("pv"), "local",
                          1 + static_cast<int64_t>(Below(3)), {node});
  }

  // A claim that a pod of any name may use.
  std::string AddClaim(const std::string& mode) {
    const std::string name = Name("claim");
    if (OneIn(4)) {
      const uint64_t node = Below(3);
      api.storage.AddBound(
          name, {absl::StrCat("n", node), absl::StrCat("n", node + 1)});
    } else {
      const char* classes[] = {"made", "narrow", "soon", "local"};
      api.storage.AddClaim(name, classes[Below(4)], 1, mode);
    }
    return name;
  }

  PodSpec SomePod(const std::string& name) {
    PodSpec spec{.name = name, .gpus = 1};
    if (OneIn(4)) {
      spec.claims = {Name("late")};
    } else if (OneIn(2)) {
      spec.claims = {AddClaim(OneIn(3) ? "ReadWriteOncePod" : "ReadWriteOnce")};
    }
    if (OneIn(3) && (many_ || spec.claims.empty())) {
      spec.ephemeral = {"scratch"};
    }
    spec.priority = static_cast<int32_t>(Below(3));
    if (OneIn(2)) spec.job = name;
    return spec;
  }

  void Add(const PodSpec& spec) {
    api.AddPod(spec);
    for (const std::string& claim : spec.claims) {
      if (api.storage.claims().contains(claim)) continue;
      if (OneIn(2)) api.Pass(kSecond);
      api.storage.AddClaim(claim, OneIn(2) ? "made" : "local");
    }
  }

  void AddPod() {
    PodSpec spec = SomePod(Name("p"));
    // A second pod of the same claim.
    if (!spec.claims.empty() && OneIn(3)) {
      PodSpec other = spec;
      other.name = Name("p");
      if (!other.job.empty()) other.job = other.name;
      Add(other);
    }
    Add(spec);
  }

  void AddGang() {
    const std::string group = Name("gang");
    const int pods = 2 + static_cast<int>(Below(2));
    api.AddGroup(group, pods - static_cast<int>(Below(2)));
    const std::string shared = OneIn(3) ? AddClaim("ReadWriteMany") : "";
    for (int i = 0; i < pods; ++i) {
      PodSpec spec = SomePod(absl::StrCat(group, "-", i));
      spec.group = group;
      spec.job = spec.name;
      spec.priority = 1;
      if (!shared.empty() && !many_) {
        spec.claims.clear();
        spec.ephemeral.clear();
      }
      if (!shared.empty()) spec.claims.push_back(shared);
      Add(spec);
      if (OneIn(4)) api.Pass(kSecond);
    }
  }

  void AddFault() {
    const ApiOutcome outcome = AnyFault();
    if (OneIn(2)) {
      api.storage.faults.push_back(outcome);
    } else {
      api.bind_faults.push_back({outcome, outcome == ApiOutcome::kUnknown});
    }
  }

  // Somebody else writes it, or takes the node away from it.
  void TouchClaim() {
    std::vector<std::string> names;
    for (const auto& [name, claim] : api.storage.claims()) {
      if (claim.phase != "Bound") names.push_back(name);
    }
    if (names.empty()) return;
    const std::string name = AnyOf(names);
    const bool given = !api.storage.VolumeOf(name).empty();
    api.storage.EditClaim(name, [&](api::PersistentVolumeClaim& claim) {
      if (!given && OneIn(2)) claim.selected_node.clear();
    });
  }

  void ChangeNode() {
    const uint64_t n = Below(4);
    const std::string name = absl::StrCat("n", n);
    if (!api.nodes().contains(name)) return AddNode(n);
    if (many_ && OneIn(3)) return api.RemoveNode(name);
    api.EditNode(name,
                 [this](api::Node& node) { node.unschedulable = OneIn(2); });
  }

  const bool many_;
  bool drains_ = false;
};

class VolumeRandomTest : public ::testing::TestWithParam<int> {
 protected:
  void Run(bool many) {
    World world(static_cast<uint64_t>(GetParam()), many);
    for (int i = 0; i < 120 && !testing::Test::HasFailure(); ++i) {
      world.Act();
      ASSERT_TRUE(world.api.Check().ok()) << world.api.Check() << " at " << i;
    }
    world.Drain();
    ASSERT_TRUE(world.api.Check().ok()) << world.api.Check();
    if (many) return;
    EXPECT_EQ(world.api.Startable(), "") << world.Waiting();
  }
};

TEST_P(VolumeRandomTest, NoPodIsWithoutItsVolumeAndAllRun) { Run(false); }

TEST_P(VolumeRandomTest, NorWithoutOneOfMany) { Run(true); }

INSTANTIATE_TEST_SUITE_P(Seeds, VolumeRandomTest, ::testing::Range(0, 60));

}  // namespace
}  // namespace muster::kubernetes
