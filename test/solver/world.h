// A small cluster, a gang and a solver, for tests that read like stories.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"

namespace muster::solver_test {

// Kinds: cpu 0, memory 1, gpu 2 (the device kind).
inline constexpr ResourceKind kCpu = 0;
inline constexpr ResourceKind kMemory = 1;
inline constexpr ResourceKind kGpu = 2;

// "zone/block/rack/name": labels for topologies "net" (zone, block, rack).
struct NodeSpec {
  std::string path{};
  uint32_t gpus = 0;
  int64_t cpu = 0;
  Labels labels{};
  std::vector<Taint> taints{};
  std::string model{};
};

Node MakeNode(const NodeSpec& spec);

// A role of `tasks` tasks with whole devices.
Role MakeRole(std::string name, uint32_t tasks, uint32_t gpus, int64_t cpu = 0);

class World {
 public:
  explicit World(std::vector<Topology> topologies = {
                     {"net", {"zone", "block", "rack"}}});
  ~World();

  World& Add(const NodeSpec& spec);
  // Adds nodes name0, name1, ... with so many devices each.
  World& AddMany(const std::string& path, uint32_t count, uint32_t gpus);

  // Prepares the gang (a plain root where it has no groups).
  const PreparedGang& Prepare(Gang gang);

  // Asks; what is answered stays charged, and fixed for the next Grow.
  PlacementResult& Place(Gang gang);
  PlacementResult& PlaceAgain();
  PlacementResult& Grow();
  // Only asks, as if nothing had been placed.
  PlacementResult DryRun(Gang gang);

  // Takes devices of a node away, as somebody else's whole devices.
  void Use(const std::string& node, uint32_t gpus);

  std::string NodeOf(uint32_t role, uint32_t index) const;
  // The nodes of a role's tasks, in the order of their numbers.
  std::vector<std::string> NodesOf(uint32_t role) const;
  // Like "r1 r1 r2": the value of a label, task by task.
  std::string Where(uint32_t role, const std::string& label) const;

  Cluster cluster;
  std::unique_ptr<GangSolver> solver = NewGangSolver();
  PlacementRequest request;
  PlacementResult result;
  std::vector<Assignment> placed;  // All that was placed for the last gang.

 private:
  void Hold();
  PreparedGang gang_;
};

}  // namespace muster::solver_test
