// Gangs inside nodes: shares, whole devices and partitions packed together,
// against brute force; rails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

using ::testing::ElementsAre;

// --- The judge ---------------------------------------------------------------

constexpr int64_t kDeviceMemory = 1000;  // As MakeNode has it.

PartitionScheme SmallScheme() {
  return {.key = "small",
          .memory_slices = 4,
          .profiles = {{"one", 1, 250, {0, 1, 2, 3}},
                       {"two", 2, 350, {0, 2}},
                       {"three", 3, 600, {0, 1}}}};
}

// A device as the words of device.h and partition.h have it.
struct JudgedDevice {
  bool may_be_cut = false;
  std::vector<DevicePartition> pieces{};  // The host's.
  int32_t milli = 0;                      // In use.
  int64_t memory = 0;
  bool shared = false;
  std::vector<std::pair<uint32_t, uint32_t>> taken{};  // [first, last) slices.
};

class Judge {
 public:
  explicit Judge(const Cluster& cluster) {
    for (const NodeIndex n : cluster.nodes()) {
      for (const Device& d : cluster.node(n).devices) {
        devices_.push_back({.may_be_cut = !d.partition_scheme.empty(),
                            .pieces = d.partitions});
        node_of_.push_back(n);
      }
    }
  }

  // Takes what a task holds; false, and no change, if it has no room there.
  bool Take(const DeviceRequest& request, const std::vector<size_t>& devices,
            uint32_t slot) {
    for (const size_t d : devices) {
      if (!HasRoom(devices_[d], request, slot)) return false;
    }
    for (const size_t d : devices) Use(devices_[d], request, slot, 1);
    return true;
  }
  // The devices of a node, by their numbers there.
  std::vector<size_t> DevicesOf(NodeIndex node, DeviceSet set) const {
    std::vector<size_t> devices;
    uint32_t number = 0;
    for (size_t d = 0; d < devices_.size(); ++d) {
      if (node_of_[d] != node) continue;
      if (set.Contains(number++)) devices.push_back(d);
    }
    return devices;
  }

  // Whether the tasks, in this order of roles, can all be placed: everything
  // is tried.
  bool Feasible(const std::vector<DeviceRequest>& tasks, size_t next = 0) {
    if (next == tasks.size()) return true;
    const DeviceRequest& request = tasks[next];
    const uint32_t slots = request.partition.empty() ? 1 : 4;
    for (uint64_t set = 1; set < uint64_t{1} << devices_.size(); ++set) {
      if (std::popcount(set) != static_cast<int>(request.count)) continue;
      std::vector<size_t> devices;
      bool one_node = true;
      for (size_t d = 0; d < devices_.size(); ++d) {
        if ((set >> d & 1) == 0) continue;
        one_node = one_node &&
                   (devices.empty() || node_of_[d] == node_of_[devices[0]]);
        devices.push_back(d);
      }
      if (!one_node) continue;
      for (uint32_t slot = 0; slot < slots; ++slot) {
        if (!Take(request, devices, slot)) continue;
        const bool rest = Feasible(tasks, next + 1);
        for (const size_t d : devices) Use(devices_[d], request, slot, -1);
        if (rest) return true;
      }
    }
    return false;
  }

 private:
  static DeviceShare ShareOf(const DeviceRequest& request) {
    if (!request.partition.empty()) {
      const PartitionScheme scheme = SmallScheme();
      const PartitionProfile& p = *FindProfile(scheme, request.partition);
      return {0, p.milli,
              kDeviceMemory * p.memory_slices / scheme.memory_slices};
    }
    if (request.memory_bytes > 0) {
      return {0,
              request.milli > 0
                  ? request.milli
                  : static_cast<int32_t>(1000 * request.memory_bytes /
                                         kDeviceMemory),
              request.memory_bytes};
    }
    return {0, request.milli, request.milli * kDeviceMemory / 1000};
  }

