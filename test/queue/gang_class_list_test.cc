// Classes of gangs that ask for something, by example and against a list that
// is sorted and searched anew for every question.
#include "lib/queue/gang_class_list.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/property/dice.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

constexpr uint8_t kBothQuestions = Questions::kRoom | Questions::kVictims;

// In queue 1, by time.
QueuePosition PositionIn(GangIndex g, Time submitted) {
  static const std::vector<std::string> kNames = {"a", "b", "c", "d", "e", "f",
                                                  "g", "h", "i", "j", "k", "l"};
  return {.submitted = submitted, .key = kNames[g], .gang = g};
}

GangClassKey Key(uint32_t spec) { return {.queue = 1, .spec = spec}; }

class GangClassListTest : public testing::Test {
 protected:
  QueuePositions positions_;
  GangClassList list_{positions_, true};
};

TEST_F(GangClassListTest, AGangThatJoinsAnInactiveClassActivatesNothing) {
  const GangClassIndex c = list_.Add(Key(0), PositionIn(0, 10), kBothQuestions);
  EXPECT_EQ(list_.First(1, false), c);
  list_.Deactivate(c, kBothQuestions);
  EXPECT_EQ(list_.Add(Key(0), PositionIn(1, 5), kBothQuestions), c);
  EXPECT_EQ(list_.at(c).first().gang, 1u);
  EXPECT_EQ(list_.at(c).size(), 2u);
  EXPECT_EQ(list_.First(1, false), kNoClass);
  EXPECT_THAT(list_.ActiveLeaves(), IsEmpty());
}

TEST_F(GangClassListTest, AStrictQueueAsksItsHeadOrNobody) {
  const GangClassIndex head =
      list_.Add(Key(0), PositionIn(0, 1), kBothQuestions);
  const GangClassIndex next =
      list_.Add(Key(1), PositionIn(1, 2), kBothQuestions);
  EXPECT_EQ(list_.First(1, true), head);
  list_.Deactivate(head, kBothQuestions);
  EXPECT_EQ(list_.First(1, true), kNoClass);
  EXPECT_EQ(list_.First(1, false), next);
  EXPECT_EQ(list_.HeadOf(1), 0u);
  list_.Remove(head, 0);
  EXPECT_EQ(list_.First(1, true), next);
}

// A gang that is gone leaves nothing behind: its record, and with it its key,
// may be another gang's.
TEST_F(GangClassListTest, TheKeyOfAGangThatLeftMayBecomeAnothers) {
  Dice dice(1);
  constexpr uint32_t kRecords = 12;
  std::vector<std::string> records(kRecords, "-");
  std::map<std::string, GangIndex> there;
  for (int step = 0; step < 10'000; ++step) {
    const GangIndex g = dice.Below(kRecords);
    if (there.erase(records[g]) > 0) {
      list_.Remove(list_.Find(Key(0)), g);
      records[g] = "-";
    } else {
      std::string key(1, static_cast<char>('a' + dice.Below(26)));
      if (!there.emplace(key, g).second) continue;
      records[g] = key;
      list_.Add(Key(0), {.key = records[g], .gang = g}, kBothQuestions);
    }
    const GangClassIndex c = list_.Find(Key(0));
    ASSERT_EQ(c == kNoClass, there.empty());
    if (there.empty()) continue;
    ASSERT_EQ(list_.at(c).size(), there.size());
    ASSERT_EQ(list_.at(c).first().gang, there.begin()->second);
  }
}

TEST_F(GangClassListTest, AQuestionThatIsPutOffIsNotAsked) {
  const GangClassIndex c =
      list_.Add(Key(0), PositionIn(0, 1), Questions::kVictims);
  list_.Activate(c, Questions::kPutOff);
  list_.Deactivate(c, Questions::kVictims);
  EXPECT_EQ(list_.First(1, false), kNoClass);
  EXPECT_THAT(list_.put_off(), ElementsAre(c));
  list_.Remove(c, 0);
  EXPECT_THAT(list_.put_off(), IsEmpty());
}

