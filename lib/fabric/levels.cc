// Fewest groups, then fewest routers: dragonflies and rails (where a unit is a
// group with one router).
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

constexpr uint64_t kSteps = 1 << 26;  // Of the table of Exact.

using Router = std::vector<uint32_t>;  // Free nodes, by key.

struct LevelGroup {
  std::vector<Router> routers{};   // The fullest first, then the first.
  std::vector<uint32_t> first{0};  // [t] free nodes of the first t routers.

  uint32_t all() const { return first.back(); }
  uint32_t size() const { return static_cast<uint32_t>(routers.size()); }
};

// The `routers` fullest ones of a group.
struct GroupShare {
  size_t group = 0;
  uint32_t routers = 0;
};

class LevelSearch {
 public:
  LevelSearch(const Fabric::Rep& rep, std::span<const uint8_t> free,
              uint32_t count)
      : rep_(rep), count_(count) {
    rep.Charge(rep.nodes, kHopNs);
    MakeGroups(rep, free);
  }

  std::vector<uint32_t> Run() {
    uint64_t all = 0;
    for (const LevelGroup& group : groups_) all += group.all();
    if (all < count_) return {};
    std::vector<GroupShare> shares = Greedy();
    if (const uint64_t steps = ExactSteps(shares); steps <= kSteps) {
      rep_.Charge(steps, kLookNs);
      shares = Exact(shares);
    }
    rep_.Charge(shares.size() * groups_.size(), kLookNs);
    rep_.ChargeRoutes(count_);
    Tighten(&shares);
    return Take(shares);
  }

 private:
  void MakeGroups(const Fabric::Rep& rep, std::span<const uint8_t> free) {
    std::vector<Router> all(rep.nodes / rep.router_size);
    for (uint32_t node = 0; node < rep.nodes; ++node) {
      if (free[node] != 0) all[rep.Router(node)].push_back(node);
    }
    const auto per_group = rep.group_size / rep.router_size;
    for (auto next = all.begin(); next != all.end();) {
      LevelGroup group;
      for (const auto end = next + per_group; next != end; ++next) {
        if (!next->empty()) group.routers.push_back(std::move(*next));
      }
      if (group.routers.empty()) continue;
      std::ranges::stable_sort(group.routers, std::greater(),
                               std::ranges::size);
      for (const Router& router : group.routers) {
        group.first.push_back(group.all() +
                              static_cast<uint32_t>(router.size()));
      }
      groups_.push_back(std::move(group));
    }
  }

  // The fullest groups: the fewest that can be, but perhaps too many routers.
  std::vector<GroupShare> Greedy() const {
    std::vector<size_t> order(groups_.size());
    absl::c_iota(order, 0);
    std::ranges::stable_sort(order, std::greater(),
                             [&](size_t g) { return groups_[g].all(); });
    std::vector<GroupShare> shares;
    for (uint32_t left = count_; left > 0;) {
      const size_t g = order[shares.size()];
      const auto& first = groups_[g].first;
      const auto enough = absl::c_lower_bound(first, left);
      const uint32_t routers =
          enough == first.end() ? groups_[g].size()
                                : static_cast<uint32_t>(enough - first.begin());
      left -= std::min(left, first[routers]);
      shares.push_back({g, routers});
    }
    return shares;
  }

  static uint32_t Routers(const std::vector<GroupShare>& shares) {
    uint32_t sum = 0;
    for (const GroupShare& share : shares) sum += share.routers;
    return sum;
  }

  uint64_t ExactSteps(const std::vector<GroupShare>& shares) const {
    uint64_t columns = 0;
    for (const LevelGroup& group : groups_) columns += group.size() + 1;
    return columns * (shares.size() + 1) * (Routers(shares) + 1);
  }

