// Counts by role type on small random trees: the program's answer against all
// ways there are.
#include "lib/solver/mix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace muster::solver {
namespace {

constexpr int kLevels = 3;  // Blocks, racks, nodes.

struct RandomLeaf {
  uint32_t block = 0;
  uint32_t rack = 0;  // Numbered through.
  std::vector<uint32_t> most{};
  std::vector<int64_t> free{};
  std::vector<int64_t> fixed_traffic{};  // By role type.
  bool has_fixed = false;
};

// A question with everything in it, and the tree it is asked about.
struct MixInstance {
  explicit MixInstance(uint64_t seed) : random(seed) {
    const uint32_t role_types = 1 + Below(3);
    for (uint32_t k = 0; k < role_types; ++k) want.push_back(1 + Below(3));
    for (uint32_t i = 0; i < role_types * 2; ++i) demand.push_back(Below(3));
    weight.assign(role_types * role_types, 0);
    for (uint32_t k = 0; k < role_types && Below(4) > 0; ++k) {
      for (uint32_t j = 0; j <= k; ++j) {
        weight[k * role_types + j] = weight[j * role_types + k] = Below(4);
      }
    }
    for (int l = 0; l < kLevels; ++l) unit.push_back(Below(3) * 2);
    if (Below(2) == 0) {
      rules.push_back({.level = static_cast<int>(Below(kLevels)),
                       .role_types = 1 + Below((1u << role_types) - 1),
                       .ask = static_cast<MixRule::Ask>(Below(3)),
                       .amount = 1 + Below(3)});
    }
    uint32_t rack = 0;
    for (uint32_t b = 0; b < 2; ++b) {
      for (uint32_t r = 0; r < 1 + Below(2); ++r, ++rack) {
        for (uint32_t n = 0; n < 1 + Below(2); ++n) AddLeaf(b, rack);
      }
    }
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random() % n); }

  void AddLeaf(uint32_t block, uint32_t rack) {
    RandomLeaf leaf{.block = block, .rack = rack};
    for (size_t k = 0; k < want.size(); ++k) leaf.most.push_back(Below(3));
    leaf.free = {Below(5), Below(5)};
    leaf.fixed_traffic.assign(want.size(), 0);
    if (Below(4) == 0) {
      for (int64_t& fixed_traffic : leaf.fixed_traffic)
        fixed_traffic = Below(3);
    }
    leaf.has_fixed = Below(5) == 0;
    leaves.push_back(leaf);
  }

  MixQuestion Question() const {
    return {.want = want,
            .resources = 2,
            .demand = demand,
            .weight = weight,
            .unit = unit,
            .rules = rules,
            .budget = 1'000'000};
  }

  std::mt19937_64 random;
  std::vector<uint32_t> want;
  std::vector<int64_t> demand;
  std::vector<int64_t> weight;
  std::vector<int64_t> unit;
  std::vector<MixRule> rules;
  std::vector<RandomLeaf> leaves;
};

// From the words of the header alone.
class Oracle {
 public:
  explicit Oracle(const MixInstance& instance) : in_(instance) {}

  std::optional<int64_t> Best() {
    std::vector<uint32_t> left = in_.want;
    counts_.assign(in_.leaves.size(), std::vector<uint32_t>(left.size(), 0));
    Try(0, 0, &left);
    return best_;
  }

