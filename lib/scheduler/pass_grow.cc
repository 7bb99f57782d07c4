// Growth: what nobody who waits could take goes to the gangs that can use it,
// by turns.
//
// Whose turn it is: between queues as with gangs that wait (see Queue), with
// what each holds by then; in a queue the higher priority, then the gang with
// the fewest tasks beyond its least, then rank. A turn is one task, or what
// comes whole. So a queue's share rises until others are as near to theirs, and
// gangs of equal priority share alike.
//
// Nobody grows into room that is promised, nor before all who wait have been
// served, by victims that this pass placed as well; and what is grown is
// surplus, which gives way again (pass_preempt.cc).
#include <algorithm>

#include "lib/scheduler/impl.h"

namespace muster {

void Scheduler::Impl::GrowGangs() {
  if (put_off_) return;  // The next pass is at once.
  FindGrowers();
  while (!growers_.empty() && steps_left_ > 0) {
    const size_t next = NextGrower();
    Grower& grower = growers_[next];
    const uint64_t turn = std::min<uint64_t>(TurnSize(next), steps_left_);
    const uint32_t added =
        GrowGang(grower.rank.gang, static_cast<uint32_t>(turn));
    SpendSteps(added);
    if (added > 0 && NoteNextTask(grower)) continue;
    growers_[next] = growers_.back();
    growers_.pop_back();
  }
}

// The gangs that may grow, and the queues above them, the deepest first. A step
// is spent on each, whether or not a vain try is remembered.
void Scheduler::Impl::FindGrowers() {
  ranks_.assign(growable_.begin(), growable_.end());
  for (const DraftDecision& d : drafts_) {
    if (d.decision.kind != DecisionKind::kStart) continue;
    const GangRecord& r = gangs.at(d.gang);
    if (r.tasks.size() < gangs.description(r.description).most_tasks) {
      ranks_.push_back(RankOf(d.gang));
    }
  }
  std::sort(ranks_.begin(), ranks_.end());
  growers_.clear();
  for (const GangRank& rank : ranks_) {
    if (steps_left_ == 0) break;
    SpendSteps(1);
    if (!MayGrow(rank.gang)) continue;
    Grower grower{.rank = rank};
    if (NoteNextTask(grower)) growers_.push_back(grower);
  }
  if (growers_.empty()) return;
  growing_queues_.clear();
  best_grower_.assign(queues.limit() + 1, kNoGrower);
  for (const Grower& grower : growers_) {
    QueueIndex q = gangs.at(grower.rank.gang).queue;
    for (; q != kNoQueue && best_grower_[q] == kNoGrower;
         q = queues.at(q).parent) {
      best_grower_[q] = 0;  // Only a mark yet.
      growing_queues_.push_back(q);
    }
  }
  std::sort(growing_queues_.begin(), growing_queues_.end(),
            [this](QueueIndex a, QueueIndex b) {
              const uint32_t x = queues.at(a).depth, y = queues.at(b).depth;
              return x != y ? x > y : a < b;
            });
}

bool Scheduler::Impl::MayGrow(GangIndex g) {
  const GangRecord& r = gangs.at(g);
  if (r.trouble != ReasonCode::kNone || r.cancel || queues.Held(r.queue)) {
    return false;
  }
  NoteWakeup(r.backoff_until);
  if (r.backoff_until > now || Releasing(r) || Succeeded(r)) return false;
  // A vain try is not repeated until something was freed, or nodes changed: a
  // skew compares domains.
  return r.grow_checked_at == 0 ||
         r.grow_checked_structure != cluster.structure_version() ||
         !cluster.FreedSince(r.grow_checked_at, &freed_) || !freed_.empty();
}

// How far it has grown, and what one more task would ask; false if it has all
// it desires.
bool Scheduler::Impl::NoteNextTask(Grower& grower) {
  const GangRecord& r = gangs.at(grower.rank.gang);
  const Template& t = gangs.description(r.description);
  const std::vector<Role>& roles = t.prepared.gang.roles;
  if (r.tasks.size() >= t.most_tasks) return false;
  grower.surplus = std::max<int64_t>(
      static_cast<int64_t>(r.tasks.size()) - t.least_tasks, 0);
  CountTasks(r, &counts_);
  size_t next = roles.size();
  for (size_t i = 0; i < roles.size(); ++i) {
    if (counts_[i] >= roles[i].desired_tasks) continue;
    if (next == roles.size() || roles[i].order > roles[next].order) next = i;
  }
  grower.next = t.prepared.shapes[next][0];
  return true;
}

// Whether a's turn comes before b's, both of one queue.
bool Scheduler::Impl::GrowsBefore(const Grower& a, const Grower& b) {
  if (a.rank.priority != b.rank.priority) {
    return a.rank.priority > b.rank.priority;
  }
  return a.surplus != b.surplus ? a.surplus < b.surplus : a.rank < b.rank;
}

// Each queue puts its best gang forward, up to the roots.
size_t Scheduler::Impl::NextGrower() {
  const QueueIndex top = queues.limit();
  for (QueueIndex q : growing_queues_) best_grower_[q] = kNoGrower;
  best_grower_[top] = kNoGrower;
  for (size_t i = 0; i < growers_.size(); ++i) {
    size_t& best = best_grower_[gangs.at(growers_[i].rank.gang).queue];
    if (best == kNoGrower || GrowsBefore(growers_[i], growers_[best])) best = i;
  }
  best_turn_.resize(top + 1);
  for (QueueIndex q : growing_queues_) {
    if (best_grower_[q] == kNoGrower) continue;
    const QueueIndex above =
        queues.at(q).parent == kNoQueue ? top : queues.at(q).parent;
    const Grower& grower = growers_[best_grower_[q]];
    const Turn turn = TurnWith(q, grower.rank, cluster.demand(grower.next));
    if (best_grower_[above] == kNoGrower ||
        Turn::After(best_turn_[above], turn)) {
      best_grower_[above] = best_grower_[q];
      best_turn_[above] = turn;
    }
  }
  return best_grower_[top];
}

// How many tasks the gang may add before it would be another's turn.
uint32_t Scheduler::Impl::TurnSize(size_t next) const {
  const Grower& grower = growers_[next];
  const QueueIndex q = gangs.at(grower.rank.gang).queue;
  uint64_t size = 0xffffffff;
  for (size_t i = 0; i < growers_.size(); ++i) {
    const Grower& other = growers_[i];
    if (i == next) continue;
    if (gangs.at(other.rank.gang).queue != q) return 1;
    if (other.rank.priority != grower.rank.priority) continue;
    const uint64_t ahead = other.surplus - grower.surplus;
    size = std::min(size, ahead + (grower.rank < other.rank ? 1 : 0));
  }
  return static_cast<uint32_t>(size);
}

// The number of tasks that were added.
uint32_t Scheduler::Impl::GrowGang(GangIndex g, uint32_t most) {
  GangRecord& r = gangs.at(g);
  CurrentAssignments(r, &assignments_);
  PlacementRequest request;
  request.gang = &gangs.description(r.description).prepared;
  request.key = r.key;
  request.ledger = Ledger::kBoth;
  request.fixed = assignments_;
  request.most = most;
  // Where tasks lie must not depend on how long a turn is (GrowsBefore,
  // MayGrow): each where it is best by itself.
  request.exact_steps = 0;
  const bool bounded = queues.Headroom(r.queue, Ledger::kBoth, &headroom_);
  if (bounded) request.headroom = &headroom_;
  placement_.Clear();
  solver_->Grow(cluster, request, &placement_);
  // With a quota in the way, room may come without any node being freed.
  r.grow_checked_at = bounded ? 0 : cluster.freed_version();
  r.grow_checked_structure = cluster.structure_version();
  if (placement_.tasks.empty()) return 0;
  r.grow_checked_at = 0;
  CommitGrow(g, placement_.tasks, {.code = ReasonCode::kFits});
  return static_cast<uint32_t>(placement_.tasks.size());
}

}  // namespace muster
