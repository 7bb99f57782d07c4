// Small programs around PriorityHeap, run under Relacy, a model checker for
// the C++ memory model: every read may return any value that the model allows,
// every access of plain data is checked for races, every interleaving of what
// the heap's callers saw for linearizability.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace muster::test {

struct ModelResult {
  bool ok = false;
  uint64_t executions = 0;
  std::string report{};  // What was wrong, and how it came to be.
};

enum class ModelSearch {
  kBounded,  // Every execution with so many preemptions at most.
  kRandom,   // So many executions, from a fixed seed.
};

struct Model {
  const char* name;
  ModelResult (*run)(ModelSearch search, uint64_t how_many);
};

std::span<const Model> Models();

}  // namespace muster::test
