// Reasons that every placer gives.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/cluster/cluster.h"
#include "muster/reason.h"
#include "muster/resources.h"

namespace muster::solver {

inline Reason OfRole(ReasonCode code, uint32_t role, int64_t needed,
                     int64_t available) {
  return {.code = code,
          .object_kind = ReasonObject::kRole,
          .object = role,
          .needed = needed,
          .available = available};
}

inline Reason OfLevel(ReasonCode code, int level, int64_t needed,
                      int64_t available) {
  return {.code = code,
          .object_kind = ReasonObject::kLevel,
          .object = static_cast<uint32_t>(level),
          .needed = needed,
          .available = available};
}

// Why `slots` are too few for the tasks of a role that are needed: of which
// kind there is too little, by what free_of(kind) says is free in all.
template <class F>
Reason Shortage(const Cluster& cluster, ShapeId shape, uint32_t role,
                int64_t needed, int64_t slots, const F& free_of) {
  const Resources& demand = cluster.demand(shape);
  // The device kind first: it is what gangs wait for.
  const ResourceKind kinds = cluster.resource_count();
  for (ResourceKind i = 0; i <= kinds; ++i) {
    const ResourceKind k = i == 0 ? cluster.device_kind() : i - 1;
    if (k >= kinds || demand[k] <= 0) continue;
    const int64_t free = free_of(k);
    if (free >= needed * demand[k]) continue;
    Reason reason =
        OfRole(ReasonCode::kInsufficient, role, needed * demand[k], free);
    reason.resource = k;
    return reason;
  }
  // Enough in all, but in pieces too small.
  const bool devices = cluster.device_request(shape).count > 0;
  return OfRole(devices && slots == 0 ? ReasonCode::kNoMatchingDevice
                                      : ReasonCode::kInsufficient,
                role, needed, slots);
}

// The first kind of which `times` such demands go beyond the headroom (null: no
// bound), if there is one.
inline std::optional<Reason> OverHeadroom(const Resources* headroom,
                                          const Resources& demand,
                                          int64_t times) {
  if (headroom == nullptr) return std::nullopt;
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    const int64_t needed = demand[k] * times;
    if (needed == 0 || needed <= (*headroom)[k]) continue;
    return Reason{.code = ReasonCode::kQueueLimit,
                  .resource = k,
                  .needed = needed,
                  .available = (*headroom)[k]};
  }
  return std::nullopt;
}

}  // namespace muster::solver
