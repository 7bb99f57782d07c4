// CoreAllocator: which cores tasks have of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "adapters/local/controller/cpu_pool.h"

namespace muster::local {

// CPUs are given by the kernel's numbers, ascending. Equal pools and calls give
// equal answers. Not synchronised.
class CoreAllocator {
 public:
  explicit CoreAllocator(const CpuPool& pool);

  // There is nothing to be given.
  bool empty() const { return all_.empty(); }

  // So many of the pool's cpus that nobody has, as CPUs; nothing if there are
  // fewer. Of all choices it is one
  //  - of the fewest NUMA nodes,
  //  - of these, with the most cpus in the nodes `near`, if there are any,
  //  - of these, where it ends up in one node, in the node with the least room,
  //    so that larger holes stay for larger tasks,
  //  - and of the fewest cores of each node, for the same reason; cores that
  //    come first in the pool go first.
  // O(cores log cores).
  std::vector<uint32_t> Take(size_t count, std::span<const int32_t> near);
  // They were given before a restart. Those that are not of the pool are left
  // out. O(CPUs log CPUs), likewise Return.
  void Claim(std::span<const uint32_t> cpus);
  void Return(std::span<const uint32_t> cpus);

  // Those of the pool that nobody has. O(CPUs).
  std::vector<uint32_t> Free() const;
  // O(CPUs).
  std::vector<uint32_t> all() const { return {all_.begin(), all_.end()}; }

 private:
  // What is given as a whole.
  struct Cpu {
    int32_t numa = -1;
    size_t core = 0;  // Its place in the pool.
    std::vector<uint32_t> threads{};
  };
  // Of a node that has so many free.
  void TakeOfNode(int32_t numa, size_t count, std::vector<uint32_t>* taken);
  bool IsFree(const Cpu& cpu) const;

  std::vector<Cpu> cpus_;
  std::set<uint32_t> all_;
  std::set<uint32_t> taken_;  // Of these.
};

}  // namespace muster::local
