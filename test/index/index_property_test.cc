// Random lives of a cluster: after every change the index says what a look at
// all nodes says.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "lib/index/free_on.h"
#include "lib/index/free_table.h"
#include "lib/index/placement_index.h"
#include "lib/scoring/node_policy.h"

namespace muster::index {
namespace {

constexpr ResourceKind kGpu = 1;

// Costs that collide now and then, of what is free on the node; in two steps or
// not.
class FreeDevices final : public scoring::NodePolicy {
 public:
  explicit FreeDevices(bool has_summary = false) : has_summary_(has_summary) {}
  uint32_t NodeCost(const scoring::NodeLedger& at,
                    const scoring::NodeQuestion& q) const override {
    return CostOf(at.cluster.device_request(q.shape), NodeSummary(at));
  }
  bool HasNodeSummary() const override { return has_summary_; }
  uint64_t NodeSummary(const scoring::NodeLedger& at) const override {
    return static_cast<uint64_t>(std::max<int64_t>(0, at.free(kGpu)));
  }
  void NodeCosts(const DeviceRequest& request, uint64_t which,
                 const uint64_t* summaries, uint32_t* costs) const override {
    for (int i = 0; i < 64; ++i) {
      if ((which >> i & 1) != 0) costs[i] = CostOf(request, summaries[i]);
    }
  }
  Allocation Choose(const scoring::NodeLedger&,
                    const scoring::NodeQuestion&) const override {
    return {};
  }

 private:
  static uint32_t CostOf(const DeviceRequest& request, uint64_t summary) {
    return static_cast<uint32_t>(summary) / 1000 * (1 + request.count % 3);
  }

  bool has_summary_;
};

// Compares the slots that the index returned last with those built anew; names
// the first difference, or is empty. Costs are up to date.
std::string Difference(const Cluster& cluster,
                       const scoring::NodePolicy& policy, int topology,
                       ShapeId shape, Ledger ledger,
                       std::optional<int64_t> score, ShapeSlots& shape_slots) {
  PlacementIndex anew(policy);
  ShapeSlots& fresh = anew.Get(cluster, topology, shape, ledger, score);
  fresh.RefreshCosts(cluster);
  const Layout& layout = anew.layout();
  for (Position p = 0; p < layout.size(); ++p) {
    if (shape_slots.slots(p) != fresh.slots(p)) return "slots of a node";
    if (shape_slots.node_cost(p) != fresh.node_cost(p)) return "costs";
    if (shape_slots.devices(p) != fresh.devices(p)) return "devices";
  }
  if (!std::ranges::equal(shape_slots.AllSlots(), fresh.AllSlots()))
    return "slots";
  for (int l = 0; l < layout.levels(); ++l) {
    if (!std::ranges::equal(shape_slots.sums(l), fresh.sums(l))) return "sums";
  }
  if (shape_slots.totals() != fresh.totals()) return "totals";
  if (shape_slots.most_devices() != fresh.most_devices()) return "most devices";
  const auto chunks = static_cast<uint32_t>(layout.chunks().size());
  for (uint32_t c = 0; c < chunks; ++c) {
    if (shape_slots.most(c) != fresh.most(c)) return "most";
    if (shape_slots.any(c) != fresh.any(c)) return "any";
    Position best = 0, expected = 0;
    shape_slots.BestIn(c, c + 1, &best);
    fresh.BestIn(c, c + 1, &expected);
    if (best != expected) return "best of a chunk";
  }
  return "";
}

class Life {
 public:
  explicit Life(uint64_t seed)
      : random_(seed),
        cluster_(2, kGpu, {{"net", {"block", "rack"}}}),
        policy_(seed % 2 == 0),
        most_nodes_(seed % 5 == 0 ? 6 : 400) {
    const uint32_t nodes = 1 + Below(most_nodes_ * 3 / 4);
    rack_ = 1 + Below(100);
    for (uint32_t n = 0; n < nodes; ++n) Upsert(n);
    for (const uint32_t devices : {0u, 1u, 2u, 4u}) {
      Role role;
      role.shape.resources = {devices == 2 ? 3 : 1, 0};
      role.shape.devices.count = devices;
      if (devices == 1) role.shape.devices.milli = 300;
      shapes_.push_back(cluster_.Intern(role, 0));
    }
    // Whole devices and nothing else.
    for (const uint32_t devices : {1u, 3u, 8u}) {
      Role role;
      role.shape.devices.count = devices;
      if (devices == 3) {
        role.shape.selector.any_of = {
            {{{"block", SelectorOp::kNotIn, {"b0"}}}}};
      }
      shapes_.push_back(cluster_.Intern(role, 0));
    }
    // With wishes.
    Role role;
    role.shape.devices.count = 1;
    role.preferences = {{3, {{{"disk", SelectorOp::kIn, {"fast"}}}}},
                        {2, {{{"block", SelectorOp::kIn, {"b1"}}}}}};
    shapes_.push_back(cluster_.Intern(role, 0));
    role.shape.resources = {1, 0};
    role.tolerations = {{.op = TolerationOp::kExists}};
    shapes_.push_back(cluster_.Intern(role, 0));
  }

