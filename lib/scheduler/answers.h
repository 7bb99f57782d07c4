// The answers that the host owes: which decisions are open, and about whom.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "lib/queue/gang_rank.h"
#include "lib/scheduler/gang_table.h"
#include "muster/decision.h"
#include "muster/state.h"

namespace muster {

// Invariant: a decision is open while tasks of its gang carry its number
// (TaskRecord::open_seq), and OpenRecord::unanswered counts them. Records are
// changed inside a GangEdit. Not synchronised. O(open decisions of the gang).
class Answers {
 public:
  // A task of the gang, whose record this is, owes an answer to the decision
  // from now on.
  void Owe(GangIndex g, GangRecord& r, uint64_t seq, DecisionKind kind,
           std::string_view on_behalf_of);
  // The task owes none any more.
  void Settle(GangRecord& r, TaskRecord& task);

  // The gang that the open decision is about; kNoGang if it is not open.
  GangIndex OwnerOf(uint64_t seq) const;
  // The open decision, of the gang that owns it, with the tasks that owe.
  static OpenDecision OpenOf(const GangRecord& r, uint64_t seq);
  size_t size() const { return owners_.size(); }

  // The record has come as it is, with open decisions, or goes.
  void Know(GangIndex g, const GangRecord& r);
  void Forget(const GangRecord& r);

 private:
  absl::flat_hash_map<uint64_t, GangIndex> owners_;
};

// Whether the decision asks to stop tasks.
bool IsStop(DecisionKind kind);

}  // namespace muster
