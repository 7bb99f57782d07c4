#include "lib/scheduler/activator.h"

#include <algorithm>
#include <limits>

#include "lib/index/free_on.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/raised_minimum.h"
#include "lib/scheduler/scheduler_tables.h"

namespace muster {
namespace {

constexpr uint8_t kBoth = Questions::kRoom | Questions::kVictims;
// Bits of Activator::done_.
constexpr uint8_t kRoomActivated = 1;
constexpr uint8_t kVictimsActivated = 2;
constexpr uint8_t kGrowthActivated = 4;
constexpr size_t kAhead = 8;
constexpr uint8_t kHasRoom = 8;  // ActivatePreemptors activates its kVictims.

template <class T>
void AddOnce(std::vector<T>& all, const T& value) {
  if (std::find(all.begin(), all.end(), value) == all.end()) {
    all.push_back(value);
  }
}

}  // namespace

void Activator::RoomFreed(NodeIndex n, Ledger ledger) {
  if (n >= is_freed_.size()) is_freed_.resize(n + 1, 0);
  if (is_freed_[n] == 0) freed_.push_back(n);
  is_freed_[n] |= static_cast<uint8_t>(ledger);
}

uint32_t Activator::SpecLimit() const {
  return std::max(tables_.lists.waiting().spec_limit(),
                  tables_.lists.growing().spec_limit());
}

// Of all specs with a class, one after the other.
std::vector<bool> Activator::Admitted(NodeIndex n) const {
  std::vector<bool> admitted;
  const GangLists& lists = tables_.lists;
  for (uint32_t s = 0; s < SpecLimit(); ++s) {
    if (lists.waiting().OfSpec(s).empty() &&
        lists.growing().OfSpec(s).empty()) {
      continue;
    }
    for (const ShapeId shape : tables_.specs.at(s).shapes) {
      admitted.push_back(tables_.cluster.Admits(n, shape));
    }
  }
  return admitted;
}

void Activator::NodeChanges(NodeIndex n) { admitted_ = Admitted(n); }

// The classes are those of before: a node's change lists no gang.
void Activator::NodeHasChanged(NodeIndex n) {
  for (const GangIndex g : tables_.nodes.GangsOn(n)) {
    if (IsNominated(tables_.gangs.at(g))) SetCheckDue(g);
  }
  const std::vector<bool> now = Admitted(n);
  if (now == admitted_) return;
  RoomFreed(n);
  StructureChanged();
}

void Activator::UsageChanged(QueueIndex q) { AddOnce(usage_changed_, q); }

void Activator::UsageIsReleased(QueueIndex leaf) {
  AddOnce(usage_released_, leaf);
}

void Activator::UsageFalls(QueueIndex leaf) {
  for (QueueIndex q = leaf; q != kNoQueue; q = tables_.queues.at(q).parent) {
    const QueueTree::Entry& e = tables_.queues.at(q);
    if (!e.guaranteed) continue;
    const auto known = std::ranges::find(fell_, q, &Fall::queue);
    if (known == fell_.end()) {
      fell_.push_back({q, e.used});
      continue;
    }
    for (ResourceKind k = 0; k < e.used.size(); ++k) {
      known->before.Set(k, std::max(known->before[k], e.used[k]));
    }
  }
}

void Activator::QueueChanged(QueueIndex q) { AddOnce(changed_, q); }

void Activator::VictimsChanged(const GangRecord& r, bool later) {
  AddOnce(victims_, {r.queue, tables_.PriorityOf(r), later});
}

void Activator::LosesTask(GangIndex g) { AddOnce(lost_tasks_, g); }

bool Activator::empty() const {
  return freed_.empty() && usage_changed_.empty() && usage_released_.empty() &&
         changed_.empty() && victims_.empty() && lost_tasks_.empty() &&
         !structure_ && !reclaim_ && !all_victims_;
}

void Activator::Forget() {
  for (const NodeIndex n : freed_) is_freed_[n] = 0;
  freed_.clear();
  usage_changed_.clear();
  usage_released_.clear();
  fell_.clear();
  changed_.clear();
  victims_.clear();
  lost_tasks_.clear();
  structure_ = reclaim_ = all_victims_ = false;
}

void Activator::Publish(bool in_pass) {
  if (empty()) return;
  SettleFreed();
  const bool freed = !freed_.empty() || structure_ || !changed_.empty();
  if (freed) ++freed_epoch_;
  if (freed || !usage_changed_.empty()) {
    while (!tables_.lists.lacking().empty()) {
      SetCheckDue(tables_.lists.lacking().begin()->gang);
    }
  }
  if (all_victims_ || reclaim_ || !victims_.empty()) CheckRaised();
  if (!freed_.empty()) PublishRoom();
  if (structure_) PublishStructure();
  for (const QueueIndex q : usage_changed_) PublishUsage(q, false);
  for (const QueueIndex q : usage_released_) PublishUsage(q, true);
  for (const QueueIndex q : changed_) ActivateBelowAll(q);
  for (const GangIndex g : lost_tasks_) {
    if (!tables_.gangs.at(g).exists) continue;
    const GangClassIndex c = tables_.lists.ClassOf(g, true);
    if (c != kNoClass) tables_.lists.growing().Activate(c, Questions::kRoom);
  }
  GangClassList& waiting = tables_.lists.waiting();
  if (all_victims_ || !changed_.empty()) {
    waiting.ForEach([this](GangClassIndex c) { ActivateVictims(c); });
  }
  const uint8_t later = in_pass ? Questions::kPutOff : Questions::kVictims;
  for (const NewVictim& v : victims_) {
    const uint8_t as = v.later ? later : uint8_t{Questions::kVictims};
    waiting.ForEach(v.leaf, [&](GangClassIndex c) {
      if (waiting.at(c).first().priority >= v.priority) ActivateVictims(c, as);
    });
    ActivateReclaimers(as, [&](QueueIndex preemptor, const GangSpec& spec) {
      return preemptor != v.leaf && MayReclaim(preemptor, v.leaf, spec);
    });
  }
  if (reclaim_) {
    ActivateReclaimers(later,
                       [this](QueueIndex preemptor, const GangSpec& spec) {
                         return tables_.quota.MayReclaimAtAll(
                             preemptor, LeastOf(spec, tables_.cluster));
                       });
  }
  Forget();
}

// What tasks have left may be what others have: before anybody is asked whether
// there is room.
void Activator::SettleFreed() {
  for (size_t i = 0; i < freed_.size(); ++i) {
    if (tables_.cluster.exists(freed_[i])) SettleUnnamed(tables_, freed_[i]);
  }
}

void Activator::CheckRaised() {
  std::vector<GangIndex> raised;
  for (const QueuePosition& position : tables_.lists.lacking()) {
    if (LooksForRaised(tables_, tables_.gangs.at(position.gang))) {
      raised.push_back(position.gang);
    }
  }
  for (const GangIndex g : raised) SetCheckDue(g);
}

void Activator::ActivatePutOff() {
  GangClassList& waiting = tables_.lists.waiting();
  while (!waiting.put_off().empty()) {
    const GangClassIndex c = *waiting.put_off().begin();
    waiting.Deactivate(c, Questions::kPutOff);
    waiting.Activate(c, Questions::kVictims);
  }
}

// Activates the question whose victims: unless nothing could come of it.
void Activator::ActivateVictims(GangClassIndex c, uint8_t as) {
  GangClassList& waiting = tables_.lists.waiting();
  const GangClass& cls = waiting.at(c);
  if (waiting.AsksVictims(c)) return;
  if (!tables_.config.preemption || cls.key().no_victims ||
      IsHopeless(cls.reason().code) ||
      !tables_.classes.at(cls.key().priority_class).may_preempt ||
      !AnyVictim(tables_, cls.key().queue, cls.first().priority,
                 LeastOf(tables_.specs.at(cls.key().spec), tables_.cluster))) {
    return;
  }
  waiting.Activate(c, as);
}

// Of each kind, what the leaf may take back; whether it is anything.
bool Activator::FindOwed(QueueIndex leaf) {
  bool owed = false;
  owed_.assign(tables_.queues.kinds(), 0);
  for (ResourceKind kind = 0; kind < owed_.size(); ++kind) {
    owed_[kind] = tables_.quota.MostToReclaim(leaf, kind);
    owed |= owed_[kind] > 0;
  }
  return owed;
}

// Whether gangs of the queue `preemptor` may reclaim from the victim's queue.
// What they use where they are placed may be more than their least.
bool Activator::MayReclaim(QueueIndex preemptor, QueueIndex victim,
                           const GangSpec& spec) const {
  return tables_.quota.MayReclaim(preemptor, victim,
                                  LeastOf(spec, tables_.cluster));
}

// Of classes in queues that are owed something, those that are
// concerned(queue, spec).
template <class F>
void Activator::ActivateReclaimers(uint8_t as, const F& concerned) {
  GangClassList& waiting = tables_.lists.waiting();
  for (const QueueIndex q : tables_.queues.Positions()) {
    if (!FindOwed(q)) continue;
    waiting.ForEach(q, [&](GangClassIndex c) {
      if (concerned(q, tables_.specs.at(waiting.at(c).key().spec))) {
        ActivateVictims(c, as);
      }
    });
  }
}

void Activator::ActivateRoom(GangClassList& list, uint32_t spec,
                             uint8_t questions) {
  const bool as_one = &list == &tables_.lists.waiting() &&
                      (questions & Questions::kRoom) != 0 &&
                      tables_.specs.at(spec).least_is_exact;
  if (as_one) {
    list.ActivateRoomOf(spec);
    questions &= static_cast<uint8_t>(~Questions::kRoom);
  }
  if (questions == 0 && !structure_) return;
  for (const GangClassIndex c : list.OfSpec(spec)) {
    // What is suspended looks at its own nodes only.
    const bool suspended =
        &list == &tables_.lists.waiting() && list.at(c).key().alone != kNoGang;
    if (suspended) continue;
    // Whether it could ever fit comes before whose tasks could be taken.
    const bool may_fit_now = structure_ && IsHopeless(list.at(c).reason().code);
    if (may_fit_now || (questions & Questions::kRoom) != 0) {
      list.Activate(c, Questions::kRoom);
    }
    if ((questions & Questions::kVictims) != 0) ActivateVictims(c);
  }
}

void Activator::PublishRoom() {
  done_.assign(SpecLimit(), 0);
  for (uint32_t s = 0; s < done_.size(); ++s) {
    if (tables_.lists.waiting().OfSpec(s).empty()) {
      done_[s] |= kRoomActivated | kVictimsActivated;
    }
    if (tables_.lists.growing().OfSpec(s).empty()) done_[s] |= kGrowthActivated;
  }
  for (const NodeIndex n : freed_) PublishRoomOn(n);
  if (tables_.config.preemption) ActivatePreemptors();
}

void Activator::PublishRoomOn(NodeIndex n) {
  const Cluster& cluster = tables_.cluster;
  if (!cluster.exists(n)) return;
  const bool now = (is_freed_[n] & static_cast<uint8_t>(Ledger::kNow)) != 0;
  for (const NodeTask& task : tables_.nodes.tasks(n)) {
    const GangRecord& r = tables_.gangs.at(task.gang);
    if (now && IsNominated(r)) SetCheckDue(task.gang);
    if (r.phase == GangPhase::kSuspended &&
        r.listing.waiting.queue != kNoQueue) {
      tables_.lists.waiting().Activate(tables_.lists.ClassOf(task.gang, false),
                                       kBoth);
    }
  }
  constexpr uint8_t kAll =
      kRoomActivated | kVictimsActivated | kGrowthActivated;
  for (uint32_t s = 0; s < done_.size(); ++s) {
    uint8_t& done = done_[s];
    if ((done & kAll) == kAll) continue;
    for (const ShapeId shape : tables_.specs.at(s).shapes) {
      if ((done & kAll) == kAll || !cluster.Admits(n, shape)) continue;
      if ((done & kRoomActivated) == 0 &&
          cluster.Slots(n, shape, Ledger::kLater, 1) > 0) {
        if ((done & kVictimsActivated) == 0) done |= kHasRoom;
        done |= kRoomActivated | kVictimsActivated;
        ActivateRoom(tables_.lists.waiting(), s, Questions::kRoom);
      } else if (structure_ && (done & kVictimsActivated) == 0) {
        done |= kVictimsActivated;
        ActivateRoom(tables_.lists.waiting(), s, Questions::kVictims);
      }
      if ((done & kGrowthActivated) == 0 &&
          cluster.Slots(n, shape, Ledger::kBoth, 1) > 0) {
        done |= kGrowthActivated;
        ActivateRoom(tables_.lists.growing(), s, Questions::kRoom);
      }
    }
  }
}

// What is free on the freed nodes later, and what would be.
void Activator::FindFreed() {
  const Cluster& cluster = tables_.cluster;
  freed_nodes_.clear();
  for (const NodeIndex n : freed_) {
    const bool later =
        (is_freed_[n] & static_cast<uint8_t>(Ledger::kLater)) != 0;
    if (!later || !cluster.exists(n)) continue;
    FreedNode& freed = freed_nodes_.emplace_back();
    freed.node = n;
    freed.free = index::FreeOn(cluster, n, Ledger::kLater);
    freed.in_all = freed.free;
    for (const NodeTask& ref : tables_.nodes.tasks(n)) {
      const GangRecord& r = tables_.gangs.at(ref.gang);
      const TaskRecord* task = FindTask(r, ref.task);
      if (task->phase == TaskPhase::kReleasing) continue;
      freed.holders.push_back({r.queue, tables_.PriorityOf(r),
                               r.listing.elastic,
                               tables_.holdings.UsageOf(task->at)});
      freed.in_all.Add(freed.holders.back().amount);
    }
  }
  std::erase_if(freed_nodes_,
                [](const FreedNode& freed) { return freed.holders.empty(); });
}

// What is asked at the least. Of specs that would not fit on a freed node with
// all gone, nothing becomes active.
void Activator::FindDemands() {
  demands_.resize(done_.size());
  for (uint32_t s = 0; s < done_.size(); ++s) {
    const bool room = (done_[s] & kHasRoom) != 0;
    if (!room && (done_[s] & kVictimsActivated) != 0) continue;
    const GangSpec& spec = tables_.specs.at(s);
    const auto fits = [&](const FreedNode& freed) {
      return AnyFits(spec, tables_.cluster, freed.node, freed.in_all);
    };
    if (!room && std::ranges::none_of(freed_nodes_, fits)) {
      done_[s] |= kVictimsActivated;
      continue;
    }
    demands_[s] = &LeastOf(spec, tables_.cluster);
  }
}

// Activates kVictims of classes with a shape that fits on a freed node, and of
// those to which one could give a slot with all gone that they may take.
void Activator::ActivatePreemptors() {
  freed_nodes_.clear();
  if (!structure_) FindFreed();  // Else it is active wherever one may fit.
  const bool room = std::ranges::any_of(
      done_, [](uint8_t done) { return (done & kHasRoom) != 0; });
  if (!room && freed_nodes_.empty()) return;
  FindDemands();
  for (QueueIndex leaf = 0; leaf < tables_.queues.limit(); ++leaf) {
    if (tables_.lists.waiting().AskingNoVictims(leaf).empty()) continue;
    const bool owed = FindOwed(leaf);
    PossibleVictims anywhere, beside;
    const GangLists::Holding& holding = tables_.lists.holding(leaf);
    if (room && !holding.empty()) anywhere.lowest = holding.begin()->first;
    anywhere.other_queues = room && owed;
    for (FreedNode& freed : freed_nodes_) {
      for (Holder& holder : freed.holders) {
        if (holder.queue == leaf) {
          beside.lowest = std::min(beside.lowest, holder.priority);
        } else {
          holder.kinds = owed ? KindsToReclaim(leaf, holder.queue) : 0;
          beside.other_queues |= holder.kinds != 0;
        }
      }
    }
    ActivatePreemptorsIn(leaf, anywhere, beside);
  }
}

// The kinds of which the preemptor is owed some and may reclaim the least
// amount from the victim.
uint64_t Activator::KindsToReclaim(QueueIndex preemptor, QueueIndex victim) {
  uint64_t kinds = 0;
  for (ResourceKind kind = 0; kind < owed_.size(); ++kind) {
    if (owed_[kind] <= 0) continue;
    one_.Set(kind, 1);
    if (tables_.quota.MayReclaim(preemptor, victim, one_))
      kinds |= uint64_t{1} << kind;
    one_.Set(kind, 0);
  }
  return kinds;
}

uint64_t Activator::OwedKinds(const Resources& demand) const {
  uint64_t kinds = 0;
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    kinds |= uint64_t{demand[k] > 0 && demand[k] <= owed_[k]} << k;
  }
  return kinds;
}

