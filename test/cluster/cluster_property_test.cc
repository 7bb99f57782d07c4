// Random lives of a cluster, checked against the naive one after every step.

#include <algorithm>
#include <bit>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "test/cluster/naive_cluster.h"

namespace muster {
namespace {

constexpr uint32_t kKinds = 3;
constexpr ResourceKind kDeviceKind = 1;  // In the middle, for once.
constexpr uint32_t kLimit = 40;

// A common scheme, and one with starts that overlap and power that runs out
// before the slices do.
std::vector<PartitionScheme> Schemes() {
  return {CommonPartitionSchemes()[1],
          {.key = "odd",
           .memory_slices = 5,
           .profiles = {{"1g.10gb", 1, 300, {0, 1, 2, 3, 4}},
                        {"two", 2, 300, {0, 1, 3}},
                        {"three", 3, 500, {0, 2}}}}};
}
const std::vector<std::string> kProfiles = {
    "1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb", "two", "three"};

std::vector<Topology> Topologies() {
  return {{"fabric", {"block", "rack"}}, {"power", {"feed"}}};
}

class ClusterLife {
 public:
  explicit ClusterLife(uint32_t seed)
      : random_(seed), cluster_(kKinds, kDeviceKind, Topologies(), Schemes()) {
    naive_.kinds = kKinds;
    naive_.device_kind = kDeviceKind;
    naive_.schemes = Schemes();
    for (int i = 0; i < 12; ++i) {
      naive_.roles.push_back(RandomRole());
      shapes_.push_back(cluster_.Intern(naive_.roles.back(), 0));
    }
    for (int i = 0; i < 10; ++i) UpsertNode();
  }

  void Step() {
    if (open_.empty() && Chance(20)) {
      ChangeStructure();
    } else if (Chance(25)) {
      Transact();
    } else {
      ChangeCharges();
    }
    CheckSomeNode();
  }

  void CheckAll() {
    const absl::Status status = cluster_.Validate();
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(cluster_.total_capacity(), naive_.TotalCapacity());
    ASSERT_EQ(cluster_.nodes().size(), naive_.nodes.size());
    size_t i = 0;
    for (const auto& [key, n] : naive_.nodes) {
      ASSERT_EQ(cluster_.node(cluster_.nodes()[i++]).key, key);
      CheckNode(n);
    }
    for (size_t r = 0; r < shapes_.size(); ++r) {
      ASSERT_EQ(cluster_.demand(shapes_[r])[kDeviceKind],
                naive_.DemandedMilli(r));
    }
    ASSERT_EQ(cluster_.Hash(), Rebuilt().Hash());
  }

 private:
  struct Open {
    Cluster::Mark mark;
    uint64_t hash;
    NaiveCluster before;
  };

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  std::string Pick(const char* prefix, uint32_t n) {
    return prefix + std::to_string(Below(n));
  }

