// Nodes of any graph that are few hops apart: balls round each free node, the
// best of them improved by exchanging nodes.
#include <algorithm>
#include <utility>

#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

constexpr size_t kMostSeeds = 1024;       // Free nodes whose balls are tried,
constexpr size_t kMostImproved = 8;       // of which so many are improved.
constexpr uint64_t kPairs = 1 << 24;      // Looked at to compare balls exactly,
constexpr uint64_t kExchanges = 1 << 25;  // to improve all of them.

struct Ball {
  int64_t hop_sum = 0;  // Over all pairs, once it is known.
  int64_t star = 0;     // From the seed to the others.
  std::vector<uint32_t> nodes{};
};

class HopSearch {
 public:
  HopSearch(const Fabric::Rep& rep, std::span<const uint8_t> free,
            uint32_t count)
      : rep_(rep), count_(count) {
    for (uint32_t node = 0; node < rep.nodes; ++node) {
      if (free[node] != 0) free_.push_back(node);
    }
  }

  FabricPlacement Run() {
    FabricPlacement best;
    MakeBalls();
    rep_.ChargeRoutes(free_.size());
    if (balls_.empty()) return best;
    KeepBest();
    for (Ball& ball : balls_) {
      Improve(&ball);
      if (best.nodes.empty() || ball.hop_sum < best.hop_sum) {
        best.hop_sum = ball.hop_sum;
        best.nodes = std::move(ball.nodes);
      }
    }
    best.hop_sum_bound = bound_;
    return best;
  }

 private:
  // The nearest nodes of each seed, by (hops, key). In whatever choice, every
  // node has at least its star's hops to the others: so half the sum of the
  // least stars is a bound for all choices, if all stars are known.
  void MakeBalls() {
    if (free_.size() < count_) return;
    const size_t seeds = std::min(free_.size(), kMostSeeds);
    std::vector<std::pair<uint32_t, uint32_t>> near;
    std::vector<int64_t> stars;
    for (size_t i = 0; i < seeds; ++i) {
      const uint32_t seed = free_[i * free_.size() / seeds];
      near.clear();
      rep_.Charge(free_.size() * 4, kHopNs);
      for (uint32_t node : free_) near.push_back({rep_.Hops(seed, node), node});
      std::nth_element(near.begin(), near.begin() + (count_ - 1), near.end());
      if (near[count_ - 1].first == Fabric::kUnreachable) continue;
      near.resize(count_);
      Ball ball;
      for (const auto& [hops, node] : near) {
        ball.star += hops;
        ball.nodes.push_back(node);
      }
      stars.push_back(ball.star);
      std::sort(ball.nodes.begin(), ball.nodes.end());
      balls_.push_back(std::move(ball));
    }
    // A seed without a ball is in no choice at all.
    if (seeds < free_.size() || stars.size() < count_) return;
    std::nth_element(stars.begin(), stars.begin() + (count_ - 1), stars.end());
    for (uint32_t i = 0; i < count_; ++i) bound_ += stars[i];
    bound_ = (bound_ + 1) / 2;
  }

  // The balls with the fewest hops, or with the least stars where comparing
  // all pairs would take too long.
  void KeepBest() {
    std::ranges::sort(balls_, {}, [](const Ball& ball) {
      return std::tie(ball.star, ball.nodes);
    });
    const uint64_t pairs = uint64_t{count_} * count_ / 2 + 1;
    const size_t kept = std::max<size_t>(kMostImproved, kPairs / pairs);
    if (balls_.size() > kept) balls_.resize(kept);
    for (Ball& ball : balls_) ball.hop_sum = HopSum(rep_, ball.nodes);
    std::ranges::sort(balls_, {}, [](const Ball& ball) {
      return std::tie(ball.hop_sum, ball.nodes);
    });
    const auto same = std::ranges::unique(balls_, {}, &Ball::nodes);
    balls_.erase(same.begin(), same.end());
    if (balls_.size() > kMostImproved) balls_.resize(kMostImproved);
  }

  // Exchanges one node for another as long as that saves hops, the best
  // exchange first; of equals the first by keys.
  void Improve(Ball* ball) {
    struct Member {
      uint32_t node = 0;
      bool in = false;
      int64_t hops = 0;  // To all of the ball.
    };
    std::vector<Member> members;
    rep_.Charge(free_.size() * count_, kHopNs);
    for (uint32_t node : free_) {
      if (rep_.Hops(ball->nodes[0], node) == Fabric::kUnreachable) continue;
      Member member{node, std::binary_search(ball->nodes.begin(),
                                             ball->nodes.end(), node)};
      for (uint32_t other : ball->nodes) member.hops += rep_.Hops(node, other);
      members.push_back(member);
    }
    while (work_ < kExchanges) {
      int64_t most = 0;
      Member *out = nullptr, *in = nullptr;
      for (Member& leaves : members) {
        if (!leaves.in) continue;
        for (Member& comes : members) {
          if (comes.in || leaves.hops - comes.hops < most) continue;
          const int64_t saved =
              leaves.hops - comes.hops + rep_.Hops(leaves.node, comes.node);
          if (saved > most) most = saved, out = &leaves, in = &comes;
        }
      }
      work_ += uint64_t{count_} * members.size();
      rep_.Charge(uint64_t{count_} * members.size(), kHopNs);
      if (out == nullptr) break;
      ball->hop_sum -= most;
      out->in = false;
      in->in = true;
      for (Member& member : members) {
        member.hops += int64_t{rep_.Hops(member.node, in->node)} -
                       rep_.Hops(member.node, out->node);
      }
    }
    ball->nodes.clear();
    for (const Member& member : members) {
      if (member.in) ball->nodes.push_back(member.node);
    }
  }

  const Fabric::Rep& rep_;
  uint32_t count_;
  std::vector<uint32_t> free_{};
  std::vector<Ball> balls_{};
  int64_t bound_ = 0;
  uint64_t work_ = 0;
};

}  // namespace

FabricPlacement SelectByHops(const Fabric::Rep& rep,
                             std::span<const uint8_t> free, uint32_t count) {
  return HopSearch(rep, free, count).Run();
}

}  // namespace muster