void Activator::ActivatePreemptorsIn(QueueIndex leaf,
                                     const PossibleVictims& anywhere,
                                     const PossibleVictims& beside) {
  const GangClassList& waiting = tables_.lists.waiting();
  const int32_t lowest = std::min(anywhere.lowest, beside.lowest);
  const int32_t highest = waiting.InOrder(leaf).begin()->position.priority;
  if (highest < lowest && !anywhere.other_queues && !beside.other_queues)
    return;
  preemptors_.clear();
  for (const GangClassList::Member& cls : waiting.AskingNoVictims(leaf)) {
    const uint8_t done = done_[cls.spec];
    const bool room = (done & kHasRoom) != 0;
    if (!room && (done & kVictimsActivated) != 0) continue;
    const PossibleVictims& victims = room ? anywhere : beside;
    const uint64_t kinds =
        victims.other_queues ? OwedKinds(*demands_[cls.spec]) : 0;
    if (cls.priority < victims.lowest && kinds == 0) continue;
    if (room ||
        MayGiveSlot(leaf, cls.priority, kinds, tables_.specs.at(cls.spec))) {
      preemptors_.push_back(cls.index);
    }
  }
  // They are spread over much memory.
  for (size_t i = 0; i < preemptors_.size(); ++i) {
    if (i + kAhead < preemptors_.size()) {
      __builtin_prefetch(&waiting.at(preemptors_[i + kAhead]));
    }
    ActivateVictims(preemptors_[i]);
  }
}

