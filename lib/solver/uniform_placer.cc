#include "lib/solver/uniform_placer.h"

#include <algorithm>

#include "lib/solver/headroom.h"
#include "lib/solver/rank_order.h"
#include "lib/topology/needs.h"

namespace muster::solver {

bool IsUniform(const Gang& gang) {
  if (gang.groups.size() != 1 || gang.roles.size() != 1) return false;
  const Group& root = gang.groups[0];
  const uint32_t tasks = gang.roles[0].min_tasks;
  return tasks > 0 && root.min_children <= 1 && root.min_tasks <= tasks;
}

// False if the constraint is not one this placer knows.
bool UniformPlacer::AddRule(const Cluster& cluster, const TopologyConstraint& c,
                            UniformRule* rule) const {
  if (c.empty()) return true;
  if (!c.spread.level.empty() || !c.slices.empty()) return false;
  const int topology = cluster.FindTopology(c.topology);
  if (topology < 0 || (rule->named && rule->topology != topology)) return false;
  rule->named = true;
  rule->topology = topology;
  if (c.required.empty()) return true;
  const int level = cluster.FindLevel(topology, c.required);
  if (level < 0) return false;
  rule->required = std::max(rule->required, level);
  return true;
}

bool UniformPlacer::IsMine(const Cluster& cluster,
                           const PlacementRequest& request,
                           UniformRule* rule) const {
  const Gang& gang = request.gang->gang;
  if (!IsUniform(gang) || !gang.roles[0].preferences.empty() ||
      !request.fixed.empty() || !request.within.empty() ||
      !gang.traffic.empty() || policy_.PerGang()) {
    return false;
  }
  rule->topology = cluster.topologies().empty() ? -1 : 0;
  return AddRule(cluster, gang.groups[0].topology, rule) &&
         AddRule(cluster, gang.roles[0].topology, rule);
}

UniformPlacer::Outcome UniformPlacer::Place(Cluster& cluster,
                                            const PlacementRequest& request,
                                            PlacementResult* result) {
  UniformRule rule;
  if (!IsMine(cluster, request, &rule)) return Outcome::kNotMine;
  for (const ShapeId shape : request.gang->shapes[0]) {
    const Outcome outcome = TryShape(cluster, request, shape, rule, result);
    if (outcome != Outcome::kNoRoom) return outcome;
  }
  result->reason = {};
  if (request.explain &&
      !reason_.Explain(cluster, request, rule, &index_, result)) {
    return Outcome::kNotMine;
  }
  return Outcome::kNoRoom;
}

UniformPlacer::Outcome UniformPlacer::TryShape(Cluster& cluster,
                                               const PlacementRequest& request,
                                               ShapeId shape,
                                               const UniformRule& rule,
                                               PlacementResult* result) {
  const uint32_t tasks = request.gang->gang.roles[0].min_tasks;
  if (!WithinHeadroom(request.headroom, cluster.demand(shape), tasks)) {
    return Outcome::kNoRoom;
  }
  index::Column& column =
      index_.Get(cluster, rule.topology, shape, request.ledger);
  if (column.reluctant() > 0 || column.saturated() > 0) {
    return Outcome::kNotMine;
  }
  result->steps += column.nanos();
  const uint64_t room = column.inside() + (rule.named ? 0 : column.outside());
  if (room < tasks) return Outcome::kNoRoom;
  const index::Layout& layout = index_.layout();
  if (!FindOneNode(cluster, column, rule, tasks, result)) {
    Region region;
    if (rule.required == layout.levels()) return Outcome::kNoRoom;
    if (!FindRegion(column, rule, tasks, &region, result)) {
      if (rule.required >= 0) return Outcome::kNoRoom;
      // Part of it lies outside the topology: a matter of single nodes.
      if (layout.levels() > 0 && column.inside() < tasks) {
        return Outcome::kNotMine;
      }
      region.level = -1;
    }
    result->steps +=
        kFillNs * fill_.Fill(layout, column, region, tasks, request.exact_steps,
                             &shares_, &result->certificate);
    const auto position = &UniformFill::Share::position;
    if (!std::ranges::is_sorted(shares_, {}, position)) {
      std::ranges::sort(shares_, {}, position);
    }
  }
  Take(cluster, request, column, result);
  result->steps += result->tasks.size() * kTaskNs;
  return Outcome::kPlaced;
}

// One node for all tasks.
bool UniformPlacer::FindOneNode(const Cluster& cluster, index::Column& column,
                                const UniformRule& rule, uint32_t tasks,
                                PlacementResult* result) {
  const index::Layout& layout = index_.layout();
  result->steps += layout.chunks().size() * kChunkNs;
  if (tasks > 1 && column.most() < tasks) return false;  // There is room.
  if (!SharesNoDevice(cluster.device_request(column.shape()))) {
    result->steps += cluster.nodes().size() * kShareRankNs;
  }
  column.RefreshRanks(cluster);
  index::Position best = 0;
  const bool found = tasks == 1 ? column.Best(rule.named, &best)
                                : column.BestWith(tasks, rule.named, &best);
  if (!found) return false;
  shares_.assign(1, {best, tasks});
  const size_t levels = best < layout.inside() ? layout.levels() : 0;
  result->certificate.levels.assign(levels + 1, {1, 1});
  result->certificate.optimal = true;
  return true;
}

// The narrowest level of which a domain has room for all.
bool UniformPlacer::FindRegion(index::Column& column, const UniformRule& rule,
                               uint32_t tasks, Region* region,
                               PlacementResult* result) {
  const index::Layout& layout = index_.layout();
  for (int l = layout.levels() - 1; l >= std::max(rule.required, 0); --l) {
    result->steps += layout.domains(l) * kFillNs;
    if (fill_.FindDomain(layout, column, l, tasks, region)) return true;
  }
  return false;
}

// One task a node, on whole devices, which are the cluster's own choice: none,
// and nothing to look at, where a task takes as many as its node has.
void UniformPlacer::TakeEach(Cluster& cluster, const PlacementRequest& request,
                             const index::Column& column,
                             PlacementResult* result) {
  const std::span<const NodeIndex> nodes = index_.layout().nodes();
  const ShapeId shape = column.shape();
  const uint32_t count = cluster.device_request(shape).count;
  const DeviceSet all = DeviceSet::FirstOf(count);
  bool known = true;
  std::vector<Assignment>& tasks = result->tasks;
  tasks.resize(shares_.size());
  for (uint32_t i = 0; i < shares_.size(); ++i) {
    const index::Position p = shares_[i].position;
    tasks[i] = {{0, i}, {.node = nodes[p], .shape = shape, .devices = all}};
    known &= column.devices(p) == count;
  }
  if (!known) ChooseEach(cluster, request.ledger, &tasks);
  if (request.dry_run) return;
  for (const Assignment& task : tasks) cluster.Charge(task.at, request.ledger);
}

// The cluster's own choice of devices for tasks on different nodes.
void UniformPlacer::ChooseEach(const Cluster& cluster, Ledger ledger,
                               std::vector<Assignment>* tasks) {
  nodes_.clear();
  for (const Assignment& task : *tasks) nodes_.push_back(task.at.node);
  cluster.ChooseEach(nodes_, tasks->front().at.shape, ledger, &chosen_);
  for (size_t i = 0; i < tasks->size(); ++i) (*tasks)[i].at = chosen_[i];
}

// Devices, and the charge: where a node gets several tasks, each is charged
// before the next one chooses.
void UniformPlacer::Take(Cluster& cluster, const PlacementRequest& request,
                         const index::Column& column, PlacementResult* result) {
  const index::Layout& layout = index_.layout();
  const ShapeId shape = column.shape();
  policy::Question question{shape, request.ledger, request.KeyOfGang()};
  const bool alone =
      std::ranges::all_of(shares_, [](const auto& s) { return s.tasks == 1; });
  if (alone && SharesNoDevice(cluster.device_request(shape))) {
    TakeEach(cluster, request, column, result);
    return;
  }
  const bool charge = !request.dry_run || !alone;
  const bool undo = request.dry_run && charge;
  const Cluster::Mark mark = undo ? cluster.Begin() : 0;
  for (const UniformFill::Share& share : shares_) {
    const NodeIndex node = layout.node(share.position);
    const size_t first = result->tasks.size();
    for (uint32_t i = 0; i < share.tasks; ++i) {
      const Allocation at = policy_.Choose(cluster, node, question);
      if (charge) cluster.Charge(at, request.ledger);
      question.rails |= cluster.Rails(at);
      result->tasks.push_back({{0, 0}, at});
    }
    const auto added = std::span(result->tasks).subspan(first);
    const auto place = [&](const Assignment& a) {
      return RingPlaceOf(cluster, a.at);
    };
    if (std::ranges::is_sorted(added, {}, place)) continue;
    std::ranges::sort(added, {}, place);
  }
  for (uint32_t i = 0; i < result->tasks.size(); ++i) {
    result->tasks[i].task.index = i;
  }
  if (undo) cluster.Rollback(mark);
}

}  // namespace muster::solver
