// The law for one preemptor, as the search for victims asks it.
#ifndef MUSTER_LIB_SCHEDULER_VICTIM_LAW_H_
#define MUSTER_LIB_SCHEDULER_VICTIM_LAW_H_

#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/string_map.h"
#include "lib/queue/quota_law.h"
#include "lib/scheduler/core.h"
#include "muster/preemptor.h"

namespace muster {

// Steps through sets of victims with an overlay of what queues would use: a
// victim of another queue is lawful while its queue, less the victims before
// it, may lose what it holds; a gang that is stopped, while each disruption
// budget that names it has room beside the victims before it. All arguments
// outlive it.
class VictimLaw final : public VictimRules {
 public:
  VictimLaw(Core& core, QueueIndex preemptor, const Resources& demand,
            std::span<const VictimCandidate> candidates);

  bool Add(uint32_t i, uint32_t tasks) override;
  void Remove(uint32_t i) override;
  bool QuotaSuffices() const override { return QuotaSufficesFor(demand_); }
  // With the victims of the set gone.
  bool QuotaSufficesFor(const Resources& demand) const;

 private:
  const GangRecord& GangOf(uint32_t i) const;
  bool Disrupts(uint32_t i, uint32_t tasks) const;
  // What victims take of the budgets that name candidate i.
  void CountDisrupted(uint32_t i, int64_t sign);
  bool BudgetsAllow(uint32_t i) const;

  Core& core_;
  const QueueIndex preemptor_;
  const Resources& demand_;
  std::span<const VictimCandidate> candidates_;
  std::vector<Resources> taken_;
  std::vector<bool> disrupted_;
  StringMap<int64_t> disruptions_;  // By budget.
  QuotaOverlay overlay_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_VICTIM_LAW_H_
