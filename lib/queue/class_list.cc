#include "lib/queue/class_list.h"

namespace muster {

ClassIndex ClassList::Add(const ClassKey& key, const GangRank& rank,
                          uint8_t open) {
  const auto [it, is_new] = by_key_.try_emplace(key, kNoClass);
  if (is_new) it->second = NewClass(key, open);
  const ClassIndex c = it->second;
  GangClass& cls = classes_[c];
  while (nodes_.size() <= rank.gang) nodes_.emplace_back();
  nodes_[rank.gang].set_key(rank);
  const bool leads = is_new || rank < cls.first();
  if (leads && !is_new) TakeOut(c);
  cls.gangs_.Push(&nodes_[rank.gang]);
  cls.gangs_.Drain();
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
  ClassIndex c = static_cast<ClassIndex>(classes_.size());
  if (free_.empty()) {
    classes_.emplace_back();
    classes_[c].among_all_.index = classes_[c].among_open_.index = c;
  } else {
    c = free_.back();
    free_.pop_back();
  }
  classes_[c].key_ = key;
  classes_[c].questions_ = {.open = open};
  if (key.queue >= leaves_.size()) leaves_.resize(key.queue + 1);
  if (key.spec >= by_spec_.size()) by_spec_.resize(key.spec + 1);
  std::vector<ClassIndex>& siblings = by_spec_[key.spec];
  classes_[c].sibling_ = static_cast<uint32_t>(siblings.size());
  siblings.push_back(c);
  classes_[c].saved_in_ = 0;
  Save(c, false);
  return c;
}

// It has no gang, and is in no heap.
void ClassList::Erase(ClassIndex c) {
  Save(c, true);
  StoreRetry(c, kForever);
  put_off_.erase(c);
  std::vector<ClassIndex>& siblings = by_spec_[classes_[c].key_.spec];
  const uint32_t place = classes_[c].sibling_;
  siblings[place] = siblings.back();
  classes_[siblings[place]].sibling_ = place;
  siblings.pop_back();
  by_key_.erase(classes_[c].key_);
  free_.push_back(c);
}

const std::vector<ClassIndex>& ClassList::OfSpec(uint32_t spec) const {
  static const std::vector<ClassIndex> kNone;
  return spec < by_spec_.size() ? by_spec_[spec] : kNone;
}

ClassIndex ClassList::Find(const ClassKey& key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? kNoClass : it->second;
}

void ClassList::Put(HeadHeap& heap, Head& head, const GangRank& first) {
  head.set_key(first);
  heap.Push(&head);
  heap.Drain();
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
  NoteChange(cls.key_.queue);
  Leaf& leaf = leaves_[cls.key_.queue];
  Put(leaf.open, cls.among_open_, cls.first());
  if (leaf.listed != kNowhere) return;
  leaf.listed = static_cast<uint32_t>(open_queues_.size());
  open_queues_.push_back(cls.key_.queue);
}

void ClassList::TakeFromOpen(ClassIndex c) {
  GangClass& cls = classes_[c];
  NoteChange(cls.key_.queue);
  Leaf& leaf = leaves_[cls.key_.queue];
  leaf.open.Erase(&cls.among_open_);
  if (leaf.open.size() > 0) return;
  open_queues_[leaf.listed] = open_queues_.back();
  leaves_[open_queues_.back()].listed = leaf.listed;
  leaf.listed = kNowhere;
  open_queues_.pop_back();
}

void ClassList::SetOpen(ClassIndex c, uint8_t open) {
  GangClass& cls = classes_[c];
  if (cls.questions_.open == open) return;
  Save(c, true);
  const bool asked = Asks(cls);
  if (((cls.questions_.open ^ open) & Questions::kPutOff) != 0) {
    (open & Questions::kPutOff) != 0 ? (void)put_off_.insert(c)
                                     : (void)put_off_.erase(c);
  }
  cls.questions_.open = open;
  if (asked && !Asks(cls)) TakeFromOpen(c);
  if (!asked && Asks(cls)) PutAmongOpen(c);
}

void ClassList::Open(ClassIndex c, uint8_t questions) {
  SetOpen(c, classes_[c].questions_.open | questions);
}

void ClassList::Close(ClassIndex c, uint8_t questions) {
  SetOpen(c, classes_[c].questions_.open & static_cast<uint8_t>(~questions));
}

void ClassList::SetRetry(ClassIndex c, Time at) {
  if (classes_[c].questions_.retry_at == at) return;
  Save(c, true);
  StoreRetry(c, at);
}

void ClassList::StoreRetry(ClassIndex c, Time at) {
  Time& retry_at = classes_[c].questions_.retry_at;
  if (retry_at != kForever) retries_.erase({retry_at, c});
  retry_at = at;
  if (retry_at != kForever) retries_.insert({retry_at, c});
}

void ClassList::SetQuestions(ClassIndex c, const Questions& questions) {
  SetOpen(c, questions.open);
  Save(c, true);
  StoreRetry(c, questions.retry_at);
  classes_[c].questions_ = questions;
}

ClassIndex ClassList::First(QueueIndex leaf, bool strict) {
  if (leaf >= leaves_.size()) return kNoClass;
  HeadHeap& heap = strict ? leaves_[leaf].all : leaves_[leaf].open;
  const Head* head = heap.PeekBest();
  if (head == nullptr || !Asks(classes_[head->index])) return kNoClass;
  return head->index;
}

bool ClassList::IsHead(ClassIndex c) {
  return leaves_[classes_[c].key_.queue].all.PeekBest()->index == c;
}

GangIndex ClassList::HeadOf(QueueIndex leaf) {
  return leaves_[leaf].all.PeekBest()->key().gang;
}

uint32_t ClassList::CountAhead(QueueIndex leaf, const GangRank& rank) const {
  uint32_t count = 0;
  ForEach(leaf, [&](ClassIndex c) {
    classes_[c].gangs_.ForEach(
        [&](const GangNode& node) { count += node.key() < rank; });
  });
  return count;
}

void ClassList::Mark() {
  marked_ = ++marks_;
  saved_.clear();
}

void ClassList::Save(ClassIndex c, bool existed) {
  GangClass& cls = classes_[c];
  if (marked_ == 0 || cls.saved_in_ == marked_) return;
  cls.saved_in_ = marked_;
  saved_.push_back({cls.key_, existed, cls.questions_});
}

// A class may have gone and come again: what was remembered first counts.
void ClassList::Rollback() {
  marked_ = 0;
  for (size_t i = saved_.size(); i-- > 0;) {
    const Saved& saved = saved_[i];
    const ClassIndex c = Find(saved.key);
    if (saved.existed && c != kNoClass) SetQuestions(c, saved.questions);
  }
}

}  // namespace muster
