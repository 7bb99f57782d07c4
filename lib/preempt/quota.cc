#include "lib/preempt/quota.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace muster::preempt {
namespace {

struct Step {
  uint32_t candidate = 0;
  uint32_t tasks = 0;
  uint32_t before = 0;  // Entered before the step was taken.
  Score added{};
  int64_t amount = 0;
};

// Every shed of the fewest surplus tasks and every stop of a whole gang, by
// cost for the amount given back.
std::vector<Step> StepsOf(const Problem& problem, uint32_t count) {
  std::vector<Step> steps;
  for (uint32_t c = 0; c < count; ++c) {
    if (problem.Size(c) == 0) continue;
    Step stop{.candidate = c,
              .tasks = problem.Size(c),
              .added = problem.ScoreOf(c, problem.Size(c))};
    Step shed{.candidate = c};
    for (uint32_t back = 0; back < problem.Size(c); ++back) {
      const int64_t amount =
          std::max<int64_t>(1, problem.Amount(problem.Task(c, back)));
      stop.amount += amount;
      shed.amount += amount;
      if (problem.AtLeast(c, back + 1) > back + 1) continue;
      if (back + 1 == problem.Size(c)) break;
      const uint32_t before = std::exchange(shed.tasks, back + 1);
      shed.added =
          Minus(problem.ScoreOf(c, shed.tasks), problem.ScoreOf(c, before));
      steps.push_back(shed);
      shed.amount = 0;
    }
    steps.push_back(stop);
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) {
                     const Wide left = Wide{a.added.cost} * b.amount;
                     const Wide right = Wide{b.added.cost} * a.amount;
                     if (left != right) return left < right;
                     return a.added.broken < b.added.broken;
                   });
  return steps;
}

}  // namespace

bool CoverQuota(const Problem& problem, uint32_t count, VictimSet& victims) {
  std::vector<Step> taken;
  for (Step& step : StepsOf(problem, count)) {
    if (victims.QuotaSuffices()) break;
    step.before = victims.entered(step.candidate);
    if (step.before >= step.tasks) continue;
    if (victims.Enter(step.candidate, step.tasks)) taken.push_back(step);
  }
  if (!victims.QuotaSuffices()) return false;
  for (auto step = taken.rbegin(); step != taken.rend(); ++step) {
    if (victims.entered(step->candidate) != step->tasks) continue;
    const size_t mark = victims.Mark();
    const bool left = victims.Enter(step->candidate, step->before);
    if (left && !victims.QuotaSuffices()) victims.RevertTo(mark);
  }
  victims.ReleaseEntered();
  return !victims.broken_law();
}

}  // namespace muster::preempt
