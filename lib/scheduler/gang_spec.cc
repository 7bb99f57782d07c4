#include "lib/scheduler/gang_spec.h"

#include <algorithm>
#include <utility>

#include "lib/base/hash.h"
#include "lib/scheduler/gang_own.h"
#include "lib/scheduler/rules.h"
#include "lib/scheduler/validate.h"
#include "lib/topology/needs.h"

namespace muster {

namespace {

// Clears what is the gang's own, and gives a gang without groups its root.
Gang SpecOf(const Gang& gang) {
  Gang d = gang;
  GangOwn().PutInto(d);
  d.queue.clear();
  d.priority_class.clear();
  if (d.groups.empty()) d.groups.emplace_back();
  return d;
}

void SumLeast(const GangSpec& spec, const Cluster& cluster) {
  const std::vector<Role>& roles = spec.gang().roles;
  spec.least = Resources(cluster.resource_count());
  for (size_t r = 0; r < roles.size(); ++r) {
    spec.least.AddTimes(cluster.demand(spec.prepared.shapes[r][0]),
                        roles[r].min_tasks);
  }
  spec.least_structure = cluster.structure_version();
}

bool ComparesDomains(const TopologyConstraint& c) {
  return c.spread.max_skew > 0 || c.spread.min_domains > 0;
}

void DeriveFromRoles(GangSpec& spec, const Cluster& cluster) {
  const std::vector<Role>& roles = spec.gang().roles;
  for (const Role& role : roles) {
    spec.least_tasks += role.min_tasks;
    spec.most_tasks += role.desired_tasks;
    spec.elastic |= role.desired_tasks > role.min_tasks;
    spec.looks_at_structure |= ComparesDomains(role.topology);
    spec.sliced |= !role.topology.slices.empty();
    for (const ShapeId shape :
         spec.prepared.shapes[static_cast<size_t>(&role - roles.data())]) {
      spec.bears_for_a_time |= std::ranges::any_of(
          cluster.tolerations(shape),
          [](const Toleration& t) { return t.seconds >= 0; });
    }
    spec.grows_nearby |= !role.topology.empty() || !role.alternatives.empty();
    const auto alike = [](const TaskShape& shape) {
      return UsesAlike(shape.devices);
    };
    if (!role.alternatives.empty() || !alike(role.shape)) {
      spec.least_is_exact = false;
    }
    spec.looks_at_structure |=
        !alike(role.shape) || !std::ranges::all_of(role.alternatives, alike);
  }
}

void Derive(GangSpec& spec, const Cluster& cluster) {
  const Gang& gang = spec.gang();
  spec.least_is_exact = true;
  DeriveFromRoles(spec, cluster);
  SumLeast(spec, cluster);
  spec.most = MostOf(gang, cluster);
  for (const Group& group : gang.groups) {
    const bool chooses = group.min_children > 0;
    if (chooses || group.min_tasks > 0) spec.least_is_exact = false;
    spec.elastic |= chooses;
    spec.looks_at_structure |= ComparesDomains(group.topology);
    spec.sliced |= !group.topology.slices.empty();
    spec.grows_nearby |= chooses || !group.topology.empty();
  }
  spec.grows_nearby |= gang.roles.size() > 1;
  for (const std::vector<ShapeId>& shapes : spec.prepared.shapes) {
    spec.shapes.insert(spec.shapes.end(), shapes.begin(), shapes.end());
  }
  std::sort(spec.shapes.begin(), spec.shapes.end());
  spec.shapes.erase(std::unique(spec.shapes.begin(), spec.shapes.end()),
                    spec.shapes.end());
}

}  // namespace

Resources MostOf(const Gang& gang, const Cluster& cluster) {
  const uint32_t kinds = cluster.resource_count();
  Resources most(kinds);
  for (ResourceKind k = 0; k < kinds; ++k) {
    most.Set(k, static_cast<int64_t>(MostOf(gang, k, cluster.device_kind(),
                                            cluster.node_kind())));
  }
  return most;
}

const Resources& LeastOf(const GangSpec& spec, const Cluster& cluster) {
  if (spec.least_structure != cluster.structure_version()) {
    SumLeast(spec, cluster);
  }
  return spec.least;
}

SpecIndex SpecTable::Intern(const Gang& gang, Cluster& cluster) {
  Gang d = SpecOf(gang);
  StableHash hash;
  hash.Add(d);
  std::vector<SpecIndex>& same_hash = by_hash_[hash.value()];
  for (SpecIndex s : same_hash) {
    if (specs_[s].gang() == d) {
      ++specs_[s].refs;
      return s;
    }
  }
  SpecIndex s;
  if (free_.empty()) {
    s = static_cast<SpecIndex>(specs_.size());
    specs_.emplace_back();
  } else {
    s = free_.back();
    free_.pop_back();
  }
  GangSpec& fresh = specs_[s];
  fresh.hash = hash.value();
  fresh.refs = 1;
  fresh.waves = *StartWaves(d);
  for (const Role& role : d.roles) {
    std::vector<ShapeId>& shapes = fresh.prepared.shapes.emplace_back();
    for (uint32_t a = 0; a <= role.alternatives.size(); ++a) {
      shapes.push_back(cluster.Intern(role, a));
    }
  }
  fresh.prepared.gang = std::move(d);
  Derive(fresh, cluster);
  InternKept(fresh, cluster);
  same_hash.push_back(s);
  return s;
}

void SpecTable::InternKept(GangSpec& spec, Cluster& cluster) const {
  bool any = false;
  for (const ShapeId shape : spec.shapes) {
    Resources amounts;
    for (const ResourceKind k : kept_) {
      if (const int64_t amount = cluster.demand(shape)[k]; amount > 0) {
        amounts.Set(k, amount);
      }
    }
    any |= amounts.size() > 0;
    spec.kept.push_back(amounts.size() > 0 ? cluster.Intern(amounts)
                                           : kNoShape);
  }
  if (!any) spec.kept.clear();
}

void SpecTable::Unref(SpecIndex s, Cluster& cluster) {
  GangSpec& old = specs_[s];
  if (--old.refs > 0) return;
  for (const std::vector<ShapeId>& shapes : old.prepared.shapes) {
    for (ShapeId shape : shapes) cluster.Unref(shape);
  }
  for (const ShapeId shape : old.kept) {
    if (shape != kNoShape) cluster.Unref(shape);
  }
  const auto it = by_hash_.find(old.hash);
  std::erase(it->second, s);
  if (it->second.empty()) by_hash_.erase(it);
  old = GangSpec{};
  free_.push_back(s);
}

std::optional<Allocation> KeptOf(const GangSpec& spec, const Allocation& at) {
  if (spec.kept.empty()) return std::nullopt;
  const auto it = std::ranges::lower_bound(spec.shapes, at.shape);
  const ShapeId kept = spec.kept[static_cast<size_t>(it - spec.shapes.begin())];
  if (kept == kNoShape) return std::nullopt;
  return Allocation{.node = at.node, .shape = kept};
}

bool IsSatisfied(const GangSpec& spec, std::span<const uint32_t> counts) {
  const Gang& gang = spec.gang();
  const size_t n = gang.groups.size();
  if (n == 1 && gang.roles.size() == 1) {
    const uint32_t least = std::max(gang.roles[0].min_tasks, 1u);
    return counts[0] >= std::max(least, gang.groups[0].min_tasks);
  }
  return SatisfiedGroups(gang, counts)[0] != 0;
}

std::vector<uint8_t> SatisfiedGroups(const Gang& gang,
                                     std::span<const uint32_t> counts) {
  const size_t n = gang.groups.size();
  std::vector<uint8_t> satisfied(n, 0);
  // By group: satisfied children, needed ones if all must be, tasks.
  std::vector<uint32_t> good(n, 0), needed(n, 0);
  std::vector<uint64_t> tasks(n, 0);
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    const Role& role = gang.roles[r];
    tasks[role.group] += counts[r];
    if (counts[r] >= std::max(role.min_tasks, 1u)) ++good[role.group];
    if (role.min_tasks > 0) {
      ++needed[role.group];
    } else if (gang.groups[role.group].min_children == 0 && counts[r] > 0) {
      --good[role.group];  // Optional: neither needed nor counted.
    }
  }
  for (size_t g = n; g-- > 0;) {
    const Group& group = gang.groups[g];
    const uint32_t least =
        group.min_children > 0 ? group.min_children : needed[g];
    satisfied[g] = good[g] >= least && tasks[g] >= group.min_tasks;
    if (g == 0) break;
    tasks[group.parent] += tasks[g];
    ++needed[group.parent];
    good[group.parent] += satisfied[g];
  }
  return satisfied;
}

}  // namespace muster
