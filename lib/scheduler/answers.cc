#include "lib/scheduler/answers.h"

#include <algorithm>
#include <string>

namespace muster {

bool IsStop(DecisionKind kind) {
  return kind == DecisionKind::kEvict || kind == DecisionKind::kShrink ||
         kind == DecisionKind::kSuspend || kind == DecisionKind::kCancel;
}

void Answers::Expect(GangIndex g, GangRecord& r, uint64_t seq,
                     DecisionKind kind, std::string_view on_behalf_of) {
  if (r.pending.empty() || r.pending.back().seq != seq) {
    r.pending.push_back({seq, kind, 0, std::string(on_behalf_of)});
    owners_[seq] = g;
  }
  ++r.pending.back().unanswered;
}

void Answers::Settle(GangRecord& r, TaskRecord& task) {
  if (task.pending_seq == 0) return;
  const auto it =
      std::ranges::find(r.pending, task.pending_seq, &PendingRecord::seq);
  task.pending_seq = 0;
  if (it == r.pending.end() || --it->unanswered > 0) return;
  owners_.erase(it->seq);
  r.pending.erase(it);
}

GangIndex Answers::OwnerOf(uint64_t seq) const {
  const auto it = owners_.find(seq);
  return it == owners_.end() ? kNoGang : it->second;
}

PendingDecision Answers::PendingOf(const GangRecord& r, uint64_t seq) {
  const PendingRecord& pending =
      *std::ranges::find(r.pending, seq, &PendingRecord::seq);
  PendingDecision decision{seq, pending.kind, pending.on_behalf_of, {}};
  for (const TaskRecord& task : r.tasks) {
    if (task.pending_seq == seq) decision.tasks.push_back(task.task);
  }
  return decision;
}

void Answers::Know(GangIndex g, const GangRecord& r) {
  for (const PendingRecord& pending : r.pending) owners_[pending.seq] = g;
}

void Answers::Forget(const GangRecord& r) {
  for (const PendingRecord& pending : r.pending) owners_.erase(pending.seq);
}

}  // namespace muster
