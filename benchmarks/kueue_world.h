// The world of Kueue's benchmark of preemption with topologies (its
// BenchmarkSchedulerTAS, of 1,000 nodes and 200 pods), for any number of nodes,
// and the best that can be done in it. Nothing is random:
//   nodes      10 CPUs, 100 GiB and 10 of each of 28 other kinds; in blocks of
//              sqrt(nodes), every eighth block in group 0
//   workloads  number w: (10 w mod sqrt(nodes)) + 1 pods of (w mod 10) + 1 CPUs
//              and of the other kinds and (w mod 100) + 1 GiB, priority w; each
//              pod on the first node that has room, until one finds none
//   preemptor  nodes / 5 pods of half a node each, in group 0, before all
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "benchmarks/scheduler_host.h"

namespace muster::bench {

class KueueWorld {
 public:
  explicit KueueWorld(uint32_t nodes);

  // All workloads run; the preemptor is not submitted.
  SchedulerHost MakeHost() const;
  Gang Preemptor() const;

  // The lowest priority such that stopping all up to it is enough.
  uint32_t LowestTop() const;
  // The fewest workloads of at most that priority that are enough: exact.
  uint32_t FewestVictims(uint32_t top) const;

 private:
  struct Amount {
    int64_t cpus = 0;
    int64_t gib = 0;
  };
  struct Workload {
    Amount pod;
    std::vector<uint32_t> nodes;  // Of each pod, ascending.
  };
  using Set = std::vector<uint32_t>;  // Of workloads, by number.
  // Of the nodes looked at so far: by which of the workloads that have pods on
  // others, too, are stopped: the most pods that find room, by how many
  // workloads are stopped in all.
  using Frontier = std::map<Set, std::vector<int64_t>>;

  uint32_t BlockOf(uint32_t node) const { return (node + 1) / root_; }
  bool InGroup(uint32_t node) const;
  bool Place(uint32_t number);
  // How many of the preemptor's pods find room there when those are stopped.
  int64_t RoomOn(uint32_t node, const Set& stopped) const;
  // The node is the first one that is looked at on which it has pods, ...
  static void Branch(uint32_t number, Frontier* frontier);
  // ... or the last one.
  static void Forget(uint32_t number, Frontier* frontier);

  uint32_t root_;
  uint32_t wanted_;                        // The preemptor's pods.
  std::vector<Amount> free_;               // By node.
  std::vector<std::vector<uint32_t>> on_;  // By node: of each pod the workload.
  std::vector<Workload> workloads_;        // By number; 0 is none.
};

}  // namespace muster::bench
