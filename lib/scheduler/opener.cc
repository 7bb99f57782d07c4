#include "lib/scheduler/opener.h"

#include <algorithm>

#include "lib/scheduler/core.h"

namespace muster {
namespace {

constexpr uint8_t kBoth = Questions::kRoom | Questions::kVictims;
// Bits of Opener::done_.
constexpr uint8_t kRoomOpened = 1;
constexpr uint8_t kVictimsOpened = 2;
constexpr uint8_t kGrowthOpened = 4;

template <class T>
void AddOnce(std::vector<T>& all, const T& value) {
  if (std::find(all.begin(), all.end(), value) == all.end()) {
    all.push_back(value);
  }
}

}  // namespace

void Opener::RoomFreed(NodeIndex n, Ledger ledger) {
  if (n >= is_freed_.size()) is_freed_.resize(n + 1, 0);
  if (is_freed_[n] == 0) freed_.push_back(n);
  is_freed_[n] |= static_cast<uint8_t>(ledger);
}

uint32_t Opener::SpecLimit() const {
  return std::max(core_.lists.waiting().spec_limit(),
                  core_.lists.growing().spec_limit());
}

// Of all specs with a class, one after the other.
std::vector<bool> Opener::Admitted(NodeIndex n) const {
  std::vector<bool> admitted;
  const GangLists& lists = core_.lists;
  for (uint32_t s = 0; s < SpecLimit(); ++s) {
    if (lists.waiting().OfSpec(s).empty() &&
        lists.growing().OfSpec(s).empty()) {
      continue;
    }
    for (const ShapeId shape : core_.specs.at(s).shapes) {
      admitted.push_back(core_.cluster.Admits(n, shape));
    }
  }
  return admitted;
}

void Opener::NodeChanges(NodeIndex n) { admitted_ = Admitted(n); }

// The classes are those of before: a node's change lists nobody.
void Opener::NodeHasChanged(NodeIndex n) {
  for (const GangIndex g : core_.nodes.GangsOn(n)) {
    if (core_.gangs.at(g).phase == GangPhase::kNominated) LookAt(g);
  }
  const std::vector<bool> now = Admitted(n);
  if (now == admitted_) return;
  RoomFreed(n);
  StructureChanged();
}

void Opener::UsageChanged(QueueIndex leaf) { AddOnce(usage_changed_, leaf); }

void Opener::QueueChanged(QueueIndex q) { AddOnce(changed_, q); }

void Opener::VictimsChanged(const GangRecord& r, bool later) {
  AddOnce(victims_, {r.queue, core_.PriorityOf(r), later});
}

bool Opener::empty() const {
  return freed_.empty() && usage_changed_.empty() && changed_.empty() &&
         victims_.empty() && !structure_ && !reclaim_ && !all_victims_;
}

void Opener::Forget() {
  for (const NodeIndex n : freed_) is_freed_[n] = 0;
  freed_.clear();
  usage_changed_.clear();
  changed_.clear();
  victims_.clear();
  structure_ = reclaim_ = all_victims_ = false;
}

void Opener::Publish(bool in_pass) {
  if (empty()) return;
  const bool freed = !freed_.empty() || structure_ || !changed_.empty();
  if (freed) ++freed_epoch_;
  if (freed || !usage_changed_.empty()) {
    while (!core_.lists.lacking().empty()) {
      LookAt(core_.lists.lacking().begin()->gang);
    }
  }
  if (!freed_.empty()) PublishRoom();
  if (structure_) PublishStructure();
  for (const QueueIndex leaf : usage_changed_) PublishUsage(leaf);
  for (const QueueIndex q : changed_) OpenBelowAll(q);
  ClassList& waiting = core_.lists.waiting();
  if (all_victims_ || !changed_.empty()) {
    waiting.ForEach([this](ClassIndex c) { OpenVictims(c); });
  }
  const uint8_t later = in_pass ? Questions::kPutOff : Questions::kVictims;
  for (const NewVictim& v : victims_) {
    const uint8_t as = v.later ? later : uint8_t{Questions::kVictims};
    waiting.ForEach(v.leaf, [&](ClassIndex c) {
      if (waiting.at(c).first().priority >= v.priority) OpenVictims(c, as);
    });
    OpenReclaimers(as);
  }
  if (reclaim_) OpenReclaimers(later);
  Forget();
}

void Opener::OpenPutOff() {
  ClassList& waiting = core_.lists.waiting();
  while (!waiting.put_off().empty()) {
    const ClassIndex c = *waiting.put_off().begin();
    waiting.Close(c, Questions::kPutOff);
    waiting.Open(c, Questions::kVictims);
  }
}

// Opens the question whose victims: unless nothing could come of it.
void Opener::OpenVictims(ClassIndex c, uint8_t as) {
  ClassList& waiting = core_.lists.waiting();
  const GangClass& cls = waiting.at(c);
  if ((cls.questions().open & Questions::kVictims) != 0) return;
  if (!core_.config.preemption || IsHopeless(cls.questions().reason.code) ||
      !core_.classes.at(cls.key().priority_class).may_preempt) {
    return;
  }
  waiting.Open(c, as);
}

bool Opener::IsGuaranteed(QueueIndex leaf) const {
  for (QueueIndex q = leaf; q != kNoQueue; q = core_.queues.at(q).parent) {
    if (core_.queues.at(q).guaranteed) return true;
  }
  return false;
}

void Opener::OpenReclaimers(uint8_t as) {
  ClassList& waiting = core_.lists.waiting();
  for (const QueueIndex q : core_.queues.Positions()) {
    if (!IsGuaranteed(q)) continue;
    waiting.ForEach(q, [&](ClassIndex c) { OpenVictims(c, as); });
  }
}

void Opener::OpenRoom(ClassList& list, uint32_t spec, uint8_t questions) {
  for (const ClassIndex c : list.OfSpec(spec)) {
    // What is suspended looks at its own nodes only.
    const bool suspended =
        &list == &core_.lists.waiting() && list.at(c).key().alone != kNoGang;
    if (suspended) continue;
    // Whether it could ever fit comes before whose tasks could be taken.
    const bool may_fit_now =
        structure_ && IsHopeless(list.at(c).questions().reason.code);
    if (questions != Questions::kVictims || may_fit_now) {
      list.Open(c, Questions::kRoom);
    }
    if ((questions & Questions::kVictims) != 0) OpenVictims(c);
  }
}

void Opener::PublishRoom() {
  done_.assign(SpecLimit(), 0);
  for (uint32_t s = 0; s < done_.size(); ++s) {
    if (core_.lists.waiting().OfSpec(s).empty()) {
      done_[s] |= kRoomOpened | kVictimsOpened;
    }
    if (core_.lists.growing().OfSpec(s).empty()) done_[s] |= kGrowthOpened;
  }
  for (const NodeIndex n : freed_) PublishRoomOn(n);
}

void Opener::PublishRoomOn(NodeIndex n) {
  const Cluster& cluster = core_.cluster;
  if (!cluster.exists(n)) return;
  const bool now = (is_freed_[n] & static_cast<uint8_t>(Ledger::kNow)) != 0;
  for (const TaskRef& task : core_.nodes.tasks(n)) {
    const GangRecord& r = core_.gangs.at(task.gang);
    if (now && r.phase == GangPhase::kNominated) LookAt(task.gang);
    if (r.phase == GangPhase::kSuspended &&
        r.listing.waiting.queue != kNoQueue) {
      core_.lists.waiting().Open(core_.lists.ClassOf(task.gang, false), kBoth);
    }
  }
  constexpr uint8_t kAll = kRoomOpened | kVictimsOpened | kGrowthOpened;
  for (uint32_t s = 0; s < done_.size(); ++s) {
    uint8_t& done = done_[s];
    if (done == kAll) continue;
    for (const ShapeId shape : core_.specs.at(s).shapes) {
      if (done == kAll || !cluster.Admits(n, shape)) continue;
      if ((done & kRoomOpened) == 0 &&
          cluster.Slots(n, shape, Ledger::kLater, 1) > 0) {
        done |= kRoomOpened | kVictimsOpened;
        OpenRoom(core_.lists.waiting(), s, kBoth);
      } else if ((done & kVictimsOpened) == 0) {
        done |= kVictimsOpened;
        OpenRoom(core_.lists.waiting(), s, Questions::kVictims);
      }
      if ((done & kGrowthOpened) == 0 &&
          cluster.Slots(n, shape, Ledger::kBoth, 1) > 0) {
        done |= kGrowthOpened;
        OpenRoom(core_.lists.growing(), s, Questions::kRoom);
      }
    }
  }
}

void Opener::PublishStructure() {
  for (uint32_t s = 0; s < SpecLimit(); ++s) {
    const GangSpec& spec = core_.specs.at(s);
    if (spec.looks_at_structure) OpenRoom(core_.lists.waiting(), s, kBoth);
    // What is beside its tasks may be somewhere else now.
    if (spec.looks_at_structure || spec.grows_nearby) {
      OpenRoom(core_.lists.growing(), s, Questions::kRoom);
    }
  }
}

template <class F>
void Opener::ForEachBelow(QueueIndex q, const F& f) {
  for (const QueueIndex child : core_.queues.at(q).children) {
    ForEachBelow(child, f);
  }
  for (const bool grows : {false, true}) {
    core_.lists.classes(grows).ForEach(q, [&](ClassIndex c) { f(grows, c); });
  }
}

void Opener::PublishUsage(QueueIndex leaf) {
  for (QueueIndex q = leaf; q != kNoQueue; q = core_.queues.at(q).parent) {
    const QueueTree::Entry& e = core_.queues.at(q);
    if (!e.bounded && !e.guaranteed) continue;
    OpenBelow(q, e.bounded, e.guaranteed);
    if (e.bounded) LookAtNominatedBelow(q);
  }
}

// Classes of the leaves below q to which its limit, or its guarantee, may say
// yes now.
void Opener::OpenBelow(QueueIndex q, bool limits, bool guarantees) {
  ForEachBelow(q, [&](bool grows, ClassIndex c) {
    ClassList& list = core_.lists.classes(grows);
    const GangClass& cls = list.at(c);
    const bool stopped =
        cls.questions().reason.code == ReasonCode::kQueueLimit ||
        !core_.specs.at(cls.key().spec).least_is_exact;
    if (limits && stopped) list.Open(c, Questions::kRoom);
    if (!grows && ((limits && stopped) || guarantees)) OpenVictims(c);
  });
}

void Opener::OpenBelowAll(QueueIndex q) {
  ForEachBelow(q, [&](bool grows, ClassIndex c) {
    core_.lists.classes(grows).Open(c,
                                    grows ? uint8_t{Questions::kRoom} : kBoth);
  });
  LookAtNominatedBelow(q);
}

void Opener::LookAtNominatedBelow(QueueIndex q) {
  std::vector<GangIndex> below;
  for (const GangRank& rank : core_.lists.nominated()) {
    if (core_.queues.IsWithin(core_.gangs.at(rank.gang).queue, q)) {
      below.push_back(rank.gang);
    }
  }
  for (const GangIndex g : below) LookAt(g);
}

void Opener::LookAt(GangIndex g) {
  if (!core_.gangs.at(g).look) GangEdit(core_, g)->look = true;
}

}  // namespace muster
