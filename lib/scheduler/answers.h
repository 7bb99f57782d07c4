// Pending decisions: which ones the host has not fully answered, and their
// gangs.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "lib/queue/queue_position.h"
#include "lib/scheduler/gang_table.h"
#include "muster/decision.h"
#include "muster/state.h"

namespace muster {

// Invariant: a decision is pending while tasks of its gang carry its number
// (TaskRecord::pending_seq), and PendingRecord::unanswered counts them. Records
// are changed inside a GangEdit. Not synchronised. O(pending decisions of the
// gang).
class Answers {
 public:
  // An answer of one task of the gang, whose record this is, to the decision is
  // expected from now on.
  void Expect(GangIndex g, GangRecord& r, uint64_t seq, DecisionKind kind,
              std::string_view on_behalf_of);
  // The task's answer is not expected any more.
  void Settle(GangRecord& r, TaskRecord& task);

  // The gang of the pending decision; kNoGang if it is not pending.
  GangIndex OwnerOf(uint64_t seq) const;
  // The pending decision, with the tasks that have not answered.
  static PendingDecision PendingOf(const GangRecord& r, uint64_t seq);
  size_t size() const { return owners_.size(); }

  // The record has come as it is, with pending decisions, or goes.
  void Know(GangIndex g, const GangRecord& r);
  void Forget(const GangRecord& r);

 private:
  absl::flat_hash_map<uint64_t, GangIndex> owners_;
};

// Whether the decision asks to stop tasks.
bool IsStop(DecisionKind kind);

}  // namespace muster
