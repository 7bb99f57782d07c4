// What keeps evictions from going round in circles: see EvictionBackoff.
#pragma once

#include <cstdint>

#include "muster/event.h"
#include "muster/ids.h"

namespace muster {

struct GangRecord;
struct SchedulerTables;

// min(base << doublings, most).
Duration Doubled(Duration base, uint32_t doublings, Duration most);

// The gang, which has not lost its tasks yet, is evicted for another one.
void CountEviction(GangRecord& r, Time now);
// The gang was to be stopped, and goes on.
void UndoEviction(GangRecord& r);
// The gang makes no room for itself before. 0: at any time.
Time WaitsToMakeRoomUntil(const SchedulerTables& tables, const GangRecord& r);
// Others gave way to it, and nothing external has happened since.
bool HasMadeRoom(const SchedulerTables& tables, const GangRecord& r);
// Either of these: others do not give way to it now.
bool MayMakeNoRoom(const SchedulerTables& tables, const GangRecord& r);
// For so long after its start it is no victim.
Duration ProtectionOf(const SchedulerTables& tables, const GangRecord& r);

// Whether the event, not taken yet, says anything but that the host did as it
// was told. O(tasks it answers x log tasks).
bool IsExternal(const SchedulerTables& tables, const EventBody& what);
// Gangs that have made room may do so again. O(those of them that wait).
void SomethingExternal(SchedulerTables& tables);

}  // namespace muster