bool Activator::MayGiveSlot(QueueIndex leaf, int32_t priority, uint64_t kinds,
                            const GangSpec& spec) const {
  const bool newer =
      tables_.queues.at(leaf).law.within == PreemptWithin::kLowerOrNewerEqual;
  const auto gives = [&](const Holder& holder) {
    if (holder.queue != leaf) return (holder.kinds & kinds) != 0;
    return holder.priority < priority ||
           (holder.priority == priority && (newer || holder.elastic));
  };
  return std::ranges::any_of(freed_nodes_, [&](const FreedNode& freed) {
    Resources amount = freed.free;
    for (const Holder& holder : freed.holders) {
      if (gives(holder)) amount.Add(holder.amount);
    }
    return AnyFits(spec, tables_.cluster, freed.node, amount);
  });
}

void Activator::PublishStructure() {
  for (uint32_t s = 0; s < SpecLimit(); ++s) {
    const GangSpec& spec = tables_.specs.at(s);
    if (spec.looks_at_structure)
      ActivateRoom(tables_.lists.waiting(), s, kBoth);
    // What is beside its tasks may be somewhere else now.
    if (spec.looks_at_structure || spec.grows_nearby) {
      ActivateRoom(tables_.lists.growing(), s, Questions::kRoom);
    }
  }
}

