#include "lib/scheduler/gang_store.h"

#include <algorithm>
#include <utility>

#include "lib/base/hash.h"
#include "lib/scheduler/validate.h"
#include "lib/topology/needs.h"

namespace muster {

namespace {

// Clears what is one gang's own, and gives a gang without groups its root.
Gang DescriptionOf(const Gang& gang) {
  Gang d = gang;
  d.key.clear();
  d.queue.clear();
  d.priority_class.clear();
  d.user.clear();
  d.account.clear();
  d.submitted = 0;
  d.held = false;
  d.not_before = 0;
  d.max_runtime = 0;
  d.expected_runtime = 0;
  d.restart_cost = 0;
  std::sort(d.labels.begin(), d.labels.end());
  if (d.groups.empty()) d.groups.emplace_back();
  return d;
}

void SumLeast(const Template& t, const Cluster& cluster) {
  const std::vector<Role>& roles = t.prepared.gang.roles;
  t.least = Resources();
  for (size_t r = 0; r < roles.size(); ++r) {
    t.least.AddTimes(cluster.demand(t.prepared.shapes[r][0]),
                     roles[r].min_tasks);
  }
  t.least_structure = cluster.structure_version();
}

void Derive(Template& t, const Cluster& cluster) {
  const Gang& gang = t.prepared.gang;
  t.children.assign(gang.groups.size(), 0);
  t.least_is_exact = true;
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    const Role& role = gang.roles[r];
    ++t.children[role.group];
    t.least_tasks += role.min_tasks;
    t.most_tasks += role.desired_tasks;
    t.elastic |= role.desired_tasks > role.min_tasks;
    if (!role.alternatives.empty() || !UsesAlike(role.shape.devices)) {
      t.least_is_exact = false;
    }
  }
  SumLeast(t, cluster);
  for (size_t g = 1; g < gang.groups.size(); ++g) {
    ++t.children[gang.groups[g].parent];
  }
  for (const Group& group : gang.groups) {
    if (group.min_children > 0 || group.min_tasks > 0) t.least_is_exact = false;
    t.elastic |= group.min_children > 0;
  }
  t.single = t.most_tasks == 1 && gang.roles.size() == 1;
}

}  // namespace

const Resources& LeastOf(const Template& t, const Cluster& cluster) {
  if (t.least_structure != cluster.structure_version()) SumLeast(t, cluster);
  return t.least;
}

GangIndex GangStore::Add(std::string_view key) {
  GangIndex g;
  if (free_.empty()) {
    g = static_cast<GangIndex>(records_.size());
    records_.emplace_back();
  } else {
    g = free_.back();
    free_.pop_back();
  }
  GangRecord& record = records_[g];
  const uint32_t generation = record.generation + 1;
  record = GangRecord{};
  record.generation = generation;
  record.exists = true;
  record.key = std::string(key);
  by_key_.emplace(record.key, g);
  return g;
}

void GangStore::Remove(GangIndex g) {
  by_key_.erase(records_[g].key);
  records_[g].exists = false;
  free_.push_back(g);
}

GangIndex GangStore::Find(std::string_view key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? kNoGang : it->second;
}

std::vector<GangIndex> GangStore::Sorted() const {
  std::vector<GangIndex> all;
  all.reserve(by_key_.size());
  for (GangIndex g = 0; g < records_.size(); ++g) {
    if (records_[g].exists) all.push_back(g);
  }
  std::sort(all.begin(), all.end(), [this](GangIndex a, GangIndex b) {
    return records_[a].key < records_[b].key;
  });
  return all;
}

TemplateIndex GangStore::Intern(const Gang& gang, Cluster& cluster) {
  Gang d = DescriptionOf(gang);
  StableHash hash;
  hash.Add(d);
  std::vector<TemplateIndex>& same_hash = by_hash_[hash.value()];
  for (TemplateIndex t : same_hash) {
    if (templates_[t].prepared.gang == d) {
      ++templates_[t].refs;
      return t;
    }
  }
  TemplateIndex t;
  if (free_templates_.empty()) {
    t = static_cast<TemplateIndex>(templates_.size());
    templates_.emplace_back();
  } else {
    t = free_templates_.back();
    free_templates_.pop_back();
    templates_[t] = Template{};
  }
  Template& fresh = templates_[t];
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
  same_hash.push_back(t);
  return t;
}

void GangStore::Unref(TemplateIndex t, Cluster& cluster) {
  Template& old = templates_[t];
  if (--old.refs > 0) return;
  for (const std::vector<ShapeId>& shapes : old.prepared.shapes) {
    for (ShapeId shape : shapes) cluster.Unref(shape);
  }
  const auto it = by_hash_.find(old.hash);
  std::erase(it->second, t);
  if (it->second.empty()) by_hash_.erase(it);
  old = Template{};
  free_templates_.push_back(t);
}

Gang GangStore::Describe(const GangRecord& record) const {
  Gang gang = templates_[record.description].prepared.gang;
  gang.key = record.key;
  gang.user = record.user;
  gang.account = record.account;
  gang.submitted = record.submitted;
  gang.held = record.held;
  gang.not_before = record.not_before;
  gang.max_runtime = record.max_runtime;
  gang.expected_runtime = record.expected_runtime;
  gang.restart_cost = record.restart_cost;
  return gang;
}

bool Satisfied(const Template& t, const std::vector<uint32_t>& counts) {
  const Gang& gang = t.prepared.gang;
  const size_t n = gang.groups.size();
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
    const bool satisfied = good[g] >= least && tasks[g] >= group.min_tasks;
    if (g == 0) return satisfied;
    tasks[group.parent] += tasks[g];
    ++needed[group.parent];
    if (satisfied) ++good[group.parent];
  }
  return false;
}

}  // namespace muster