  void Step() {
    switch (Below(12)) {
      case 0:
        return Upsert(Below(most_nodes_));
      case 1:
        if (Below(4) == 0) Remove();
        return;
      case 2:
        return cluster_.SetAvailable(AnyNode(), Below(3) > 0);
      case 3:
        cluster_.SetExternalUsage(AnyNode(), {.amount = {Below(4), 0}});
        return;
      case 4:
      case 5:
        return TryAndUndo();
      case 6:
      case 7:
        if (!held_.empty()) {
          std::swap(held_[Below(held_.size())], held_.back());
          cluster_.Credit(held_.back(), Ledger::kBoth);
          held_.pop_back();
        }
        return;
      default:
        Take();
    }
  }

  void Check() {
    const ShapeId shape = shapes_[Below(shapes_.size())];
    const Ledger ledger = Below(2) == 0 ? Ledger::kBoth : Ledger::kLater;
    const int topology = Below(3) == 0 ? -1 : 0;
    CheckScores(topology, shape, ledger);
    ShapeSlots& shape_slots = index_.Get(cluster_, topology, shape, ledger);
    shape_slots.RefreshCosts(cluster_);
    ASSERT_EQ(
        Difference(cluster_, policy_, topology, shape, ledger, {}, shape_slots),
        "");
    CheckSums(shape_slots, shape, ledger);
    for (const bool inside_only : {false, true}) {
      CheckBest(shape_slots, shape, ledger, inside_only);
    }
    CheckBestIn(shape_slots, shape, ledger);
    CheckFree(shape, ledger);
  }

 private:
  uint32_t Below(uint64_t bound) {
    return static_cast<uint32_t>(random_() % bound);
  }
  NodeIndex AnyNode() {
    const auto nodes = cluster_.nodes();
    return nodes[Below(nodes.size())];
  }

  void Upsert(uint32_t n) {
    Node node;
    node.key = "n" + std::to_string(n);
    node.capacity = {8, 0};
    node.devices.assign(Below(9), {});
    if (Below(6) > 0) {
      node.labels = {{"block", "b" + std::to_string(n / rack_ / 3)},
                     {"rack", "r" + std::to_string(n / rack_)}};
    }
    if (Below(5) == 0) {
      node.labels.insert(node.labels.begin() + !node.labels.empty(),
                         {"disk", "fast"});
    }
    if (Below(20) == 0)
      node.taints = {{"slow", "", TaintEffect::kPreferNoSchedule}};
    if (Below(20) == 0) node.schedulable = false;
    // What runs there ends first: devices may differ.
    const NodeId known = cluster_.Find(node.key);
    std::erase_if(held_, [&](const Allocation& a) {
      if (a.node != known.index) return false;
      cluster_.Credit(a, Ledger::kBoth);
      return true;
    });
    cluster_.Upsert(node);
  }

  void Remove() {
    if (cluster_.nodes().size() < 2) return;
    const NodeIndex node = AnyNode();
    std::erase_if(held_, [&](const Allocation& a) { return a.node == node; });
    cluster_.Remove(node);
  }

  void Take() {
    Allocation at;
    if (cluster_.Take(AnyNode(), shapes_[Below(shapes_.size())], Ledger::kBoth,
                      &at)) {
      held_.push_back(at);
    }
  }

  void TryAndUndo() {
    const Cluster::Mark mark = cluster_.Begin();
    Allocation at;
    for (uint32_t i = Below(20); i > 0; --i) {
      cluster_.Take(AnyNode(), shapes_[Below(shapes_.size())], Ledger::kLater,
                    &at);
    }
    if (Below(2) == 0) Check();
    cluster_.Rollback(mark);
  }

