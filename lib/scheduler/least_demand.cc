#include "lib/scheduler/least_demand.h"

#include <algorithm>
#include <vector>

namespace muster {
namespace {

// Groups come after the groups that they are in. From the last to the first,
// each is given what its children need: all of them, or the cheapest of those
// among which it chooses; then tasks are added, the cheapest that its roles may
// have besides, until there are as many as it needs. Groups lie within each
// other or apart, so that this is the least.
class LeastOfGroups {
 public:
  LeastOfGroups(const Gang& gang, std::span<const int64_t> each)
      : gang_(gang),
        each_(each),
        counts_(gang.roles.size()),
        needs_(gang.groups.size()) {
    for (size_t r = 0; r < gang.roles.size(); ++r) AddRole(r);
    for (size_t g = gang.groups.size(); g-- > 0;) Settle(g);
  }

  int64_t OfRoot() const { return needs_[0].amount; }

 private:
  struct Need {
    int64_t amount = 0;
    // It, or a group in it, chooses: which tasks it has is not known.
    bool chooses = false;
    std::vector<size_t> roles{};      // In it, and in the groups in it.
    std::vector<int64_t> children{};  // What each needs, where it chooses.
  };

  void AddRole(size_t r) {
    const Role& role = gang_.roles[r];
    Need& need = needs_[role.group];
    need.roles.push_back(r);
    counts_[r] = role.min_tasks;
    if (gang_.groups[role.group].min_children > 0) {
      need.children.push_back(each_[r] * std::max(role.min_tasks, 1u));
    } else {
      need.amount += each_[r] * role.min_tasks;
    }
  }

  void Settle(size_t g) {
    const Group& group = gang_.groups[g];
    Need& need = needs_[g];
    if (group.min_children > 0) Choose(group.min_children, &need);
    std::ranges::sort(need.roles, {}, [&](size_t r) { return each_[r]; });
    need.chooses ? CountTasks(group.min_tasks, &need)
                 : AddTasks(group.min_tasks, &need);
    if (g == 0) return;
    Need& parent = needs_[group.parent];
    parent.roles.insert(parent.roles.end(), need.roles.begin(),
                        need.roles.end());
    parent.chooses |= need.chooses;
    if (gang_.groups[group.parent].min_children > 0) {
      parent.children.push_back(need.amount);
    } else {
      parent.amount += need.amount;
    }
  }

  static void Choose(uint32_t children, Need* need) {
    std::ranges::sort(need->children);
    const size_t chosen = std::min<size_t>(children, need->children.size());
    for (size_t i = 0; i < chosen; ++i) need->amount += need->children[i];
    need->chooses = true;
  }

  void AddTasks(uint32_t tasks, Need* need) {
    uint64_t missing = tasks;
    for (const size_t r : need->roles) {
      missing -= std::min<uint64_t>(missing, counts_[r]);
    }
    for (const size_t r : need->roles) {
      const uint32_t more = gang_.roles[r].desired_tasks - counts_[r];
      const auto added =
          static_cast<uint32_t>(std::min<uint64_t>(missing, more));
      counts_[r] += added;
      missing -= added;
      need->amount += each_[r] * added;
    }
  }

  // The cheapest that its roles may have at all, if that is more.
  void CountTasks(uint32_t tasks, Need* need) const {
    int64_t least = 0;
    for (const size_t r : need->roles) {
      const uint32_t taken = std::min(tasks, gang_.roles[r].desired_tasks);
      tasks -= taken;
      least += each_[r] * taken;
    }
    need->amount = std::max(need->amount, least);
  }

  const Gang& gang_;
  const std::span<const int64_t> each_;
  std::vector<uint32_t> counts_;  // By role: tasks that its groups have.
  std::vector<Need> needs_;       // By group.
};

}  // namespace

int64_t LeastAmount(const Gang& gang, std::span<const int64_t> each) {
  return LeastOfGroups(gang, each).OfRoot();
}

}  // namespace muster
