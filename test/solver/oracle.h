// Brute force over all placements of a small gang, written from the words of
// the public headers alone.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"

namespace muster::solver_test {

struct Optimum {
  uint32_t tasks = 0;   // The fewest tasks that satisfy the gang.
  int level = -1;       // With them: the narrowest level of topology 0 that
                        // encloses a placement; -1: none, levels: a host.
  int64_t traffic = 0;  // The least traffic inside such a level's domain.
};

// Beside the fixed tasks, which are charged; `tasks` counts the others. Nothing
// if no placement exists. The cluster is as before.
std::optional<Optimum> BruteForce(Cluster& cluster, const PreparedGang& gang,
                                  const std::vector<Assignment>& fixed = {});

// One placement of some tasks, as certificates see it.
struct Way {
  int level = -1;  // As Optimum::level.
  // Domains of each level of topology 0 with tasks that are not fixed, and no
  // fixed ones; hosts last. A node outside is one of its own at each.
  std::vector<uint32_t> domains{};
  int64_t traffic = 0;  // Of pairs that are not both fixed.

  friend auto operator<=>(const Way&, const Way&) = default;
};
// All placements of as many tasks of each role as `like` has, with the shapes
// they have there, on nodes that are available: each way once.
std::set<Way> AllWays(Cluster& cluster, const PreparedGang& gang,
                      const std::vector<Assignment>& like,
                      const std::vector<Assignment>& fixed);
Way WayOf(const Cluster& cluster, const Gang& gang,
          const std::vector<Assignment>& tasks,
          const std::vector<Assignment>& fixed);

// Whether one more task of a role that has some would fit somewhere.
bool CanGrow(const Cluster& cluster, const PreparedGang& gang,
             const std::vector<Assignment>& tasks);

// The narrowest level of topology 0 around the tasks.
int EnclosingLevel(const Cluster& cluster,
                   const std::vector<Assignment>& tasks);
int64_t TrafficOf(const Cluster& cluster, const Gang& gang,
                  const std::vector<Assignment>& tasks);
// Whether the tasks satisfy the gang, meet all its constraints and are alike.
// Spreads judge those of them that are not fixed.
bool Meets(const Cluster& cluster, const PreparedGang& gang,
           const std::vector<Assignment>& tasks,
           const std::vector<Assignment>& fixed = {});

}  // namespace muster::solver_test