  // The scores of nodes with slots, and the slots of those that have one.
  void CheckScores(int topology, ShapeId shape, Ledger ledger) {
    ShapeSlots& shape_slots = index_.Get(cluster_, topology, shape, ledger);
    const Layout& layout = index_.layout();
    std::map<int64_t, uint32_t> slots, none;
    for (const NodeIndex n : cluster_.nodes()) {
      const Position p = layout.position(n);
      const int64_t score = cluster_.Score(n, shape);
      (shape_slots.slots(p) > 0 ? slots : none)[score] += shape_slots.slots(p);
      if (shape_slots.slots(p) > 0) {
        ASSERT_EQ(shape_slots.score(p), score);
      }
    }
    ASSERT_FALSE(shape_slots.crowded());
    EXPECT_EQ(shape_slots.alike(), slots.size() <= 1);
    std::optional<int64_t> score =
        shape_slots.ScoreBelow(ShapeSlots::kAnyScore);
    for (auto it = slots.rbegin(); it != slots.rend(); ++it) {
      ASSERT_EQ(score, it->first);
      score = shape_slots.ScoreBelow(*score);
    }
    EXPECT_EQ(score, std::nullopt);
    none.insert(slots.begin(), slots.end());
    const int64_t one =
        std::next(none.begin(), Below(static_cast<uint32_t>(none.size())))
            ->first;
    ShapeSlots& part = index_.Get(cluster_, topology, shape, ledger, one);
    part.RefreshCosts(cluster_);
    ASSERT_EQ(Difference(cluster_, policy_, topology, shape, ledger, one, part),
              "");
    EXPECT_EQ(part.totals().all(), slots.contains(one) ? slots[one] : 0);
    for (const NodeIndex n : cluster_.nodes()) {
      const bool mine = cluster_.Score(n, shape) == one;
      ASSERT_EQ(part.slots(layout.position(n)),
                mine ? cluster_.Slots(n, shape, ledger, 4095) : 0);
    }
  }

  void CheckSums(const ShapeSlots& shape_slots, ShapeId shape, Ledger ledger) {
    const Layout& layout = index_.layout();
    ASSERT_EQ(layout.size(), cluster_.nodes().size());
    uint64_t inside = 0, outside = 0;
    std::vector<std::vector<uint32_t>> sums;
    for (int l = 0; l < layout.levels(); ++l) {
      sums.emplace_back(layout.domains(l), 0);
    }
    for (const NodeIndex n : cluster_.nodes()) {
      const uint32_t slots = cluster_.Slots(n, shape, ledger, 4095);
      const Position p = layout.position(n);
      ASSERT_EQ(layout.node(p), n);
      ASSERT_EQ(shape_slots.slots(p), slots);
      (p < layout.inside() ? inside : outside) += slots;
      for (int l = 0; l < layout.levels() && p < layout.inside(); ++l) {
        sums[l][cluster_.index(0).domain_of[l][n]] += slots;
      }
    }
    EXPECT_EQ(shape_slots.totals().inside, inside);
    EXPECT_EQ(shape_slots.totals().outside, outside);
    for (int l = 0; l < layout.levels(); ++l) {
      const auto known = shape_slots.sums(l);
      EXPECT_TRUE(std::equal(known.begin(), known.end(), sums[l].begin(),
                             sums[l].end()));
    }
  }

  void CheckBest(const ShapeSlots& shape_slots, ShapeId shape, Ledger ledger,
                 bool inside_only) {
    const Layout& layout = index_.layout();
    const uint32_t tasks = 1 + Below(3);
    const Position none = layout.size();
    std::tuple<uint32_t, uint32_t, Position> best{0xffffffff, 0, none};
    for (Position p = 0; p < (inside_only ? layout.inside() : none); ++p) {
      if (shape_slots.slots(p) < tasks) continue;
      uint32_t tightness = 0;
      if (p < layout.inside() && layout.levels() > 0 && rack_ <= 256) {
        const auto& domain_of = cluster_.index(0).domain_of.back();
        tightness =
            shape_slots.sums(layout.levels() - 1)[domain_of[layout.node(p)]];
      }
      const uint32_t cost = policy_.NodeCost({cluster_, layout.node(p), ledger},
                                             {.shape = shape});
      best = std::min(best, {cost, tightness, p});
    }
    Position found = none;
    if (tasks == 1) {
      shape_slots.Best(inside_only, &found);
    } else {
      shape_slots.BestWith(tasks, inside_only, &found);
    }
    EXPECT_EQ(found, std::get<2>(best));
  }

