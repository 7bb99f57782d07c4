#include "lib/preempt/greedy.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace muster::preempt {
namespace {

// Orders (a, per unit of a_size) before (b, per unit of b_size): by cost, then
// by gangs broken. 0: alike.
int ComparePerUnit(const VictimCost& a, int64_t a_size, const VictimCost& b,
                   int64_t b_size) {
  const Wide cost = Wide{a.cost} * b_size - Wide{b.cost} * a_size;
  if (cost != 0) return cost < 0 ? -1 : 1;
  const Wide broken = Wide{a.broken} * b_size - Wide{b.broken} * a_size;
  if (broken != 0) return broken < 0 ? -1 : 1;
  return 0;
}

}  // namespace

Greedy::Greedy(PreemptionProblem& problem, const Regions& regions,
               RegionSlots& region_slots, VictimSet& victims)
    : problem_(problem),
      regions_(regions),
      region_slots_(region_slots),
      victims_(victims) {}

bool Greedy::Build(const VictimRegion& region) {
  extra_ = 0;
  known_gains_.clear();
  Restart(region);
  if (std::ranges::all_of(problem_.needs(), [](const RoleNeed& need) {
        return need.want == 0;
      })) {
    return TakeAll(region);  // No need guides the choice.
  }
  // Ask when there are slots enough, then after one more, two more, four...
  for (uint64_t step = 1;; step *= 2) {
    if (!Reach(region)) return TakeAll(region);
    if (region_slots_.Fits()) return true;
    if (problem_.Exhausted()) return false;
    extra_ += step;
    Restart(region);
  }
}

void Greedy::Restart(const VictimRegion& region) {
  bundles_.assign(region.nodes.size(), {});
  unknown_.resize(bundles_.size());
  std::iota(unknown_.begin(), unknown_.end(), 0);
  queue_.clear();
}

// Takes bundles until no need lacks slots; false if no node gives any more.
bool Greedy::Reach(const VictimRegion& region) {
  const auto lacks = [&] {
    for (size_t n = 0; n < problem_.needs().size(); ++n) {
      if (region_slots_.Lacking(n, extra_) > 0) return true;
    }
    return false;
  };
  while (lacks()) {
    std::ranges::sort(unknown_);
    for (const uint32_t i : unknown_) {
      if (!problem_.Spend()) return false;
      Make(region.nodes[i], &bundles_[i]);
      PutAmong(i);
    }
    unknown_.clear();
    if (!TakeBest()) return false;
  }
  return true;
}

// The last resort: everything the policy allows, the smallest first.
bool Greedy::TakeAll(const VictimRegion& region) {
  victims_.Clear();
  std::vector<Victim> all;
  for (uint32_t c : region.candidates) all.push_back({c, problem_.Size(c)});
  problem_.SortSmallestFirst(&all);
  for (const Victim& victim : all) {
    const uint32_t c = victim.candidate;
    if (victims_.Take(c, victim.tasks)) continue;
    for (uint32_t size = problem_.ShrinkSizeCount(c); size > 0; --size) {
      if (victims_.Take(c, problem_.ShrinkSize(c, size))) break;
    }
  }
  return region_slots_.Fits();
}

int64_t Greedy::Value(const Bundle& bundle) const {
  int64_t value = 0;
  for (size_t n = 0; n < bundle.gains.size(); ++n) {
    const uint64_t useful =
        std::min(bundle.gains[n], region_slots_.Lacking(n, extra_));
    value += static_cast<int64_t>(useful) * problem_.needs()[n].weight;
  }
  return value;
}

// Of equal cost, the one that gives more, then the first.
bool Greedy::Worse(const QueuedBundle& a, const QueuedBundle& b) {
  const int order = ComparePerUnit(a.added, a.value, b.added, b.value);
  if (order != 0) return order > 0;
  if (a.value != b.value) return a.value < b.value;
  return a.bundle > b.bundle;
}

void Greedy::PutAmong(uint32_t i) {
  const Bundle& bundle = bundles_[i];
  if (bundle.moves.empty()) return;
  const int64_t value = Value(bundle);
  if (value == 0) return;
  queue_.push_back({i, bundle.made, value, bundle.added});
  std::ranges::push_heap(queue_, Worse);
}

