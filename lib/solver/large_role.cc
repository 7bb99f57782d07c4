#include "lib/solver/large_role.h"

#include <algorithm>
#include <utility>

namespace muster::solver {
namespace {

// Of the roles that get tasks, the one that takes most devices; of equal ones
// the one with most tasks.
uint32_t LargestRole(const Problem& problem) {
  const ResourceKind device = problem.cluster().device_kind();
  const auto size = [&](uint32_t r) {
    const Resources& demand = problem.Demand(problem.column(r));
    const int64_t devices = device < demand.size() ? demand[device] : 0;
    return std::pair(devices * problem.add(r), problem.add(r));
  };
  return *std::ranges::max_element(problem.Active(), {}, size);
}

// False if rules of another kind hold for the role.
bool RuleOf(const Problem& problem, uint32_t role, UniformRule* rule) {
  *rule = {.topology = problem.tree(0).topology};
  for (const ScopeIndex s : problem.Chain(role)) {
    if (problem.rule(s).tree != 0) return false;
    rule->named = true;
    rule->required = std::max(rule->required, problem.rule(s).required);
  }
  return problem.Slices(role).empty();
}

}  // namespace

void PlaceLargeRole(Problem& problem, Cluster& cluster, UniformPlacer& uniform,
                    PlacementResult* alone) {
  constexpr uint32_t kShare = 4;
  alone->Clear();
  const PlacementRequest& request = problem.request();
  if (problem.Active().size() < 2 || !request.fixed.empty() ||
      !request.within.empty() || !problem.spreads().empty() ||
      problem.PrefersBelow(0)) {
    return;
  }
  const uint32_t role = LargestRole(problem);
  const uint32_t tasks = problem.add(role);
  const uint32_t others = problem.AddBelow(0) - tasks;
  UniformRule rule;
  if (others > std::max(tasks / kShare, 1u) || !RuleOf(problem, role, &rule)) {
    return;
  }
  const bool placed = uniform.PlaceAlone(cluster, request, role, tasks,
                                         problem.shape(role), rule, alone);
  problem.nanos += alone->steps;
  if (!placed || !problem.tree(0).Contains(alone->tasks[0].at.node)) {
    alone->Clear();
  }
}

}  // namespace muster::solver
