#include "lib/scheduler/victim_law.h"

#include <utility>

namespace muster {

VictimLaw::VictimLaw(Core& core, Holdings& holdings, QueueIndex preemptor,
                     const Resources& demand,
                     std::span<const VictimCandidate> candidates)
    : core_(core),
      holdings_(holdings),
      preemptor_(preemptor),
      demand_(demand),
      candidates_(candidates),
      taken_(candidates.size()),
      overlay_(core.queues) {}

QueueIndex VictimLaw::QueueOf(uint32_t i) const {
  return core_.gangs.at(candidates_[i].gang.index).queue;
}

bool VictimLaw::Add(uint32_t i, uint32_t tasks) {
  const QueueIndex queue = QueueOf(i);
  Resources amount = holdings_.UsageOf(candidates_[i].tasks.last(tasks));
  if (queue != preemptor_ &&
      !core_.law.MayLose(queue, preemptor_, demand_, amount, &overlay_)) {
    return false;
  }
  overlay_.Charge(queue, amount, -1);
  taken_[i] = std::move(amount);
  return true;
}

void VictimLaw::Remove(uint32_t i) {
  overlay_.Charge(QueueOf(i), taken_[i], 1);
  taken_[i].Clear();
}

bool VictimLaw::QuotaSufficesFor(const Resources& demand) const {
  return !core_.law.OverLimit(preemptor_, demand, Ledger::kLater, &overlay_);
}

}  // namespace muster
