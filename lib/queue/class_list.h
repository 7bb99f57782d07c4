// Gangs that ask for something, grouped into classes of equals: gangs that
// wait, and gangs that may grow.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "lib/queue/gang_rank.h"
#include "lib/queue/queue_tree.h"
#include "muster/ids.h"
#include "muster/owned_heap.h"
#include "muster/reason.h"

namespace muster {

using ClassIndex = uint32_t;
inline constexpr ClassIndex kNoClass = 0xffffffff;

// What gangs of a class have in common: if the first of them gets no for an
// answer, so would all of them. A gang whose answer depends on where it is
// stands in a class of its own.
struct ClassKey {
  QueueIndex queue = kNoQueue;
  uint32_t priority_class = 0;
  uint32_t spec = 0;          // SpecIndex.
  GangIndex alone = kNoGang;  // The gang, if it stands alone.

  friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ClassKey& k) {
    return H::combine(std::move(h), k.queue, k.priority_class, k.spec, k.alone);
  }
};

// The questions of a class, and what is remembered of the answers. A closed
// question was answered with no, and nothing has happened since that could
// make it yes. This is state: it is in snapshots, and equal on every machine.
struct Questions {
  enum : uint8_t {
    kRoom = 1,     // Is there room for it?
    kVictims = 2,  // Can room be made for it?
    kPutOff = 4,   // The second, to be asked again when the round is over.
    kAgain = 8,    // Both, with more effort: ClassState::kAgain.
  };
  uint8_t open = 0;
  uint32_t effort = 0;       // ClassState::effort.
  Time retry_at = kForever;  // kVictims opens then by itself.
  Reason reason{};           // Told last; its numbers are not state.
};

// Whether a class that was told this would have no room if everybody went.
inline bool IsHopeless(ReasonCode code) {
  return code == ReasonCode::kNeverFits || code == ReasonCode::kOverLimitAlways;
}

struct GangNode : HeapNode<GangRank, OneThread> {};
using GangHeap = OwnedHeap<GangRank, std::less<>, GangNode, OneThread>;
// By GangIndex: a gang stands in one list at a time.
using GangNodes = std::deque<GangNode>;

class GangClass {
 public:
  const ClassKey& key() const { return key_; }
  // Its first gang.
  const GangRank& first() const { return among_all_.key(); }
  size_t size() const { return size_; }
  const Questions& questions() const { return questions_; }
  // Its reason was never told.
  bool untold() const { return questions_.reason.code == ReasonCode::kNone; }

 private:
  friend class ClassList;
  struct Head : HeapNode<GangRank, OneThread> {
    ClassIndex index = 0;
  };

  ClassKey key_{};
  Questions questions_{};
  GangHeap gangs_;
  size_t size_ = 0;
  Head among_all_;   // In its leaf; the key of both is first().
  Head among_open_;  // If a question is open.
};

// Classes by leaf queue, in the order of their first gangs. PriorityHeap keeps
// that order, and the order inside a class.
//
// Invariant: a class is among the open ones of its leaf if and only if one of
// its questions (kRoom or kVictims) is open. What asks nothing costs nothing.
// Not synchronised. O(log n) a call unless said otherwise.
class ClassList {
 public:
  explicit ClassList(GangNodes& nodes) : nodes_(nodes) {}

  // A class that is new has these questions open.
  ClassIndex Add(const ClassKey& key, const GangRank& rank, uint8_t open);
  void Remove(ClassIndex c, GangIndex gang);

  // The same object for as long as the class has a gang.
  GangClass& at(ClassIndex c) { return classes_[c]; }
  const GangClass& at(ClassIndex c) const { return classes_[c]; }
  ClassIndex Find(const ClassKey& key) const;  // kNoClass if there is none.

  void Open(ClassIndex c, uint8_t questions);
  void Close(ClassIndex c, uint8_t questions);
  void SetQuestions(ClassIndex c, const Questions& questions);