TEST_F(GangClassListTest, ALeafChangesWhenTheFirstGangOfAnActiveClassDoes) {
  const GangClassIndex c =
      list_.Add(Key(0), PositionIn(0, 5), Questions::kRoom);
  EXPECT_THAT(list_.TakeChangedQueues(), ElementsAre(1));
  list_.Add(Key(0), PositionIn(1, 6), 0);
  EXPECT_THAT(list_.TakeChangedQueues(), IsEmpty()) << "it is not the first";
  list_.Remove(c, 0);
  list_.Activate(c, Questions::kVictims);
  EXPECT_THAT(list_.TakeChangedQueues(), ElementsAre(1)) << "once";
  list_.Deactivate(c, Questions::kVictims);
  EXPECT_THAT(list_.TakeChangedQueues(), IsEmpty()) << "it still asks";
}

TEST_F(GangClassListTest, AClassThatCameAgainGetsItsAnswersBack) {
  const GangClassIndex c = list_.Add(Key(0), PositionIn(0, 1), kBothQuestions);
  const Questions answer = {.active = Questions::kPutOff,
                            .effort = 3,
                            .retry_at = 70,
                            .reason = {.code = ReasonCode::kInsufficient}};
  list_.SetQuestions(c, answer);
  list_.Mark();
  list_.Remove(c, 0);
  EXPECT_THAT(list_.retries(), IsEmpty());
  const GangClassIndex again =
      list_.Add(Key(0), PositionIn(0, 1), kBothQuestions);
  EXPECT_TRUE(list_.at(again).unreported());
  list_.SetQuestions(again, {.retry_at = 80});
  list_.Rollback();
  EXPECT_THAT(list_.retries(), ElementsAre(std::pair(Time{70}, again)));
  EXPECT_THAT(list_.put_off(), ElementsAre(again));
  EXPECT_EQ(list_.questions(again).effort, 3u);
  EXPECT_EQ(list_.First(1, false), kNoClass);
}

TEST_F(GangClassListTest, WithoutAMarkNothingIsPutBack) {
  const GangClassIndex c = list_.Add(Key(0), PositionIn(0, 1), kBothQuestions);
  list_.Mark();
  list_.Deactivate(c, Questions::kRoom);
  list_.Unmark();
  list_.Mark();
  list_.Rollback();
  EXPECT_EQ(list_.questions(c).active, Questions::kVictims);
}

// --- Against a naive list ----------------------------------------------------

struct NaiveClass {
  GangClassKey key{};
  GangClassIndex index = kNoClass;
  const GangClass* object = nullptr;
  uint64_t id = 0;
  std::vector<QueuePosition> gangs{};  // Sorted.
  Questions questions{};

  bool asks() const { return (questions.active & kBothQuestions) != 0; }
};

constexpr uint32_t kGangs = 12, kQueues = 4, kSpecs = 3;

class Pair {
 public:
  explicit Pair(uint64_t seed) : dice_(seed), home_(kGangs) {}

  void Step() {
    switch (dice_.Below(8)) {
      case 0:
      case 1:
      case 2:
        Move(dice_.Below(kGangs));
        break;
      case 3:
        if (mark_) {
          TakeBack();
        } else {
          mark_ = Saved{home_, classes_, gone_, last_id_, asked_as_one_};
          list_.Mark();
        }
        break;
      case 4:
        return AskSpec(dice_.Below(kSpecs));
      default:
        if (classes_.empty()) return;
        const auto before = ActiveViews();
        Ask(classes_[dice_.Below(Size())]);
        Note(before);
    }
  }