  // Nothing if the counts are not allowed.
  std::optional<int64_t> Worth(
      const std::vector<std::vector<uint32_t>>& counts) const {
    std::map<std::pair<int, uint32_t>, std::vector<uint32_t>> domains;
    int64_t worth = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const RandomLeaf& leaf = in_.leaves[i];
      if (!Fits(leaf, counts[i])) return {};
      const uint32_t ids[] = {leaf.block, leaf.rack, static_cast<uint32_t>(i)};
      for (int l = 0; l < kLevels; ++l) {
        std::vector<uint32_t>& sum = domains[{l, ids[l]}];
        sum.resize(in_.want.size());
        for (size_t k = 0; k < sum.size(); ++k) sum[k] += counts[i][k];
      }
      for (size_t k = 0; k < leaf.fixed_traffic.size(); ++k) {
        worth += leaf.fixed_traffic[k] * counts[i][k];
      }
    }
    for (const auto& [domain, sum] : domains) {
      if (!Allowed(domain.first, sum)) return {};
      const bool host = domain.first == kLevels - 1;
      worth += Pairs(sum);
      const bool any =
          std::any_of(sum.begin(), sum.end(), [](uint32_t n) { return n > 0; });
      if (any && !(host && in_.leaves[domain.second].has_fixed)) {
        worth -= in_.unit[static_cast<size_t>(domain.first)];
      }
    }
    return worth;
  }

 private:
  bool Fits(const RandomLeaf& leaf, const std::vector<uint32_t>& x) const {
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k] > leaf.most[k]) return false;
    }
    for (size_t r = 0; r < 2; ++r) {
      int64_t need = 0;
      for (size_t k = 0; k < x.size(); ++k)
        need += in_.demand[k * 2 + r] * x[k];
      if (need > leaf.free[r]) return false;
    }
    return true;
  }

  bool Allowed(int level, const std::vector<uint32_t>& sum) const {
    for (const MixRule& rule : in_.rules) {
      if (rule.level != level) continue;
      uint32_t all = 0, wanted = 0;
      for (size_t k = 0; k < sum.size(); ++k) {
        if ((rule.role_types >> k & 1) == 0) continue;
        all += sum[k];
        wanted += in_.want[k];
        if (rule.ask == MixRule::Ask::kWhole && sum[k] % rule.amount != 0 &&
            sum[k] % rule.amount != in_.want[k] % rule.amount) {
          return false;
        }
      }
      if (rule.ask == MixRule::Ask::kAllOrNone && all != 0 && all != wanted) {
        return false;
      }
      if (rule.ask == MixRule::Ask::kAtMost && all > rule.amount) return false;
    }
    return true;
  }

  int64_t Pairs(const std::vector<uint32_t>& x) const {
    int64_t pairs = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      for (size_t j = 0; j < x.size(); ++j) {
        const int64_t both = int64_t{x[k]} * x[j] - (k == j ? x[k] : 0);
        pairs += in_.weight[k * x.size() + j] * both;
      }
    }
    return pairs / 2;
  }

  void Try(size_t leaf, size_t role_type, std::vector<uint32_t>* left) {
    if (leaf == counts_.size()) {
      for (const uint32_t n : *left) {
        if (n > 0) return;
      }
      const std::optional<int64_t> worth = Worth(counts_);
      if (worth && (!best_ || *worth > *best_)) best_ = worth;
      return;
    }
    if (role_type == left->size()) return Try(leaf + 1, 0, left);
    const uint32_t most =
        std::min((*left)[role_type], in_.leaves[leaf].most[role_type]);
    for (uint32_t n = 0; n <= most; ++n) {
      counts_[leaf][role_type] = n;
      (*left)[role_type] -= n;
      Try(leaf, role_type + 1, left);
      (*left)[role_type] += n;
    }
    counts_[leaf][role_type] = 0;
  }

  const MixInstance& in_;
  std::vector<std::vector<uint32_t>> counts_;
  std::optional<int64_t> best_;
};

MixTree::Item Build(const MixInstance& in, MixTree* tree) {
  uint32_t block = 99, rack = 99;
  const std::vector<int64_t> none(in.want.size(), 0);
  tree->Open(0, none, true);  // Around both blocks: costs nothing.
  for (uint32_t i = 0; i < in.leaves.size(); ++i) {
    const RandomLeaf& leaf = in.leaves[i];
    if (leaf.rack != rack && rack != 99) tree->Close();
    if (leaf.block != block && block != 99) tree->Close();
    if (leaf.block != block) tree->Open(0, none, false);
    if (leaf.rack != rack) tree->Open(1, none, false);
    block = leaf.block;
    rack = leaf.rack;
    tree->Leaf(i, leaf.most, leaf.free, leaf.fixed_traffic, leaf.has_fixed);
  }
  tree->Close();
  tree->Close();
  return tree->Close();
}

