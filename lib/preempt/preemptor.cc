#include "muster/preemptor.h"

#include "lib/preempt/problem.h"
#include "lib/preempt/search.h"

namespace muster {
namespace {

class LeastCostPreemptor final : public Preemptor {
 public:
  void Choose(Cluster& cluster, PlacementSolver& solver,
              const PreemptionRequest& request,
              PreemptionResult* result) override;

 private:
  PlacementResult placement_;
};

// Releases the victims and places the gang in the open transaction.
bool Carry(Cluster& cluster, PlacementSolver& solver,
           const PreemptionRequest& request, const std::vector<Victim>& victims,
           PlacementResult* placement) {
  for (const Victim& victim : victims) {
    const std::span<const Assignment> tasks =
        request.candidates[victim.candidate].tasks;
    for (const Assignment& task : tasks.last(victim.tasks)) {
      cluster.Credit(task.at, Ledger::kLater);
    }
  }
  placement->Clear();
  solver.Place(cluster, request.placement, placement);
  return placement->fit == Fit::kFits;
}

void LeastCostPreemptor::Choose(Cluster& cluster, PlacementSolver& solver,
                                const PreemptionRequest& request,
                                PreemptionResult* result) {
  result->Clear();
  preempt::Problem problem(cluster, solver, request);
  const Cluster::Mark trial = cluster.Begin();
  preempt::Search search(problem);
  search.Run();
  cluster.Rollback(trial);

  if (search.never()) result->fit = Fit::kNever;
  result->optimal = search.proven();
  result->cut_short = problem.Exhausted();
  result->steps = problem.steps();
  const preempt::Solution& solution = search.solution();
  if (!solution.found) return;

  const Cluster::Mark mark = cluster.Begin();
  const bool carried =
      search.EnterSolution() &&
      Carry(cluster, solver, request, solution.victims, &placement_);
  if (!carried) {
    cluster.Rollback(mark);
    search.LeaveSolution();
    result->optimal = false;
    return;
  }
  cluster.Commit(mark);
  result->steps += placement_.steps;
  result->fit = Fit::kFits;
  result->victims = solution.victims;
  result->tasks = placement_.tasks;
  result->cost = solution.score.cost;
}

}  // namespace

std::unique_ptr<Preemptor> NewPreemptor() {
  return std::make_unique<LeastCostPreemptor>();
}

}  // namespace muster
