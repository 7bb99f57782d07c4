#include "lib/scheduler/pass.h"
#include "lib/scheduler/remaining.h"

namespace muster {

void Grow::Forget() {
  turns_.Clear();
  tables_.lists.growing().ForgetChangedQueues();
}

void Grow::Run() {
  GangClassList& growing = tables_.lists.growing();
  if (pass_.budget.exhausted()) return;
  // What was put off before may take in the next round what would be grown
  // into.
  if (!tables_.round_grew && !tables_.lists.waiting().put_off().empty()) return;
  tables_.round_grew = true;
  pass_.plan.Grew();
  Forget();
  for (const QueueIndex leaf : growing.ActiveLeaves()) Refresh(leaf);
  while (turns_.next() != kNoQueue && !pass_.budget.exhausted()) {
    const QueueIndex leaf = turns_.next();
    GrowFirst(tables_.lists.FirstToAsk(growing, leaf));
    RefreshChanged(growing, leaf,
                   [this](QueueIndex changed) { Refresh(changed); });
  }
}

void Grow::Refresh(QueueIndex leaf) {
  GangClassList& growing = tables_.lists.growing();
  const GangClassIndex c = tables_.lists.FirstToAsk(growing, leaf);
  if (c == kNoClass) return turns_.Withdraw(leaf);
  const QueuePosition& first = growing.at(c).first();
  turns_.Set(leaf, {first, &NextDemand(first.gang)});
}

// What one more task would ask.
const Resources& Grow::NextDemand(GangIndex g) {
  const GangRecord& r = tables_.gangs.at(g);
  const GangSpec& spec = tables_.SpecOf(r);
  const std::vector<Role>& roles = spec.gang().roles;
  size_t next = 0;
  if (roles.size() > 1) {
    CountTasks(r, spec, &counts_);
    next = roles.size();
    for (size_t i = 0; i < roles.size(); ++i) {
      if (counts_[i] >= roles[i].desired_tasks) continue;
      if (next == roles.size() || roles[i].order > roles[next].order) next = i;
    }
    if (next == roles.size()) next = 0;
  }
  return tables_.cluster.demand(spec.prepared.shapes[next][0]);
}

void Grow::GrowFirst(GangClassIndex c) {
  GangClassList& growing = tables_.lists.growing();
  const GangIndex g = growing.at(c).first().gang;
  const GangRecord& r = tables_.gangs.at(g);
  const Remaining remaining(r, tables_.SpecOf(r));
  PlacementRequest request = RequestFor(tables_, g, Ledger::kBoth, &room_);
  request.gang = &remaining.gang();
  request.fixed = remaining.fixed();
  request.most = 1;
  // Where tasks lie does not depend on how many are added at a time: each
  // where it is best by itself.
  request.placement_steps = 0;
  placement_.Clear();
  pass_.solver.Grow(tables_.cluster, request, &placement_);
  pass_.Spend(placement_);
  pass_.budget.Charge(1, kClassNs);
  if (!placement_.tasks.empty()) {
    remaining.Rename(&placement_.tasks);
    pass_.decisions.Grow(g, placement_.tasks, {.code = ReasonCode::kFits});
    return;
  }
  Questions answer = growing.questions(c);
  answer.active = 0;
  answer.reason = placement_.reason.code == ReasonCode::kQueueLimit
                      ? WithQueue(tables_, r, Ledger::kBoth, placement_.reason)
                      : WhyNot(g);
  pass_.plan.Answer(growing, c, answer);
}

// A queue's limit, or room. Of what could be added a part may have had room,
// but no quota: whatever role it is of, and on a fabric, where several may have
// room though one has none, however many there are.
Reason Grow::WhyNot(GangIndex g) {
  const GangRecord& r = tables_.gangs.at(g);
  const GangSpec& spec = tables_.SpecOf(r);
  const std::vector<Role>& roles = spec.gang().roles;
  const bool by_one = tables_.config.fabrics.empty();
  CountTasks(r, spec, &counts_);
  for (size_t i = 0; i < roles.size(); ++i) {
    if (counts_[i] >= roles[i].desired_tasks) continue;
    const uint32_t tasks = by_one ? 1 : roles[i].desired_tasks - counts_[i];
    room_.Clear();
    room_.AddTimes(tables_.cluster.demand(spec.prepared.shapes[i][0]), tasks);
    const LimitExcess excess =
        tables_.quota.OverLimit(r.queue, room_, Ledger::kBoth);
    if (excess) return ReasonOf(excess, ReasonCode::kQueueLimit);
  }
  return {.code = ReasonCode::kInsufficient};
}

}  // namespace muster