  // Of some chunks in a row.
  void CheckBestIn(const ShapeSlots& shape_slots, ShapeId shape,
                   Ledger ledger) {
    const Layout& layout = index_.layout();
    const auto chunks = static_cast<uint32_t>(layout.chunks().size());
    const uint32_t from = Below(3) == 0 ? 0 : Below(chunks + 1);
    const uint32_t to =
        Below(3) == 0 ? chunks : from + Below(chunks - from + 1);
    const Position none = layout.size();
    std::pair<uint32_t, Position> best{0xffffffff, none};
    uint32_t with_slots = 0, in_all = 0;
    for (Position p = 0; p < none; ++p) {
      if (shape_slots.slots(p) == 0) continue;
      ++in_all;
      if (layout.chunk_of(p) < from || layout.chunk_of(p) >= to) continue;
      ++with_slots;
      const uint32_t cost = policy_.NodeCost({cluster_, layout.node(p), ledger},
                                             {.shape = shape});
      best = std::min(best, {cost, p});
    }
    Position found = none;
    EXPECT_EQ(shape_slots.BestIn(from, to, &found), best.second != none);
    EXPECT_EQ(found, best.second);
    EXPECT_EQ(shape_slots.WithSlots(from, to), with_slots);
    EXPECT_EQ(shape_slots.totals().with_slots, in_all);
  }

  void CheckFree(ShapeId shape, Ledger ledger) {
    Resources sum(cluster_.resource_count());
    for (const NodeIndex n : cluster_.nodes()) {
      if (cluster_.Admits(n, shape)) sum.Add(FreeOn(cluster_, n, ledger));
    }
    const std::vector<int64_t>& known = free_.Get(cluster_, shape, ledger);
    for (ResourceKind k = 0; k < sum.size(); ++k) EXPECT_EQ(known[k], sum[k]);
  }

