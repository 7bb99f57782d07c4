// Fewest groups, then fewest routers: dragonflies and rails (where a unit is a
// group with one router).
#include <algorithm>
#include <tuple>
#include <utility>

#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

constexpr uint64_t kSteps = 1 << 26;  // Of the table of Exact.

using Router = std::vector<uint32_t>;  // Free nodes, by key.

struct Group {
  std::vector<Router> routers{};   // The fullest first, then the first.
  std::vector<uint32_t> first{0};  // [t] free nodes of the first t routers.

  uint32_t all() const { return first.back(); }
  uint32_t size() const { return static_cast<uint32_t>(routers.size()); }
};

// The `routers` fullest ones of a group.
struct Share {
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
    for (const Group& group : groups_) all += group.all();
    if (all < count_) return {};
    std::vector<Share> shares = Greedy();
    if (uint64_t steps = 0; Affordable(shares, &steps)) {
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
    std::vector<uint32_t> nodes;
    for (uint32_t node = 0; node < rep.nodes; ++node) {
      if (free[node] != 0) nodes.push_back(node);
    }
    std::sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(rep.homes[a], a) < std::pair(rep.homes[b], b);
    });
    Fabric::Rep::Home last{};
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Fabric::Rep::Home home = rep.homes[nodes[i]];
      if (i == 0 || home.group != last.group) groups_.emplace_back();
      if (i == 0 || home != last) groups_.back().routers.emplace_back();
      groups_.back().routers.back().push_back(nodes[i]);
      last = home;
    }
    for (Group& group : groups_) {
      std::stable_sort(
          group.routers.begin(), group.routers.end(),
          [](const Router& a, const Router& b) { return a.size() > b.size(); });
      for (const Router& router : group.routers) {
        group.first.push_back(group.all() +
                              static_cast<uint32_t>(router.size()));
      }
    }
  }

  // The fullest groups: the fewest that can be, but perhaps too many routers.
  std::vector<Share> Greedy() const {
    std::vector<size_t> order(groups_.size());
    for (size_t g = 0; g < order.size(); ++g) order[g] = g;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return groups_[a].all() > groups_[b].all();
    });
    std::vector<Share> shares;
    for (uint32_t left = count_; left > 0;) {
      const size_t g = order[shares.size()];
      const auto& first = groups_[g].first;
      const auto enough = std::lower_bound(first.begin(), first.end(), left);
      const uint32_t routers =
          enough == first.end() ? groups_[g].size()
                                : static_cast<uint32_t>(enough - first.begin());
      left -= std::min(left, first[routers]);
      shares.push_back({g, routers});
    }
    return shares;
  }

  static uint32_t Routers(const std::vector<Share>& shares) {
    uint32_t sum = 0;
    for (const Share& share : shares) sum += share.routers;
    return sum;
  }

  bool Affordable(const std::vector<Share>& shares, uint64_t* steps) const {
    const uint64_t cells = uint64_t{shares.size() + 1} * (Routers(shares) + 1);
    for (const Group& group : groups_) {
      *steps += cells * (group.size() + 1);
      if (*steps > kSteps) return false;
    }
    return true;
  }

  // The same number of groups with the fewest routers: most[j][t], the most
  // nodes that j groups with t routers have, one group after the other.
  std::vector<Share> Exact(const std::vector<Share>& greedy) const {
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
    std::vector<Share> shares;
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

  uint32_t Nodes(const Share& share) const {
    return groups_[share.group].first[share.routers];
  }

  // Changes one group after the other, the emptiest first, for the tightest one
  // whose routers do as well.
  void Tighten(std::vector<Share>* shares) const {
    std::sort(
        shares->begin(), shares->end(), [&](const Share& a, const Share& b) {
          return std::pair(Nodes(b), b.group) < std::pair(Nodes(a), a.group);
        });
    uint32_t spare = 0;
    for (const Share& share : *shares) spare += Nodes(share);
    spare -= count_;
    std::vector<uint8_t> used(groups_.size());
    for (const Share& share : *shares) used[share.group] = 1;
    for (auto share = shares->rbegin(); share != shares->rend(); ++share) {
      const uint32_t needed = Nodes(*share) - std::min(spare, Nodes(*share));
      Share best = *share;
      auto tightness = [&](const Share& s) {
        return std::tuple(Nodes(s), groups_[s.group].all(), s.group);
      };
      for (size_t g = 0; g < groups_.size(); ++g) {
        if (used[g] || groups_[g].size() < share->routers) continue;
        const Share other{g, share->routers};
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
  std::vector<uint32_t> Take(const std::vector<Share>& shares) const {
    std::vector<uint32_t> nodes;
    nodes.reserve(count_);
    for (size_t i = 0; i < shares.size(); ++i) {
      const Group& group = groups_[shares[i].group];
      for (uint32_t r = 0; r < shares[i].routers; ++r) {
        const Router* router = &group.routers[r];
        const size_t left = count_ - nodes.size();
        const bool last = i + 1 == shares.size() && r + 1 == shares[i].routers;
        if (last) {
          for (uint32_t other = r + 1; other < group.size(); ++other) {
            const Router& candidate = group.routers[other];
            if (candidate.size() >= left && candidate.size() < router->size()) {
              router = &candidate;
            }
          }
        }
        const size_t number = std::min(left, router->size());
        nodes.insert(nodes.end(), router->begin(),
                     router->begin() + static_cast<ptrdiff_t>(number));
      }
    }
    return nodes;
  }

  const Fabric::Rep& rep_;
  uint32_t count_;
  std::vector<Group> groups_{};  // Those with a free node, in their order.
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