  // Everything the list tells is what is true.
  void Check() {
    std::set<GangClassIndex> put_off;
    std::set<std::pair<Time, GangClassIndex>> retries;
    std::vector<GangClassIndex> by_queue[kQueues], by_spec[kSpecs];
    std::set<QueueIndex> active;
    for (const NaiveClass& c : classes_) {
      CheckClass(c);
      by_queue[c.key.queue].push_back(c.index);
      by_spec[c.key.spec].push_back(c.index);
      if (c.asks()) active.insert(c.key.queue);
      if ((c.questions.active & Questions::kPutOff) != 0)
        put_off.insert(c.index);
      const Time at = c.questions.retry_at;
      if (at != kForever) retries.insert({at, c.index});
    }
    if (asked_as_one_) {
      EXPECT_THAT(list_.ActiveLeaves(), testing::IsSupersetOf(active));
    } else {
      EXPECT_THAT(list_.ActiveLeaves(), UnorderedElementsAreArray(active));
    }
    EXPECT_THAT(list_.put_off(), ElementsAreArray(put_off));
    EXPECT_THAT(list_.retries(), ElementsAreArray(retries));
    for (QueueIndex q = 0; q < kQueues; ++q) {
      std::vector<GangClassIndex> told;
      list_.ForEach(q, [&](GangClassIndex c) { told.push_back(c); });
      EXPECT_THAT(told, UnorderedElementsAreArray(by_queue[q]));
      CheckLeaf(q);
    }
    for (uint32_t spec = 0; spec < kSpecs; ++spec) {
      EXPECT_THAT(list_.OfSpec(spec), UnorderedElementsAreArray(by_spec[spec]));
      EXPECT_TRUE(by_spec[spec].empty() || spec < list_.spec_limit());
    }
    if (dice_.OneIn(3)) CheckGone();
    if (!dice_.OneIn(3)) return;
    if (asked_since_) {
      // A leaf whose first active class is the same may be told, or not.
      EXPECT_THAT(list_.TakeChangedQueues(),
                  testing::IsSupersetOf(first_changed_));
    } else {
      EXPECT_THAT(list_.TakeChangedQueues(),
                  UnorderedElementsAreArray(changed_));
    }
    asked_since_ = asked_as_one_;
    changed_.clear();
    first_changed_.clear();
  }
  void CheckGone() {
    EXPECT_THAT(list_.gone(), ElementsAreArray(gone_));
    list_.ForgetGone();
    gone_.clear();
  }
  uint32_t taken_back() const { return taken_back_; }
  uint32_t deactivated_as_one() const { return deactivated_as_one_; }

 private:
  // The classes that ask something, by their first gangs.
  using View = std::map<QueuePosition, GangClassIndex>;
  struct Saved {
    std::vector<std::optional<GangClassKey>> home{};
    std::vector<NaiveClass> classes{};
    std::vector<uint64_t> gone{};
    uint64_t last_id = 0;
    bool asked_as_one = false;
  };

  uint32_t Size() const { return static_cast<uint32_t>(classes_.size()); }
  std::vector<NaiveClass>::iterator At(const GangClassKey& key) {
    return std::find_if(classes_.begin(), classes_.end(),
                        [&](const auto& c) { return c.key == key; });
  }
  QueuePosition PositionOf(GangIndex g, const GangClassKey& key) const {
    QueuePosition position = PositionIn(g, g * 7 % 3);
    position.priority = static_cast<int32_t>(key.priority_class);
    position.surplus = key.spec * g % 2;
    return position;
  }

