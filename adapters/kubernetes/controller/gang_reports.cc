#include "adapters/kubernetes/controller/gang_reports.h"

#include <algorithm>

namespace muster::kubernetes {

std::optional<Time> CheckpointOf(const GangRecord& gang,
                                 const GangRecord::Pods& pods) {
  std::optional<Time> earliest;
  for (const auto& [uid, task] : gang.members()) {
    const auto it = pods.find(uid);
    if (it == pods.end() || !it->second.runs()) continue;
    const std::optional<Time>& said = it->second.checkpoint;
    if (said) earliest = std::min(earliest.value_or(*said), *said);
  }
  return earliest;
}

}  // namespace muster::kubernetes
