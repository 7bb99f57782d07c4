#include <algorithm>
#include <string>

#include "lib/scheduler/make_room.h"

namespace muster {

QueueVictimPolicy::QueueVictimPolicy(
    SchedulerTables& tables, const GangRecord& preemptor,
    const Resources& demand, std::span<const VictimCandidate> candidates)
    : tables_(tables),
      preemptor_(preemptor.queue),
      priority_(tables.PriorityOf(preemptor)),
      demand_(demand),
      candidates_(candidates),
      excesses_(tables.quota.Excesses(preemptor_, demand, Ledger::kLater)),
      taken_(candidates.size()),
      disrupted_(candidates.size()),
      overlay_(tables.queues) {}

const GangRecord& QueueVictimPolicy::GangOf(uint32_t i) const {
  return tables_.gangs.at(candidates_[i].gang.index);
}

// A nomination is taken back without disrupting anything.
bool QueueVictimPolicy::Disrupts(uint32_t i, uint32_t tasks) const {
  return candidates_[i].stoppable && tasks == candidates_[i].tasks.size() &&
         GangOf(i).phase != GangPhase::kNominated;
}

bool QueueVictimPolicy::BudgetsAllow(uint32_t i) const {
  const auto& budgets = tables_.budgets.Of(GangOf(i).key);
  return std::ranges::all_of(budgets, [&](const std::string& key) {
    const auto taken = disruptions_.find(key);
    return tables_.budgets.Find(key)->allowed >
           (taken == disruptions_.end() ? 0 : taken->second);
  });
}

void QueueVictimPolicy::CountDisrupted(uint32_t i, int64_t sign) {
  for (const std::string& key : tables_.budgets.Of(GangOf(i).key)) {
    disruptions_[key] += sign;
  }
  disrupted_[i] = sign > 0;
}

bool QueueVictimPolicy::Add(uint32_t i, uint32_t tasks) {
  const bool disrupts = Disrupts(i, tasks);
  if (disrupts && !BudgetsAllow(i)) return false;
  const QueueIndex queue = GangOf(i).queue;
  const Resources& amount =
      tables_.holdings.UsageOf(candidates_[i].tasks.last(tasks));
  if (queue != preemptor_ &&
      !tables_.quota.MayLose(queue, preemptor_, demand_, amount,
                             {priority_, candidates_[i].priority}, &overlay_)) {
    return false;
  }
  if (disrupts) CountDisrupted(i, 1);
  overlay_.Charge(queue, amount, -1);
  taken_[i] = amount;
  return true;
}

void QueueVictimPolicy::Remove(uint32_t i) {
  overlay_.Charge(GangOf(i).queue, taken_[i], 1);
  taken_[i].Clear();
  if (disrupted_[i]) CountDisrupted(i, -1);
}

bool QueueVictimPolicy::GivesQuota(uint32_t i) const {
  return std::ranges::any_of(excesses_, [&](const LimitExcess& e) {
    return tables_.queues.IsWithin(GangOf(i).queue, e.queue);
  });
}

bool QueueVictimPolicy::MaySuffice() const {
  return std::ranges::all_of(excesses_, [&](const LimitExcess& e) {
    int64_t lacks = e.needed - e.available;
    for (uint32_t i = 0; i < candidates_.size() && lacks > 0; ++i) {
      if (!tables_.queues.IsWithin(GangOf(i).queue, e.queue)) continue;
      lacks -= tables_.holdings.UsageOf(candidates_[i].tasks)[e.kind];
    }
    return lacks <= 0;
  });
}

bool QueueVictimPolicy::QuotaSufficesFor(const Resources& demand) const {
  return !tables_.quota.OverLimit(preemptor_, demand, Ledger::kLater,
                                  &overlay_);
}

}  // namespace muster
