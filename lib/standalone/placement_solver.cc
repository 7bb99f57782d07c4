#include "muster/placement_solver.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/real_place.h"
#include "lib/scheduler/validate.h"
#include "lib/standalone/solver_rep.h"

namespace muster {
namespace {

absl::Status NoSuchGang(std::string_view key) {
  return NotFound("gang '", std::string(key), "' has no places");
}

}  // namespace

PlacementSolver::PlacementSolver(std::unique_ptr<Rep> rep)
    : rep_(std::move(rep)) {}
PlacementSolver::PlacementSolver(PlacementSolver&&) noexcept = default;
PlacementSolver& PlacementSolver::operator=(PlacementSolver&&) noexcept =
    default;
PlacementSolver::~PlacementSolver() = default;

absl::StatusOr<PlacementSolver> PlacementSolver::Create(
    SchedulerConfig config) {
  MUSTER_RETURN_IF_ERROR(ValidateConfig(config));
  return PlacementSolver(std::make_unique<Rep>(std::move(config)));
}

absl::Status PlacementSolver::SetNode(const Node& node) {
  Cluster& cluster = rep_->cluster;
  MUSTER_RETURN_IF_ERROR(ValidateNode(rep_->config, node));
  const NodeId known = cluster.Find(node.key);
  Resources others = cluster.nodes_capacity();
  for (ResourceKind k = 0; known.valid() && k < others.size(); ++k) {
    others.Set(k, others[k] - cluster.capacity(known.index, k));
  }
  MUSTER_RETURN_IF_ERROR(Require(
      known.valid() || cluster.node_count() < kMaxNodes, "node '", node.key,
      "': there are ", kMaxNodes, " nodes, the most there can be"));
  MUSTER_RETURN_IF_ERROR(ValidateTotal(rep_->config, others, {&node, 1}));

  // What is held there is charged anew: to the devices as they are now.
  std::vector<Allocation> there;
  const auto devices =
      DeviceSet::FirstOf(static_cast<uint32_t>(node.devices.size()));
  for (const auto& [key, held] : rep_->held) {
    for (const Assignment& a : held.tasks) {
      if (!known.valid() || a.at.node != known.index) continue;
      if (!(a.at.devices - devices).empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat("node '", node.key, "': gang '", key,
                         "' holds devices that it no longer has"));
      }
      there.push_back(a.at);
    }
  }
  for (const Allocation& at : there) cluster.Credit(at, Ledger::kBoth);
  Node sorted = node;
  std::ranges::sort(sorted.labels);
  cluster.Upsert(sorted);
  for (const Allocation& at : there) cluster.Charge(at, Ledger::kBoth);
  return absl::OkStatus();
}

absl::Status PlacementSolver::RemoveNode(std::string_view key) {
  const NodeId node = rep_->cluster.Find(key);
  if (!node.valid())
    return NotFound("node '", std::string(key), "' is not known");
  for (const auto& [gang, held] : rep_->held) {
    for (const Assignment& a : held.tasks) {
      if (a.at.node != node.index) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("node '", std::string(key), "': gang '", gang,
                       "' holds a task there"));
    }
  }
  rep_->cluster.Remove(node.index);
  return absl::OkStatus();
}

absl::Status PlacementSolver::SetNodeSet(const NodeSet& set) {
  MUSTER_RETURN_IF_ERROR(ValidateNodeSet(rep_->config, set));
  rep_->cluster.SetNodeSet(set);
  return absl::OkStatus();
}

absl::StatusOr<Placement> PlacementSolver::Find(const Gang& gang) const {
  Rep& rep = *rep_;
  MUSTER_RETURN_IF_ERROR(rep.CheckNew(gang));
  const SpecIndex spec = rep.specs.Intern(gang, rep.cluster);
  PlacementRequest request = rep.RequestFor(gang, spec);
  request.dry_run = true;
  rep.solver->Place(rep.cluster, request, &rep.answer);
  Placement placement = rep.ToPlacement(rep.specs.at(spec), rep.answer);
  rep.specs.Unref(spec, rep.cluster);
  return placement;
}

