// How many identical tasks each domain of a level gets, so that a spread holds.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/solver/placement_problem.h"

namespace muster::solver {

// One domain of the level that tasks are spread over.
struct SpreadDomain {
  uint64_t room = 0;    // Slots for the tasks.
  uint32_t placed = 0;  // Tasks it holds already.
  bool counts = false;  // Whether the skew looks at it.
  int nearness = 0;     // Less goes first, where room is equal.
  uint32_t tasks = 0;   // The answer: tasks it gets.
};

// Exact, by arithmetic: what a domain may end with is bounded from above by its
// room, by `most` and by the peak (the most that any domain getting tasks ends
// with), from below by the peak less the skew; the lower the peak, the looser
// the lower bounds. So the lowest peak under which all tasks have room decides,
// or any up to the fewest tasks plus the skew, under which no domain must be
// raised. Within that the fewest domains that had none are opened, the roomiest
// first, the last as tight as can be. O(n log n).
class SpreadFill {
 public:
  // `need`: domains that must hold tasks at the end. False if there is no way;
  // then what the domains get is undefined.
  bool Fill(const SpreadRule& rule, uint32_t need, uint32_t tasks,
            std::vector<SpreadDomain>* domains);
  // The most tasks up to `enough` for which there is a way, where `used`
  // domains hold fixed tasks: if there is one for n, there is one for n - 1.
  // What the domains get is undefined.
  uint32_t Most(const SpreadRule& rule, uint32_t used, uint32_t enough,
                std::vector<SpreadDomain>* domains);

 private:
  uint64_t High(const SpreadDomain& d) const;
  uint64_t Low(const SpreadDomain& d) const;
  bool FitsAll(uint64_t peak, uint32_t tasks);
  bool FindPeak(uint32_t tasks);
  bool OpenNeeded(uint32_t missing, uint32_t* left);
  void OpenForRoom(uint32_t left);

  const SpreadRule* rule_ = nullptr;
  std::vector<SpreadDomain>* domains_ = nullptr;
  uint64_t peak_ = 0;
  std::vector<uint32_t> closed_;  // Could be opened; best first.
  size_t opened_ = 0;             // So many of these are.
  std::vector<uint32_t> open_;    // In the order in which they are filled.
};

}  // namespace muster::solver