TEST(MixTree, AgreesWithAllWaysThereAre) {
  MixTree tree;
  std::vector<MixTree::LeafShare> shares;
  uint32_t solved = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MixInstance in(seed);
    // The root of both blocks is of their level here, and judged like them.
    std::erase_if(in.rules, [](const MixRule& r) { return r.level == 0; });
    const MixQuestion question = in.Question();
    tree.Start(question);
    const MixTree::Item root = Build(in, &tree);
    ASSERT_FALSE(tree.out_of_steps());
    Oracle oracle(in);
    const std::optional<int64_t> best = oracle.Best();
    int64_t worth = 0;
    const bool found = root != MixTree::kNone && tree.Best(root, &worth);
    ASSERT_EQ(found, best.has_value());
    if (!found) continue;
    ++solved;
    // What all tasks are worth in the root comes on top.
    std::vector<std::vector<uint32_t>> counts(
        in.leaves.size(), std::vector<uint32_t>(in.want.size(), 0));
    shares.clear();
    tree.Collect(root, &shares);
    for (const MixTree::LeafShare& share : shares) {
      for (size_t k = 0; k < in.want.size(); ++k) {
        counts[share.id][k] = share.tasks[k];
      }
    }
    int64_t inside = 0;
    for (size_t k = 0; k < in.want.size(); ++k) {
      for (size_t j = 0; j < in.want.size(); ++j) {
        inside +=
            in.weight[k * in.want.size() + j] *
            (int64_t{in.want[k]} * in.want[j] - (k == j ? in.want[k] : 0));
      }
    }
    EXPECT_EQ(worth - inside / 2, *best);
    EXPECT_EQ(oracle.Worth(counts), best) << "what is collected is not best";
  }
  EXPECT_GT(solved, 1000u);
}

TEST(MixTree, OfDomainsThatLookAlikeOnlyThoseThatCouldHaveTasksCount) {
  const std::vector<uint32_t> want = {2, 4};
  const std::vector<int64_t> demand = {1, 1};
  const std::vector<int64_t> unit = {1, 1, 1};
  const std::vector<uint32_t> most = {2, 2};
  const std::vector<int64_t> free = {3}, none = {0, 0};
  const auto steps = [&](uint32_t racks) {
    MixTree tree;
    tree.Start({.want = want,
                .resources = 1,
                .demand = demand,
                .unit = unit,
                .budget = 1'000'000});
    tree.Open(0, none, false);
    for (uint32_t r = 0; r < racks; ++r) {
      tree.Open(1, none, false);
      for (uint32_t n = 0; n < 4; ++n) {
        tree.Leaf(4 * r + n, most, free, none, false);
      }
      tree.Close();
    }
    int64_t worth = 0;
    const MixTree::Item root = tree.Close();
    EXPECT_TRUE(root != MixTree::kNone && tree.Best(root, &worth));
    EXPECT_EQ(worth, -(1 + 1 + 2)) << "two nodes of one rack hold them all";
    return tree.steps();
  };
  // Six tasks lie in six racks at most: others are told, and that is all.
  EXPECT_LT(steps(1000), steps(6) + 1000 * steps(1) / 10);
}

TEST(MixTree, TellsWhenTheStepsEnd) {
  const std::vector<uint32_t> want = {100, 100};
  const std::vector<int64_t> unit = {1, 1};
  const std::vector<uint32_t> most = {10, 10};
  const std::vector<int64_t> none = {0, 0};
  EXPECT_TRUE(MixTree::Takes(want));
  EXPECT_FALSE(MixTree::Takes(std::vector<uint32_t>{1000, 1000}));
  EXPECT_FALSE(MixTree::Takes({}));
  MixTree tree;
  tree.Start({.want = want, .unit = unit, .budget = 1000});
  tree.Open(0, none, false);
  for (uint32_t n = 0; n < 20; ++n) tree.Leaf(n, most, {}, none, false);
  EXPECT_EQ(tree.Close(), MixTree::kNone);
  EXPECT_TRUE(tree.out_of_steps());
}

}  // namespace
}  // namespace muster::solver
