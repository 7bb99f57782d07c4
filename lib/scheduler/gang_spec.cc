#include "lib/scheduler/gang_spec.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "lib/base/hash.h"
#include "lib/base/keyed_table.h"
#include "lib/cluster/needs.h"
#include "lib/scheduler/gang_own.h"
#include "lib/scheduler/least_demand.h"
#include "lib/scheduler/rules.h"
#include "lib/scheduler/validate.h"

namespace muster {
namespace {

uint64_t HashOf(const Gang& gang) {
  StableHash hash;
  std::apply([&](const auto&... fields) { (hash.Add(fields), ...); },
             SharedFields(gang));
  return hash.value();
}

// Has the shared fields alone, and a root.
Gang SpecOf(const Gang& gang) {
  Gang d = gang;
  GangOwn().PutInto(d);
  d.queue.clear();
  d.priority_class.clear();
  if (d.groups.empty()) d.groups.emplace_back();
  return d;
}

void SumLeast(const GangSpec& spec, const Cluster& cluster) {
  const std::vector<std::vector<ShapeId>>& shapes = spec.prepared.shapes;
  spec.least = Resources(cluster.resource_count());
  std::vector<int64_t> each(shapes.size());
  for (ResourceKind k = 0; k < spec.least.size(); ++k) {
    for (size_t r = 0; r < shapes.size(); ++r) {
      const auto asks = [&](ShapeId shape) { return cluster.demand(shape)[k]; };
      each[r] = asks(*std::ranges::min_element(shapes[r], {}, asks));
    }
    spec.least.Set(k, LeastAmount(spec.gang(), each));
  }
  spec.least_structure = cluster.structure_version();
}

void Derive(GangSpec& spec, const Cluster& cluster) {
  const Gang& gang = spec.gang();
  const auto look = [&](const TopologyConstraint& c) {
    spec.looks_at_structure |=
        c.spread.max_skew > 0 || c.spread.min_domains > 0;
    spec.sliced |= !c.slices.empty();
    spec.grows_nearby |= !c.empty();
  };
  spec.least_is_exact = true;
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    const Role& role = gang.roles[r];
    look(role.topology);
    spec.least_tasks += role.min_tasks;
    spec.most_tasks += role.desired_tasks;
    spec.elastic |= role.desired_tasks > role.min_tasks;
    spec.grows_nearby |= !role.alternatives.empty();
    spec.least_is_exact &= role.alternatives.empty();
    for (const ShapeId shape : spec.prepared.shapes[r]) {
      const bool alike = UsesAlike(cluster.device_request(shape));
      spec.looks_at_structure |= !alike;
      spec.least_is_exact &= alike;
      spec.bears_for_a_time |= std::ranges::any_of(
          cluster.tolerations(shape),
          [](const Toleration& t) { return t.seconds >= 0; });
      spec.shapes.push_back(shape);
    }
  }
  for (const Group& group : gang.groups) {
    const bool chooses = group.min_children > 0;
    look(group.topology);
    spec.elastic |= chooses;
    spec.grows_nearby |= chooses;
    spec.least_is_exact &= !chooses && group.min_tasks == 0;
  }
  spec.grows_nearby |= gang.roles.size() > 1;
  SumLeast(spec, cluster);
  spec.most = MostOf(gang, cluster);
  std::ranges::sort(spec.shapes);
  const auto repeated = std::ranges::unique(spec.shapes);
  spec.shapes.erase(repeated.begin(), repeated.end());
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

SpecTable::SpecTable(const SchedulerConfig& config) {
  for (const std::string& kind : config.host.suspended_keeps) {
    kept_.push_back(config.KindOf(kind));
  }
}

SpecIndex SpecTable::Intern(const Gang& gang, Cluster& cluster) {
  const uint64_t hash = HashOf(gang);
  std::vector<SpecIndex>& same_hash = by_hash_[hash];
  for (SpecIndex s : same_hash) {
    if (SharedFields(specs_[s].gang()) == SharedFields(gang)) {
      ++specs_[s].refs;
      return s;
    }
  }
  Gang d = SpecOf(gang);
  const SpecIndex s = TakePosition(specs_, free_);
  GangSpec& fresh = specs_[s];
  fresh.hash = hash;
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

bool AnyFits(const GangSpec& spec, const Cluster& cluster, NodeIndex node,
             const Resources& amount) {
  return std::ranges::any_of(spec.shapes, [&](ShapeId shape) {
    return cluster.demand(shape).FitsIn(amount) && cluster.Admits(node, shape);
  });
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
  return Satisfaction(gang, counts).satisfied[0] != 0;
}

Satisfaction::Satisfaction(const Gang& gang, std::span<const uint32_t> counts)
    : satisfied(gang.groups.size() + gang.roles.size()),
      tasks(satisfied.size()),
      good(gang.groups.size()) {
  const size_t groups = gang.groups.size();
  // By group: children that it needs if it needs all, and that are not.
  std::vector<uint32_t> missing(groups);
  const auto add_to = [&](uint32_t parent, size_t scope, bool optional) {
    tasks[parent] += tasks[scope];
    good[parent] += satisfied[scope];
    missing[parent] += satisfied[scope] == 0 && !optional;
  };
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    const Role& role = gang.roles[r];
    tasks[groups + r] = counts[r];
    satisfied[groups + r] = counts[r] >= std::max(role.min_tasks, 1u);
    add_to(role.group, groups + r, role.min_tasks == 0);
  }
  for (size_t g = groups; g-- > 0;) {
    const Group& group = gang.groups[g];
    const bool children = group.min_children > 0 ? good[g] >= group.min_children
                                                 : missing[g] == 0;
    satisfied[g] = children && tasks[g] >= group.min_tasks;
    if (g > 0) add_to(group.parent, g, false);
  }
}

}  // namespace muster
