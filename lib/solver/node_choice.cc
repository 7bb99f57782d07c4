#include "lib/solver/node_choice.h"

#include <algorithm>
#include <tuple>

#include "lib/topology/selector.h"

namespace muster::solver {
namespace {

// Whether a task that shares devices would have to take some that are whole.
bool OpensDevice(const Cluster& cluster, NodeIndex node, ShapeId shape,
                 Ledger ledger) {
  const DeviceRequest& request = cluster.device_request(shape);
  if (request.count == 0) return false;
  if (request.milli == kWholeDevice && request.memory_bytes == 0) return false;
  const uint32_t devices =
      static_cast<uint32_t>(cluster.node(node).devices.size());
  uint32_t shared = 0;
  for (uint32_t d = 0; d < devices; ++d) {
    const int32_t milli = cluster.free_milli(node, d, ledger);
    if (milli == 0 || milli >= kWholeDevice) continue;
    if (request.memory_bytes > 0) {
      if (cluster.free_memory(node, d, ledger) >= request.memory_bytes) {
        ++shared;
      }
    } else if (milli >= request.milli) {
      ++shared;
    }
  }
  return shared < request.count;
}

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

NodeRank RankNode(const Cluster& cluster, NodeIndex node, ShapeId shape,
                  Ledger ledger, int64_t score) {
  NodeRank rank;
  rank.score = -score;
  rank.opens_device = OpensDevice(cluster, node, shape, ledger);
  if (cluster.device_kind() < cluster.resource_count()) {
    rank.free_devices = cluster.free(node, cluster.device_kind(), ledger);
  }
  return rank;
}

bool LessFree(const Cluster& cluster, NodeIndex a, NodeIndex b, Ledger ledger) {
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    const int64_t less =
        cluster.free(a, k, ledger) - cluster.free(b, k, ledger);
    if (less != 0) return less < 0;
  }
  return false;
}

bool FindLoneNode(Problem& problem, uint32_t role, ShapeId shape,
                  NodeIndex* best) {
  const Cluster& cluster = problem.cluster();
  const Ledger ledger = problem.request().ledger;
  const bool within = !problem.request().within.empty();
  const std::span<const NodeIndex> nodes =
      within ? problem.request().within : cluster.nodes();
  const std::span<const ScopeIndex> chain = problem.Chain(role);
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
    const NodeRank rank = RankNode(cluster, node, shape, ledger,
                                   LoneScore(problem, role, shape, node));
    if (found) {
      if (best_rank < rank) continue;
      if (best_rank == rank && !LessFree(cluster, node, *best, ledger)) {
        // Outside key order, keys decide among equals.
        if (!within || LessFree(cluster, *best, node, ledger) ||
            cluster.node(*best).key <= cluster.node(node).key) {
          continue;
        }
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
  const Cluster& cluster = board.cluster();
  const Ledger ledger = problem.request().ledger;
  const uint32_t column = problem.column(task.role);
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
    const uint64_t lacking = after - SliceRoom(board, task, node, after);
    const int nearness = board.Nearness({0, problem.tree(0).hosts, node});
    if (found && std::tie(lacking, nearness) >
                     std::tie(std::get<0>(best_rank), std::get<1>(best_rank))) {
      continue;
    }
    const std::tuple<uint64_t, int, NodeRank> rank = {
        lacking, nearness,
        RankNode(cluster, node, problem.shape(task.role), ledger,
                 board.table().Score(column, node))};
    if (found &&
        (best_rank < rank ||
         (best_rank == rank && !LessFree(cluster, node, *best, ledger)))) {
      continue;
    }
    found = true;
    best_rank = rank;
    *best = node;
  }
  return found;
}

}  // namespace muster::solver
