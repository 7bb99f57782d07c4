#include "lib/solver/large_role.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/solver/node_choice.h"

namespace muster::solver {
namespace {

// Of the roles that get tasks, the one that takes most devices; of equal ones
// the one with most tasks.
uint32_t LargestRole(const PlacementProblem& problem) {
  const ResourceKind device = problem.cluster().device_kind();
  const auto size = [&](uint32_t r) {
    const Resources& demand = problem.Demand(problem.column(r));
    const int64_t devices = device < demand.size() ? demand[device] : 0;
    return std::pair(devices * problem.add(r), problem.add(r));
  };
  return *std::ranges::max_element(problem.Active(), {}, size);
}

// False if rules of another kind hold for the role.
bool RuleOf(const PlacementProblem& problem, uint32_t role, UniformRule* rule) {
  *rule = {.topology = problem.tree(0).topology};
  for (const ScopeIndex s : problem.Chain(role)) {
    if (problem.rule(s).tree != 0) return false;
    rule->named = true;
    rule->required = std::max(rule->required, problem.rule(s).required);
  }
  return problem.Slices(role).empty();
}

// The domain with tasks in which one more task of the role has the least
// traffic; none if the role has no traffic.
std::optional<DomainRef> DomainOfLeastTraffic(PartialPlacement& placement,
                                              const Traffic& traffic,
                                              uint32_t role) {
  PlacementProblem& problem = placement.problem();
  const Tree& tree = problem.tree(0);
  std::optional<DomainRef> best;
  std::tuple<int64_t, int, uint32_t> least;  // Cost, level, place; keys decide.
  const auto consider = [&](const DomainRef& domain) {
    std::optional<NodeIndex> first;
    placement.table().ForEachNode(problem.column(role), domain,
                                  [&](NodeIndex n) {
                                    if (!first) first = n;
                                  });
    if (!first) return;
    problem.Spend(placement.placed().size(), kLookNs);
    const std::tuple cost(traffic.CostOf(placement, role, *first),
                          -domain.level, tree.PositionOf(*first));
    if (best && cost >= least) return;
    best = domain;
    least = cost;
  };
  const auto is_of_role = [&](const Traffic::Edge& edge) {
    return edge.from == role || edge.to == role;
  };
  if (std::ranges::none_of(traffic.edges(), is_of_role)) return best;
  for (int level = 0; level <= tree.hosts; ++level) {
    placement.ForEachDomainWithTasks(
        level, [&](uint32_t d) { consider({0, level, d}); });
  }
  return best;
}

}  // namespace

void PlaceLargeRole(PlacementProblem& problem, Cluster& cluster,
                    UniformPlacer& uniform, PlacementResult* alone) {
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

bool PutBeside(PartialPlacement& placement, const Traffic& traffic,
               const PlacementResult& alone) {
  const PlacementProblem& problem = placement.problem();
  for (const Assignment& a : alone.tasks) {
    if (!placement.PutExactly(a.task, a.at)) return false;
  }
  for (const uint32_t r : problem.Active()) {
    if (r == alone.tasks[0].task.role) continue;
    const std::span<const uint32_t> indices = problem.NewIndices(r);
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto after = static_cast<uint32_t>(indices.size() - i);
      const std::optional<DomainRef> domain =
          DomainOfLeastTraffic(placement, traffic, r);
      std::optional<NodeIndex> node;
      if (domain)
        node = FindNode(placement, {r, indices[i]}, {&*domain, 1}, after);
      if (!node) node = FindNode(placement, {r, indices[i]}, {}, after);
      if (!node || !placement.Put({r, indices[i]}, *node)) return false;
    }
  }
  return true;
}

bool NeedsNoMore(const PartialPlacement& placement, const Certificate& alone) {
  if (!alone.optimal) return false;
  for (size_t l = 0; l < alone.levels.size(); ++l) {
    uint32_t used = 0;
    placement.ForEachDomainWithTasks(static_cast<int>(l),
                                     [&](uint32_t) { ++used; });
    if (used != alone.levels[l].used) return false;
  }
  return true;
}

}  // namespace muster::solver
