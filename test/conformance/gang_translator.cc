#include "test/conformance/gang_translator.h"

#include <algorithm>
#include <map>
#include <utility>

#include "test/conformance/places.h"

namespace muster::conformance {
namespace {

// Whether a pod in this state is one of the gang's tasks. Gated, failed and
// deleted pods are none: nothing is to be started for them.
absl::StatusOr<bool> IsTask(const std::string& state) {
  for (const char* task : {"pending", "running", "bound", "terminating",
                           "stuck-terminating", "succeeded"}) {
    if (state == task) return true;
  }
  for (const char* none : {"gated", "failed", "deleted"}) {
    if (state == none) return false;
  }
  return absl::UnimplementedError("a pod that is " + state +
                                  " before the pass");
}

bool Holds(const std::string& state) {
  return state == "running" || state == "bound" || state == "terminating" ||
         state == "stuck-terminating";
}

// A pod set's state is its gang's.
std::string StateOf(const GangSpec& gang, const PodSpec& pod) {
  if (gang.state == "evicting") return "terminating";
  return gang.state.empty() ? pod.state : gang.state;
}

}  // namespace

void GangTranslator::Refusable(const std::string& why) {
  if (out_.refusable.empty()) out_.refusable = why;
}

absl::Status GangTranslator::Translate() {
  out_.gang.key = spec_.name;
  out_.gang.queue = spec_.queue;
  out_.evicted_pods_stay_terminating = spec_.evicted_pods_stay_terminating;
  first_unit_ = units_.size();
  if (auto status = AddUnits(); !status.ok()) return status;
  out_.left_out |= std::none_of(units_.begin() + first_unit_, units_.end(),
                                [](const Unit& u) { return u.member; });
  if (out_.left_out) return absl::OkStatus();
  builder_.AddGroup("", 0);
  absl::Status status =
      Constrain(spec_.topology, &out_.gang.groups[0].topology);
  if (!status.ok()) return status;
  if (spec_.tree) {
    status = AddTree(*spec_.tree, 0);
  } else if (HasPodSets(s_)) {
    status = AddPodSets();
  } else if (!spec_.subgroup_policies.empty()) {
    status = AddSubgroups();
  } else {
    status = AddPlainRoles();
  }
  status.Update(Preemptibility());
  int64_t members = 0;
  for (size_t u = first_unit_; u < units_.size(); ++u) {
    members += units_[u].member;
  }
  for (const Role& role : out_.gang.roles) members -= role.desired_tasks;
  if (members != 0) {
    status.Update(absl::UnimplementedError("a pod in no group of its gang"));
  }
  builder_.RequireAnyTask();
  for (const Role& role : out_.gang.roles) {
    if (RoleMaker::AsksTooMuch(role)) Refusable("asks for more than any node");
  }
  return status;
}

absl::Status GangTranslator::AddUnits() {
  out_.left_out = spec_.state == "finished";
  for (size_t p = 0; p < spec_.pods.size(); ++p) {
    const PodSpec& pod = spec_.pods[p];
    Unit unit;
    unit.gang = index_;
    unit.pod = p;
    unit.state = StateOf(spec_, pod);
    const auto is_task = IsTask(unit.state);
    if (!out_.left_out && !is_task.ok()) return is_task.status();
    unit.member = !out_.left_out && *is_task;
    if (Holds(unit.state)) unit.node = pod.node;
    const std::string state = unit.state;
    const int64_t running = RunningOf(pod);
    for (int64_t i = 0; i < pod.count; ++i) {
      unit.state = i < running ? "running" : state;
      unit.name =
          HasPodSets(s_) ? pod.name + "#" + std::to_string(i) : pod.name;
      units_.push_back(unit);
    }
  }
  return absl::OkStatus();
}

absl::Status GangTranslator::Constrain(const TopologyRequestSpec& request,
                                       TopologyConstraint* constraint) {
  auto translated = topologies_.Translate(request);
  if (!translated.ok()) return translated.status();
  if (translated->unknown) Refusable("a topology constraint nothing can meet");
  *constraint = translated->constraint;
  return absl::OkStatus();
}

int64_t GangTranslator::MembersOf(const std::vector<size_t>& pods) const {
  int64_t members = 0;
  for (size_t u = first_unit_; u < units_.size(); ++u) {
    if (!units_[u].member) continue;
    members += std::find(pods.begin(), pods.end(), units_[u].pod) != pods.end();
  }
  return members;
}

absl::StatusOr<std::vector<uint32_t>> GangTranslator::AddPods(
    const std::vector<size_t>& pods, uint32_t group) {
  std::vector<uint32_t> added;
  for (size_t u = first_unit_; u < units_.size(); ++u) {
    Unit& unit = units_[u];
    if (!unit.member ||
        std::find(pods.begin(), pods.end(), unit.pod) == pods.end()) {
      continue;
    }
    auto model = roles_.Make(spec_, spec_.pods[unit.pod]);
    if (!model.ok()) return model.status();
    unit.task = builder_.AddTask(*model, group, &added);
  }
  return added;
}

void GangTranslator::RequireTasks(const std::vector<uint32_t>& roles,
                                  int64_t minimum, uint32_t group) {
  if (!builder_.RequireTasks(roles, minimum, group)) {
    Refusable("fewer pods than its minimum");
  }
}

// --- Nested groups -----------------------------------------------------------

std::vector<size_t> GangTranslator::PodsOf(const TreeSpec& leaf) const {
  std::vector<size_t> pods;
  for (size_t p = 0; p < spec_.pods.size(); ++p) {
    const std::string& of = spec_.pods[p].group;
    const bool by_default =
        of.empty() && (leaf.name == "default" || leaf.name.empty());
    if (of == leaf.name || by_default) pods.push_back(p);
  }
  return pods;
}

int64_t GangTranslator::MembersUnder(const TreeSpec& tree) const {
  if (tree.children.empty()) return MembersOf(PodsOf(tree));
  int64_t sum = 0;
  for (const TreeSpec& child : tree.children) sum += MembersUnder(child);
  return sum;
}

absl::Status GangTranslator::AddTree(const TreeSpec& tree, uint32_t group) {
  absl::Status status =
      Constrain(tree.topology, &out_.gang.groups[group].topology);
  if (!status.ok()) return status;
  if (tree.children.empty()) {
    auto added = AddPods(PodsOf(tree), group);
    if (!added.ok()) return added.status();
    RequireTasks(*added, tree.min_member, group);
    return absl::OkStatus();
  }
  if (tree.min_children) {
    out_.gang.groups[group].min_children =
        static_cast<uint32_t>(*tree.min_children);
  }
  for (const TreeSpec& child : tree.children) {
    if (MembersUnder(child) == 0) {
      // Nothing to add. Where the others do not suffice, nothing ever will.
      if (child.min_member > 0 && !tree.min_children) {
        Refusable("a group without pods");
      }
      continue;
    }
    status = AddTree(child, builder_.AddGroup(child.name, group));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// --- Pod sets ----------------------------------------------------------------

absl::Status GangTranslator::AddPodSets() {
  std::map<std::string, uint32_t> groups;
  std::map<std::string, int64_t> largest;
  for (const PodSpec& pod : spec_.pods) {
    int64_t& most = largest[pod.topology.colocate_group];
    most = std::max(most, pod.count);
  }
  for (size_t p = 0; p < spec_.pods.size(); ++p) {
    const PodSpec& pod = spec_.pods[p];
    if (pod.count == 0) continue;
    TopologyRequestSpec request;
    if (!roles_.IsQuotaOnly(spec_, pod)) request = pod.topology;
    request.topology = roles_.TopologyOf(spec_, pod);
    const std::string& together = request.colocate_group;
    uint32_t group = 0;
    if (!together.empty()) {
      // The pod sets of a group share one domain; only the workers, of which
      // there are most, come in slices.
      const auto [it, fresh] = groups.try_emplace(together, 0);
      if (fresh) it->second = builder_.AddGroup(together, 0);
      group = it->second;
      TopologyRequestSpec shared = request;
      shared.slices.clear();
      auto status = Constrain(shared, &out_.gang.groups[group].topology);
      if (!status.ok()) return status;
      request.required.clear();
      request.preferred.clear();
      if (pod.count < largest[together]) request.slices.clear();
    }
    auto added = AddPods({p}, group);
    if (!added.ok()) return added.status();
    Role& role = out_.gang.roles[added->front()];
    if (!pod.topology.colocate_group.empty() && !role.alternatives.empty()) {
      return absl::UnimplementedError(
          "a choice of flavours for pod sets that must share one");
    }
    role.name = pod.name;
    role.min_tasks = static_cast<uint32_t>(pod.min_count.value_or(pod.count));
    auto status = Constrain(request, &role.topology);
    if (!status.ok()) return status;
    for (const Slice& slice : role.topology.slices) {
      if (slice.size == 0 || role.desired_tasks % slice.size != 0) {
        Refusable("slices that do not divide its tasks");
      }
    }
  }
  return absl::OkStatus();
}

// --- Minima by role and by gang ----------------------------------------------

// Minima of roles bind where the gang's own covers them all; else only the
// gang's does.
bool GangTranslator::RoleMinimaBind() const {
  int64_t sum = 0;
  for (const auto& [role, minimum] : spec_.role_min_member) sum += minimum;
  return !spec_.role_min_member.empty() && sum <= spec_.min_member;
}

absl::Status GangTranslator::AddPlainRoles() {
  // Without a minimum each pod is for itself; none is no gang that runs.
  const int64_t minimum = std::max<int64_t>(1, spec_.min_member);
  std::map<std::string, std::vector<size_t>> by_role;
  for (size_t p = 0; p < spec_.pods.size(); ++p) {
    by_role[RoleMinimaBind() ? spec_.pods[p].group : ""].push_back(p);
  }
  if (!RoleMinimaBind()) {
    auto added = AddPods(by_role.begin()->second, 0);
    if (!added.ok()) return added.status();
    RequireTasks(*added, minimum, 0);
    return absl::OkStatus();
  }
  for (const auto& [role, least] : spec_.role_min_member) {
    if (least > MembersOf(by_role[role]))
      Refusable(
          "fewer pods than a role's "
          "minimum");
  }
  for (const auto& [role, pods] : by_role) {
    const auto it = spec_.role_min_member.find(role);
    const int64_t least = it == spec_.role_min_member.end() ? 0 : it->second;
    if (MembersOf(pods) == 0) continue;
    auto added = AddPods(pods, 0);
    if (!added.ok()) return added.status();
    if (added->size() > 1 && least > 0) {
      const uint32_t group = builder_.AddGroup(role, 0);
      for (uint32_t r : *added) out_.gang.roles[r].group = group;
      RequireTasks(*added, least, group);
    } else {
      RequireTasks(*added, least, 0);
    }
  }
  int64_t sum = 0;
  for (const auto& [role, least] : spec_.role_min_member) sum += least;
  if (sum < minimum) {
    out_.gang.groups[0].min_tasks = static_cast<uint32_t>(minimum);
    std::vector<size_t> all(spec_.pods.size());
    for (size_t p = 0; p < all.size(); ++p) all[p] = p;
    if (MembersOf(all) < minimum) Refusable("fewer pods than its minimum");
  }
  return absl::OkStatus();
}

// --- Subgroups by label ------------------------------------------------------

// A subgroup is whole from `size` pods on. One that has fewer can never be,
// and its pods come as they may, still under its constraint.
absl::Status GangTranslator::AddSubgroup(const SubgroupPolicySpec& policy,
                                         const std::vector<size_t>& pods,
                                         const std::string& name,
                                         uint32_t parent) {
  const int64_t members = MembersOf(pods);
  if (members == 0) return absl::OkStatus();
  const bool whole = members >= policy.size;
  const uint32_t group = builder_.AddGroup(name, whole ? parent : 0);
  auto added = AddPods(pods, group);
  if (!added.ok()) return added.status();
  if (whole) RequireTasks(*added, policy.size, group);
  return Constrain(policy.topology, &out_.gang.groups[group].topology);
}

absl::Status GangTranslator::AddSubgroups() {
  const bool all_counted = std::all_of(
      spec_.subgroup_policies.begin(), spec_.subgroup_policies.end(),
      [](const SubgroupPolicySpec& p) { return p.min_subgroups > 0; });
  const bool none_counted = std::none_of(
      spec_.subgroup_policies.begin(), spec_.subgroup_policies.end(),
      [](const SubgroupPolicySpec& p) { return p.min_subgroups > 0; });
  if (!all_counted && !none_counted) {
    return absl::UnimplementedError(
        "subgroups of which some are counted and some are not");
  }
  std::vector<bool> grouped(spec_.pods.size(), false);
  for (const SubgroupPolicySpec& policy : spec_.subgroup_policies) {
    std::map<std::vector<std::string>, std::vector<size_t>> subgroups;
    for (size_t p = 0; p < spec_.pods.size(); ++p) {
      std::vector<std::string> values;
      for (const std::string& key : policy.match_label_keys) {
        const auto it = spec_.pods[p].labels.find(key);
        if (it != spec_.pods[p].labels.end()) values.push_back(it->second);
      }
      if (grouped[p] || values.size() != policy.match_label_keys.size()) {
        continue;
      }
      grouped[p] = true;
      subgroups[values].push_back(p);
    }
    int64_t whole = 0;
    for (const auto& [values, pods] : subgroups) {
      whole += MembersOf(pods) >= policy.size;
    }
    uint32_t parent = 0;
    if (policy.min_subgroups > whole) Refusable("too few whole subgroups");
    if (policy.min_subgroups > 0 && whole > 0) {
      parent = builder_.AddGroup(policy.name, 0);
      out_.gang.groups[parent].min_children =
          static_cast<uint32_t>(policy.min_subgroups);
    }
    for (const auto& [values, pods] : subgroups) {
      std::string name = policy.name;
      for (const std::string& value : values) name += "/" + value;
      auto status = AddSubgroup(policy, pods, name, parent);
      if (!status.ok()) return status;
    }
  }
  std::vector<size_t> rest;
  for (size_t p = 0; p < grouped.size(); ++p) {
    if (!grouped[p]) rest.push_back(p);
  }
  if (auto added = AddPods(rest, 0); !added.ok()) return added.status();
  out_.gang.groups[0].min_children = none_counted ? 1 : 0;
  out_.gang.groups[0].min_tasks =
      static_cast<uint32_t>(std::max<int64_t>(1, spec_.min_member));
  return absl::OkStatus();
}

// --- Victims -----------------------------------------------------------------

absl::Status GangTranslator::Preemptibility() {
  bool any_holds = false, any_yields = false;
  bool any_stuck = false, any_moves = false;
  for (size_t u = first_unit_; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    if (!unit.member || !Holds(unit.state)) continue;
    any_holds = true;
    (unit.state == "stuck-terminating" ? any_stuck : any_moves) = true;
    any_yields |= spec_.pods[unit.pod].preemptible.value_or(true);
  }
  // What is stuck while it terminates is not freed by asking once more.
  out_.gang.preemptible =
      spec_.preemptible && !any_stuck && (any_yields || !any_holds);
  if (any_stuck && any_moves) {
    return absl::UnimplementedError(
        "a pod stuck while it terminates beside others of its gang");
  }
  return absl::OkStatus();
}

}  // namespace muster::conformance
