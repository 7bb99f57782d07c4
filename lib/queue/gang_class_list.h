// Gangs that ask for something, grouped into classes of equals: gangs that
// wait, and gangs that may grow.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "lib/queue/position_list.h"
#include "lib/queue/queue_position.h"
#include "lib/queue/queue_tree.h"
#include "muster/ids.h"
#include "muster/reason.h"

namespace muster {

using GangClassIndex = uint32_t;
inline constexpr GangClassIndex kNoClass = 0xffffffff;

// What gangs of a class have in common: if the first of them gets no for an
// answer, so would all of them. A gang whose answer depends on where it is
// stands in a class of its own.
struct GangClassKey {
  QueueIndex queue = kNoQueue;
  uint32_t priority_class = 0;
  uint32_t spec = 0;          // SpecIndex.
  GangIndex alone = kNoGang;  // The gang, if it stands alone.
  bool no_victims = false;    // Nobody gives way to them for a while.

  friend auto operator<=>(const GangClassKey&, const GangClassKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const GangClassKey& k) {
    return H::combine(std::move(h), k.queue, k.priority_class, k.spec, k.alone,
                      k.no_victims);
  }
};

// The questions of a class, and what is remembered of the answers. An inactive
// question was answered with no, and nothing has happened since that could
// make it yes. This is state: it is in snapshots, and equal on every machine.
struct Questions {
  enum : uint8_t {
    kRoom = 1,     // Is there room for it?
    kVictims = 2,  // Can room be made for it?
    kPutOff = 4,   // The second, to be asked again when the round is over.
    kAgain = 8,    // Both, with more effort: GangClassState::kAgain.
  };
  uint8_t active = 0;
  uint32_t effort = 0;       // GangClassState::effort.
  Time retry_at = kForever;  // kVictims becomes active then.
  Reason reason{};           // Reported last; its numbers are not state.
};

// Whether they are the same reason, whatever its numbers.
inline bool IsSame(const Reason& a, const Reason& b) {
  return a.code == b.code && a.object_kind == b.object_kind &&
         a.object == b.object && a.resource == b.resource;
}

// Whether a class with this reason would have no room even if all gangs went.
inline bool IsHopeless(ReasonCode code) {
  return code == ReasonCode::kNeverFits || code == ReasonCode::kOverLimitAlways;
}

// By GangIndex, as what it stands in its list: in one at a time.
using QueuePositions = std::deque<QueuePosition>;

class GangClass {
 public:
  const GangClassKey& key() const { return key_; }
  uint64_t id() const { return id_; }  // Waiting::gang_class_id.
  // Its first gang.
  const QueuePosition& first() const { return first_; }
  size_t size() const { return gangs_.size(); }
  // What was reported of it last.
  const Reason& reason() const { return questions_.reason; }
  // Its reason was never reported.
  bool unreported() const { return reason().code == ReasonCode::kNone; }

 private:
  friend class GangClassList;
  GangClassKey key_{};
  uint64_t id_ = 0;
  Questions questions_{};  // Open: its own, not those of its spec.
  // No heap with lazy removal: it would go on to compare the keys of gangs that
  // are gone.
  absl::btree_set<QueuePosition> gangs_;
  QueuePosition first_{};
  // Its position among Leaf::no_victims, if it is there.
  static constexpr uint32_t kNoPlace = 0xffffffff;
  uint32_t place_ = kNoPlace;
};

// Classes by leaf queue, in the order of their first gangs.
//
// kRoom of all classes of a spec can be activated as one: they ask the same of
// the same nodes. That, and closing them as one, costs nothing a class. To whom
// it is active can be seen in no other way than questions(): a class that got
// its answer is deactivated alone.
//
// Invariant: First() of a leaf is its first class with an active question
// (kRoom or kVictims). What asks nothing costs nothing. Not synchronised. O(log
// n) a call unless said otherwise.
class GangClassList {
 public:
  // `reports`: plans report what its classes wait for.
  GangClassList(QueuePositions& positions, bool reports)
      : positions_(positions), reports_(reports) {}

  // A class that is new has these questions active.
  GangClassIndex Add(const GangClassKey& key, const QueuePosition& position,
                     uint8_t active);
  void Remove(GangClassIndex c, GangIndex gang);

  // The same object for as long as the class has a gang.
  const GangClass& at(GangClassIndex c) const { return classes_[c]; }
  GangClassIndex Find(
      const GangClassKey& key) const;  // kNoClass if there is none.

