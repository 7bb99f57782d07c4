#include "lib/scheduler/answers.h"

#include <algorithm>
#include <string>

namespace muster {

bool IsStop(DecisionKind kind) {
  return kind == DecisionKind::kEvict || kind == DecisionKind::kShrink ||
         kind == DecisionKind::kSuspend || kind == DecisionKind::kCancel;
}

void Answers::Owe(GangIndex g, GangRecord& r, uint64_t seq, DecisionKind kind,
                  std::string_view on_behalf_of) {
  if (r.open.empty() || r.open.back().seq != seq) {
    r.open.push_back({seq, kind, 0, std::string(on_behalf_of)});
    owners_[seq] = g;
  }
  ++r.open.back().unanswered;
}

void Answers::Settle(GangRecord& r, TaskRecord& task) {
  if (task.open_seq == 0) return;
  const auto it = std::ranges::find(r.open, task.open_seq, &OpenRecord::seq);
  task.open_seq = 0;
  if (it == r.open.end() || --it->unanswered > 0) return;
  owners_.erase(it->seq);
  r.open.erase(it);
}

GangIndex Answers::OwnerOf(uint64_t seq) const {
  const auto it = owners_.find(seq);
  return it == owners_.end() ? kNoGang : it->second;
}

OpenDecision Answers::OpenOf(const GangRecord& r, uint64_t seq) {
  const OpenRecord& open = *std::ranges::find(r.open, seq, &OpenRecord::seq);
  OpenDecision decision{seq, open.kind, open.on_behalf_of, {}};
  for (const TaskRecord& task : r.tasks) {
    if (task.open_seq == seq) decision.tasks.push_back(task.task);
  }
  return decision;
}

void Answers::Know(GangIndex g, const GangRecord& r) {
  for (const OpenRecord& open : r.open) owners_[open.seq] = g;
}

void Answers::Forget(const GangRecord& r) {
  for (const OpenRecord& open : r.open) owners_.erase(open.seq);
}

}  // namespace muster