  static bool HasRoom(const JudgedDevice& device, const DeviceRequest& request,
                      uint32_t slot) {
    const DeviceShare share = ShareOf(request);
    if (device.milli + share.milli > kWholeDevice ||
        device.memory + share.memory_bytes > kDeviceMemory) {
      return false;
    }
    if (request.partition.empty()) {
      return device.pieces.empty() && device.taken.empty();
    }
    if (!device.may_be_cut || device.shared) return false;
    const PartitionScheme scheme = SmallScheme();
    const PartitionProfile& p = *FindProfile(scheme, request.partition);
    const bool starts =
        device.pieces.empty()
            ? std::count(p.starts.begin(), p.starts.end(), slot) > 0
            : std::count(device.pieces.begin(), device.pieces.end(),
                         DevicePartition{p.name, slot}) > 0;
    return starts && std::none_of(device.taken.begin(), device.taken.end(),
                                  [&](const auto& h) {
                                    return slot < h.second &&
                                           h.first < slot + p.memory_slices;
                                  });
  }

  static void Use(JudgedDevice& device, const DeviceRequest& request,
                  uint32_t slot, int sign) {
    const DeviceShare share = ShareOf(request);
    device.milli += sign * share.milli;
    device.memory += sign * share.memory_bytes;
    if (request.partition.empty()) {
      device.shared = device.milli > 0 || device.memory > 0;
      return;
    }
    const PartitionScheme scheme = SmallScheme();
    const std::pair slices{
        slot, slot + FindProfile(scheme, request.partition)->memory_slices};
    if (sign > 0) {
      device.taken.push_back(slices);
    } else {
      device.taken.erase(
          std::find(device.taken.begin(), device.taken.end(), slices));
    }
  }

  std::vector<JudgedDevice> devices_{};
  std::vector<NodeIndex> node_of_{};
};

// --- Random gangs on few devices ---------------------------------------------

struct Forms {
  bool shares = true;
  bool partitions = true;
};

class Packing {
 public:
  Packing(uint32_t seed, Forms forms) : random_(seed), forms_(forms) {
    cluster_ = Cluster(3, kGpu, {}, {SmallScheme()});
    uint32_t left = 4;
    for (uint32_t n = 0; n < 2 && left > 0; ++n) {
      Node node = MakeNode({.path = "n" + std::to_string(n),
                            .gpus = 1 + Below(std::min(left, 3u))});
      left -= static_cast<uint32_t>(node.devices.size());
      for (Device& d : node.devices) {
        if (forms.partitions && Below(3) > 0) d.partition_scheme = "small";
        if (!d.partition_scheme.empty() && Below(4) == 0) {
          d.partitions = {{"two", 0}, {"one", 2}, {"one", 3}};
        }
      }
      cluster_.Upsert(node);
    }
    gang_.gang.groups.emplace_back();
    const uint32_t roles = 1 + Below(4);
    for (uint32_t r = 0; r < roles; ++r) AddRole();
  }

  // Asks the solver and the judge. Whether there was a placement.
  bool Run() {
    Judge judge(cluster_);
    std::vector<DeviceRequest> tasks;
    for (const Role& role : gang_.gang.roles) {
      tasks.insert(tasks.end(), role.min_tasks, role.shape.devices);
    }
    const bool feasible = judge.Feasible(tasks);
    const uint64_t before = cluster_.Hash();
    const Cluster::Mark mark = cluster_.Begin();
    const auto solver = NewGangSolver();
    PlacementResult result;
    solver->Place(cluster_, {.gang = &gang_}, &result);
    EXPECT_EQ(result.fit == Fit::kFits, feasible) << Name(result.reason.code);
    EXPECT_NE(result.reason.code, ReasonCode::kBudget);
    if (result.fit == Fit::kFits) {
      EXPECT_EQ(result.tasks.size(), tasks.size());
      for (const Assignment& a : result.tasks) {
        EXPECT_TRUE(judge.Take(gang_.gang.roles[a.task.role].shape.devices,
                               judge.DevicesOf(a.at.node, a.at.devices),
                               a.at.first_slice));
        EXPECT_EQ(a.at.devices.size(),
                  gang_.gang.roles[a.task.role].shape.devices.count);
      }
      EXPECT_FALSE(cluster_.Overcommitted(cluster_.nodes()[0]));
    } else {
      EXPECT_EQ(cluster_.Hash(), before);
    }
    cluster_.Rollback(mark);
    EXPECT_EQ(cluster_.Hash(), before);
    EXPECT_TRUE(cluster_.Validate().ok());
    return feasible;
  }

