// A gang that runs, and whose minimum the host has raised since: it goes on
// under the one of before until all that the new one asks runs.
#pragma once

#include <cstdint>
#include <span>

#include "lib/scheduler/gang_spec.h"
#include "lib/scheduler/gang_table.h"
#include "muster/gang.h"
#include "muster/state.h"

namespace muster {

struct SchedulerTables;
class GangEdit;

// What the new one asks besides is placed together, before anything that waits;
// where there is no room, others give way to it as to a gang that waits, and
// the gang is nominated for it: it has tasks that are nominated beside those
// that run. An edit after which it may not be drops them.
//
// Such a gang has two specs (GangRecord): `wanted`, as the host changed it, and
// `under`, the same with what it needs to go on as its minimum. `spec` is that
// of the two by which it is treated: the wanted one while its tasks meet that.
// All three ask for the same tasks of the same shapes.

GangMinimum MinimumOf(const Gang& gang);
// Both have the gang's roles and groups.
Gang WithMinimum(Gang gang, const GangMinimum& minimum);

// What is left of the minimum of `before` in `changed`, no more than that one
// asks; where its roles are grouped in another way, no more than `counts`, its
// tasks by role. Never nothing.
GangMinimum MinimumToGoOn(const Gang& before, const Gang& changed,
                          std::span<const uint32_t> counts);

// The gang has the spec `next` from now on, one Ref of which it takes over: as
// soon as it does not run, or meets its minimum. Life::Update is to follow.
// O(tasks + size of the gang).
void ChangeSpec(SchedulerTables& tables, GangEdit& gang, SpecIndex next);
// `under` is the minimum that it was recorded to run under. One Ref of it is
// taken over.
void RunUnder(SchedulerTables& tables, GangEdit& gang, SpecIndex under);
// Which of the two it is treated by, after its tasks have changed; one alone
// when it has met the new minimum, or holds nothing. O(1) if it has one, else
// O(tasks).
void SettleMinimum(SchedulerTables& tables, GangEdit& gang);

// Whether it may be nominated for what it lacks of the raised minimum, while it
// runs on. O(tasks) if it has one.
bool MayBeNominated(const SchedulerTables& tables, const GangRecord& r);
// It is not any more. Life::Update is to follow.
void DropNominated(SchedulerTables& tables, GangEdit& gang);

// As the host gave it last.
inline SpecIndex GivenSpec(const GangRecord& r) {
  return r.wanted == kNoSpec ? r.spec : r.wanted;
}
// Whether it lacks tasks that its raised minimum asks, and may get them.
bool LooksForRaised(const SchedulerTables& tables, const GangRecord& r);

}  // namespace muster