// The bundle of the best current value: one whose value has fallen since it was
// queued is queued again.
bool Greedy::PopBest(QueuedBundle* best) {
  while (!queue_.empty()) {
    std::ranges::pop_heap(queue_, Worse);
    *best = queue_.back();
    queue_.pop_back();
    problem_.Charge(problem_.needs().size(), kLookNs);
    const Bundle& bundle = bundles_[best->bundle];
    if (!bundle.known || bundle.made != best->made) continue;
    if (Value(bundle) == best->value) return true;
    PutAmong(best->bundle);
  }
  return false;
}

bool Greedy::TakeBest() {
  QueuedBundle best;
  if (!PopBest(&best)) return false;
  const std::vector<Victim> moves =
      std::exchange(bundles_[best.bundle].moves, {});
  Unknow(best.bundle);
  bool taken = false;
  for (const Victim& move : moves) {
    // The policy may refuse what it accepted when the bundle was made; the
    // bundle is then made anew.
    if (!victims_.Take(move.candidate, move.tasks)) continue;
    taken = true;
    Forget(move.candidate);
  }
  if (taken) known_gains_.clear();
  return true;
}

void Greedy::Unknow(uint32_t i) {
  Bundle& bundle = bundles_[i];
  if (!std::exchange(bundle.known, false)) return;
  bundle.moves.clear();
  unknown_.push_back(i);
}

// Invalidates the bundles of the nodes that the candidate is on.
void Greedy::Forget(uint32_t candidate) {
  for (const Assignment& a : problem_.candidate(candidate).tasks) {
    const uint32_t position = region_slots_.Position(a.at.node);
    if (position == RegionSlots::kElsewhere) continue;
    Unknow(position);
  }
}

// --- One bundle --------------------------------------------------------------

bool Greedy::OneSlot(NodeIndex node, uint64_t extra, std::vector<Victim>* moves,
                     VictimCost* added) {
  extra_ = extra;
  Bundle bundle;
  FindMoves(node, &bundle);
  *moves = std::move(bundle.moves);
  *added = bundle.added;
  return !moves->empty();
}

void Greedy::Make(NodeIndex node, Bundle* bundle) {
  bundle->known = true;
  ++bundle->made;
  FindMoves(node, bundle);
  Weigh(bundle);
}

void Greedy::FindMoves(NodeIndex node, Bundle* bundle) {
  bundle->added = {};
  problem_.Charge(1, kBundleNs);
  problem_.Charge(regions_.On(node).size(), kBundleTaskNs);
  FindLocals(node);
  base_.clear();
  for (size_t n = 0; n < problem_.needs().size(); ++n) {
    base_.push_back(region_slots_.At(n, node));
  }
  const Cluster::Mark mark = problem_.cluster().Begin();
  const size_t entries = victims_.Mark();
  const bool grown = Grow(node);
  if (grown) Trim(node);
  victims_.RevertTo(entries);
  problem_.cluster().Rollback(mark);
  for (const Local& local : locals_) {
    if (grown && local.now > local.before) {
      bundle->moves.push_back({local.candidate, local.now});
      bundle->added +=
          problem_.CostBeyond(local.candidate, local.before, local.now);
    }
  }
}

void Greedy::FindLocals(NodeIndex node) {
  locals_.clear();
  backs_.clear();
  for (const VictimTask& task : regions_.On(node)) {
    const uint32_t before = victims_.released(task.candidate);
    if (task.back < before) continue;
    if (locals_.empty() || locals_.back().candidate != task.candidate) {
      locals_.push_back({.candidate = task.candidate,
                         .before = before,
                         .now = before,
                         .first = static_cast<uint32_t>(backs_.size())});
    }
    backs_.push_back(task.back);
    ++locals_.back().count;
  }
}

// Whether some role that lacks slots has more of them on the node than it had.
bool Greedy::Rises(NodeIndex node) const {
  for (size_t n = 0; n < base_.size(); ++n) {
    if (region_slots_.Lacking(n, extra_) > 0 &&
        region_slots_.At(n, node) > base_[n]) {
      return true;
    }
  }
  return false;
}