  void Put(GangIndex g, const GangClassKey& key, uint8_t active) {
    const auto before = ActiveViews();
    auto it = At(key);
    const GangClassIndex c = list_.Add(key, PositionOf(g, key), active);
    if (it == classes_.end()) {
      const uint64_t id = list_.at(c).id();
      it = classes_.insert(it,
                           {key, c, &list_.at(c), id, {}, {.active = active}});
      EXPECT_GT(id, last_id_);
      last_id_ = id;
    }
    it->gangs.push_back(PositionOf(g, key));
    std::sort(it->gangs.begin(), it->gangs.end());
    home_[g] = key;
    Note(before);
  }
  void Take(GangIndex g) {
    const auto before = ActiveViews();
    const auto it = At(*home_[g]);
    list_.Remove(it->index, g);
    std::erase_if(it->gangs,
                  [&](const auto& position) { return position.gang == g; });
    if (it->gangs.empty()) {
      if (it->questions.reason != Reason()) gone_.push_back(it->id);
      classes_.erase(it);
    }
    home_[g].reset();
    Note(before);
  }
  void Move(GangIndex g) {
    if (home_[g]) return Take(g);
    const GangClassKey key = {dice_.Below(kQueues), dice_.Below(2),
                              dice_.Below(kSpecs),
                              dice_.OneIn(5) ? g : kNoGang};
    Put(g, key, static_cast<uint8_t>(dice_.Below(4)));
  }
  void Ask(NaiveClass& c) {
    const auto some = static_cast<uint8_t>(dice_.Below(8));
    const Time at = dice_.OneIn(3) ? kForever : dice_.In(1, 5);
    Reason reason;
    if (!dice_.OneIn(3)) reason = {.code = ReasonCode::kBudget, .needed = at};
    switch (dice_.Below(5)) {
      case 0:
        c.questions.active |= some;
        return list_.Activate(c.index, some);
      case 1:
        c.questions.active &= static_cast<uint8_t>(~some);
        return list_.Deactivate(c.index, some);
      case 2:
        c.questions.retry_at = at;
        return list_.SetQuestions(c.index, c.questions);
      case 3:
        c.questions.reason = reason;
        return list_.SetQuestions(c.index, c.questions);
      default:
        c.questions = {some, dice_.Below(9), at, reason};
        return list_.SetQuestions(c.index, c.questions);
    }
  }
  // One question for all classes of a spec that do not stand alone.
  void AskSpec(uint32_t spec) {
    const auto before = ActiveViews();
    std::vector<NaiveClass*> classes;
    for (NaiveClass& c : classes_) {
      if (c.key.spec == spec && c.key.alone == kNoGang) classes.push_back(&c);
    }
    const Reason told =
        classes.empty() ? Reason() : classes.back()->questions.reason;
    switch (dice_.Below(6)) {
      case 0:
        list_.SettleRooms();
        asked_as_one_ = false;
        break;
      case 1:
        for (NaiveClass* c : classes) {
          c->questions.active = 0;
          c->questions.reason = told;
          list_.SetQuestions(c->index, c->questions);
        }
        list_.ActivateRoomOf(spec);
        for (NaiveClass* c : classes) c->questions.active = Questions::kRoom;
        asked_as_one_ = asked_since_ = true;
        if (!classes.empty() && dice_.OneIn(2)) {
          NaiveClass* answered =
              classes[dice_.Below(static_cast<uint32_t>(classes.size()))];
          answered->questions.active = 0;
          list_.Deactivate(answered->index, Questions::kRoom);
        }
        [[fallthrough]];
      case 2: {
        if (spec >= list_.spec_limit()) return;
        std::vector<GangClassIndex> others;
        if (!list_.DeactivateRoomOf(spec, told, &others)) return;
        EXPECT_LE(2 * others.size(), classes.size());
        for (NaiveClass* c : classes) {
          if (std::erase(others, c->index) == 1) continue;
          EXPECT_TRUE(IsSame(c->questions.reason, told));
          EXPECT_EQ(
              c->questions.active & (Questions::kVictims | Questions::kAgain),
              0);
          deactivated_as_one_ += c->questions.active & Questions::kRoom;
          c->questions.active &= static_cast<uint8_t>(~Questions::kRoom);
        }
        EXPECT_THAT(others, testing::IsEmpty()) << "of another spec, or twice";
        break;
      }
      default:
        list_.ActivateRoomOf(spec);
        for (NaiveClass* c : classes) c->questions.active |= Questions::kRoom;
        if (!classes.empty()) asked_as_one_ = asked_since_ = true;
    }
    Note(before);
  }
  // As an owner does: first the gangs, then the questions.
  void TakeBack() {
    if (dice_.OneIn(4)) {
      list_.Unmark();
      mark_.reset();
      return;
    }
    for (GangIndex g = 0; g < kGangs; ++g) {
      if (home_[g] && home_[g] != mark_->home[g]) Take(g);
    }
    for (GangIndex g = 0; g < kGangs; ++g) {
      if (!home_[g] && mark_->home[g]) Put(g, *mark_->home[g], kBothQuestions);
    }
    const auto before = ActiveViews();
    list_.Rollback();
    asked_since_ |= asked_as_one_ || mark_->asked_as_one;
    asked_as_one_ = mark_->asked_as_one;
    for (NaiveClass& old : mark_->classes) {
      At(old.key)->questions = old.questions;
      At(old.key)->id = old.id;
    }
    gone_ = mark_->gone;
    last_id_ = mark_->last_id;
    Note(before);
    mark_.reset();
    ++taken_back_;
  }

