// Which task of a role goes where, once it is known where the role goes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "lib/solver/gang_solver.h"
#include "lib/solver/placement_problem.h"

namespace muster::solver {

// Less for tasks of one node that come first in the ring of its devices:
// island, NUMA node and number of the first device, then the slot, then the
// others.
using RingPlace = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, DeviceSet>;
RingPlace RingPlaceOf(const Cluster& cluster, const Allocation& at);

// Exchanges the places of tasks of one role, which are alike, so that their
// numbers follow the topology: neighbours in number are neighbours in the tree.
// Keeps its memory.
class RankAssigner {
 public:
  // `tasks` by (role, index). The places of each role are put into the order of
  // its tree (that of the innermost scope that names one): by domain path, then
  // node key, then RingPlaceOf. Slices stay whole: tasks are
  // ordered inside the innermost ones, and these among each other inside the
  // next layer, as far as they are all new and complete.
  void Apply(const PlacementProblem& problem, std::vector<Assignment>* tasks);

 private:
  struct Place {
    uint32_t position = 0;   // In the tree; kOutside there.
    std::string_view key{};  // For nodes outside.
    RingPlace ring{};
    Allocation at{};
  };

  static bool Before(const Place& a, const Place& b);
  // Places of tasks with these numbers, which share all wider slices.
  void Order(std::span<const SliceRule> layers, std::span<const uint32_t> index,
             std::span<Place> places);
  void OrderRuns(uint32_t size, size_t first_run, std::span<Place> places);

  std::vector<Place> places_;
  std::vector<Place> scratch_;
  std::vector<uint32_t> index_;
  std::vector<uint32_t> runs_;  // First tasks of whole slices: a stack.
  std::vector<uint32_t> order_;
};

}  // namespace muster::solver
