// How much a pass may do, in work steps: see SchedulerConfig::work_budget.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/base/step_cost.h"

namespace muster {

// A quarter is for taking submissions, the rest for the questions of the pass:
// so what is asked does not depend on what was handed in, and a journal tells
// the same. What is spent depends on which questions are active and on the
// cluster, never on what a cache knows. The question that spends the last step
// is still answered: nothing is begun after it.
class WorkBudget {
 public:
  // Of a pass, and of what goes before it. 0: without end.
  static WorkBudget ForQuestions(uint64_t all) {
    return WorkBudget(all - all / 4);
  }
  static WorkBudget ForSubmissions(uint64_t all) {
    return WorkBudget(all == 0 ? 0 : std::max<uint64_t>(all / 4, 1));
  }

  void Spend(uint64_t steps) {
    spent_ += steps;
    left_ -= std::min(steps, left_);
  }
  // Work that is no search.
  void Charge(uint64_t count, uint64_t each) { Spend(StepsOf(count * each)); }
  bool exhausted() const { return left_ == 0; }
  uint64_t left() const { return left_; }
  uint64_t spent() const { return spent_; }

 private:
  explicit WorkBudget(uint64_t steps) : left_(steps == 0 ? kEndless : steps) {}

  static constexpr uint64_t kEndless = ~uint64_t{0};

  uint64_t left_;
  uint64_t spent_ = 0;
};

}  // namespace muster