absl::StatusOr<Placement> PlacementSolver::Place(const Gang& gang) {
  Rep& rep = *rep_;
  MUSTER_RETURN_IF_ERROR(rep.CheckNew(gang));
  const SpecIndex spec = rep.specs.Intern(gang, rep.cluster);
  rep.solver->Place(rep.cluster, rep.RequestFor(gang, spec), &rep.answer);
  Placement placement = rep.ToPlacement(rep.specs.at(spec), rep.answer);
  if (placement.fit == Fit::kFits) {
    rep.Keep(gang, spec, rep.answer.tasks);
  } else {
    rep.specs.Unref(spec, rep.cluster);
  }
  return placement;
}

absl::StatusOr<Placement> PlacementSolver::Grow(std::string_view gang) {
  const auto it = rep_->held.find(gang);
  if (it == rep_->held.end()) return NoSuchGang(gang);
  Rep::Held& held = it->second;
  const GangSpec& spec = rep_->specs.at(held.spec);
  std::ranges::sort(held.tasks, {}, &Assignment::task);
  const PlacementRequest request{
      .gang = &spec.prepared,
      .key = gang,
      .fixed = held.tasks,
      .exact_steps = rep_->config.search.exact_steps};
  rep_->solver->Grow(rep_->cluster, request, &rep_->answer);
  held.tasks.insert(held.tasks.end(), rep_->answer.tasks.begin(),
                    rep_->answer.tasks.end());
  rep_->CountUse(held);
  return rep_->ToPlacement(spec, rep_->answer);
}

absl::Status PlacementSolver::Hold(const Gang& gang,
                                   std::span<const PlacedTask> tasks) {
  Rep& rep = *rep_;
  MUSTER_RETURN_IF_ERROR(rep.CheckNew(gang));
  MUSTER_RETURN_IF_ERROR(
      Require(!tasks.empty(), "tasks: are none; a gang holds one at least"));
  const SpecIndex spec = rep.specs.Intern(gang, rep.cluster);
  absl::Status status;
  std::vector<Assignment> charges;
  std::set<TaskId> seen;
  Resources all = rep.use;
  for (size_t i = 0; i < tasks.size() && status.ok(); ++i) {
    const std::string field = absl::StrCat("tasks[", i, "]");
    const absl::StatusOr<Allocation> at =
        rep.ToAllocation(rep.specs.at(spec), field, tasks[i]);
    if (!at.ok()) {
      status = at.status();
    } else if (!seen.insert(tasks[i].task).second) {
      status = Invalid(field, ".task: is named twice");
    } else {
      status = AddUse(rep.config, rep.cluster, field, at->shape, &all);
      charges.push_back({tasks[i].task, *at});
    }
  }
  if (!status.ok()) {
    rep.specs.Unref(spec, rep.cluster);
    return status;
  }
  for (const Assignment& a : charges) rep.cluster.Charge(a.at, Ledger::kBoth);
  rep.Keep(gang, spec, charges);
  return absl::OkStatus();
}

absl::Status PlacementSolver::Release(std::string_view gang) {
  const auto it = rep_->held.find(gang);
  if (it == rep_->held.end()) return NoSuchGang(gang);
  for (const Assignment& a : it->second.tasks) {
    rep_->cluster.Credit(a.at, Ledger::kBoth);
  }
  rep_->Forget(gang);
  return absl::OkStatus();
}

absl::Status PlacementSolver::Release(std::string_view gang,
                                      std::span<const TaskId> tasks) {
  const auto it = rep_->held.find(gang);
  if (it == rep_->held.end()) return NoSuchGang(gang);
  Rep::Held& held = it->second;
  const std::set<TaskId> gone(tasks.begin(), tasks.end());
  const auto goes = [&](const Assignment& a) { return gone.contains(a.task); };
  if (static_cast<size_t>(std::ranges::count_if(held.tasks, goes)) !=
      gone.size()) {
    return NotFound("tasks: gang '", std::string(gang),
                    "' does not hold all of them");
  }
  for (const Assignment& a : held.tasks) {
    if (goes(a)) rep_->cluster.Credit(a.at, Ledger::kBoth);
  }
  std::erase_if(held.tasks, goes);
  rep_->CountUse(held);
  if (held.tasks.empty()) rep_->Forget(gang);
  return absl::OkStatus();
}

std::vector<PlacedTask> PlacementSolver::TasksOf(std::string_view gang) const {
  const auto it = rep_->held.find(gang);
  if (it == rep_->held.end()) return {};
  return rep_->ToTasks(rep_->specs.at(it->second.spec), it->second.tasks);
}

ClusterView PlacementSolver::cluster() const {
  return ClusterView(rep_->cluster);
}

}  // namespace muster