  // The same number of groups with the fewest routers: most[j][t], the most
  // nodes that j groups with t routers have, one group after the other.
  std::vector<GroupShare> Exact(const std::vector<GroupShare>& greedy) const {
    const size_t k = greedy.size(), most_routers = Routers(greedy);
    const size_t row = most_routers + 1, cells = (k + 1) * row;
    std::vector<int64_t> most(cells, -1);
    std::vector<uint32_t> taken(cells * groups_.size(), 0);
    most[0] = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (size_t j = k; j > 0; --j) {
        for (size_t t = most_routers; t > 0; --t) {
          const size_t limit = std::min<size_t>(t, groups_[g].size());
          for (uint32_t s = 1; s <= limit; ++s) {
            const int64_t before = most[(j - 1) * row + t - s];
            if (before < 0) continue;
            const int64_t nodes = before + groups_[g].first[s];
            if (nodes <= most[j * row + t]) continue;
            most[j * row + t] = nodes;
            taken[g * cells + j * row + t] = s;
          }
        }
      }
    }
    size_t t = 1;
    while (most[k * row + t] < int64_t{count_}) ++t;
    std::vector<GroupShare> shares;
    for (size_t g = groups_.size(), j = k; j > 0;) {
      const uint32_t s = taken[--g * cells + j * row + t];
      if (s == 0) continue;
      shares.push_back({g, s});
      --j;
      t -= s;
    }
    std::reverse(shares.begin(), shares.end());
    return shares;
  }

  uint32_t Nodes(const GroupShare& share) const {
    return groups_[share.group].first[share.routers];
  }

  // Changes one group after the other, the emptiest first, for the tightest one
  // whose routers do as well.
  void Tighten(std::vector<GroupShare>* shares) const {
    std::ranges::sort(*shares, std::greater(), [&](const GroupShare& share) {
      return std::pair(Nodes(share), share.group);
    });
    uint32_t nodes = 0;
    std::vector<uint8_t> used(groups_.size());
    for (const GroupShare& share : *shares) {
      nodes += Nodes(share);
      used[share.group] = 1;
    }
    uint32_t spare = nodes - count_;
    for (auto share = shares->rbegin(); share != shares->rend(); ++share) {
      const uint32_t needed = Nodes(*share) - std::min(spare, Nodes(*share));
      GroupShare best = *share;
      auto tightness = [&](const GroupShare& s) {
        return std::tuple(Nodes(s), groups_[s.group].all(), s.group);
      };
      for (size_t g = 0; g < groups_.size(); ++g) {
        if (used[g] || groups_[g].size() < share->routers) continue;
        const GroupShare other{g, share->routers};
        if (Nodes(other) < needed) continue;
        if (tightness(other) < tightness(best)) best = other;
      }
      spare -= Nodes(*share) - Nodes(best);
      used[share->group] = 0;
      used[best.group] = 1;
      *share = best;
    }
  }

  // All nodes of the shares, except that the last router gives what is needed,
  // and is the emptiest of its group that has so many.
  std::vector<uint32_t> Take(const std::vector<GroupShare>& shares) const {
    std::vector<uint32_t> nodes;
    nodes.reserve(count_);
    for (const GroupShare& share : shares) {
      const LevelGroup& group = groups_[share.group];
      for (uint32_t r = 0; r < share.routers; ++r) {
        auto router = group.routers.begin() + r;
        const size_t left = count_ - nodes.size();
        if (&share == &shares.back() && r + 1 == share.routers) {
          router = std::ranges::min_element(
              router, group.routers.end(), {}, [&](const Router& other) {
                return std::pair(other.size() < left, other.size());
              });
        }
        const auto number = std::min(left, router->size());
        nodes.insert(nodes.end(), router->begin(), router->begin() + number);
      }
    }
    return nodes;
  }

  const Fabric::Rep& rep_;
  uint32_t count_;
  std::vector<LevelGroup> groups_{};  // Those with a free node, in their order.
};

}  // namespace

FabricPlacement SelectByLevels(const Fabric::Rep& rep,
                               std::span<const uint8_t> free, uint32_t count) {
  FabricPlacement placement;
  placement.nodes = LevelSearch(rep, free, count).Run();
  placement.hop_sum = HopSum(rep, placement.nodes);
  return placement;
}

}  // namespace muster
