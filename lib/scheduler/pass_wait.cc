// Serving the gangs that wait: which queue is next, and what its first gang
// gets.
#include <algorithm>

#include "lib/scheduler/impl.h"

namespace muster {

// --- Whose turn it is
// --------------------------------------------------------- cursors_[q] of a
// leaf is its first gang not found blocked in this pass; of an inner queue,
// that of its best child. A queue's children stand in a heap by turn; an entry
// whose stamp is old is passed over. Only the path above a leaf that changed is
// looked at again: O(depth x log children).

void Scheduler::Impl::AdvanceLeaf(QueueIndex q, const GangRank* from) {
  LeafCursor& cursor = cursors_[q];
  cursor.active = false;
  const ClassIndex c = waiting.Next(q, from, [this](const WaitingClass& cls) {
    return cls.blocked_in_pass == pass_;
  });
  if (c == kNoClass) return;
  cursor.active = true;
  cursor.head = c;
  cursor.rank = waiting.at(c).first();
}

Scheduler::Impl::Turn Scheduler::Impl::TurnOf(QueueIndex q) const {
  const LeafCursor& cursor = cursors_[q];
  Turn turn = TurnWith(q, cursor.rank, DemandOf(cursor.rank.gang));
  turn.stamp = cursor.stamp;
  return turn;
}

// The queue's dominant share as a fraction: used / (capacity x weight).
Scheduler::Impl::Turn Scheduler::Impl::TurnWith(QueueIndex q,
                                                const GangRank& rank,
                                                const Resources& demand) const {
  const QueueTree::Entry& e = queues.at(q);
  Turn turn{.queue = q, .rank = rank};
  turn.within = queues.WithinGuarantee(q, demand);
  const Resources& total = cluster.total_capacity();
  for (ResourceKind k = 0; k < total.size(); ++k) {
    if (total[k] <= 0) continue;
    const Wide whole = Wide{total[k]} * e.queue.weight;
    if (Wide{e.usage[k]} * turn.of > Wide{turn.used} * whole) {
      turn.used = e.usage[k];
      turn.of = whole;
    }
  }
  return turn;
}

// Heaps keep the greatest on top: whether a's turn comes after b's. See Queue.
bool Scheduler::Impl::Turn::After(const Turn& a, const Turn& b) {
  if (a.within != b.within) return b.within;
  if (a.rank.priority != b.rank.priority) {
    return a.rank.priority < b.rank.priority;
  }
  const Wide left = Wide{a.used} * b.of, right = Wide{b.used} * a.of;
  if (left != right) return left > right;
  return b.rank < a.rank;
}

// The leaf's cursor or usage changed: its turn, and that of all above it, may
// have.
void Scheduler::Impl::RefreshUp(QueueIndex q) {
  const QueueIndex top = queues.limit();  // Stands for "above the roots".
  while (q != top) {
    QueueIndex parent = queues.at(q).parent;
    if (parent == kNoQueue) parent = top;
    ++cursors_[q].stamp;
    std::vector<Turn>& turns = turns_[parent];
    if (cursors_[q].active) {
      turns.push_back(TurnOf(q));
      std::push_heap(turns.begin(), turns.end(), Turn::After);
    }
    while (!turns.empty() &&
           turns.front().stamp != cursors_[turns.front().queue].stamp) {
      std::pop_heap(turns.begin(), turns.end(), Turn::After);
      turns.pop_back();
    }
    LeafCursor& above = cursors_[parent];
    above.active = !turns.empty();
    if (above.active) {
      above.head = cursors_[turns.front().queue].head;
      above.rank = cursors_[turns.front().queue].rank;
    }
    q = parent;
  }
}

// Finds the queues with somebody waiting, and whose turn it is.
void Scheduler::Impl::OpenQueues() {
  const size_t size = queues.limit() + 1;
  cursors_.resize(size);
  turns_.resize(size);
  cursors_[queues.limit()].active = false;
  turns_[queues.limit()].clear();
  for (QueueIndex leaf : waiting.queues()) {
    for (QueueIndex q = leaf; q != kNoQueue; q = queues.at(q).parent) {
      cursors_[q].active = false;
      cursors_[q].opened_in_pass = pass_;
      turns_[q].clear();
    }
  }
  for (QueueIndex leaf : waiting.queues()) {
    waiting.Rewind(leaf);
    if (queues.Held(leaf)) continue;
    AdvanceLeaf(leaf, nullptr);
    RefreshUp(leaf);
  }
}

const Resources& Scheduler::Impl::DemandOf(GangIndex g) const {
  return LeastOf(gangs.description(gangs.at(g).description), cluster);
}

// --- What they get
// --------------------------------------------------------------

void Scheduler::Impl::ServeWaiting(Plan* plan) {
  OpenQueues();
  const LeafCursor& next = cursors_[queues.limit()];
  while (next.active) {
    const ClassIndex c = next.head;
    const GangRank rank = next.rank;
    const QueueIndex q = waiting.at(c).queue;
    if (steps_left_ == 0) break;
    SpendSteps(1);
    touched_.clear();
    if (ServeClass(c)) {
      SpendSteps(gangs.at(rank.gang).tasks.size());
    } else {
      NoteBlocked(c, rank.gang, plan);
      if (queues.at(q).queue.ordering == QueueOrdering::kStrictFifo) {
        BlockBehind(q, rank.gang);
      }
    }
    AdvanceLeaf(q, &rank);
    RefreshUp(q);
    // Victims' queues hold less now, and their gangs wait again.
    for (QueueIndex above : touched_) {
      while (above != kNoQueue && cursors_[above].opened_in_pass != pass_) {
        above = queues.at(above).parent;
      }
      if (above != kNoQueue) RefreshUp(above);
    }
  }
  if (steps_left_ == 0) BlockUnserved();
}

void Scheduler::Impl::NoteBlocked(ClassIndex c, GangIndex g, Plan* plan) {
  WaitingClass& cls = waiting.at(c);
  cls.blocked_in_pass = pass_;
  Waiting& w = plan->waiting.emplace_back();
  w.gang = {g, gangs.at(g).generation};
  w.gang_key = plan->AddText(gangs.at(g).key);
  w.count = static_cast<uint32_t>(cls.size());
  w.reason = cls.reason;
}

// The rest of a strict queue waits for its head.
void Scheduler::Impl::BlockBehind(QueueIndex q, GangIndex head) {
  waiting.ForEach(q, [&](ClassIndex c) {
    WaitingClass& cls = waiting.at(c);
    if (cls.blocked_in_pass == pass_) return;
    cls.blocked_in_pass = pass_;
    cls.reason = {.code = ReasonCode::kBehindHead,
                  .object_kind = ReasonObject::kGang,
                  .object = head};
  });
}

// The budget is spent: those not looked at are told so.
void Scheduler::Impl::BlockUnserved() {
  for (QueueIndex q : waiting.queues()) {
    waiting.ForEach(q, [&](ClassIndex c) {
      WaitingClass& cls = waiting.at(c);
      if (cls.blocked_in_pass != pass_) {
        cls.reason = {.code = ReasonCode::kBudget};
      }
    });
  }
}

// Tries the first gang of the class; false, with the reason noted, if it must
// wait, and with it the whole class.
bool Scheduler::Impl::ServeClass(ClassIndex c) {
  const GangIndex g = waiting.at(c).first().gang;
  Reason reason;
  if (gangs.at(g).phase == GangPhase::kSuspended) {
    if (TryResume(g, &reason)) return true;
    waiting.at(c).reason = reason;
    return false;
  }
  const GangRecord& r = gangs.at(g);
  const Template& t = gangs.description(r.description);
  const bool over_quota = QuotaBlocks(r, t, &reason);
  if (!over_quota && TryStart(c, g, &reason)) return true;
  if (TryPreempt(c, g, &reason)) return true;
  waiting.at(c).reason = reason;
  return false;
}

bool Scheduler::Impl::QuotaBlocks(const GangRecord& r, const Template& t,
                                  Reason* reason) const {
  if (!t.least_is_exact) return false;  // The solver keeps to the headroom.
  ResourceKind kind = 0;
  QueueIndex q = queues.NeverWithin(r.queue, LeastOf(t, cluster), &kind);
  const bool never = q != kNoQueue;
  if (!never)
    q = queues.OverLimit(r.queue, LeastOf(t, cluster), Ledger::kLater, &kind);
  if (q == kNoQueue) return false;
  reason->code = never ? ReasonCode::kOverLimitAlways : ReasonCode::kQueueLimit;
  reason->object_kind = ReasonObject::kQueue;
  reason->object = q;
  reason->resource = kind;
  reason->needed = LeastOf(t, cluster)[kind];
  reason->available = queues.at(q).limit[kind];
  if (!never) reason->available -= queues.at(q).usage[kind];
  return true;
}

// Whether what was found out about the class still holds: nothing freed since
// could make it fit. A yes spares the solver a question with a known answer.
bool Scheduler::Impl::StillNoRoom(const WaitingClass& cls, const Template& t) {
  if (!cls.no_room_known ||
      cls.no_room_structure != cluster.structure_version() ||
      !cluster.FreedSince(cls.no_room_at, &freed_)) {
    return false;
  }
  if (freed_.empty()) return true;
  if (!t.single || freed_.size() > 256) return false;
  for (NodeIndex n : freed_) {
    if (!cluster.exists(n)) continue;
    for (ShapeId shape : t.prepared.shapes[0]) {
      if (cluster.Slots(n, shape, Ledger::kLater, 1) > 0) return false;
    }
  }
  return true;
}

bool Scheduler::Impl::TryStart(ClassIndex c, GangIndex g, Reason* reason) {
  const GangRecord& r = gangs.at(g);
  const Template& t = gangs.description(r.description);
  WaitingClass& cls = waiting.at(c);
  if (StillNoRoom(cls, t)) {
    cls.no_room_at = cluster.freed_version();
    *reason = cls.no_room_reason;
    return false;
  }
  PlacementRequest request;
  request.gang = &t.prepared;
  request.key = r.key;
  bool bounded = false;
  for (Ledger ledger : {Ledger::kBoth, Ledger::kLater}) {
    if (ledger == Ledger::kLater && releasing_ == 0) break;
    request.ledger = ledger;
    bounded = queues.Headroom(r.queue, ledger, &headroom_);
    if (bounded) request.headroom = &headroom_;
    placement_.Clear();
    solver_->Place(cluster, request, &placement_);
    if (placement_.fit == Fit::kFits) {
      cls.no_room_known = false;
      if (ledger == Ledger::kBoth) {
        CommitStart(g, placement_.tasks, {.code = ReasonCode::kFits});
      } else {
        CommitNominate(g, placement_.tasks,
                       {.code = ReasonCode::kWaitingForRelease});
      }
      return true;
    }
    if (ledger == Ledger::kBoth) *reason = placement_.reason;
  }
  // With a quota in the way the answer is not about nodes alone.
  cls.no_room_known = !bounded || t.least_is_exact;
  cls.no_room_at = cluster.freed_version();
  cls.no_room_structure = cluster.structure_version();
  cls.no_room_reason = *reason;
  return false;
}

// A suspended gang resumes where it was, when all of it has room again.
bool Scheduler::Impl::TryResume(GangIndex g, Reason* reason) {
  GangRecord& r = gangs.at(g);
  const Cluster::Mark mark = cluster.Begin();
  bool room = true;
  Resources demand(static_cast<uint32_t>(config.resources.size()));
  for (const TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kSuspended) continue;
    if (!cluster.Fits(task.at, Ledger::kBoth) || Tainted(r, task)) {
      *reason = {.code = ReasonCode::kSuspendedWaits,
                 .object_kind = ReasonObject::kNode,
                 .object = task.at.node};
      room = false;
      break;
    }
    cluster.Charge(task.at, Ledger::kBoth);
    demand.Add(UsageOf(task.at));
  }
  cluster.Rollback(mark);
  if (!room) return false;
  ResourceKind kind = 0;
  const QueueIndex q = queues.OverLimit(r.queue, demand, Ledger::kBoth, &kind);
  if (q != kNoQueue) {
    *reason = {
        .code = ReasonCode::kQueueLimit,
        .object_kind = ReasonObject::kQueue,
        .object = q,
        .resource = kind,
        .needed = demand[kind],
        .available = queues.at(q).limit[kind] - queues.at(q).usage[kind]};
    return false;
  }
  CommitResume(g);
  return true;
}

}  // namespace muster
