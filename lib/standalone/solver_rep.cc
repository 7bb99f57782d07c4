#include "lib/standalone/solver_rep.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/real_place.h"
#include "lib/scheduler/reason_text.h"
#include "lib/scheduler/validate.h"

namespace muster {

PlacementSolver::Rep::Rep(SchedulerConfig valid_config)
    : config(std::move(valid_config)),
      cluster(static_cast<uint32_t>(config.resources.size()),
              config.KindOf(config.device_kind), config.topologies,
              config.partition_schemes, config.KindOf(config.node_kind)),
      specs(config),
      solver(NewGangSolver(config.placement, config.fabrics)) {}

absl::Status PlacementSolver::Rep::CheckNew(const Gang& gang) const {
  MUSTER_RETURN_IF_ERROR(ValidateGang(config, gang));
  if (!gangs.contains(gang.key)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("gang '", gang.key, "' has its places already"));
}

absl::StatusOr<Placement> PlacementSolver::Rep::Answer(const Gang& gang,
                                                       bool keep) {
  MUSTER_RETURN_IF_ERROR(CheckNew(gang));
  const SpecIndex spec = specs.Intern(gang, cluster);
  PlacementRequest request = RequestFor(gang.key, spec);
  request.dry_run = !keep;
  solver->Place(cluster, request, &answer);
  Placement placement = ToPlacement(specs.at(spec), answer);
  if (keep && answer.fit == Fit::kFits) {
    Keep(gang, spec, answer.tasks);
  } else {
    specs.Unref(spec, cluster);
  }
  return placement;
}

std::vector<PlacementSolver::Rep::Charge> PlacementSolver::Rep::ChargesOn(
    NodeId node) const {
  std::vector<Charge> charges;
  if (!node.valid()) return charges;
  for (const auto& [gang, h] : gangs) {
    for (const Assignment& a : h.tasks) {
      if (a.at.node == node.index) charges.push_back({gang, a.at});
    }
  }
  std::ranges::sort(charges, {}, &Charge::gang);
  return charges;
}

PlacementRequest PlacementSolver::Rep::RequestFor(std::string_view key,
                                                  SpecIndex spec) const {
  return {.gang = &specs.at(spec).prepared,
          .key = key,
          .placement_steps = config.search.placement_steps};
}

Placement PlacementSolver::Rep::ToPlacement(const GangSpec& spec,
                                            const PlacementResult& result) {
  Placement placement;
  placement.fit = result.fit;
  placement.cut_short = result.cut_short;
  placement.certificate = result.certificate;
  if (result.fit == Fit::kFits) {
    placement.tasks = ToTasks(spec, result.tasks);
  } else {
    placement.reason = NamedOf(config, &spec.gang(), result.reason);
    const NodeIndex node = result.reason.object;
    if (result.reason.object_kind == ReasonObject::kNode &&
        cluster.exists(node)) {
      placement.reason.object = cluster.node(node).key;
    }
  }
  return placement;
}

std::vector<PlacedTask> PlacementSolver::Rep::ToTasks(
    const GangSpec& spec, std::span<const Assignment> tasks) const {
  std::vector<PlacedTask> placed;
  placed.reserve(tasks.size());
  for (const Assignment& a : tasks) {
    const std::vector<ShapeId>& shapes = spec.prepared.shapes[a.task.role];
    const auto it = std::ranges::find(shapes, a.at.shape);
    placed.push_back({.task = a.task,
                      .node = cluster.node(a.at.node).key,
                      .devices = a.at.devices,
                      .alternative = static_cast<uint32_t>(it - shapes.begin()),
                      .first_slice = a.at.first_slice});
  }
  return placed;
}

absl::StatusOr<Allocation> PlacementSolver::Rep::ToAllocation(
    const GangSpec& spec, const std::string& field,
    const PlacedTask& task) const {
  const std::vector<Role>& roles = spec.gang().roles;
  if (task.task.role >= roles.size()) {
    return Invalid(field, ".task.role: ", task.task.role, "; the gang has ",
                   roles.size(), " roles");
  }
  const uint32_t desired = roles[task.task.role].desired_tasks;
  if (task.task.index >= desired) {
    return Invalid(field, ".task.index: ", task.task.index,
                   "; its role desires ", desired, " tasks");
  }
  const std::vector<ShapeId>& shapes = spec.prepared.shapes[task.task.role];
  if (task.alternative >= shapes.size()) {
    return Invalid(field, ".alternative: ", task.alternative, "; its role has ",
                   shapes.size() - 1);
  }
  const NodeId node = cluster.Find(task.node);
  if (!node.valid()) {
    return NotFound(field, ".node: '", task.node, "' is not known");
  }
  const Allocation at{.node = node.index,
                      .shape = shapes[task.alternative],
                      .devices = task.devices,
                      .first_slice = task.first_slice};
  MUSTER_RETURN_IF_ERROR(CheckPlace(cluster, field, at));
  const size_t devices = cluster.node(node.index).devices.size();
  MUSTER_RETURN_IF_ERROR(Require(
      (at.devices - DeviceSet::FirstOf(static_cast<uint32_t>(devices))).empty(),
      field, ".devices: node '", task.node, "' has ", devices));
  MUSTER_RETURN_IF_ERROR(Require(task.first_slice < PartitionScheme::kMaxSlices,
                                 field, ".first_slice: ", task.first_slice,
                                 "; at most ",
                                 PartitionScheme::kMaxSlices - 1));
  return at;
}

void PlacementSolver::Rep::Keep(const Gang& gang, SpecIndex spec,
                                std::span<const Assignment> tasks) {
  PlacedGang& h = gangs[gang.key];
  h.spec = spec;
  h.tasks.assign(tasks.begin(), tasks.end());
  CountUse(h);
}

void PlacementSolver::Rep::CountUse(PlacedGang& h) {
  use.AddTimes(h.use, -1);
  h.use = Resources();
  for (const Assignment& a : h.tasks) h.use.Add(cluster.demand(a.at.shape));
  use.Add(h.use);
}

void PlacementSolver::Rep::Forget(std::string_view gang) {
  const auto it = gangs.find(gang);
  use.AddTimes(it->second.use, -1);
  specs.Unref(it->second.spec, cluster);
  gangs.erase(it);
}

}  // namespace muster