  // By queue.
  std::vector<View> ActiveViews() const {
    std::vector<View> views(kQueues);
    for (const NaiveClass& c : classes_) {
      if (!c.asks()) continue;
      views[c.key.queue].insert({c.gangs.front(), c.index});
    }
    return views;
  }
  void Note(const std::vector<View>& before) {
    const std::vector<View> now = ActiveViews();
    for (QueueIndex q = 0; q < kQueues; ++q) {
      if (before[q] == now[q]) continue;
      changed_.insert(q);
      const bool same_first = !before[q].empty() && !now[q].empty() &&
                              *before[q].begin() == *now[q].begin();
      if (!same_first) first_changed_.insert(q);
    }
  }
  void CheckClass(const NaiveClass& c) {
    const GangClass& cls = list_.at(c.index);
    EXPECT_EQ(list_.Find(c.key), c.index);
    EXPECT_EQ(&cls, c.object);
    EXPECT_EQ(cls.key(), c.key);
    EXPECT_EQ(cls.id(), c.id);
    EXPECT_EQ(cls.size(), c.gangs.size());
    EXPECT_EQ(cls.first().gang, c.gangs.front().gang);
    EXPECT_EQ(list_.questions(c.index).active, c.questions.active);
    EXPECT_EQ(list_.questions(c.index).effort, c.questions.effort);
    EXPECT_EQ(list_.questions(c.index).retry_at, c.questions.retry_at);
    EXPECT_EQ(cls.reason(), c.questions.reason);
    EXPECT_EQ(cls.unreported(), c.questions.reason == Reason());
  }
  void CheckLeaf(QueueIndex q) {
    std::vector<const NaiveClass*> order;
    for (const NaiveClass& c : classes_) {
      if (c.key.queue == q) order.push_back(&c);
    }
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->gangs.front() < b->gangs.front();
    });
    const auto active = std::find_if(order.begin(), order.end(),
                                     [](const auto* c) { return c->asks(); });
    EXPECT_EQ(list_.First(q, false),
              active == order.end() ? kNoClass : (*active)->index);
    if (order.empty()) return;
    EXPECT_EQ(list_.First(q, true),
              order[0]->asks() ? order[0]->index : kNoClass);
    EXPECT_EQ(list_.HeadOf(q), order[0]->gangs.front().gang);
    const QueuePosition position = PositionOf(dice_.Below(kGangs), {});
    uint32_t ahead = 0;
    for (const NaiveClass* c : order) {
      for (const QueuePosition& other : c->gangs) ahead += other < position;
    }
    EXPECT_EQ(list_.CountAhead(q, position), ahead);
  }

  Dice dice_;
  QueuePositions positions_;
  GangClassList list_{positions_, true};
  std::vector<NaiveClass> classes_;
  std::vector<std::optional<GangClassKey>> home_;  // By gang.
  // Since it was asked: where some class asks something else, and where the
  // first that asks does.
  std::set<QueueIndex> changed_, first_changed_;
  std::optional<Saved> mark_;
  std::vector<uint64_t> gone_;  // Since it was asked.
  uint64_t last_id_ = 0;
  uint32_t taken_back_ = 0;
  bool asked_as_one_ = false;  // Some spec may ask its classes.
  bool asked_since_ = false;   // It did since the changed queues were taken.
  uint32_t deactivated_as_one_ = 0;
};

TEST(ClassListPropertyTest, TellsWhatANaiveListTells) {
  uint32_t taken_back = 0, deactivated_as_one = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Pair pair(seed);
    for (int step = 0; step < 100; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << step);
      pair.Step();
      pair.Check();
      if (testing::Test::HasFailure()) return;
    }
    taken_back += pair.taken_back();
    deactivated_as_one += pair.deactivated_as_one();
  }
  EXPECT_GT(taken_back, 100u);
  EXPECT_GT(deactivated_as_one, 100u);
}

}  // namespace
}  // namespace muster
