// One number for each domain of a problem's trees: a place in flat arrays.
#ifndef MUSTER_LIB_SOLVER_DOMAIN_NUMBERS_H_
#define MUSTER_LIB_SOLVER_DOMAIN_NUMBERS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "lib/solver/tree.h"

namespace muster::solver {

// Of stored levels only: hosts have their node index.
class DomainNumbers {
 public:
  // Returns how many there are.
  size_t Reset(std::span<const Tree> trees) {
    tree_first_.clear();
    level_first_.clear();
    size_t domains = 0;
    for (const Tree& tree : trees) {
      tree_first_.push_back(level_first_.size());
      for (int l = 0; l < tree.hosts; ++l) {
        level_first_.push_back(domains);
        domains += tree.index->levels[l].size();
      }
    }
    return domains;
  }
  size_t operator[](const Spot& s) const {
    return level_first_[tree_first_[s.tree] + s.level] + s.domain;
  }

 private:
  std::vector<size_t> tree_first_;   // Tree -> its first entry below.
  std::vector<size_t> level_first_;  // Tree and level -> first domain.
};

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_DOMAIN_NUMBERS_H_
