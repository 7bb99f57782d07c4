#include "lib/solver/node_choice.h"

#include <algorithm>
#include <tuple>

#include "lib/topology/selector.h"

namespace muster::solver {
namespace {

// Less is better.
struct NodeRank {
  int64_t score = 0;  // Negated.
  uint32_t rank = 0;

  friend auto operator<=>(const NodeRank&, const NodeRank&) = default;
};

int64_t LoneScore(const Problem& problem, uint32_t role, ShapeId shape,
                  NodeIndex node) {
  const Cluster& cluster = problem.cluster();
  int64_t score = -(int64_t{1} << 32) * cluster.Reluctance(node, shape);
  for (const Preference& p : problem.role(role).preferences) {
    if (Holds(p.term, cluster.node(node).labels)) score += p.weight;
  }
  return score;
}

// Room for the rest of the slice that the task starts, where it does.
uint64_t SliceRoom(const Board& board, TaskId task, NodeIndex node,
                   uint32_t after) {
  const Problem& problem = board.problem();
  uint64_t room = after;
  for (const SliceRule& slice : problem.Slices(task.role)) {
    if (task.index % slice.size != 0) continue;
    const Tree& tree = problem.tree(slice.tree);
    const uint64_t slots = board.table().Sum(
        problem.column(task.role),
        {slice.tree, slice.level, tree.DomainOf(slice.level, node)});
    room = std::min({room, slots, uint64_t{slice.size}});
  }
  return room;
}

}  // namespace

bool FindLoneNode(Problem& problem, uint32_t role, ShapeId shape,
                  NodeIndex* best) {
  const Cluster& cluster = problem.cluster();
  const Ledger ledger = problem.request().ledger;
  const bool within = !problem.request().within.empty();
  const std::span<const NodeIndex> nodes =
      within ? problem.request().within : cluster.nodes();
  const std::span<const ScopeIndex> chain = problem.Chain(role);
  const policy::Question question = problem.QuestionOf(shape);
  problem.steps += nodes.size();
  bool found = false;
  NodeRank best_rank;
  for (const NodeIndex node : nodes) {
    if (cluster.Slots(node, shape, ledger, 1) == 0) continue;
    if (std::any_of(chain.begin(), chain.end(), [&](ScopeIndex s) {
          return !problem.tree(problem.rule(s).tree).Contains(node);
        })) {
      continue;
    }
    NodeRank rank{.score = -LoneScore(problem, role, shape, node)};
    if (found && rank.score > best_rank.score) continue;
    rank.rank = problem.policy().Rank(cluster, node, question);
    if (found && best_rank <= rank) {
      // Outside key order, keys decide among equals.
      if (!within || best_rank < rank ||
          cluster.node(*best).key <= cluster.node(node).key) {
        continue;
      }
    }
    found = true;
    best_rank = rank;
    *best = node;
  }
  return found;
}

bool FindNode(const Board& board, TaskId task, std::span<const Spot> spots,
              uint32_t after, NodeIndex* best) {
  Problem& problem = board.problem();
  const uint32_t column = problem.column(task.role);
  const policy::Question question =
      problem.QuestionOf(problem.shape(task.role));
  const std::span<const NodeIndex> nodes = board.table().Everywhere(0);
  problem.steps += nodes.size();
  bool found = false;
  std::tuple<uint64_t, int, NodeRank> best_rank;
  for (const NodeIndex node : nodes) {
    if (board.Slots(task.role, node) == 0 || !board.Allowed(task, node)) {
      continue;
    }
    if (std::any_of(spots.begin(), spots.end(), [&](const Spot& s) {
          return problem.tree(s.tree).DomainOf(s.level, node) != s.domain;
        })) {
      continue;
    }
    if (!board.spreads().Keeps(task.role, node)) continue;
    const uint64_t lacking = after - SliceRoom(board, task, node, after);
    const int nearness = board.Nearness({0, problem.tree(0).hosts, node});
    if (found && std::tie(lacking, nearness) >
                     std::tie(std::get<0>(best_rank), std::get<1>(best_rank))) {
      continue;
    }
    const NodeRank node_rank{
        -board.table().Score(column, node),
        problem.policy().Rank(board.cluster(), node, question)};
    const std::tuple rank = {lacking, nearness, node_rank};
    if (found && best_rank <= rank) continue;
    found = true;
    best_rank = rank;
    *best = node;
  }
  return found;
}

}  // namespace muster::solver
