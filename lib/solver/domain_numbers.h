// One number for each domain of a problem's trees: a place in flat arrays.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lib/solver/tree.h"

namespace muster::solver {

// Everywhere is one domain, and so is each node, whichever the tree.
class DomainNumbers {
 public:
  // Returns how many there are. The trees must stay for ForEachAround.
  size_t Reset(std::span<const Tree> trees, size_t node_limit) {
    trees_ = trees;
    tree_first_.clear();
    level_first_.clear();
    size_t domains = 1 + node_limit;
    for (const Tree& tree : trees) {
      tree_first_.push_back(level_first_.size());
      for (int l = 0; l < tree.hosts; ++l) {
        level_first_.push_back(domains);
        domains += tree.index->levels[l].size();
      }
      level_first_.push_back(1);
    }
    return domains;
  }
  size_t operator[](const DomainRef& s) const {
    if (s.level == kEverywhere) return 0;
    return level_first_[tree_first_[s.tree] + s.level] + s.index;
  }
  static size_t OfNode(NodeIndex node) { return size_t{1} + node; }

  // Calls f(domain) for each domain that the node is in.
  template <class F>
  void ForEachAround(NodeIndex node, const F& f) const {
    f(DomainRef{});
    f(DomainRef{0, trees_[0].hosts, node});
    for (int t = 0; t < static_cast<int>(trees_.size()); ++t) {
      if (!trees_[t].Contains(node)) continue;
      for (int l = 0; l < trees_[t].hosts; ++l) {
        f(DomainRef{t, l, trees_[t].index->domain_of[l][node]});
      }
    }
  }

 private:
  std::span<const Tree> trees_{};
  std::vector<size_t> tree_first_;   // Tree -> its first entry below.
  std::vector<size_t> level_first_;  // Tree and level -> first domain.
};

}  // namespace muster::solver
