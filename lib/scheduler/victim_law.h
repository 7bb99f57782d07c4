// The law for one preemptor, as the search for victims asks it.
#ifndef MUSTER_LIB_SCHEDULER_VICTIM_LAW_H_
#define MUSTER_LIB_SCHEDULER_VICTIM_LAW_H_

#include <cstdint>
#include <span>
#include <vector>

#include "lib/queue/quota_law.h"
#include "lib/scheduler/core.h"
#include "lib/scheduler/holdings.h"
#include "muster/preemptor.h"

namespace muster {

// Steps through sets of victims with an overlay of what queues would use: a
// victim of another queue is lawful while its queue, less the victims before
// it, may lose what it holds. All arguments outlive it.
class VictimLaw final : public VictimRules {
 public:
  VictimLaw(Core& core, Holdings& holdings, QueueIndex preemptor,
            const Resources& demand,
            std::span<const VictimCandidate> candidates);

  bool Add(uint32_t i, uint32_t tasks) override;
  void Remove(uint32_t i) override;
  bool QuotaSuffices() const override { return QuotaSufficesFor(demand_); }
  // With the victims of the set gone.
  bool QuotaSufficesFor(const Resources& demand) const;

 private:
  QueueIndex QueueOf(uint32_t i) const;

  Core& core_;
  Holdings& holdings_;
  const QueueIndex preemptor_;
  const Resources& demand_;
  std::span<const VictimCandidate> candidates_;
  std::vector<Resources> taken_;
  QuotaOverlay overlay_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_VICTIM_LAW_H_