 private:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void AddRole() {
    static const char* const kProfiles[] = {"one", "two", "three"};
    static const int32_t kMillis[] = {250, 300, 400, 500, 600, 700};
    Role role = MakeRole("r" + std::to_string(gang_.gang.roles.size()),
                         1 + Below(2), 1);
    DeviceRequest& d = role.shape.devices;
    const uint32_t form = Below(4);
    if (form == 0 && forms_.partitions) {
      d.partition = kProfiles[Below(3)];
    } else if (form <= 1 && forms_.shares) {
      d.milli = kMillis[Below(6)];
      d.count = 1 + (Below(5) == 0 ? 1 : 0);
    } else if (form == 2 && forms_.shares) {
      d.milli = Below(3) == 0 ? kMillis[Below(6)] : 0;
      d.memory_bytes = kMillis[Below(6)];
    } else if (Below(4) == 0) {
      d.count = 2;
    } else if (forms_.partitions) {
      d.partition = kProfiles[Below(3)];
    }
    gang_.gang.roles.push_back(role);
    gang_.shapes.push_back({cluster_.Intern(role, 0)});
  }

  std::mt19937 random_;
  Forms forms_;
  Cluster cluster_{3, kGpu, {}};
  PreparedGang gang_{};
};

void RunMany(uint32_t seeds, Forms forms) {
  uint32_t feasible = 0;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    feasible += Packing(seed, forms).Run() ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
  }
  // Neither answer is rare.
  EXPECT_GT(feasible, seeds / 5);
  EXPECT_LT(feasible, seeds - seeds / 10);
}

TEST(Packing, SharesAndWholeDevicesAreFoundIfAndOnlyIfTheyFit) {
  RunMany(1500, {.shares = true, .partitions = false});
}
TEST(Packing, PartitionsAreFoundIfAndOnlyIfTheyFit) {
  RunMany(1500, {.shares = false, .partitions = true});
}
TEST(Packing, AllFormsTogetherAreFoundIfAndOnlyIfTheyFit) {
  RunMany(3000, {.shares = true, .partitions = true});
}

TEST(Packing, APartitionGoesWhereADeviceIsCutAlready) {
  World w;
  w.cluster = Cluster(3, kGpu, {}, {SmallScheme()});
  for (const char* key : {"a", "b"}) {
    Node node = MakeNode({.path = key, .gpus = 2});
    for (Device& d : node.devices) d.partition_scheme = "small";
    w.cluster.Upsert(node);
  }
  Role role = MakeRole("w", 1, 1);
  const ShapeId whole = w.cluster.Intern(role, 0);
  role.shape.devices.partition = "one";
  const ShapeId one = w.cluster.Intern(role, 0);
  w.cluster.Charge({w.cluster.Find("a").index, whole, {0}}, Ledger::kBoth);
  w.cluster.Charge({w.cluster.Find("b").index, one, {0}, 0}, Ledger::kBoth);
  w.Place({.key = "g", .roles = {role}});
  EXPECT_EQ(w.NodeOf(0, 0), "b") << "though less is free on a";
  EXPECT_EQ(w.result.tasks[0].at.devices, DeviceSet({0}));
}

// --- Rails -------------------------------------------------------------------

