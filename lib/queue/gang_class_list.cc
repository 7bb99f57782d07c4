#include "lib/queue/gang_class_list.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "lib/base/keyed_table.h"

namespace muster {

GangClassIndex GangClassList::Add(const GangClassKey& key,
                                  const QueuePosition& position,
                                  uint8_t active) {
  const auto [it, is_new] = by_key_.try_emplace(key, kNoClass);
  if (is_new) it->second = NewClass(key, active);
  const GangClassIndex c = it->second;
  GangClass& cls = classes_[c];
  while (positions_.size() <= position.gang) positions_.emplace_back();
  const bool leads = is_new || position < cls.first();
  if (leads && !is_new) TakeOut(c);
  cls.gangs_.insert(positions_[position.gang] = position);
  if (leads) PutIn(c);
  PositionList* const positions = leaves_[key.queue].positions.get();
  if (positions != nullptr) positions->Insert(position);
  return c;
}

void GangClassList::Remove(GangClassIndex c, GangIndex gang) {
  GangClass& cls = classes_[c];
  const bool led = cls.first().gang == gang;
  PositionList* const positions = leaves_[cls.key().queue].positions.get();
  if (positions != nullptr) positions->Erase(positions_[gang]);
  if (led) TakeOut(c);
  cls.gangs_.erase(positions_[gang]);
  if (cls.size() == 0) {
    Erase(c);
  } else if (led) {
    PutIn(c);
  }
}

GangClassIndex GangClassList::NewClass(const GangClassKey& key,
                                       uint8_t active) {
  const GangClassIndex c = TakePosition(classes_, free_);
  GangClass& cls = classes_[c];
  cls.key_ = key;
  cls.id_ = ++last_id_;
  cls.questions_ = {.active = active};
  // It asks for itself; one that stands alone always does.
  answered_.resize(classes_.size());
  answered_[c] = key.alone == kNoGang ? last_serial_
                                      : std::numeric_limits<uint64_t>::max();
  if (key.queue >= leaves_.size()) leaves_.resize(key.queue + 1);
  if (key.spec >= by_spec_.size()) by_spec_.resize(key.spec + 1);
  Spec& spec = by_spec_[key.spec];
  spec.all.insert(c);
  if (key.alone == kNoGang) {
    ++spec.size;
    PlaceAmongNoVictims(c, !AsksVictims(cls));
  }
  Know(c);
  if (marked_) saved_.try_emplace(key);
  return c;
}

void GangClassList::PlaceAmongNoVictims(GangClassIndex c, bool belongs) {
  GangClass& cls = classes_[c];
  std::vector<Member>& members = leaves_[cls.key_.queue].no_victims;
  if (belongs == (cls.place_ != GangClass::kNoPlace)) return;
  if (belongs) {
    cls.place_ = static_cast<uint32_t>(members.size());
    members.push_back(
        {.index = c, .spec = cls.key_.spec, .priority = cls.first_.priority});
    return;
  }
  const Member& last = members[cls.place_] = members.back();
  classes_[last.index].place_ = cls.place_;
  members.pop_back();
  cls.place_ = GangClass::kNoPlace;
}

// It has no gang, and stands in no leaf.
void GangClassList::Erase(GangClassIndex c) {
  const GangClass& cls = classes_[c];
  Save(cls);
  if (reports_ && !cls.unreported()) gone_.push_back(cls.id());
  retries_.erase({cls.questions_.retry_at, c});
  put_off_.erase(c);
  again_.erase(c);
  if (AsksInSpec(c)) Answered(c);
  Forget(c);
  Spec& spec = by_spec_[cls.key_.spec];
  if (cls.key_.alone == kNoGang) {
    --spec.size;
    PlaceAmongNoVictims(c, false);
  }
  spec.all.erase(c);
  by_key_.erase(cls.key_);
  free_.push_back(c);
}

const GangClassList::Classes& GangClassList::OfSpec(uint32_t spec) const {
  static const Classes kNone;
  return spec < by_spec_.size() ? by_spec_[spec].all : kNone;
}

GangClassIndex GangClassList::Find(const GangClassKey& key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? kNoClass : it->second;
}

void GangClassList::PutIn(GangClassIndex c) {
  GangClass& cls = classes_[c];
  Leaf& leaf = leaves_[cls.key_.queue];
  cls.first_ = *cls.gangs_.begin();
  leaf.all.insert({cls.first_, c, cls.key_.spec});
  if (cls.place_ != GangClass::kNoPlace) {
    leaf.no_victims[cls.place_].priority = cls.first_.priority;
  }
  leaf.looked = 0;
  if (AsksInSpec(c)) NoteChange(cls.key_.queue);
  if (Asks(cls)) PutAmongActive(c);
}

void GangClassList::TakeOut(GangClassIndex c) {
  const GangClass& cls = classes_[c];
  Leaf& leaf = leaves_[cls.key_.queue];
  leaf.all.erase({cls.first_});
  leaf.looked = 0;
  if (AsksInSpec(c)) NoteChange(cls.key_.queue);
  if (Asks(cls)) TakeFromActive(c);
}

void GangClassList::NoteChange(QueueIndex leaf) {
  if (leaves_[leaf].changed) return;
  leaves_[leaf].changed = true;
  changed_.push_back(leaf);
}

const std::vector<QueueIndex>& GangClassList::ActiveLeaves() {
  active_leaves_.clear();
  if (active_specs_.empty()) {
    active_leaves_.assign(active_queues_.begin(), active_queues_.end());
    return active_leaves_;
  }
  for (QueueIndex q = 0; q < leaves_.size(); ++q) {
    if (!leaves_[q].all.empty()) active_leaves_.push_back(q);
  }
  return active_leaves_;
}

const std::vector<QueueIndex>& GangClassList::TakeChangedQueues() {
  if (all_changed_) {
    for (QueueIndex q = 0; q < leaves_.size(); ++q) {
      if (!leaves_[q].all.empty()) NoteChange(q);
    }
    all_changed_ = false;
  }
  taken_.swap(changed_);
  changed_.clear();
  for (const QueueIndex leaf : taken_) leaves_[leaf].changed = false;
  return taken_;
}

void GangClassList::ForgetChangedQueues() {
  all_changed_ = false;
  for (const QueueIndex leaf : changed_) leaves_[leaf].changed = false;
  changed_.clear();
}

void GangClassList::PutAmongActive(GangClassIndex c) {
  GangClass& cls = classes_[c];
  const QueueIndex leaf = cls.key_.queue;
  leaves_[leaf].active.insert({cls.first_, c, cls.key_.spec});
  active_queues_.insert(leaf);
  NoteChange(leaf);
}

void GangClassList::TakeFromActive(GangClassIndex c) {
  GangClass& cls = classes_[c];
  const QueueIndex leaf = cls.key_.queue;
  leaves_[leaf].active.erase({cls.first_});
  if (leaves_[leaf].active.empty()) active_queues_.erase(leaf);
  NoteChange(leaf);
}

Questions GangClassList::questions(GangClassIndex c) const {
  const GangClass& cls = classes_[c];
  Questions questions = cls.questions_;
  if (AsksInSpec(c)) questions.active |= Questions::kRoom;
  return questions;
}

void GangClassList::Activate(GangClassIndex c, uint8_t questions) {
  Questions activated = this->questions(c);
  if ((activated.active & questions) == questions) return;
  activated.active |= questions;
  SetQuestions(c, activated);
}

void GangClassList::Deactivate(GangClassIndex c, uint8_t questions) {
  Questions deactivated = this->questions(c);
  if ((deactivated.active & questions) == 0) return;
  deactivated.active &= static_cast<uint8_t>(~questions);
  SetQuestions(c, deactivated);
}

void GangClassList::SetQuestions(GangClassIndex c, const Questions& questions) {
  GangClass& cls = classes_[c];
  Save(cls);
  const bool asked = Asks(cls);
  if (cls.questions_.retry_at != kForever) {
    retries_.erase({cls.questions_.retry_at, c});
  }
  Questions own = questions;
  if (AsksInSpec(c)) {
    if ((questions.active & Questions::kRoom) == 0) {
      Answered(c);
    } else {
      own.active &= static_cast<uint8_t>(~Questions::kRoom);
    }
  }
  const uint8_t differs = cls.questions_.active ^ own.active;
  const bool other = !IsSame(cls.questions_.reason, own.reason) ||
                     IsBusy(cls.questions_) != IsBusy(own);
  if (other) Forget(c);
  cls.questions_ = own;
  if (other) Know(c);
  if (own.retry_at != kForever) retries_.insert({own.retry_at, c});
  if ((differs & Questions::kVictims) != 0 && cls.key_.alone == kNoGang) {
    PlaceAmongNoVictims(c, !AsksVictims(cls));
  }
  if ((differs & Questions::kPutOff) != 0) {
    Keep(put_off_, c, (own.active & Questions::kPutOff) != 0);
  }
  if ((differs & Questions::kAgain) != 0) {
    Keep(again_, c, (own.active & Questions::kAgain) != 0);
  }
  if (asked && !Asks(cls)) TakeFromActive(c);
  if (!asked && Asks(cls)) PutAmongActive(c);
}

GangClassIndex GangClassList::First(QueueIndex leaf, bool strict) {
  if (leaf >= leaves_.size()) return kNoClass;
  const Places& active = leaves_[leaf].active;
  const Place* own = active.empty() ? nullptr : &*active.begin();
  const Place* place = FirstOfSpecs(leaf);
  const bool is_own =
      own != nullptr && (place == nullptr || own->position < place->position);
  const GangClassIndex first = is_own             ? own->index
                               : place == nullptr ? kNoClass
                                                  : place->index;
  if (!strict || first == kNoClass) return first;
  return first == leaves_[leaf].all.begin()->index ? first : kNoClass;
}

GangIndex GangClassList::HeadOf(QueueIndex leaf) const {
  return leaves_[leaf].all.begin()->position.gang;
}

const GangClassList::Places& GangClassList::InOrder(QueueIndex leaf) const {
  static const Places kNone;
  return leaf < leaves_.size() ? leaves_[leaf].all : kNone;
}

const std::vector<GangClassList::Member>& GangClassList::AskingNoVictims(
    QueueIndex leaf) const {
  static const std::vector<Member> kNone;
  return leaf < leaves_.size() ? leaves_[leaf].no_victims : kNone;
}

uint32_t GangClassList::CountAhead(QueueIndex leaf,
                                   const QueuePosition& position) {
  if (leaf >= leaves_.size()) return 0;
  std::unique_ptr<PositionList>& positions = leaves_[leaf].positions;
  if (positions == nullptr) {
    std::vector<QueuePosition> all;
    ForEach(leaf, [&](GangClassIndex c) {
      const auto& gangs = classes_[c].gangs_;
      all.insert(all.end(), gangs.begin(), gangs.end());
    });
    positions = std::make_unique<PositionList>(std::move(all));
  }
  return positions->CountBefore(position);
}

// --- What a spec asks -------------------------------------------------------

void GangClassList::ActivateRoomOf(uint32_t spec) {
  if (spec >= by_spec_.size() || by_spec_[spec].size == 0) return;
  Spec& s = by_spec_[spec];
  if (s.asking == s.size) return;
  s.serial = ++last_serial_;
  s.asking = s.size;
  s.leaves.clear();
  active_specs_.insert(spec);
  all_changed_ = true;
}

bool GangClassList::DeactivateRoomOf(uint32_t spec, const Reason& reason,
                                     std::vector<GangClassIndex>* others) {
  const Spec& s = by_spec_[spec];
  size_t count = s.busy.size();
  for (const auto& [reported, classes] : s.reported) {
    if (!IsSame(reported, reason)) count += classes.size();
  }
  if (2 * count > s.size) return false;
  const size_t first = others->size();
  others->insert(others->end(), s.busy.begin(), s.busy.end());
  for (const auto& [reported, classes] : s.reported) {
    if (IsSame(reported, reason)) continue;
    std::ranges::set_difference(classes, s.busy, std::back_inserter(*others));
  }
  for (size_t i = first; i < others->size(); ++i) {
    if (AsksInSpec((*others)[i], spec)) KeepAsking((*others)[i]);
  }
  DeactivateSpec(spec);
  return true;
}

void GangClassList::DeactivateSpec(uint32_t spec) {
  Spec& s = by_spec_[spec];
  for (const QueueIndex leaf : s.leaves) NoteChange(leaf);
  s.leaves.clear();
  s.serial = 0;
  s.asking = 0;
  active_specs_.erase(spec);
}

void GangClassList::SettleRooms() {
  while (!active_specs_.empty()) Settle(*active_specs_.begin());
}

void GangClassList::Settle(uint32_t spec) {
  for (const GangClassIndex c : by_spec_[spec].all) {
    if (AsksInSpec(c, spec)) KeepAsking(c);
  }
}

// What it asks in its spec it asks itself from now on.
void GangClassList::KeepAsking(GangClassIndex c) {
  const Questions asked = questions(c);
  Answered(c);  // The last one deactivates the spec.
  SetQuestions(c, asked);
}

// The class does not ask as part of its spec any more.
void GangClassList::Answered(GangClassIndex c) {
  const GangClass& cls = classes_[c];
  Spec& s = by_spec_[cls.key_.spec];
  answered_[c] = s.serial;
  Leaf& leaf = leaves_[cls.key_.queue];
  const bool leads = leaf.looked == last_serial_ &&
                     leaf.first_of_specs != leaf.all.end() &&
                     leaf.first_of_specs->index == c;
  if (leads) NoteChange(cls.key_.queue);
  if (--s.asking == 0) DeactivateSpec(cls.key_.spec);
}

void GangClassList::Know(GangClassIndex c) {
  const GangClass& cls = classes_[c];
  if (cls.key_.alone != kNoGang) return;
  Spec& s = by_spec_[cls.key_.spec];
  if (IsBusy(cls.questions_)) s.busy.insert(c);
  const Reason& reason = cls.questions_.reason;
  auto reported = std::ranges::find_if(s.reported, [&](const auto& known) {
    return IsSame(known.first, reason);
  });
  if (reported == s.reported.end())
    reported = s.reported.insert(reported, {reason, Classes()});
  reported->second.insert(c);
}

void GangClassList::Forget(GangClassIndex c) {
  const GangClass& cls = classes_[c];
  if (cls.key_.alone != kNoGang) return;
  Spec& s = by_spec_[cls.key_.spec];
  s.busy.erase(c);
  const Reason& reason = cls.questions_.reason;
  const auto reported = std::ranges::find_if(
      s.reported,
      [&](const auto& known) { return IsSame(known.first, reason); });
  reported->second.erase(c);
  if (reported->second.empty()) {
    std::swap(*reported, s.reported.back());
    s.reported.pop_back();
  }
}

// The first class of the leaf that asks as part of its spec, or null.
const GangClassList::Place* GangClassList::FirstOfSpecs(QueueIndex leaf) {
  if (active_specs_.empty()) return nullptr;
  Leaf& at = leaves_[leaf];
  if (at.looked != last_serial_) {
    at.looked = last_serial_;
    at.first_of_specs = at.all.begin();
  }
  const auto asks = [this](const Place& place) {
    return AsksInSpec(place.index, place.spec);
  };
  while (at.first_of_specs != at.all.end() && !asks(*at.first_of_specs)) {
    ++at.first_of_specs;
  }
  if (at.first_of_specs == at.all.end()) return nullptr;
  by_spec_[at.first_of_specs->spec].leaves.push_back(leaf);
  return &*at.first_of_specs;
}

void GangClassList::Replace(const GangClassList& other) {
  last_id_ = other.last_id_;
  gone_ = other.gone_;
  other.ForEach([&](GangClassIndex c) {
    if (!other.at(c).unreported()) gone_.push_back(other.at(c).id());
  });
}

// --- Taking back -------------------------------------------------------------

void GangClassList::Mark() {
  saved_.clear();
  // If all of its classes ask, a spec is all there is to remember.
  saved_specs_.assign(active_specs_.begin(), active_specs_.end());
  std::erase_if(saved_specs_, [this](uint32_t spec) {
    const bool some = by_spec_[spec].asking < by_spec_[spec].size;
    if (some) Settle(spec);
    return some;
  });
  saved_gone_ = gone_;
  saved_last_id_ = last_id_;
  marked_ = true;
}

// A class may go and come again: what is remembered first counts.
void GangClassList::Save(const GangClass& cls) {
  if (marked_) saved_.try_emplace(cls.key_, Saved{cls.id(), cls.questions_});
}

void GangClassList::Rollback() {
  marked_ = false;
  while (!active_specs_.empty()) DeactivateSpec(*active_specs_.begin());
  for (const auto& [key, saved] : saved_) {
    const GangClassIndex c = Find(key);
    if (!saved || c == kNoClass) continue;
    classes_[c].id_ = saved->id;
    SetQuestions(c, saved->questions);
  }
  gone_.swap(saved_gone_);
  last_id_ = saved_last_id_;
  for (const uint32_t spec : saved_specs_) ActivateRoomOf(spec);
}

}  // namespace muster