  Questions questions(GangClassIndex c) const;
  // Whether its kVictims is active.
  bool AsksVictims(GangClassIndex c) const { return AsksVictims(classes_[c]); }
  void Activate(GangClassIndex c, uint8_t questions);
  void Deactivate(GangClassIndex c, uint8_t questions);
  void SetQuestions(GangClassIndex c, const Questions& questions);

  // Activates kRoom of all classes of the spec that do not stand alone. O(1).
  void ActivateRoomOf(uint32_t spec);
  // Deactivates kRoom of those classes of the spec that do not stand alone,
  // were reported with this reason last, and neither have another question
  // active nor are to be asked again. The others keep what they ask, and are
  // listed in *others. False where these are more than half: nothing is done.
  // O(others log n + leaves at whose head a class of the spec is).
  bool DeactivateRoomOf(uint32_t spec, const Reason& reason,
                        std::vector<GangClassIndex>* others);
  // What specs ask their classes ask from now on. O(classes that do).
  void SettleRooms();

  // Leaves with an active class; others too while a spec asks. Where handles
  // are in order, no caller may build on it: a restored scheduler has others.
  // The reference holds until the next call. O(leaves).
  const std::vector<QueueIndex>& ActiveLeaves();
  // Leaves whose first active class, or its first gang, may have changed since
  // the last call, or ForgetChangedQueues(); each once. The reference holds
  // until the next change.
  const std::vector<QueueIndex>& TakeChangedQueues();
  // O(leaves that were noted).
  void ForgetChangedQueues();
  using Classes = absl::btree_set<GangClassIndex>;
  // Classes with kPutOff.
  const Classes& put_off() const { return put_off_; }
  // Classes with kAgain.
  const Classes& again() const { return again_; }
  // The first active class of the leaf, or kNoClass. `strict`: the first of
  // all, if it is active.
  GangClassIndex First(QueueIndex leaf, bool strict);
  // The first gang of the leaf, which has classes. O(1).
  GangIndex HeadOf(QueueIndex leaf) const;
  // How many gangs of the leaf stand before this position. O(log n + n / 64)
  // for its n gangs (PositionList); O(n log n) the first time.
  uint32_t CountAhead(QueueIndex leaf, const QueuePosition& position);

  // Classes of a spec.
  const Classes& OfSpec(uint32_t spec) const;
  // The classes whose kVictims becomes active by time.
  using Retries = absl::btree_set<std::pair<Time, GangClassIndex>>;
  const Retries& retries() const { return retries_; }
  // A class of a leaf.
  struct Place {
    QueuePosition position{};  // Its first gang's.
    GangClassIndex index = kNoClass;
    uint32_t spec = 0;

    friend auto operator<=>(const Place& a, const Place& b) {
      return a.position <=> b.position;
    }
  };
  using Places = absl::btree_set<Place>;
  // All classes of the leaf. What holds until one comes or goes, or gets
  // another first gang.
  const Places& InOrder(QueueIndex leaf) const;
  struct Member {
    GangClassIndex index = kNoClass;
    uint32_t spec = 0;
    int32_t priority = 0;  // Its first gang's.
  };
  // Classes of the leaf that do not stand alone and whose kVictims is not
  // active, in no order, contiguous: for callers that read all. What holds as
  // for InOrder; in the place of one whose kVictims becomes active comes the
  // last.
  const std::vector<Member>& AskingNoVictims(QueueIndex leaf) const;
  // Calls f(GangClassIndex) with each class of the leaf, in order, or of all. f
  // may activate and deactivate questions.
  template <class F>
  void ForEach(QueueIndex leaf, F&& f) const;
  template <class F>
  void ForEach(F&& f) const;
  // One past the largest spec that has had a class.
  uint32_t spec_limit() const { return static_cast<uint32_t>(by_spec_.size()); }

  bool reports() const { return reports_; }
  // The ids of classes that were reported with a reason and have lost their
  // last gang since ForgetGone(); none of a list of which plans do not tell.
  const std::vector<uint64_t>& gone() const { return gone_; }
  void ForgetGone() { gone_.clear(); }
  // This list, which is new, stands in the place of another one: no id comes
  // again, and the other's classes are gone. O(the other's classes).
  void Replace(const GangClassList& other);

  // From Mark() on the first change of each class's questions is remembered.
  // Rollback() puts them back, and who is gone, for classes that are there; the
  // owner has put back all gangs before.
  void Mark();
  void Rollback();
  void Unmark() { marked_ = false; }