// Releases the cheapest tasks on the node until that gives a slot.
bool Greedy::Grow(NodeIndex node) {
  while (true) {
    const Move move = Cheapest();
    if (move.tasks == 0) return false;
    Local& local = locals_[move.local];
    if (!victims_.Enter(local.candidate, move.tasks)) {
      const bool stop = move.tasks == problem_.Size(local.candidate);
      (stop ? local.stop_refused : local.shrink_refused) = true;
      continue;
    }
    Apply(move.local, move.tasks);
    if (Rises(node)) return true;
  }
}

Greedy::Move Greedy::Cheapest() const {
  Move best;
  for (size_t l = 0; l < locals_.size(); ++l) {
    const Local& local = locals_[l];
    const std::span<const uint32_t> backs = BacksOf(local);
    const auto next = std::ranges::lower_bound(backs, local.now);
    if (next == backs.end()) continue;
    const uint32_t all = problem_.Size(local.candidate);
    const uint32_t shrink = problem_.AtLeast(local.candidate, *next + 1);
    if (!local.shrink_refused && shrink < all) Consider(l, shrink, &best);
    if (!local.stop_refused) Consider(l, all, &best);
  }
  return best;
}

void Greedy::Consider(size_t local, uint32_t tasks, Move* best) const {
  const Local& l = locals_[local];
  Move move{.local = local,
            .tasks = tasks,
            .added = problem_.CostBeyond(l.candidate, l.now, tasks),
            .amount = 0};
  for (uint32_t back : BacksOf(l)) {
    if (back < l.now || back >= tasks) continue;
    move.amount +=
        std::max<int64_t>(1, problem_.Amount(problem_.Task(l.candidate, back)));
  }
  if (best->tasks == 0 ||
      ComparePerUnit(move.added, move.amount, best->added, best->amount) < 0) {
    *best = move;
  }
}

// Releases `tasks` tasks of the candidate for the bundle.
void Greedy::Apply(size_t local, uint32_t tasks) {
  Local& l = locals_[local];
  for (uint32_t back : BacksOf(l)) {
    const Allocation& a = problem_.Task(l.candidate, back);
    if (back >= l.now && back < tasks) {
      problem_.cluster().Credit(a, Ledger::kLater);
    } else if (back < l.now && back >= tasks) {
      problem_.cluster().Charge(a, Ledger::kLater);
    }
  }
  l.now = tasks;
}

// Removes redundant victims of the slot, most expensive first.
void Greedy::Trim(NodeIndex node) {
  redundant_.clear();
  for (size_t l = 0; l < locals_.size(); ++l) {
    if (locals_[l].now > locals_[l].before) redundant_.push_back(l);
  }
  const auto added = [&](size_t l) {
    const Local& local = locals_[l];
    return problem_.CostBeyond(local.candidate, local.before, local.now);
  };
  std::ranges::sort(redundant_, [&](size_t a, size_t b) {
    const auto order = added(b) <=> added(a);
    return order != 0 ? order < 0 : a < b;
  });
  for (size_t l : redundant_) {
    const uint32_t now = locals_[l].now;
    Apply(l, locals_[l].before);
    const bool enough =
        Rises(node) && victims_.Enter(locals_[l].candidate, locals_[l].before);
    if (!enough) Apply(l, now);
  }
}

// The slots that the bundle gives in the whole region.
void Greedy::Weigh(Bundle* bundle) {
  if (bundle->moves.empty()) return;
  const bool alone = bundle->moves.size() == 1;
  const Victim& first = bundle->moves[0];
  const uint64_t key = uint64_t{first.candidate} << 32 | first.tasks;
  if (alone) {
    const auto known = known_gains_.find(key);
    if (known != known_gains_.end()) {
      bundle->gains = known->second;
      return;
    }
  }
  bundle->gains.clear();
  for (size_t n = 0; n < problem_.needs().size(); ++n) {
    bundle->gains.push_back(region_slots_.Total(n));
  }
  for (const Victim& move : bundle->moves) {
    victims_.Release(move.candidate, move.tasks);
  }
  for (size_t n = 0; n < problem_.needs().size(); ++n) {
    bundle->gains[n] = region_slots_.Total(n) - bundle->gains[n];
  }
  for (const Victim& move : bundle->moves) {
    victims_.Release(move.candidate, victims_.entered(move.candidate));
  }
  if (alone && problem_.Size(first.candidate) > 1) {
    known_gains_.emplace(key, bundle->gains);
  }
}

}  // namespace muster::preempt
