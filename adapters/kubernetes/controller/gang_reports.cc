#include "adapters/kubernetes/controller/gang_reports.h"

#include <algorithm>

namespace muster::kubernetes {

std::optional<Time> CheckpointOf(const GangRecord& gang) {
  std::optional<Time> earliest;
  for (const auto& [uid, member] : gang.members()) {
    if (!member.pod->runs()) continue;
    const std::optional<Time>& said = member.pod->checkpoint;
    if (said) earliest = std::min(earliest.value_or(*said), *said);
  }
  return earliest;
}

}  // namespace muster::kubernetes