template <class F>
void Activator::ForEachBelow(QueueIndex q, const F& f) {
  for (const QueueIndex child : tables_.queues.at(q).children) {
    ForEachBelow(child, f);
  }
  for (const bool grows : {false, true}) {
    tables_.lists.classes(grows).ForEach(
        q, [&](GangClassIndex c) { f(grows, c); });
  }
}

void Activator::PublishUsage(QueueIndex lowest, bool released) {
  for (QueueIndex q = lowest; q != kNoQueue; q = tables_.queues.at(q).parent) {
    const QueueTree::Entry& e = tables_.queues.at(q);
    if (!e.bounded && !e.guaranteed) continue;
    ActivateBelow(q);
    if (e.bounded && !released) SetNominatedCheckDueBelow(q);
  }
}

// Classes of the leaves below q to which its limit, or its guarantee, may say
// yes now.
void Activator::ActivateBelow(QueueIndex q) {
  const auto fell = std::ranges::find(fell_, q, &Fall::queue);
  const bool limits = tables_.queues.at(q).bounded;
  if (!limits && fell == fell_.end()) return;
  ForEachBelow(q, [&](bool grows, GangClassIndex c) {
    GangClassList& list = tables_.lists.classes(grows);
    const GangClass& cls = list.at(c);
    const GangSpec& spec = tables_.specs.at(cls.key().spec);
    // Its limit may have stopped one of whose victims too little is known.
    const ReasonCode code = cls.reason().code;
    const bool stopped =
        limits && (code == ReasonCode::kQueueLimit ||
                   code == ReasonCode::kNotFound || !spec.least_is_exact);
    if (stopped) list.Activate(c, Questions::kRoom);
    if (grows) return;
    const bool owed = fell != fell_.end() &&
                      (!spec.least_is_exact ||
                       tables_.quota.ComesToBeOwed(
                           q, fell->before, LeastOf(spec, tables_.cluster)));
    if (stopped || owed) ActivateVictims(c);
  });
}

void Activator::ActivateBelowAll(QueueIndex q) {
  ForEachBelow(q, [&](bool grows, GangClassIndex c) {
    tables_.lists.classes(grows).Activate(
        c, grows ? uint8_t{Questions::kRoom} : kBoth);
  });
  SetNominatedCheckDueBelow(q);
}

void Activator::SetNominatedCheckDueBelow(QueueIndex q) {
  std::vector<GangIndex> below;
  for (const QueuePosition& position : tables_.lists.nominated()) {
    if (tables_.queues.IsWithin(tables_.gangs.at(position.gang).queue, q)) {
      below.push_back(position.gang);
    }
  }
  for (const GangIndex g : below) SetCheckDue(g);
}

void Activator::SetCheckDue(GangIndex g) {
  if (!tables_.gangs.at(g).check_due) GangEdit(tables_, g)->check_due = true;
}

}  // namespace muster
