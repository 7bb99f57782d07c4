// Boxes of a torus through the solver, against a look at every box.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/base/fraction.h"
#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"

namespace muster {
namespace {

using Triple = std::array<uint32_t, 3>;

class Torus {
 public:
  explicit Torus(uint64_t seed) : random_(seed) {
    std::string text = "torus";
    uint32_t cells = 1;
    for (uint32_t& d : dims_) {
      d = 1 + Below(4);
      cells *= d;
      text += " " + std::to_string(d);
    }
    text += " 1\n";
    for (uint32_t c = 0; c < cells; ++c) {
      Node node;
      node.key = "n" + std::to_string(c);
      node.capacity = {0};
      node.devices.assign(Below(4) == 0 ? Below(4) : 4, {});
      cells_.push_back(cluster.Upsert(node).index);
      text += "node " + node.key + "\n";
    }
    const std::vector<FabricTopology> fabrics = {{"t", text}};
    solver_ = NewGangSolver({}, fabrics);
    Role role;
    role.shape.devices.count = 1;
    role.topology = {.topology = "t", .required = "box"};
    gang_.gang.roles = {role};
    gang_.gang.groups.resize(1);
    gang_.shapes = {{cluster.Intern(role, 0)}};
    request_.gang = &gang_;
    for (const NodeIndex n : cells_) {
      Allocation at;
      for (uint32_t i = Below(3) == 0 ? Below(4) : 0; i > 0; --i) {
        cluster.Take(n, gang_.shapes[0][0], Ledger::kBoth, &at);
      }
    }
  }

  uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>(random_() % bound);
  }
  uint32_t Slots(uint32_t cell) const {
    return cluster.Slots(cells_[cell], gang_.shapes[0][0], Ledger::kBoth, 99);
  }
  uint32_t size() const { return static_cast<uint32_t>(cells_.size()); }

  Fit Place(uint32_t tasks, std::span<const Assignment> fixed = {}) {
    gang_.gang.roles[0].min_tasks = gang_.gang.roles[0].desired_tasks = tasks;
    request_.fixed = fixed;
    solver_->Place(cluster, request_, &result);
    return result.fit;
  }
  std::set<uint32_t> Cells(std::span<const Assignment> tasks) const {
    std::set<uint32_t> cells;
    for (const Assignment& a : tasks) {
      cells.insert(static_cast<uint32_t>(
          std::find(cells_.begin(), cells_.end(), a.at.node) - cells_.begin()));
    }
    return cells;
  }

  // Calls f(cells) for each box.
  template <class F>
  void EachBox(const F& f) const {
    for (uint32_t at = 0; at < size(); ++at) {
      Triple s;
      for (s[0] = 1; s[0] <= dims_[0]; ++s[0]) {
        for (s[1] = 1; s[1] <= dims_[1]; ++s[1]) {
          for (s[2] = 1; s[2] <= dims_[2]; ++s[2]) f(Box(at, s));
        }
      }
    }
  }
  bool IsBox(const std::set<uint32_t>& cells) const {
    bool is = false;
    EachBox([&](const std::set<uint32_t>& box) { is |= box == cells; });
    return is;
  }
  // Nodes of the smallest box whose nodes hold the tasks, equally many on each
  // but the last; 0: there is none.
  uint32_t Fewest(uint32_t tasks) const {
    uint32_t fewest = 0;
    EachBox([&](const std::set<uint32_t>& box) {
      const auto nodes = static_cast<uint32_t>(box.size());
      const uint32_t each = CeilDiv(tasks, nodes);
      if (CeilDiv(tasks, each) != nodes) return;
      if (std::all_of(box.begin(), box.end(),
                      [&](uint32_t c) { return Slots(c) >= each; })) {
        fewest = fewest == 0 ? nodes : std::min(fewest, nodes);
      }
    });
    return fewest;
  }

  Cluster cluster{1, 0, {}};
  PlacementResult result;

 private:
  std::set<uint32_t> Box(uint32_t at, const Triple& size) const {
    std::set<uint32_t> cells;
    const Triple from = {at / dims_[2] / dims_[1], at / dims_[2] % dims_[1],
                         at % dims_[2]};
    for (uint32_t x = 0; x < size[0]; ++x) {
      for (uint32_t y = 0; y < size[1]; ++y) {
        for (uint32_t z = 0; z < size[2]; ++z) {
          cells.insert(
              ((from[0] + x) % dims_[0] * dims_[1] + (from[1] + y) % dims_[1]) *
                  dims_[2] +
              (from[2] + z) % dims_[2]);
        }
      }
    }
    return cells;
  }

  std::mt19937_64 random_;
  Triple dims_{};
  std::vector<NodeIndex> cells_;
  std::unique_ptr<GangSolver> solver_;
  PreparedGang gang_;
  PlacementRequest request_;
};

TEST(FabricPlacer, FindsTheSmallestBoxThereIs) {
  const char* chosen = std::getenv("MUSTER_SEED");
  const uint64_t first =
      chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  uint32_t fits = 0, repaired = 0;
  for (uint64_t seed = first; seed < first + 300; ++seed) {
    SCOPED_TRACE("MUSTER_SEED=" + std::to_string(seed));
    Torus t(seed);
    const uint32_t tasks = 1 + t.Below(24);
    const uint32_t fewest = t.Fewest(tasks);
    const uint64_t before = t.cluster.Hash();
    ASSERT_EQ(t.Place(tasks) == Fit::kFits, fewest > 0);
    if (fewest == 0) {
      ASSERT_EQ(t.cluster.Hash(), before);
      continue;
    }
    ++fits;
    ASSERT_EQ(t.result.tasks.size(), tasks);
    const std::set<uint32_t> cells = t.Cells(t.result.tasks);
    ASSERT_EQ(cells.size(), fewest);
    ASSERT_TRUE(t.IsBox(cells));
    // The tasks of a node are lost: they go back, or to where there is a box
    // with all others in it.
    std::vector<Assignment> left = t.result.tasks;
    const NodeIndex lost = left[t.Below(tasks)].at.node;
    std::erase_if(left, [&](const Assignment& a) {
      if (a.at.node == lost) t.cluster.Credit(a.at, Ledger::kBoth);
      return a.at.node == lost;
    });
    if (left.empty()) continue;
    ++repaired;
    ASSERT_EQ(t.Place(tasks, left), Fit::kFits);
    std::set<uint32_t> all = t.Cells(t.result.tasks);
    ASSERT_EQ(t.result.tasks.size() + left.size(), tasks);
    all.merge(t.Cells(left));
    ASSERT_TRUE(t.IsBox(all));
  }
  EXPECT_GT(fits, 100u);
  EXPECT_GT(repaired, 50u);
}

}  // namespace
}  // namespace muster