  using Leaves = absl::btree_set<QueueIndex>;
  // Leaves with an open class. Where handles are in order, nobody may build on
  // it: a restored scheduler has others.
  const Leaves& open_queues() const { return open_queues_; }
  // Leaves whose open classes, or their first gangs, changed since the last
  // call; each once. The reference holds until the next change.
  const std::vector<QueueIndex>& TakeChangedQueues();
  using Classes = absl::btree_set<ClassIndex>;
  // Classes with kPutOff.
  const Classes& put_off() const { return put_off_; }
  // Classes with kAgain.
  const Classes& again() const { return again_; }
  // The first open class of the leaf, or kNoClass. `strict`: the first of all,
  // if it is open.
  ClassIndex First(QueueIndex leaf, bool strict);
  // The first gang of the leaf, which has classes.
  GangIndex HeadOf(QueueIndex leaf);
  // How many gangs of the leaf rank before this one. O(gangs of the leaf).
  uint32_t CountAhead(QueueIndex leaf, const GangRank& rank) const;

  // Classes of a spec.
  const Classes& OfSpec(uint32_t spec) const;
  // The classes whose kVictims opens by itself, by time.
  using Retries = absl::btree_set<std::pair<Time, ClassIndex>>;
  const Retries& retries() const { return retries_; }
  // Calls f(ClassIndex) with each class of the leaf, or of all, in no order. f
  // may open and close questions.
  template <class F>
  void ForEach(QueueIndex leaf, F&& f) const;
  template <class F>
  void ForEach(F&& f) const;
  // One past the largest spec that has had a class.
  uint32_t spec_limit() const { return static_cast<uint32_t>(by_spec_.size()); }

  // From Mark() on the first change of each class's questions is remembered.
  // Rollback() puts them back, for classes that are there; the owner has put
  // back all gangs before.
  void Mark();
  void Rollback();
  void Unmark() { marked_ = false; }

 private:
  using Head = GangClass::Head;
  using HeadHeap = OwnedHeap<GangRank, std::less<>, Head, OneThread>;
  struct Leaf {
    HeadHeap all;
    HeadHeap open;
    bool changed = false;  // It is among changed_.
  };

  static bool Asks(const GangClass& cls) {
    return (cls.questions_.open & (Questions::kRoom | Questions::kVictims)) !=
           0;
  }
  static void Keep(Classes& classes, ClassIndex c, bool is_in) {
    is_in ? void(classes.insert(c)) : void(classes.erase(c));
  }
  ClassIndex NewClass(const ClassKey& key, uint8_t open);
  void Erase(ClassIndex c);
  // The class is put into its leaf's heaps with its first gang as it is, or
  // taken out.
  void PutIn(ClassIndex c);
  void TakeOut(ClassIndex c);
  void NoteChange(QueueIndex leaf);
  void PutAmongOpen(ClassIndex c);
  void TakeFromOpen(ClassIndex c);
  void Save(const GangClass& cls);

  GangNodes& nodes_;
  std::deque<GangClass> classes_;
  std::vector<ClassIndex> free_;
  absl::flat_hash_map<ClassKey, ClassIndex> by_key_;
  std::vector<Classes> by_spec_;
  std::deque<Leaf> leaves_;  // By queue.
  Leaves open_queues_;
  std::vector<QueueIndex> changed_;
  std::vector<QueueIndex> taken_;  // The last that were taken.
  Classes put_off_;
  Classes again_;
  Retries retries_;
  bool marked_ = false;
  // Since Mark(); nothing of a class that was not there then.
  absl::btree_map<ClassKey, std::optional<Questions>> saved_;
};

template <class F>
void ClassList::ForEach(QueueIndex leaf, F&& f) const {
  if (leaf >= leaves_.size()) return;
  leaves_[leaf].all.ForEach([&](const Head& head) { f(head.index); });
}

template <class F>
void ClassList::ForEach(F&& f) const {
  for (QueueIndex q = 0; q < leaves_.size(); ++q) ForEach(q, f);
}

}  // namespace muster
