// The fields of a gang that are its own, and those that it shares.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/priority_class.h"
#include "muster/selector.h"

namespace muster {

// All other fields of Gang are shared by gangs that are alike (see GangSpec),
// but for queue and priority class. A field may be a gang's own only if it can
// change no answer to "is there room for it", "may it start", "whose tasks may
// be taken for it":
//
//   own                          because it decides ...
//   key, display, user, account  nothing
//   held_why                     nothing
//   labels                       nothing yet (no affinity between gangs)
//   submitted                    its place in the class
//   held, not_before             whether it stands in the class at all
//   max_runtime                  its end
//   expected_runtime             nothing yet (no backfill: then a horizon has
//                                to go into the class)
//   restart_cost, on_preempted   what it is as a victim, not as a preemptor
struct GangOwn {
  std::string key{};
  std::string display{};
  std::string user{};
  std::string account{};
  std::string held_why{};
  Labels labels{};
  Time submitted = 0;
  bool held = false;
  Time not_before = 0;
  Duration max_runtime = 0;
  Duration expected_runtime = 0;
  Duration restart_cost = 0;
  std::optional<OnPreempted> on_preempted{};

  // Calls f(field of gang, field of own) with each of them.
  template <class G, class O, class F>
  static void Each(G& gang, O& own, F&& f) {
    f(gang.key, own.key);
    f(gang.display, own.display);
    f(gang.user, own.user);
    f(gang.account, own.account);
    f(gang.held_why, own.held_why);
    f(gang.labels, own.labels);
    f(gang.submitted, own.submitted);
    f(gang.held, own.held);
    f(gang.not_before, own.not_before);
    f(gang.max_runtime, own.max_runtime);
    f(gang.expected_runtime, own.expected_runtime);
    f(gang.restart_cost, own.restart_cost);
    f(gang.on_preempted, own.on_preempted);
  }

  void TakeFrom(const Gang& gang) {
    Each(gang, *this, [](const auto& from, auto& to) { to = from; });
    std::sort(labels.begin(), labels.end());
  }
  void PutInto(Gang& gang) const {
    Each(gang, *this, [](auto& to, const auto& from) { to = from; });
  }
};

// The fields that gangs which are alike share; one without groups has its root.
inline auto SharedFields(const Gang& gang) {
  static const std::vector<Group> kRoot(1);
  return std::tie(gang.groups.empty() ? kRoot : gang.groups, gang.roles,
                  gang.traffic, gang.affinity, gang.preemptible, gang.deadline,
                  gang.depends_on, gang.speed);
}

}  // namespace muster
