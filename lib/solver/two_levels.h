// Identical tasks on two levels of a tree: so many domains, and as few of the
// domains inside them as can be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/index/scan.h"

namespace muster::solver {

// What TreeKnapsack proves by its prices, for the commonest question and
// without a tree of its own: the slots are read where the index keeps them.
class TwoLevels {
 public:
  // A run of domains, of which `count` are to hold the tasks.
  struct Root {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  // All spans stay the caller's. Every root has `count` domains that can take
  // the tasks together, and no domain of a root all of them.
  template <class T>
  struct CoverQuestion {
    std::span<const uint32_t> slots;     // By domain: what its children take.
    std::span<const uint32_t> children;  // By domain: its first child, and one
                                         // past; one entry more than domains.
    std::span<const T> child_slots;
    uint32_t count = 0;
    uint32_t tasks = 0;
  };

  // Looks for `count` domains of one root that can take the tasks with fewer of
  // their children than `used`. True if found: then they are chosen(), by
  // rising index, and used() is lower. least(): what no choice of any root
  // falls below, at most used(); equal: proven. The slots of all domains fit
  // into 32 bits. A few evaluations a root, O(children) each; returns the
  // number of children looked at.
  template <class T>
  uint64_t Search(const CoverQuestion<T>& question, std::span<const Root> roots,
                  uint32_t used, uint64_t covered);
  bool found() const { return !chosen_.empty(); }
  uint32_t used() const { return used_; }
  uint32_t least() const { return least_; }
  std::span<const uint32_t> chosen() const { return chosen_; }

 private:
  // Prices and values are fixed-point numbers: tasks << kShift.
  static constexpr int kShift = 8;

  // What a root is worth at a price for each child: the line that touches the
  // convex curve there.
  struct Line {
    int64_t price = 0;
    int64_t value = 0;
    int64_t uses = 0;  // Children: the value falls by so many a price.
  };
  struct Worth {
    int64_t value = 0;
    uint32_t domain = 0;
    uint32_t uses = 0;
  };

  template <class T>
  uint32_t SearchRoot(const CoverQuestion<T>& q, Root root);
  template <class T>
  Line AtZero(const CoverQuestion<T>& q, Root root);
  template <class T>
  Line Evaluate(const CoverQuestion<T>& q, Root root, int64_t price);
  template <class Before>
  Line TakeMost(int64_t price, uint32_t count, const Before& before);
  template <class T>
  void Round(const CoverQuestion<T>& q);

  uint64_t looked_at_ = 0;
  uint32_t used_ = 0;
  uint64_t covered_ = 0;
  uint32_t least_ = 0;
  int64_t price_ = 0;  // The best of the root before; 0: none yet.
  std::vector<uint32_t> chosen_;
  std::vector<Worth> worth_;
  std::vector<uint32_t> rounded_;  // The domains last tried, and before.
  std::vector<uint32_t> picked_;
  std::vector<index::AboveCount> above_;  // By domain of the root.
  std::vector<uint32_t> gathered_;
};

}  // namespace muster::solver