// Nodes a, b, c with eight devices, device i on rail i, in two NUMA nodes.
class Rails : public ::testing::Test {
 protected:
  Rails() {
    for (const char* key : {"a", "b", "c"}) {
      Node node = MakeNode({.path = std::string("z/b/r/") + key, .gpus = 8});
      for (uint32_t d = 0; d < 8; ++d) {
        node.devices[d].rail = static_cast<int32_t>(d);
        node.devices[d].numa = d < 4 ? 0 : 1;
      }
      w.cluster.Upsert(node);
    }
  }
  void Occupy(const std::string& node, DeviceSet devices) {
    const ShapeId shape = w.cluster.Intern(MakeRole("x", 1, devices.size()), 0);
    w.cluster.Charge({w.cluster.Find(node).index, shape, devices},
                     Ledger::kBoth);
  }
  std::vector<DeviceSet> DevicesOf(const std::vector<Assignment>& tasks) {
    std::vector<DeviceSet> devices;
    for (const Assignment& a : tasks) devices.push_back(a.at.devices);
    return devices;
  }

  World w;
};

TEST_F(Rails, TasksOfOneGangTakeTheSameOnesOnEachNode) {
  Occupy("a", {0, 1, 2, 3});
  Occupy("b", {0, 4});
  Gang gang{.key = "g", .roles = {MakeRole("w", 3, 2)}};
  gang.roles[0].topology.spread = {.level = kHostLevel, .max_per_domain = 1};
  w.Place(gang);
  ASSERT_EQ(w.result.fit, Fit::kFits);
  EXPECT_THAT(
      DevicesOf(w.result.tasks),
      ElementsAre(DeviceSet({4, 5}), DeviceSet({5, 6}), DeviceSet({4, 5})));
}

TEST_F(Rails, IdenticalTasksThatFillNodesAlignToo) {
  Occupy("a", {0, 1, 2, 3});
  Occupy("b", {0});
  Occupy("c", {0, 1});
  // Three devices a task: one fits on a, two on each of the others.
  w.Place({.key = "g", .roles = {MakeRole("w", 3, 3)}});
  ASSERT_EQ(w.result.fit, Fit::kFits);
  const DeviceSet first = w.result.tasks[0].at.devices;
  ASSERT_TRUE(w.NodeOf(0, 0) == w.NodeOf(0, 1) ||
              w.NodeOf(0, 1) == w.NodeOf(0, 2));
  DeviceSet all;
  for (const Assignment& a : w.result.tasks) all |= a.at.devices;
  EXPECT_EQ(first.size(), 3u);
  EXPECT_LE(all.size(), 6u) << "no seventh rail";
}

TEST_F(Rails, GrowthAlignsWithWhatRuns) {
  Occupy("a", {0, 1, 2, 3, 4, 5});
  Gang gang{.key = "g", .roles = {MakeRole("w", 1, 2)}};
  gang.roles[0].desired_tasks = 2;
  gang.roles[0].topology.spread = {.level = kHostLevel, .max_per_domain = 1};
  w.Place(gang);
  ASSERT_EQ(w.result.fit, Fit::kFits);
  ASSERT_THAT(DevicesOf(w.result.tasks), ElementsAre(DeviceSet({6, 7})));
  w.Grow();
  EXPECT_THAT(DevicesOf(w.result.tasks), ElementsAre(DeviceSet({6, 7})));
}

TEST_F(Rails, WhereNoneAreNamedNothingIsAligned) {
  World plain;
  plain.Add({.path = "z/b/r/a", .gpus = 8});
  plain.Add({.path = "z/b/r/b", .gpus = 8});
  const ShapeId four = plain.cluster.Intern(MakeRole("x", 1, 4), 0);
  plain.cluster.Charge({plain.cluster.Find("a").index, four, {0, 1, 2, 3}},
                       Ledger::kBoth);
  Gang gang{.key = "g", .roles = {MakeRole("w", 2, 2)}};
  gang.roles[0].topology.spread = {.level = kHostLevel, .max_per_domain = 1};
  plain.Place(gang);
  EXPECT_THAT(DevicesOf(plain.result.tasks),
              ElementsAre(DeviceSet({4, 5}), DeviceSet({0, 1})));
}

}  // namespace
}  // namespace muster::solver_test
