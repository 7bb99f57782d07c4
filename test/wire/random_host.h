// A host with a small cluster, that lives through random but repeatable days.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "muster/scheduler.h"

namespace muster::wire {

class RandomHost {
 public:
  explicit RandomHost(uint64_t seed);

  // Some time passes, something happens, some open decisions are answered (or
  // refused, or kept waiting), and the scheduler makes its plan.
  void Step();

  Scheduler& scheduler() { return scheduler_; }

 private:
  void SetUp();
  void SomethingHappens();
  void Answer();
  void Submit();
  void ReportAll();
  // A random gang in the phase; empty if there is none.
  std::string GangIn(GangPhase phase);
  std::string SomeNode();
  // Errors are the host's mistakes and change nothing.
  void Report(EventBody what);
  uint64_t Below(uint64_t n) { return random_() % n; }

  std::mt19937_64 random_;
  Scheduler scheduler_;
  Time now_ = 0;
  int submitted_ = 0;
  std::vector<uint64_t> open_{};
  Plan plan_{};
};

}  // namespace muster::wire
