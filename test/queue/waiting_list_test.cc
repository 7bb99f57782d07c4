// The order of those who wait, compared with sorted sets.
#include "lib/queue/waiting_list.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

using Class = std::tuple<QueueIndex, uint32_t, uint32_t>;

// What a WaitingList should do, said with sets.
class Oracle {
 public:
  void Add(const Class& cls, const GangRank& rank) { all_[cls].insert(rank); }
  void Remove(const Class& cls, const GangRank& rank) {
    all_[cls].erase(rank);
    if (all_[cls].empty()) all_.erase(cls);
  }
  // The first gang, from `from` on, of a class that has not passed; or null.
  const GangRank* Next(QueueIndex queue, const GangRank* from,
                       const std::set<Class>& passed) const {
    const GangRank* best = nullptr;
    for (const auto& [cls, ranks] : all_) {
      const GangRank& first = *ranks.begin();
      if (std::get<0>(cls) != queue || passed.contains(cls)) continue;
      if (from != nullptr && first < *from) continue;
      if (best == nullptr || first < *best) best = &first;
    }
    return best;
  }
  uint32_t CountAhead(QueueIndex queue, const GangRank& rank) const {
    uint32_t count = 0;
    for (const auto& [cls, ranks] : all_) {
      if (std::get<0>(cls) != queue) continue;
      for (const GangRank& each : ranks) count += each < rank;
    }
    return count;
  }
  size_t Classes(QueueIndex queue) const {
    size_t count = 0;
    for (const auto& each : all_) count += std::get<0>(each.first) == queue;
    return count;
  }
  std::set<QueueIndex> Queues() const {
    std::set<QueueIndex> queues;
    for (const auto& each : all_) queues.insert(std::get<0>(each.first));
    return queues;
  }

 private:
  std::map<Class, std::set<GangRank>> all_;
};

// One story: gangs come and go, between passes and in the middle of one.
class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    const int gangs = 5 + Below(60);
    for (int g = 0; g < gangs; ++g) names_.push_back("g" + std::to_string(g));
    where_.resize(gangs, kNoClass);
    classes_.resize(gangs);
    ranks_.resize(gangs);
  }

  void Run() {
    for (int pass = 0; pass < 30; ++pass) {
      for (int i = Below(20); i > 0; --i) Change();
      Compare();
      for (QueueIndex q = 0; q < kQueues; ++q) Walk(q);
      Compare();
    }
  }

 private:
  static constexpr QueueIndex kQueues = 2;

  int Below(int n) { return static_cast<int>(random_() % n); }

  void Change() {
    const GangIndex g = Below(static_cast<int>(names_.size()));
    if (where_[g] != kNoClass) {
      list_.Remove(where_[g], ranks_[g]);
      oracle_.Remove(classes_[g], ranks_[g]);
      where_[g] = kNoClass;
      return;
    }
    ranks_[g] = {Below(3), Below(4), names_[g], g};
    classes_[g] = {Below(kQueues), ranks_[g].priority, Below(6)};
    const auto [queue, priority_class, description] = classes_[g];
    where_[g] = list_.Add(queue, priority_class, description, ranks_[g]);
    oracle_.Add(classes_[g], ranks_[g]);
  }

  // As a pass does: a class is served, and loses its first gang, or blocked.
  void Walk(QueueIndex queue) {
    std::set<Class> passed;
    auto has_passed = [&](const WaitingFacts& cls) {
      return passed.contains({cls.queue, cls.priority_class, cls.description});
    };
    if (oracle_.Queues().contains(queue)) list_.Rewind(queue);
    GangRank from;
    const GangRank* start = nullptr;
    for (;;) {
      const GangRank* expected = oracle_.Next(queue, start, passed);
      const ClassIndex c = list_.Next(queue, start, has_passed);
      ASSERT_EQ(c == kNoClass, expected == nullptr);
      if (c == kNoClass) return;
      ASSERT_EQ(list_.at(c).first(), *expected);
      from = *expected;
      start = &from;
      for (int i = Below(3); i > 0; --i) Change();
      const GangIndex g = from.gang;
      if (Below(3) == 0) {
        passed.insert(classes_[g]);
      } else if (where_[g] != kNoClass) {
        list_.Remove(where_[g], ranks_[g]);
        oracle_.Remove(classes_[g], ranks_[g]);
        where_[g] = kNoClass;
      }
    }
  }

  void Compare() {
    ASSERT_EQ(std::set(list_.queues().begin(), list_.queues().end()),
              oracle_.Queues());
    for (QueueIndex q = 0; q < kQueues; ++q) {
      std::set<ClassIndex> classes;
      list_.ForEach(q, [&](ClassIndex c) { classes.insert(c); });
      ASSERT_EQ(classes.size(), oracle_.Classes(q));
      const GangRank& rank = ranks_[Below(static_cast<int>(ranks_.size()))];
      ASSERT_EQ(list_.CountAhead(q, rank), oracle_.CountAhead(q, rank));
    }
  }

  std::mt19937_64 random_;
  WaitingList list_;
  Oracle oracle_;
  std::vector<std::string> names_;
  std::vector<ClassIndex> where_;
  std::vector<Class> classes_;
  std::vector<GangRank> ranks_;
};

TEST(WaitingListTest, WalksAsSortedSetsWould) {
  std::cout << "seeds 1 to 300\n";
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    World(seed).Run();
    if (HasFatalFailure()) return;
  }
}

TEST(WaitingListTest, AClassIsKnownByItsQueuePriorityAndDescription) {
  WaitingList list;
  const GangRank a{0, 1, "a", 0}, b{0, 2, "b", 1}, c{5, 3, "c", 2};
  const ClassIndex one = list.Add(0, 0, 7, b);
  EXPECT_EQ(list.Add(0, 0, 7, a), one);
  EXPECT_NE(list.Add(0, 1, 7, c), one);
  EXPECT_EQ(list.at(one).size(), 2u);
  EXPECT_EQ(list.at(one).first(), a);
  EXPECT_EQ(list.CountAhead(0, b), 2u);
  list.Remove(one, a);
  list.Remove(one, b);
  EXPECT_EQ(list.Add(3, 0, 7, a), one);  // The place is used again.
  EXPECT_FALSE(list.at(one).no_room_known);
}

}  // namespace
}  // namespace muster