 private:
  struct Leaf {
    Places all;
    Places active;                     // With a question of their own.
    std::vector<Member> no_victims{};  // AskingNoVictims.
    // All gangs, once CountAhead has asked for it.
    std::unique_ptr<PositionList> positions{};
    bool changed = false;  // It is among changed_.
    // No class before it asks as part of a spec: so it was at that serial, and
    // the classes are as they were.
    Places::const_iterator first_of_specs{};
    uint64_t looked = 0;
  };
  // What is known of the classes of a spec that do not stand alone.
  struct Spec {
    Classes all;          // And of those that do.
    uint64_t serial = 0;  // Of its question: kRoom; 0: it is not active.
    uint32_t size = 0;
    uint32_t asking = 0;  // To whom it is active.
    Classes busy;         // With a question of their own active, or kAgain.
    std::vector<std::pair<Reason, Classes>> reported;  // Who, each; not empty.
    // Those whose first_of_specs was a class of this spec once.
    std::vector<QueueIndex> leaves;
  };

  static constexpr uint8_t kAsked = Questions::kRoom | Questions::kVictims;
  static bool Asks(const GangClass& cls) {
    return (cls.questions_.active & kAsked) != 0;
  }
  // Whether it asks as part of its spec.
  bool AsksInSpec(GangClassIndex c, uint32_t spec) const {
    return answered_[c] < by_spec_[spec].serial;
  }
  bool AsksInSpec(GangClassIndex c) const {
    return AsksInSpec(c, classes_[c].key_.spec);
  }
  static void Keep(Classes& classes, GangClassIndex c, bool is_in) {
    is_in ? void(classes.insert(c)) : void(classes.erase(c));
  }
  GangClassIndex NewClass(const GangClassKey& key, uint8_t active);
  void Erase(GangClassIndex c);
  // The class is put among those of its leaf with its first gang as it is, or
  // taken out.
  void PutIn(GangClassIndex c);
  void TakeOut(GangClassIndex c);
  static bool AsksVictims(const GangClass& cls) {
    return (cls.questions_.active & Questions::kVictims) != 0;
  }
  // The class is among those that ask for no victims if it belongs there.
  void PlaceAmongNoVictims(GangClassIndex c, bool belongs);
  void NoteChange(QueueIndex leaf);
  void PutAmongActive(GangClassIndex c);
  void TakeFromActive(GangClassIndex c);
  void Save(const GangClass& cls);
  static bool IsBusy(const Questions& own) {
    return (own.active & (kAsked | Questions::kAgain)) != 0;
  }
  // What the spec knows of the class: nothing any more, or these questions.
  void Forget(GangClassIndex c);
  void Know(GangClassIndex c);
  void Answered(GangClassIndex c);
  void DeactivateSpec(uint32_t spec);
  void Settle(uint32_t spec);
  void KeepAsking(GangClassIndex c);
  const Place* FirstOfSpecs(QueueIndex leaf);

  QueuePositions& positions_;
  bool reports_;
  std::deque<GangClass> classes_;
  // By class: the serial of its spec's question when it had its answer, or when
  // it came. Of one that stands alone, none is later.
  std::vector<uint64_t> answered_;
  std::vector<GangClassIndex> free_;
  absl::flat_hash_map<GangClassKey, GangClassIndex> by_key_;
  std::vector<Spec> by_spec_;
  absl::btree_set<uint32_t> active_specs_;
  uint64_t last_serial_ = 0;                   // Of any spec's question.
  std::deque<Leaf> leaves_;                    // By queue.
  absl::btree_set<QueueIndex> active_queues_;  // With a class that Asks().
  std::vector<QueueIndex> active_leaves_;      // Of ActiveLeaves.
  bool all_changed_ = false;
  std::vector<QueueIndex> changed_;
  std::vector<QueueIndex> taken_;  // The last that were taken.
  Classes put_off_;
  Classes again_;
  Retries retries_;
  uint64_t last_id_ = 0;
  std::vector<uint64_t> gone_;
  struct Saved {
    uint64_t id = 0;
    Questions questions{};  // Its own.
  };
  bool marked_ = false;
  // Since Mark(); nothing of a class that was not there then.
  absl::btree_map<GangClassKey, std::optional<Saved>> saved_;
  std::vector<uint64_t> saved_gone_;
  uint64_t saved_last_id_ = 0;
  std::vector<uint32_t> saved_specs_;  // Those that asked all their classes.
};

template <class F>
void GangClassList::ForEach(QueueIndex leaf, F&& f) const {
  for (const Place& place : InOrder(leaf)) f(place.index);
}

template <class F>
void GangClassList::ForEach(F&& f) const {
  for (QueueIndex q = 0; q < leaves_.size(); ++q) ForEach(q, f);
}

}  // namespace muster
