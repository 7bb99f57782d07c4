// Identical tasks on a tree: which domains, then which nodes.
#ifndef MUSTER_LIB_SOLVER_UNIFORM_FILL_H_
#define MUSTER_LIB_SOLVER_UNIFORM_FILL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "lib/index/column.h"
#include "lib/index/layout.h"
#include "muster/placement_solver.h"

namespace muster::solver {

// Where a gang may lie: one domain of a stored level, or (level -1) all nodes
// inside the topology; without stored levels, all nodes.
struct Region {
  int level = -1;
  uint32_t domain = 0;
};

// Fills a region, from its widest level inwards: at each level the fewest
// domains among the children of those chosen, the largest first, the last as
// tight as can be; at the end the fewest nodes. That is not always the least
// at the narrower levels; how far off it can be, the certificate says.
class UniformFill {
 public:
  struct Share {
    index::Position position = 0;
    uint32_t tasks = 0;
  };

  // The region must have room for `tasks`. Shares come in the order of
  // positions. O(domains and nodes looked at), which the result counts.
  uint64_t Fill(const index::Layout& layout, const index::Column& column,
                Region region, uint32_t tasks, std::vector<Share>* shares,
                Certificate* certificate);

 private:
  // A domain or node with room, and how much of it is taken.
  struct Pick {
    uint32_t id = 0;
    uint32_t slots = 0;
    uint32_t taken = 0;
  };

  void AddDomains(int level, uint32_t first, uint32_t last);
  void AddNodes(uint32_t first_chunk, uint32_t last_chunk);
  void Descend(int level);
  uint32_t Choose(uint32_t tasks);
  uint32_t LeastDomains(int level, Region region, uint32_t tasks);
  uint32_t LeastNodes(uint32_t tasks) const;
  void Certify(Region region, uint32_t tasks, Certificate* certificate);

  const index::Layout* layout_ = nullptr;
  const index::Column* column_ = nullptr;
  uint64_t looked_at_ = 0;
  std::vector<Pick> picks_;
  std::vector<Pick> parents_;
  std::vector<uint32_t> count_of_;  // By number of slots.
  std::vector<uint32_t> sorted_;
};

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_UNIFORM_FILL_H_
