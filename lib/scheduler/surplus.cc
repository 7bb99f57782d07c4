#include "lib/scheduler/surplus.h"

#include <algorithm>
#include <set>

namespace muster {

Surplus::Surplus(const GangSpec& spec, std::span<const uint32_t> counts,
                 std::span<const Assignment> tasks)
    : gang_(spec.gang()),
      groups_(static_cast<uint32_t>(gang_.groups.size())),
      counts_(counts.begin(), counts.end()),
      can_go_(gang_.roles.size()),
      now_(gang_, counts) {
  for (const Assignment& a : tasks) {
    can_go_[a.task.role].push_back(a.task.index);
  }
  for (size_t r = 0; r < can_go_.size(); ++r) {
    if (!gang_.roles[r].preemptible) can_go_[r].clear();
    std::sort(can_go_[r].begin(), can_go_[r].end());
  }
  if (now_.satisfied[0] == 0) return;  // It cannot do without anything.
  TakeUseless();
  std::set<int32_t> orders;
  for (const Role& role : gang_.roles) orders.insert(role.order);
  for (const int32_t order : orders) {
    while (TakeSingle(order) || TakeScope(order)) continue;
  }
}

Surplus::Scope Surplus::ParentOf(Scope s) const {
  return IsRole(s) ? gang_.roles[s - groups_].group : gang_.groups[s].parent;
}

bool Surplus::Below(uint32_t role, Scope s) const {
  for (Scope at = ScopeOf(role); at != s; at = ParentOf(at)) {
    if (at == 0) return false;
  }
  return true;
}

// An optional role is asked for by no group that needs all its children.
bool Surplus::Optional(Scope s) const {
  return IsRole(s) && gang_.roles[s - groups_].min_tasks == 0;
}

// Whether all groups around `s` that are satisfied bear so many tasks fewer.
bool Surplus::AncestorsAllow(Scope s, uint64_t tasks) const {
  while (s != 0) {
    s = ParentOf(s);
    if (now_.satisfied[s] == 0) continue;
    if (now_.tasks[s] < gang_.groups[s].min_tasks + tasks) return false;
  }
  return true;
}

// Of a role that goes on without it.
bool Surplus::CanSpareOne(uint32_t role) const {
  return !can_go_[role].empty() &&
         counts_[role] > std::max(gang_.roles[role].min_tasks, 1u) &&
         AncestorsAllow(ScopeOf(role), 1);
}

// Whether all of it can go, and nothing in it is of a higher order.
bool Surplus::CanSpare(Scope s, int32_t order) const {
  if (s == 0 || now_.tasks[s] == 0) return false;
  for (uint32_t r = 0; r < gang_.roles.size(); ++r) {
    if (counts_[r] == 0 || !Below(r, s)) continue;
    if (gang_.roles[r].order > order) return false;
    if (can_go_[r].size() != counts_[r]) return false;
  }
  const Scope parent = ParentOf(s);
  if (now_.satisfied[parent] != 0 && now_.satisfied[s] != 0) {
    const uint32_t needed = gang_.groups[parent].min_children;
    if (needed > 0 ? now_.good[parent] <= needed : !Optional(s)) return false;
  }
  return AncestorsAllow(s, now_.tasks[s]);
}

void Surplus::Take(uint32_t role) {
  gone_.push_back({role, can_go_[role].back()});
  can_go_[role].pop_back();
  --counts_[role];
}

void Surplus::TakeAll(Scope s) {
  for (auto r = static_cast<uint32_t>(gang_.roles.size()); r-- > 0;) {
    while (Below(r, s) && counts_[r] > 0) Take(r);
  }
  shrink_sizes_.push_back(static_cast<uint32_t>(gone_.size()));
  now_ = Satisfaction(gang_, counts_);
}

// The widest scopes that lost what they need.
void Surplus::TakeUseless() {
  constexpr int32_t kAnyOrder = 0x7fffffff;
  for (Scope s = 1; s < now_.satisfied.size(); ++s) {
    if (now_.satisfied[s] == 0 && CanSpare(s, kAnyOrder)) TakeAll(s);
  }
}

// Of the roles of the order, the nearest to its desire gives its last task.
bool Surplus::TakeSingle(int32_t order) {
  uint32_t best = 0;
  uint64_t best_part = 0, best_of = 0;  // 0: there is none.
  for (uint32_t r = 0; r < gang_.roles.size(); ++r) {
    const Role& role = gang_.roles[r];
    if (role.order != order || !CanSpareOne(r)) continue;
    const uint64_t part = counts_[r] - role.min_tasks;
    const uint64_t of = role.desired_tasks - role.min_tasks;
    if (best_of == 0 || part * best_of >= best_part * of) {
      best = r;
      best_part = part;
      best_of = of;
    }
  }
  if (best_of == 0) return false;
  Take(best);
  shrink_sizes_.push_back(static_cast<uint32_t>(gone_.size()));
  for (Scope s = ScopeOf(best);; s = ParentOf(s)) {
    --now_.tasks[s];
    if (s == 0) return true;
  }
}

bool Surplus::TakeScope(int32_t order) {
  for (auto r = static_cast<uint32_t>(gang_.roles.size()); r-- > 0;) {
    if (gang_.roles[r].order != order || counts_[r] == 0) continue;
    for (Scope s = ScopeOf(r); s != 0; s = ParentOf(s)) {
      if (!CanSpare(s, order)) continue;
      TakeAll(s);
      return true;
    }
  }
  return false;
}

uint32_t PutSurplusLast(const GangSpec& spec, std::span<const uint32_t> counts,
                        std::vector<Assignment>* tasks,
                        std::vector<uint32_t>* shrink_sizes) {
  shrink_sizes->clear();
  if (!spec.elastic || tasks->size() <= 1) return 0;
  const Surplus surplus(spec, counts, *tasks);
  const std::vector<uint32_t>& steps = surplus.shrink_sizes();
  const auto end = std::lower_bound(steps.begin(), steps.end(), tasks->size());
  shrink_sizes->assign(steps.begin(), end);
  if (shrink_sizes->empty()) return 0;
  const std::span gone(surplus.tasks().data(), shrink_sizes->back());
  std::vector<Assignment> shrunk;
  for (auto id = gone.rbegin(); id != gone.rend(); ++id) {
    const auto it = std::ranges::find(*tasks, *id, &Assignment::task);
    shrunk.push_back(*it);
    tasks->erase(it);
  }
  tasks->insert(tasks->end(), shrunk.begin(), shrunk.end());
  if (shrink_sizes->size() == gone.size())
    shrink_sizes->clear();  // Any number will do.
  return static_cast<uint32_t>(gone.size());
}

}  // namespace muster