  Role RandomRole() {
    Role role;
    role.shape.resources = {Below(6), 0, Chance(30) ? Below(50) : 0};
    DeviceRequest& devices = role.shape.devices;
    devices.count = Chance(25) ? 0 : Chance(60) ? 1 : 1 + Below(4);
    if (Chance(40)) devices.milli = static_cast<int32_t>(50 + Below(900));
    if (Chance(25)) {
      devices.milli = 0;
      devices.memory_bytes = 1 + Below(60'000);
    }
    if (Chance(30)) {
      devices = {.count = 1};
      devices.partition = kProfiles[Below(7)];
    }
    if (Chance(20)) devices.models = {Pick("m", 3)};
    if (Chance(10)) devices.models = {"m0", "m2"};
    if (Chance(20)) {
      role.shape.selector = {
          {{{{"rack", SelectorOp::kIn, {Pick("r", 3), "r7"}}}},
           {{{"gen", SelectorOp::kGt, {"5"}}}}}};
    }
    if (Chance(30)) role.tolerations = {{"spot", TolerationOp::kExists}};
    if (Chance(15)) role.node_sets = {Pick("set", 2)};
    return role;
  }

  Node RandomNode(std::string key) {
    Node node{.key = std::move(key)};
    node.capacity = {Below(100), 0, Below(300)};
    if (Chance(80)) {
      const uint32_t islands = 1 + Below(3);
      const uint32_t count = Chance(5) ? 60 + Below(20) : 1 + Below(8);
      for (uint32_t d = 0; d < count; ++d) {
        node.devices.push_back(
            {.model = Chance(90) ? "m0" : Pick("m", 3),
             .memory_bytes = Chance(90)   ? 80'000
                             : Chance(50) ? 0
                                          : 40'001,
             .island = islands == 1 ? -1 : static_cast<int32_t>(d % islands),
             .numa = static_cast<int32_t>(Below(3)) - 1,
             .healthy = Chance(95)});
        if (Chance(40)) Divide(&node.devices.back());
      }
    }
    Relabel(&node);
    return node;
  }

  // Makes it a device with partitions, now and then one that the host has cut.
  void Divide(Device* device) {
    const PartitionScheme scheme = Schemes()[Below(2)];
    device->partition_scheme = scheme.key;
    if (Chance(60)) return;
    uint32_t next = 0;
    for (int i = 0; i < 6; ++i) {
      const PartitionProfile& p =
          scheme.profiles[Below(static_cast<uint32_t>(scheme.profiles.size()))];
      for (const uint32_t start : p.starts) {
        if (start < next) continue;
        device->partitions.push_back({p.name, start});
        next = start + p.memory_slices;
        break;
      }
    }
  }

  void Relabel(Node* node) {
    node->labels = {{"gen", std::to_string(Below(10))}};
    if (Chance(80)) node->labels.push_back({"block", Pick("b", 3)});
    if (Chance(80)) node->labels.push_back({"rack", Pick("r", 3)});
    if (Chance(80)) node->labels.push_back({"feed", Pick("f", 2)});
    node->taints.clear();
    if (Chance(15)) node->taints = {{"spot", "", TaintEffect::kNoSchedule}};
    node->schedulable = Chance(95);
  }

  NaiveNode* RandomKnown() {
    if (naive_.nodes.empty()) return nullptr;
    const auto i = Below(static_cast<uint32_t>(naive_.nodes.size()));
    return &std::next(naive_.nodes.begin(), i)->second;
  }
  NodeIndex IndexOf(const NaiveNode& n) {
    return cluster_.Find(n.node.key).index;
  }

  static DeviceSet AllOf(const Node& node) {
    return DeviceSet::FirstOf(static_cast<uint32_t>(node.devices.size()));
  }
  DeviceSet SomeOf(const Node& node) {
    const uint64_t low = random_();
    const uint64_t high = node.devices.size() > 64 ? random_() : 0;
    return DeviceSet::OfWords(low, high) & AllOf(node);
  }

  // Credits or charges all that the node holds, as the owner of a cluster does
  // around a change of devices.
  void PostAll(const NaiveNode& n, bool charge) {
    for (int l : {0, 1}) {
      for (const NaiveCharge& c : n.charges[l]) {
        const Allocation a{IndexOf(n), shapes_[c.role], c.devices,
                           c.first_slice};
        const Ledger ledger = l == 0 ? Ledger::kNow : Ledger::kLater;
        charge ? cluster_.Charge(a, ledger) : cluster_.Credit(a, ledger);
      }
    }
  }

  void UpsertNode() {
    Node node = RandomNode(Pick("n", 25));
    const auto it = naive_.nodes.find(node.key);
    if (it == naive_.nodes.end()) {
      cluster_.Upsert(node);
      naive_.nodes[node.key].node = node;
      return;
    }
    NaiveNode& n = it->second;
    if (Chance(50)) {  // Labels only, or health.
      const Node fresh = node;
      node = n.node;
      Relabel(&node);
      for (Device& d : node.devices) d.healthy ^= Chance(5);
      n.node = node;
      cluster_.Upsert(node);
      return;
    }
    PostAll(n, false);
    cluster_.Upsert(node);
    n.node = node;
    const DeviceSet all = AllOf(node);
    for (auto& charges : n.charges) {
      for (NaiveCharge& c : charges) c.devices &= all;
    }
    std::erase_if(n.external.devices, [&](const DeviceShare& share) {
      return share.device >= node.devices.size();
    });
    cluster_.SetExternalUsage(IndexOf(n), n.external);
    PostAll(n, true);
  }

  void SetExternalUsage(NaiveNode& n) {
    n.external = {.node = n.node.key, .amount = {Below(30), 0, Below(100)}};
    for (uint32_t d = 0; d < n.node.devices.size(); ++d) {
      if (!Chance(20)) continue;
      if (Chance(30)) {
        n.external.devices.push_back({.device = d,
                                      .partition = kProfiles[Below(7)],
                                      .first_slice = Below(9)});
        continue;
      }
      n.external.devices.push_back(
          {d, 1 + static_cast<int32_t>(Below(300)), 1 + Below(9'000)});
    }
    cluster_.SetExternalUsage(IndexOf(n), n.external);
  }

  void ChangeShape() {
    const size_t r = Below(static_cast<uint32_t>(shapes_.size()));
    for (const auto& [key, n] : naive_.nodes) {
      for (const auto& charges : n.charges) {
        for (const NaiveCharge& c : charges) {
          if (c.role == r) return;  // In use.
        }
      }
    }
    cluster_.Unref(shapes_[r]);
    naive_.roles[r] = RandomRole();
    shapes_[r] = cluster_.Intern(naive_.roles[r], 0);
  }

  void ChangeStructure() {
    NaiveNode* n = RandomKnown();
    const uint32_t what = Below(10);
    if (n == nullptr || what < 4) {
      UpsertNode();
    } else if (what == 4 && Chance(50)) {
      cluster_.Remove(IndexOf(*n));
      naive_.nodes.erase(std::string(n->node.key));
    } else if (what == 5) {
      n->available = Chance(70);
      cluster_.SetAvailable(IndexOf(*n), n->available);
    } else if (what == 6) {
      SetExternalUsage(*n);
    } else if (what == 7) {
      NodeSet set{.key = Pick("set", 2)};
      for (int i = 0; i < 15; ++i) set.nodes.push_back(Pick("n", 25));
      if (Chance(20)) {
        cluster_.RemoveNodeSet(set.key);
        naive_.sets.erase(set.key);
      } else {
        cluster_.SetNodeSet(set);
        naive_.sets[set.key] = {set.nodes.begin(), set.nodes.end()};
      }
    } else if (what == 8) {
      ChangeShape();
    } else if (Chance(10)) {
      const Cluster original = std::move(cluster_);
      cluster_ = original;  // Lives on as a copy.
    }
  }

  void Transact() {
    if (open_.size() < 4 && Chance(55)) {
      const uint64_t hash = cluster_.Hash();
      open_.push_back({cluster_.Begin(), hash, naive_});
    } else if (!open_.empty()) {
      if (Chance(60)) {
        cluster_.Rollback(open_.back().mark);
        naive_ = std::move(open_.back().before);
        ASSERT_EQ(cluster_.Hash(), open_.back().hash);
      } else {
        cluster_.Commit(open_.back().mark);
      }
      open_.pop_back();
    }
  }

  void ChangeCharges() {
    NaiveNode* n = RandomKnown();
    if (n == nullptr) return;
    const unsigned ledgers = Chance(60) ? 3 : 1 + Below(2);
    if (Chance(55)) {
      Take(*n, ledgers);
    } else {
      Credit(*n, ledgers);
    }
  }

  void Take(NaiveNode& n, unsigned ledgers) {
    const size_t r = Below(static_cast<uint32_t>(shapes_.size()));
    const auto ledger = static_cast<Ledger>(ledgers);
    const uint32_t slots = naive_.Slots(n, r, ledgers, kLimit);
    Allocation a{.node = 12345};
    const bool taken = cluster_.Take(IndexOf(n), shapes_[r], ledger, &a);
    ASSERT_EQ(taken, slots > 0);
    if (!taken && !Chance(3)) return;
    if (!taken) {  // The host did it all the same.
      a = {IndexOf(n), shapes_[r], {}};
      if (naive_.roles[r].shape.devices.count > 0) a.devices = SomeOf(n.node);
      if (!naive_.roles[r].shape.devices.partition.empty())
        a.first_slice = Below(9);
      cluster_.Charge(a, ledger);
    }
    const NaiveCharge charge{r, a.devices, a.first_slice};
    for (int l : {0, 1}) {
      if ((ledgers >> l & 1) == 0) continue;
      ASSERT_TRUE(!taken || naive_.Fits(n, charge, l));
      n.charges[l].push_back(charge);
    }
    if (!taken) return;
    ASSERT_EQ(a.devices.size(), naive_.roles[r].shape.devices.count);
    if (slots < kLimit) {  // Choosing devices costs no task its place.
      ASSERT_EQ(cluster_.Slots(a.node, shapes_[r], ledger, kLimit), slots - 1);
    }
  }

  void Credit(NaiveNode& n, unsigned ledgers) {
    const int first = (ledgers & 1) != 0 ? 0 : 1;
    if (n.charges[first].empty()) return;
    const auto i = Below(static_cast<uint32_t>(n.charges[first].size()));
    const NaiveCharge charge = n.charges[first][i];
    unsigned credited = 0;
    for (int l : {0, 1}) {
      auto& charges = n.charges[l];
      const auto it = std::find(charges.begin(), charges.end(), charge);
      if ((ledgers >> l & 1) == 0 || it == charges.end()) continue;
      charges.erase(it);
      credited |= 1u << l;
    }
    cluster_.Credit(
        {IndexOf(n), shapes_[charge.role], charge.devices, charge.first_slice},
        static_cast<Ledger>(credited));
  }

  void CheckSomeNode() {
    const NaiveNode* n = RandomKnown();
    if (n != nullptr) CheckNode(*n);
  }

  void CheckNode(const NaiveNode& n) {
    const NodeIndex i = IndexOf(n);
    ASSERT_TRUE(cluster_.exists(i));
    const bool now = naive_.Overcommitted(n, 0);
    const bool later = naive_.Overcommitted(n, 1);
    ASSERT_EQ(cluster_.Overcommitted(i), now);
    ASSERT_EQ(cluster_.Overcommitted(i, Ledger::kLater), later);
    ASSERT_EQ(cluster_.Overcommitted(i, Ledger::kBoth), now || later);
    for (int l : {0, 1}) {
      const Ledger ledger = l == 0 ? Ledger::kNow : Ledger::kLater;
      for (ResourceKind k = 0; k < kKinds; ++k) {
        ASSERT_EQ(cluster_.free(i, k, ledger), naive_.Free(n, k, l));
      }
      for (uint32_t d = 0; d < n.node.devices.size(); ++d) {
        const DeviceShare free = naive_.FreeShare(n, d, l);
        const bool healthy = n.node.devices[d].healthy;
        ASSERT_EQ(cluster_.free_milli(i, d, ledger), healthy ? free.milli : 0);
        ASSERT_EQ(cluster_.free_memory(i, d, ledger),
                  healthy ? free.memory_bytes : 0);
      }
    }
    const size_t r = Below(static_cast<uint32_t>(shapes_.size()));
    NaiveCharge charge{r};
    const DeviceSet some = SomeOf(n.node) & SomeOf(n.node);
    if (naive_.roles[r].shape.devices.count > 0) charge.devices = some;
    if (!naive_.roles[r].shape.devices.partition.empty()) {
      if (!some.empty()) charge.devices = {some.first()};
      charge.first_slice = Below(9);
    }
    ASSERT_EQ(cluster_.Admits(i, shapes_[r]), naive_.Admits(n, r));
    for (const unsigned ledgers : {1u, 2u, 3u}) {
      const auto ledger = static_cast<Ledger>(ledgers);
      ASSERT_EQ(cluster_.Slots(i, shapes_[r], ledger, kLimit),
                naive_.Slots(n, r, ledgers, kLimit));
      bool fits = true;
      for (int l : {0, 1}) {
        if (ledgers >> l & 1) fits &= naive_.Fits(n, charge, l);
      }
      ASSERT_EQ(cluster_.Fits({i, shapes_[charge.role], charge.devices,
                               charge.first_slice},
                              ledger),
                fits);
    }
  }

  // The same state made in another order, hence with other indices.
  Cluster Rebuilt() {
    Cluster other(kKinds, kDeviceKind, Topologies(), Schemes());
    for (const auto& [key, members] : naive_.sets) {
      other.SetNodeSet({key, {members.begin(), members.end()}});
    }
    std::vector<const NaiveNode*> nodes;
    for (const auto& [key, n] : naive_.nodes) nodes.push_back(&n);
    std::shuffle(nodes.begin(), nodes.end(), random_);
    for (const NaiveNode* n : nodes) {
      const NodeIndex i = other.Upsert(n->node).index;
      other.SetAvailable(i, n->available);
      other.SetExternalUsage(i, n->external);
      for (int l : {0, 1}) {
        for (const NaiveCharge& c : n->charges[l]) {
          const ShapeId shape = other.Intern(naive_.roles[c.role], 0);
          other.Charge({i, shape, c.devices, c.first_slice},
                       l == 0 ? Ledger::kNow : Ledger::kLater);
        }
      }
    }
    return other;
  }

  std::mt19937_64 random_;
  Cluster cluster_;
  NaiveCluster naive_{};
  std::vector<ShapeId> shapes_{};
  std::vector<Open> open_{};
};

class ClusterPropertyTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ClusterPropertyTest, ARandomLifeAgreesWithTheNaiveCluster) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  ClusterLife life(GetParam());
  for (int step = 0; step < 10'000; ++step) {
    life.Step();
    if (step % 250 == 0) life.CheckAll();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
  }
  life.CheckAll();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClusterPropertyTest, ::testing::Range(1u, 9u));

}  // namespace
}  // namespace muster
