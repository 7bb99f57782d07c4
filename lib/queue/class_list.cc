#include "lib/queue/class_list.h"

#include "lib/base/keyed_table.h"

namespace muster {
namespace {

template <class Heap, class Node>
void Put(Heap& heap, Node& node, const GangRank& rank) {
  node.set_key(rank);
  heap.Push(&node);
  heap.Drain();
}

}  // namespace

ClassIndex ClassList::Add(const ClassKey& key, const GangRank& rank,
                          uint8_t open) {
  const auto [it, is_new] = by_key_.try_emplace(key, kNoClass);
  if (is_new) it->second = NewClass(key, open);
  const ClassIndex c = it->second;
  GangClass& cls = classes_[c];
  while (nodes_.size() <= rank.gang) nodes_.emplace_back();
  const bool leads = is_new || rank < cls.first();
  if (leads && !is_new) TakeOut(c);
  Put(cls.gangs_, nodes_[rank.gang], rank);
  ++cls.size_;
  if (leads) PutIn(c);
  return c;
}

void ClassList::Remove(ClassIndex c, GangIndex gang) {
  GangClass& cls = classes_[c];
  const bool led = cls.first().gang == gang;
  if (led) TakeOut(c);
  cls.gangs_.Erase(&nodes_[gang]);
  --cls.size_;
  if (cls.size() == 0) {
    Erase(c);
  } else if (led) {
    PutIn(c);
  }
}

ClassIndex ClassList::NewClass(const ClassKey& key, uint8_t open) {
  const ClassIndex c = TakePosition(classes_, free_);
  GangClass& cls = classes_[c];
  cls.among_all_.index = cls.among_open_.index = c;
  cls.key_ = key;
  cls.questions_ = {.open = open};
  if (key.queue >= leaves_.size()) leaves_.resize(key.queue + 1);
  if (key.spec >= by_spec_.size()) by_spec_.resize(key.spec + 1);
  by_spec_[key.spec].insert(c);
  if (marked_) saved_.try_emplace(key);
  return c;
}

// It has no gang, and is in no heap.
void ClassList::Erase(ClassIndex c) {
  const GangClass& cls = classes_[c];
  Save(cls);
  retries_.erase({cls.questions_.retry_at, c});
  put_off_.erase(c);
  again_.erase(c);
  by_spec_[cls.key_.spec].erase(c);
  by_key_.erase(cls.key_);
  free_.push_back(c);
}

const ClassList::Classes& ClassList::OfSpec(uint32_t spec) const {
  static const Classes kNone;
  return spec < by_spec_.size() ? by_spec_[spec] : kNone;
}

ClassIndex ClassList::Find(const ClassKey& key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? kNoClass : it->second;
}

void ClassList::PutIn(ClassIndex c) {
  GangClass& cls = classes_[c];
  Put(leaves_[cls.key_.queue].all, cls.among_all_,
      cls.gangs_.PeekBest()->key());
  if (Asks(cls)) PutAmongOpen(c);
}

void ClassList::TakeOut(ClassIndex c) {
  GangClass& cls = classes_[c];
  leaves_[cls.key_.queue].all.Erase(&cls.among_all_);
  if (Asks(cls)) TakeFromOpen(c);
}

void ClassList::NoteChange(QueueIndex leaf) {
  if (leaves_[leaf].changed) return;
  leaves_[leaf].changed = true;
  changed_.push_back(leaf);
}

const std::vector<QueueIndex>& ClassList::TakeChangedQueues() {
  taken_.swap(changed_);
  changed_.clear();
  for (const QueueIndex leaf : taken_) leaves_[leaf].changed = false;
  return taken_;
}

void ClassList::PutAmongOpen(ClassIndex c) {
  GangClass& cls = classes_[c];
  const QueueIndex leaf = cls.key_.queue;
  Put(leaves_[leaf].open, cls.among_open_, cls.first());
  open_queues_.insert(leaf);
  NoteChange(leaf);
}

void ClassList::TakeFromOpen(ClassIndex c) {
  GangClass& cls = classes_[c];
  const QueueIndex leaf = cls.key_.queue;
  leaves_[leaf].open.Erase(&cls.among_open_);
  if (leaves_[leaf].open.empty()) open_queues_.erase(leaf);
  NoteChange(leaf);
}

void ClassList::Open(ClassIndex c, uint8_t questions) {
  Questions opened = classes_[c].questions_;
  if ((opened.open & questions) == questions) return;
  opened.open |= questions;
  SetQuestions(c, opened);
}

void ClassList::Close(ClassIndex c, uint8_t questions) {
  Questions closed = classes_[c].questions_;
  if ((closed.open & questions) == 0) return;
  closed.open &= static_cast<uint8_t>(~questions);
  SetQuestions(c, closed);
}

void ClassList::SetQuestions(ClassIndex c, const Questions& questions) {
  GangClass& cls = classes_[c];
  Save(cls);
  const bool asked = Asks(cls);
  if (cls.questions_.retry_at != kForever) {
    retries_.erase({cls.questions_.retry_at, c});
  }
  const uint8_t differs = cls.questions_.open ^ questions.open;
  cls.questions_ = questions;
  if (questions.retry_at != kForever) retries_.insert({questions.retry_at, c});
  if ((differs & Questions::kPutOff) != 0) {
    Keep(put_off_, c, (questions.open & Questions::kPutOff) != 0);
  }
  if ((differs & Questions::kAgain) != 0) {
    Keep(again_, c, (questions.open & Questions::kAgain) != 0);
  }
  if (asked && !Asks(cls)) TakeFromOpen(c);
  if (!asked && Asks(cls)) PutAmongOpen(c);
}

ClassIndex ClassList::First(QueueIndex leaf, bool strict) {
  if (leaf >= leaves_.size()) return kNoClass;
  HeadHeap& heap = strict ? leaves_[leaf].all : leaves_[leaf].open;
  const Head* head = heap.PeekBest();
  if (head == nullptr || !Asks(classes_[head->index])) return kNoClass;
  return head->index;
}

GangIndex ClassList::HeadOf(QueueIndex leaf) {
  return leaves_[leaf].all.PeekBest()->key().gang;
}

uint32_t ClassList::CountAhead(QueueIndex leaf, const GangRank& rank) const {
  uint32_t count = 0;
  ForEach(leaf, [&](ClassIndex c) {
    if (classes_[c].first() >= rank) return;  // So are all behind it.
    classes_[c].gangs_.ForEach(
        [&](const GangNode& node) { count += node.key() < rank; });
  });
  return count;
}

void ClassList::Mark() {
  marked_ = true;
  saved_.clear();
}

// A class may go and come again: what is remembered first counts.
void ClassList::Save(const GangClass& cls) {
  if (marked_) saved_.try_emplace(cls.key_, cls.questions_);
}

void ClassList::Rollback() {
  marked_ = false;
  for (const auto& [key, questions] : saved_) {
    const ClassIndex c = Find(key);
    if (questions && c != kNoClass) SetQuestions(c, *questions);
  }
}

}  // namespace muster
