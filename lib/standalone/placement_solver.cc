#include "muster/placement_solver.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/node_changes.h"
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
  MUSTER_RETURN_IF_ERROR(CheckTotals(rep_->config, cluster, node));
  // What is placed there is charged anew: to the devices as they are now.
  const std::vector<Rep::Charge> there =
      rep_->ChargesOn(cluster.Find(node.key));
  const auto devices =
      DeviceSet::FirstOf(static_cast<uint32_t>(node.devices.size()));
  for (const Rep::Charge& charge : there) {
    if ((charge.at.devices - devices).empty()) continue;
    return NotNow("node '", node.key, "': gang '", std::string(charge.gang),
                  "' holds devices that it no longer has");
  }
  for (const Rep::Charge& c : there) cluster.Credit(c.at, Ledger::kBoth);
  Node sorted = node;
  std::ranges::sort(sorted.labels);
  cluster.Upsert(sorted);
  for (const Rep::Charge& c : there) cluster.Charge(c.at, Ledger::kBoth);
  return absl::OkStatus();
}

absl::Status PlacementSolver::RemoveNode(std::string_view key) {
  const NodeId node = rep_->cluster.Find(key);
  const std::string name(key);
  if (!node.valid()) return NotFound("node '", name, "' is not known");
  const std::vector<Rep::Charge> there = rep_->ChargesOn(node);
  if (!there.empty()) {
    return NotNow("node '", name, "': gang '", std::string(there[0].gang),
                  "' holds a task there");
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
  return rep_->Answer(gang, false);
}

absl::StatusOr<Placement> PlacementSolver::Place(const Gang& gang) {
  return rep_->Answer(gang, true);
}

absl::StatusOr<Placement> PlacementSolver::Grow(std::string_view gang) {
  const auto it = rep_->gangs.find(gang);
  if (it == rep_->gangs.end()) return NoSuchGang(gang);
  Rep::PlacedGang& placed = it->second;
  std::ranges::sort(placed.tasks, {}, &Assignment::task);
  PlacementRequest request = rep_->RequestFor(gang, placed.spec);
  request.fixed = placed.tasks;
  PlacementResult& answer = rep_->answer;
  rep_->solver->Grow(rep_->cluster, request, &answer);
  placed.tasks.insert(placed.tasks.end(), answer.tasks.begin(),
                      answer.tasks.end());
  rep_->CountUse(placed);
  return rep_->ToPlacement(rep_->specs.at(placed.spec), answer);
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
  const auto it = rep_->gangs.find(gang);
  if (it == rep_->gangs.end()) return NoSuchGang(gang);
  for (const Assignment& a : it->second.tasks) {
    rep_->cluster.Credit(a.at, Ledger::kBoth);
  }
  rep_->Forget(gang);
  return absl::OkStatus();
}

absl::Status PlacementSolver::Release(std::string_view gang,
                                      std::span<const TaskId> tasks) {
  const auto it = rep_->gangs.find(gang);
  if (it == rep_->gangs.end()) return NoSuchGang(gang);
  Rep::PlacedGang& placed = it->second;
  const std::set<TaskId> gone(tasks.begin(), tasks.end());
  const auto goes = [&](const Assignment& a) { return gone.contains(a.task); };
  if (static_cast<size_t>(std::ranges::count_if(placed.tasks, goes)) !=
      gone.size()) {
    return NotFound("tasks: gang '", std::string(gang),
                    "' does not hold all of them");
  }
  for (const Assignment& a : placed.tasks) {
    if (goes(a)) rep_->cluster.Credit(a.at, Ledger::kBoth);
  }
  std::erase_if(placed.tasks, goes);
  rep_->CountUse(placed);
  if (placed.tasks.empty()) rep_->Forget(gang);
  return absl::OkStatus();
}

std::vector<PlacedTask> PlacementSolver::TasksOf(std::string_view gang) const {
  const auto it = rep_->gangs.find(gang);
  if (it == rep_->gangs.end()) return {};
  return rep_->ToTasks(rep_->specs.at(it->second.spec), it->second.tasks);
}

ClusterView PlacementSolver::cluster() const {
  return ClusterView(rep_->cluster);
}

}  // namespace muster
