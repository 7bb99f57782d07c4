#include "lib/solver/uniform_placer.h"

#include <algorithm>

#include "lib/cluster/needs.h"
#include "lib/solver/rank_assigner.h"
#include "lib/solver/reasons.h"

namespace muster::solver {
namespace {

// False if the constraint is not one that a rule can say.
bool AddTo(const Cluster& cluster, const TopologyConstraint& c,
           UniformRule* rule) {
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

}  // namespace

bool IsUniform(const Cluster& cluster, const Gang& gang, UniformRule* rule) {
  if (gang.groups.size() != 1 || gang.roles.size() != 1) return false;
  const Group& root = gang.groups[0];
  const uint32_t tasks = gang.roles[0].min_tasks;
  *rule = {.topology = cluster.topologies().empty() ? -1 : 0};
  return tasks > 0 && root.min_children <= 1 && root.min_tasks <= tasks &&
         AddTo(cluster, root.topology, rule) &&
         AddTo(cluster, gang.roles[0].topology, rule);
}

bool UniformPlacer::IsMine() {
  const Gang& gang = request_->gang->gang;
  return IsUniform(*cluster_, gang, &rule_) && request_->fixed.empty() &&
         request_->within.empty() && gang.traffic.empty() && !policy_.PerGang();
}

bool UniformPlacer::Place(Cluster& cluster, const PlacementRequest& request,
                          PlacementResult* result) {
  cluster_ = &cluster;
  request_ = &request;
  result_ = result;
  if (!IsMine()) return false;
  tasks_ = request.gang->gang.roles[0].min_tasks;
  for (const ShapeId shape : request.gang->shapes[0]) {
    const PlaceOutcome outcome = TryShape(shape);
    if (outcome == PlaceOutcome::kNotMine) return false;
    if (outcome == PlaceOutcome::kNoRoom) continue;
    result->fit = Fit::kFits;
    result->reason = {.code = ReasonCode::kFits};
    return true;
  }
  result->reason = {};
  return !request.explain || reason_.Explain(cluster, request, rule_, result);
}

bool UniformPlacer::PlaceAlone(Cluster& cluster,
                               const PlacementRequest& request, uint32_t role,
                               uint32_t tasks, ShapeId shape,
                               const UniformRule& rule,
                               PlacementResult* result) {
  result->Clear();
  if (policy_.PerGang()) return false;
  PlacementRequest alone = request;
  alone.headroom = nullptr;
  alone.dry_run = true;
  cluster_ = &cluster;
  request_ = &alone;
  result_ = result;
  rule_ = rule;
  tasks_ = tasks;
  const bool placed = TryShape(shape) == PlaceOutcome::kPlaced;
  request_ = nullptr;
  for (Assignment& a : result->tasks) a.task.role = role;
  return placed;
}

UniformPlacer::PlaceOutcome UniformPlacer::TryShape(ShapeId shape) {
  if (OverHeadroom(request_->headroom, cluster_->demand(shape), tasks_)) {
    return PlaceOutcome::kNoRoom;
  }
  index::ShapeSlots& slots = SlotsOf(shape, {});
  if (slots.crowded() || slots.totals().saturated > 0) {
    return PlaceOutcome::kNotMine;
  }
  const PlaceOutcome found = slots.alike() ? Find(slots) : FindByScore(slots);
  if (found != PlaceOutcome::kPlaced) return found;
  Take(slots);
  result_->steps += result_->tasks.size() * kTaskNs;
  return PlaceOutcome::kPlaced;
}

index::ShapeSlots& UniformPlacer::SlotsOf(ShapeId shape,
                                          std::optional<int64_t> score) {
  index::ShapeSlots& slots =
      index_.Get(*cluster_, rule_.topology, shape, request_->ledger, score);
  result_->steps += slots.nanos();
  return slots;
}

// On nodes of the shape, whatever their scores: shares_ and the certificate.
UniformPlacer::PlaceOutcome UniformPlacer::Find(index::ShapeSlots& slots) {
  const uint64_t room =
      rule_.named ? slots.totals().inside : slots.totals().all();
  if (room < tasks_) return PlaceOutcome::kNoRoom;
  if (FindOneNode(slots)) return PlaceOutcome::kPlaced;
  const index::Layout& layout = index_.layout();
  FillArea region;
  if (rule_.required == layout.levels()) return PlaceOutcome::kNoRoom;
  if (!FindRegion(slots, &region)) {
    if (rule_.required >= 0) return PlaceOutcome::kNoRoom;
    // Part of it lies outside the topology: a matter of single nodes.
    if (layout.levels() > 0 && slots.totals().inside < tasks_) {
      return PlaceOutcome::kNotMine;
    }
    region.level = -1;
  }
  result_->steps += kFillNs * fill_.Fill(layout, slots, region, tasks_,
                                         request_->placement_steps, &shares_,
                                         &result_->certificate);
  const auto position = &UniformFill::PositionTasks::position;
  if (!std::ranges::is_sorted(shares_, {}, position)) {
    std::ranges::sort(shares_, {}, position);
  }
  return PlaceOutcome::kPlaced;
}

// Nodes of the shape differ in their scores.
UniformPlacer::PlaceOutcome UniformPlacer::FindByScore(index::ShapeSlots& all) {
  const PlaceOutcome found = Find(all);
  if (found != PlaceOutcome::kPlaced) return found;
  const std::optional<int64_t> best =
      all.ScoreBelow(index::ShapeSlots::kAnyScore);
  const auto liked = [&](const UniformFill::PositionTasks& s) {
    return all.score(s.position) == best;
  };
  if (std::ranges::all_of(shares_, liked)) return PlaceOutcome::kPlaced;
  if (shares_.size() == 1) return FindOneByScore(all);
  levels_ = result_->certificate.levels;
  return Find(SlotsOf(all.shape(), best)) == PlaceOutcome::kPlaced &&
                 NeedsNoMore()
             ? PlaceOutcome::kPlaced
             : PlaceOutcome::kNotMine;
}

// Some node has room for all.
UniformPlacer::PlaceOutcome UniformPlacer::FindOneByScore(
    index::ShapeSlots& all) {
  constexpr int kMostScores = 4;
  int64_t bound = index::ShapeSlots::kAnyScore;
  for (int i = 0; i < kMostScores; ++i) {
    const std::optional<int64_t> score = all.ScoreBelow(bound);
    if (!score) break;
    if (FindOneNode(SlotsOf(all.shape(), score))) return PlaceOutcome::kPlaced;
    bound = *score;
  }
  return PlaceOutcome::kNotMine;
}

// Whether what was found needs no more domains than levels_ tell, the widest
// level first; the certificate says what any placement needs then.
bool UniformPlacer::NeedsNoMore() {
  Certificate& certificate = result_->certificate;
  const auto used = [](const Certificate::Level& a,
                       const Certificate::Level& b) { return a.used < b.used; };
  if (std::ranges::lexicographical_compare(levels_, certificate.levels, used)) {
    return false;
  }
  certificate.optimal = true;
  for (size_t l = 0; l < levels_.size(); ++l) {
    Certificate::Level& level = certificate.levels[l];
    level.least = levels_[l].least;
    certificate.optimal &= level.least == level.used;
  }
  return true;
}

// One node for all tasks.
bool UniformPlacer::FindOneNode(index::ShapeSlots& slots) {
  const index::Layout& layout = index_.layout();
  result_->steps += layout.chunks().size() * kChunkNs;
  if (slots.most() < tasks_) return false;
  if (!SharesNoDevice(cluster_->device_request(slots.shape()))) {
    result_->steps += cluster_->node_count() * kShareCostNs;
  }
  slots.RefreshCosts(*cluster_);
  index::Position best = 0;
  const bool found = tasks_ == 1 ? slots.Best(rule_.named, &best)
                                 : slots.BestWith(tasks_, rule_.named, &best);
  if (!found) return false;
  shares_.assign(1, {best, tasks_});
  const size_t levels = best < layout.inside() ? layout.levels() : 0;
  result_->certificate.levels.assign(levels + 1, {1, 1});
  result_->certificate.optimal = true;
  return true;
}

// The narrowest level of which a domain has room for all.
bool UniformPlacer::FindRegion(index::ShapeSlots& slots, FillArea* region) {
  const index::Layout& layout = index_.layout();
  for (int l = layout.levels() - 1; l >= std::max(rule_.required, 0); --l) {
    result_->steps += layout.domains(l) * kFillNs;
    if (fill_.FindDomain(layout, slots, l, tasks_, region)) return true;
  }
  return false;
}

// One task a node, on whole devices, which are the cluster's own choice: none,
// and nothing to look at, where a task takes as many as its node has.
void UniformPlacer::TakeEach(const index::ShapeSlots& slots) {
  const std::span<const NodeIndex> nodes = index_.layout().nodes();
  const ShapeId shape = slots.shape();
  const uint32_t count = cluster_->device_request(shape).count;
  const DeviceSet all = DeviceSet::FirstOf(count);
  bool known = true;
  std::vector<Assignment>& tasks = result_->tasks;
  tasks.reserve(shares_.size());
  for (uint32_t i = 0; i < shares_.size(); ++i) {
    const index::Position p = shares_[i].position;
    tasks.push_back(
        {{0, i}, {.node = nodes[p], .shape = shape, .devices = all}});
    known &= slots.devices(p) == count;
  }
  if (!known) ChooseEach();
  if (request_->dry_run) return;
  for (const Assignment& a : tasks) cluster_->Charge(a.at, request_->ledger);
}

// The cluster's own choice of devices for tasks on different nodes.
void UniformPlacer::ChooseEach() {
  std::vector<Assignment>& tasks = result_->tasks;
  nodes_.clear();
  for (const Assignment& task : tasks) nodes_.push_back(task.at.node);
  cluster_->ChooseEach(nodes_, tasks[0].at.shape, request_->ledger, &chosen_);
  for (size_t i = 0; i < tasks.size(); ++i) tasks[i].at = chosen_[i];
}

// Devices, and the charge: where a node gets several tasks, each is charged
// before the next one chooses.
void UniformPlacer::Take(const index::ShapeSlots& slots) {
  const ShapeId shape = slots.shape();
  const Ledger ledger = request_->ledger;
  scoring::NodeQuestion question{shape, request_->KeyOfGang()};
  const bool alone =
      std::ranges::all_of(shares_, [](const auto& s) { return s.tasks == 1; });
  if (alone && SharesNoDevice(cluster_->device_request(shape))) {
    return TakeEach(slots);
  }
  std::vector<Assignment>& tasks = result_->tasks;
  const bool charge = !request_->dry_run || !alone;
  const bool undo = request_->dry_run && charge;
  const Cluster::Mark mark = undo ? cluster_->Begin() : 0;
  for (const UniformFill::PositionTasks& share : shares_) {
    const NodeIndex node = index_.layout().node(share.position);
    const size_t first = tasks.size();
    for (uint32_t i = 0; i < share.tasks; ++i) {
      const Allocation at = policy_.Choose({*cluster_, node, ledger}, question);
      if (charge) cluster_->Charge(at, ledger);
      question.rails |= cluster_->Rails(at);
      tasks.push_back({{0, 0}, at});
    }
    const auto added = std::span(tasks).subspan(first);
    const auto place = [&](const Assignment& a) {
      return RingPlaceOf(*cluster_, a.at);
    };
    if (!std::ranges::is_sorted(added, {}, place)) {
      std::ranges::sort(added, {}, place);
    }
  }
  for (uint32_t i = 0; i < tasks.size(); ++i) tasks[i].task.index = i;
  if (undo) cluster_->Rollback(mark);
}

}  // namespace muster::solver