  std::mt19937_64 random_;
  Cluster cluster_;
  FreeDevices policy_;
  uint32_t most_nodes_;  // Few: what the largest node has changes often.
  PlacementIndex index_{policy_};
  FreeTable free_;
  uint32_t rack_ = 1;
  std::vector<ShapeId> shapes_;
  std::vector<Allocation> held_;
};

TEST(PlacementIndex, SaysWhatALookAtAllNodesSays) {
  const char* chosen = std::getenv("MUSTER_SEED");
  const uint64_t first =
      chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  for (uint64_t seed = first; seed < first + 60; ++seed) {
    SCOPED_TRACE("MUSTER_SEED=" + std::to_string(seed));
    Life life(seed);
    for (int step = 0; step < 200; ++step) {
      life.Step();
      life.Check();
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Entries come and go: what is evicted is built anew, and says the same.
TEST(PlacementIndex, ManyShapesShareTheColumns) {
  Cluster cluster(2, kGpu, {});
  for (int n = 0; n < 20; ++n) {
    Node node;
    node.key = "n" + std::to_string(n);
    node.capacity = {100 + n, 0};
    node.devices.assign(n % 9, {});
    cluster.Upsert(node);
  }
  const FreeDevices policy;
  PlacementIndex index(policy, 0);
  static_assert(PlacementIndex::kMinEntries < 100);
  for (int round = 0; round < 5; ++round) {
    for (int64_t cpu = 1; cpu <= 100; ++cpu) {
      Role role;
      role.tolerations = {{.key = std::to_string(round)}};
      if ((cpu + round) % 2 == 0) {
        role.shape.resources = {cpu, 0};
      } else {  // Whole devices and nothing else.
        role.shape.devices.count = static_cast<uint32_t>(1 + cpu % 60);
      }
      const ShapeId shape = cluster.Intern(role, 0);
      std::vector<uint16_t> expected;
      for (const NodeIndex n : cluster.nodes()) {
        expected.push_back(static_cast<uint16_t>(
            cluster.Slots(n, shape, Ledger::kBoth, 4095)));
      }
      ShapeSlots& shape_slots = index.Get(cluster, -1, shape, Ledger::kBoth);
      EXPECT_EQ(shape_slots.totals().outside,
                std::accumulate(expected.begin(), expected.end(), 0u));
      std::vector<uint16_t> slots;
      for (const NodeIndex n : cluster.nodes()) {
        const Position p = index.layout().position(n);
        slots.push_back(cpu % 3 == 0
                            ? shape_slots.AllSlots()[p]
                            : static_cast<uint16_t>(shape_slots.slots(p)));
      }
      EXPECT_EQ(slots, expected);
      cluster.Unref(shape);  // Its number is used again, for another shape.
    }
  }
}

// Each node is liked in its own way.
TEST(PlacementIndex, MoreScoresThanItKeepsAreNotTold) {
  Cluster cluster(2, kGpu, {});
  Role role;
  role.shape.resources = {1, 0};
  for (int bit = 0; bit < 7; ++bit) {
    const std::string key = "bit" + std::to_string(bit);
    role.preferences.push_back(
        {.weight = 1 << bit, .term = {{{key, SelectorOp::kExists}}}});
  }
  const ShapeId shape = cluster.Intern(role, 0);
  const FreeDevices policy;
  PlacementIndex index(policy);
  for (int n = 0; n < 128; ++n) {
    Node node;
    node.key = "n" + std::to_string(n);
    node.capacity = {8, 0};
    for (int bit = 0; bit < 7; ++bit) {
      if ((n >> bit & 1) == 0) continue;
      node.labels.push_back({"bit" + std::to_string(bit), ""});
    }
    cluster.Upsert(node);
    const ShapeSlots& shape_slots =
        index.Get(cluster, -1, shape, Ledger::kBoth);
    EXPECT_EQ(shape_slots.crowded(), n > 64);
    EXPECT_EQ(shape_slots.alike(), n == 0);
  }
}

// More happened than is listed: chunk by chunk it is still known.
TEST(PlacementIndex, AColumnThatWasNotAskedForLongCatchesUp) {
  Cluster cluster(2, kGpu, {{"net", {"rack"}}});
  for (int n = 0; n < 300; ++n) {
    Node node;
    node.key = "n" + std::to_string(n);
    node.labels = {{"rack", "r" + std::to_string(n / 50)}};
    node.capacity = {8, 0};
    node.devices.assign(8, {});
    cluster.Upsert(node);
  }
  std::vector<ShapeId> shapes;
  for (const uint32_t devices : {1u, 2u, 0u}) {
    Role role;
    role.shape.resources = {devices == 0 ? 1 : 0, 0};
    role.shape.devices.count = devices;
    shapes.push_back(cluster.Intern(role, 0));
  }
  const FreeDevices policy(true);
  PlacementIndex index(policy);
  std::mt19937_64 random(4);
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const auto node = static_cast<NodeIndex>(random() % 300);
      Allocation at;
      if (i == 500) cluster.SetAvailable(node, round % 2 == 0);
      if (!cluster.Take(node, shapes[i % 3], Ledger::kBoth, &at)) continue;
      index.Get(cluster, 0, shapes[0], Ledger::kBoth);
      if (random() % 2 == 0) cluster.Credit(at, Ledger::kBoth);
    }
    for (const ShapeId shape : shapes) {
      ShapeSlots& shape_slots = index.Get(cluster, 0, shape, Ledger::kBoth);
      shape_slots.RefreshCosts(cluster);
      EXPECT_EQ(
          Difference(cluster, policy, 0, shape, Ledger::kBoth, {}, shape_slots),
          "");
    }
  }
}

// A copy is another cluster, even where all versions are the same.
TEST(PlacementIndex, TellsAClusterFromItsCopy) {
  Cluster cluster(2, kGpu, {});
  Node node;
  node.key = "n";
  node.capacity = {10, 0};
  cluster.Upsert(node);
  Role role;
  role.shape.resources = {1, 0};
  const ShapeId shape = cluster.Intern(role, 0);
  Cluster copy = cluster;
  const FreeDevices policy;
  PlacementIndex index(policy);
  Allocation at;
  ASSERT_TRUE(cluster.Take(0, shape, Ledger::kBoth, &at));
  cluster.Take(0, shape, Ledger::kBoth, &at);
  copy.Take(0, shape, Ledger::kBoth, &at);
  copy.Credit(at, Ledger::kBoth);
  EXPECT_EQ(index.Get(cluster, -1, shape, Ledger::kBoth).totals().outside, 8u);
  EXPECT_EQ(index.Get(copy, -1, shape, Ledger::kBoth).totals().outside, 10u);
  EXPECT_EQ(index.Get(cluster, -1, shape, Ledger::kBoth).totals().outside, 8u);
}

}  // namespace
}  // namespace muster::index
