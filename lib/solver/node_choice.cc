#include "lib/solver/node_choice.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace muster::solver {
namespace {

// Room for the rest of the slice that the task starts, where it does.
uint64_t SliceRoom(const PartialPlacement& placement, TaskId task,
                   NodeIndex node, uint32_t after) {
  const PlacementProblem& problem = placement.problem();
  uint64_t room = after;
  for (const SliceRule& slice : problem.Slices(task.role)) {
    if (task.index % slice.size != 0) continue;
    const Tree& tree = problem.tree(slice.tree);
    const uint64_t slots = placement.table().Sum(
        problem.column(task.role),
        {slice.tree, slice.level, tree.DomainOf(slice.level, node)});
    room = std::min({room, slots, uint64_t{slice.size}});
  }
  return room;
}

// The best node for a task so far.
class NodeContest {
 public:
  NodeContest(const PartialPlacement& placement, TaskId task,
              std::span<const DomainRef> domains, uint32_t after)
      : placement_(placement),
        problem_(placement.problem()),
        task_(task),
        domains_(domains),
        after_(after),
        question_(problem_.QuestionOf(problem_.shape(task.role))) {}

  // The nodes of a domain.
  void Enter(const DomainRef& domain) {
    // Full, as most are around a gang that grows.
    if (placement_.table().Sum(problem_.column(task_.role), domain) == 0)
      return;
    if (domain.level != problem_.tree(0).hosts && EnterByIndex(domain)) return;
    placement_.table().ForEachNode(problem_.column(task_.role), domain,
                                   [&](NodeIndex node) {
                                     problem_.Spend(1, kNodeNs);
                                     Enter(node);
                                   });
  }
  std::optional<NodeIndex> best() const { return best_; }

 private:
  // The best of the nodes of the domain alone, where nothing but the cost tells
  // them apart: narrower domains that hold tasks have no room. Steps are those
  // of a look at each.
  bool EnterByIndex(DomainRef domain) {
    SlotTable& table = placement_.table();
    const uint32_t column = problem_.column(task_.role);
    if (!table.indexed() || !domains_.empty() || table.HasScores(column) ||
        problem_.policy().PerGang() || !problem_.Slices(task_.role).empty()) {
      return false;
    }
    const uint32_t nodes = table.WithSlots(column, domain);
    bool nowhere = false;
    if (!placement_.Narrow(task_, &domain, &nowhere)) return false;
    problem_.Spend(nodes, kNodeNs);
    if (nowhere) return true;
    NodeIndex node = domain.index;
    const bool inside = !problem_.Chain(task_.role).empty();
    if (domain.level == problem_.tree(0).hosts
            ? table.slots(column, node) > 0
            : table.Best(column, domain, inside, &node)) {
      Enter(node);
    }
    return true;
  }

  void Enter(NodeIndex node) {
    if (!placement_.Allowed(task_, node)) return;
    if (std::ranges::any_of(domains_, [&](const DomainRef& s) {
          return !problem_.tree(s.tree).Contains(s, node);
        })) {
      return;
    }
    if (!placement_.spreads().Keeps(task_.role, node)) return;
    const uint64_t lacking =
        after_ - SliceRoom(placement_, task_, node, after_);
    const int nearness = placement_.Nearness({0, problem_.tree(0).hosts, node});
    if (best_ &&
        std::tie(lacking, nearness) >
            std::tie(std::get<0>(best_cost_), std::get<1>(best_cost_))) {
      return;
    }
    const std::tuple cost = {
        lacking, nearness,
        -placement_.table().Score(problem_.column(task_.role), node),
        problem_.policy().NodeCost(problem_.ViewOf(node), question_)};
    if (best_ &&
        (best_cost_ < cost || (best_cost_ == cost && !Before(node, *best_)))) {
      return;
    }
    best_cost_ = cost;
    best_ = node;
  }

  // In the order of the first tree: domain paths, then keys.
  bool Before(NodeIndex a, NodeIndex b) const {
    const uint32_t x = problem_.tree(0).PositionOf(a);
    const uint32_t y = problem_.tree(0).PositionOf(b);
    if (x != y) return x < y;
    return placement_.cluster().node(a).key < placement_.cluster().node(b).key;
  }

  const PartialPlacement& placement_;
  PlacementProblem& problem_;
  const TaskId task_;
  const std::span<const DomainRef> domains_;
  const uint32_t after_;
  const scoring::NodeQuestion question_;
  std::optional<NodeIndex> best_;
  // Less is better: what is lacking, nearness, score, negated, and cost.
  std::tuple<uint64_t, int, int64_t, uint32_t> best_cost_;
};

}  // namespace

std::optional<NodeIndex> FindLoneNode(PlacementProblem& problem,
                                      uint32_t role) {
  const Cluster& cluster = problem.cluster();
  const Ledger ledger = problem.ledger();
  const bool within = !problem.request().within.empty();
  const std::span<const NodeIndex> nodes =
      within ? problem.request().within : cluster.nodes();
  const std::span<const ScopeIndex> chain = problem.Chain(role);
  const ShapeId shape = problem.shape(role);
  const scoring::NodeQuestion question = problem.QuestionOf(shape);
  problem.Spend(nodes.size(), kLoneNs);
  if (cluster.has_selector(shape)) problem.Charge(nodes.size(), kFilterNs);
  const size_t preferences = cluster.preferences(shape).size();
  problem.Charge(preferences * nodes.size(), kPreferNs);
  if (preferences == 0) problem.Charge(nodes.size(), kAvoidNs);
  std::optional<NodeIndex> best;
  // Score, negated; cost; outside key order, keys decide among equals.
  std::tuple<int64_t, uint32_t, std::string_view> best_cost;
  for (const NodeIndex node : nodes) {
    if (cluster.Slots(node, shape, ledger, 1) == 0) continue;
    if (std::ranges::any_of(chain, [&](ScopeIndex s) {
          return !problem.tree(problem.rule(s).tree).Contains(node);
        })) {
      continue;
    }
    const int64_t score = -cluster.Score(node, shape);
    if (best && score > std::get<0>(best_cost)) continue;
    const std::tuple cost(
        score, problem.policy().NodeCost(problem.ViewOf(node), question),
        within ? std::string_view(cluster.node(node).key) : "");
    if (best && best_cost <= cost) continue;
    best_cost = cost;
    best = node;
  }
  return best;
}

std::optional<NodeIndex> FindNode(const PartialPlacement& placement,
                                  TaskId task,
                                  std::span<const DomainRef> domains,
                                  uint32_t after) {
  const PlacementProblem& problem = placement.problem();
  NodeContest contest(placement, task, domains, after);
  // Nearness decides first where no slice is begun: from the gang's own nodes
  // outwards, until a domain around them has a place.
  const int hosts = problem.tree(0).hosts;
  const bool outwards = problem.Slices(task.role).empty();
  for (int level = hosts; outwards && level >= 0; --level) {
    placement.ForEachDomainWithTasks(level, [&](uint32_t domain) {
      contest.Enter(DomainRef{0, level, domain});
    });
    if (contest.best()) break;
  }
  if (!contest.best()) contest.Enter(DomainRef{});
  return contest.best();
}

}  // namespace muster::solver
