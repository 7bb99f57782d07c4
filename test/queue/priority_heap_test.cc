#include "muster/heap/priority_heap.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace muster {

class PriorityHeapPeer {
 public:
  template <class Heap>
  static void SetNextSeq(Heap* heap, uint32_t seq) {
    uint32_t& next = heap->heap_.keys_.next_seq_;
    next = std::max(next, seq);
  }
  // So many more numbers until the next one is the last.
  template <class Heap>
  static void HastenWrap(Heap* heap, uint32_t left) {
    if (heap->side() == HeapSide::kKeys) SetNextSeq(heap, UINT32_MAX - left);
  }
};

namespace {

TEST(PriorityHeapTest, ExampleInTheHeader) {
  // example-begin
  struct Job : HeapNode<int> {
    Job(int rank, std::string job) : HeapNode(rank), name(std::move(job)) {}
    std::string name;
  };
  Job train(1, "train"), tune(1, "tune"), serve(0, "serve");
  PriorityHeap<int, std::less<int>, Job> heap;

  std::thread producer([&] { heap.Push(&train), heap.Push(&tune); });
  heap.Push(&serve);
  producer.join();
  EXPECT_EQ(heap.PopBest()->name, "serve");  // The least key is the best.
  EXPECT_EQ(heap.PopBest()->name, "train");  // Equals: first in, first out.
  EXPECT_TRUE(heap.Reprioritize(&tune, 7));
  EXPECT_TRUE(heap.Erase(&tune));  // From here on tune may be freed.
  EXPECT_EQ(heap.PopBest(), nullptr);
  // example-end
}

TEST(PriorityHeapTest, TheHeadersExampleIsTheOneAbove) {
  std::ifstream header("include/muster/heap/priority_heap.h");
  std::ifstream test("test/queue/priority_heap_test.cc");
  if (!header || !test) GTEST_SKIP() << "not run from the source folder";
  std::string comment, line;
  bool inside = false;
  while (std::getline(test, line)) {
    if (line == "  // example-end") break;
    if (inside) comment += line.empty() ? "//\n" : "// " + line + "\n";
    if (line == "  // example-begin") inside = true;
  }
  std::stringstream text;
  text << header.rdbuf();
  EXPECT_GT(comment.size(), 500u);
  EXPECT_NE(text.str().find(comment), std::string::npos) << comment;
}

TEST(PriorityHeapTest, AnEmptyHeapHasNothing) {
  PriorityHeap<int> heap;
  HeapNode<int> node(1);
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(heap.size(), 0u);
  EXPECT_EQ(heap.PeekBest(), nullptr);
  EXPECT_EQ(heap.PopBest(), nullptr);
  EXPECT_EQ(heap.Drain(), 0u);
  EXPECT_FALSE(heap.Erase(&node));
  EXPECT_FALSE(heap.Reprioritize(&node, 2));
  EXPECT_EQ(node.key(), 1);
  heap.Clear();
  EXPECT_TRUE(heap.empty());
}

TEST(PriorityHeapTest, EqualsLeaveInTheOrderTheyCame) {
  for (size_t count : {1, 2, 3, 4, 5, 6, 16, 17, 20, 21, 22, 85, 86, 1000}) {
    PriorityHeap<int> heap;
    std::deque<HeapNode<int>> nodes;
    for (size_t i = 0; i < count; ++i) heap.Push(&nodes.emplace_back(7));
    for (HeapNode<int>& node : nodes) ASSERT_EQ(heap.PopBest(), &node);
    EXPECT_TRUE(heap.empty());
  }
}

TEST(PriorityHeapTest, EmptyKnowsTheInbox) {
  PriorityHeap<int> heap;
  HeapNode<int> node;
  heap.Push(&node);
  EXPECT_FALSE(heap.empty());
  EXPECT_EQ(heap.Drain(), 0u);
  EXPECT_EQ(heap.PopBest(), &node);
  heap.Push(&node);
  EXPECT_EQ(heap.Drain(), 1u);
  EXPECT_FALSE(heap.empty());
}

TEST(PriorityHeapTest, ErasesAndReprioritizesANodeStillInTheInbox) {
  PriorityHeap<int> heap;
  HeapNode<int> a(1), b(2), c(3);
  heap.Push(&a);
  heap.Push(&b);
  EXPECT_TRUE(heap.Erase(&a));
  heap.Push(&c);
  EXPECT_TRUE(heap.Reprioritize(&c, 0));
  EXPECT_EQ(c.key(), 0);
  EXPECT_EQ(heap.PopBest(), &c);
  EXPECT_EQ(heap.PopBest(), &b);
  EXPECT_EQ(heap.PopBest(), nullptr);
  EXPECT_FALSE(heap.Erase(&a));
}

TEST(PriorityHeapTest, ReprioritizingGoesBehindNewEqualsAndKeepsAnOldPlace) {
  PriorityHeap<int> heap;
  HeapNode<int> a(1), b(1), c(2), d(3);
  for (HeapNode<int>* node : {&a, &b, &c, &d}) heap.Push(node);
  EXPECT_TRUE(heap.Reprioritize(&a, 1));  // Stays before b.
  EXPECT_TRUE(heap.Reprioritize(&d, 1));  // Behind a and b.
  EXPECT_TRUE(heap.Reprioritize(&b, 2));  // Behind c.
  for (HeapNode<int>* node : {&a, &d, &c, &b}) EXPECT_EQ(heap.PopBest(), node);
}

struct ByFirstOfPair {
  bool operator()(std::pair<int, int> a, std::pair<int, int> b) const {
    return a.first < b.first;
  }
};

TEST(PriorityHeapTest, KeysThatCompareEqualAreStillReplaced) {
  PriorityHeap<std::pair<int, int>, ByFirstOfPair> heap;
  HeapNode<std::pair<int, int>> a({1, 1}), b({1, 2});
  heap.Push(&a);
  heap.Push(&b);
  EXPECT_TRUE(heap.Reprioritize(&a, {1, 9}));
  EXPECT_EQ(a.key(), std::make_pair(1, 9));
  EXPECT_EQ(heap.PopBest(), &a);
}

TEST(PriorityHeapTest, ClearedNodesMayGoToAnotherHeap) {
  std::deque<HeapNode<int>> nodes;
  for (int i = 0; i < 10; ++i) nodes.emplace_back(i);
  PriorityHeap<int> one, other;
  for (HeapNode<int>& node : nodes) one.Push(&node);
  one.PopBest();
  for (int i = 1; i < 5; ++i) one.Erase(&nodes[i]);
  one.Clear();
  EXPECT_TRUE(one.empty());
  for (HeapNode<int>& node : nodes) {
    node.set_key(-node.key());
    other.Push(&node);
  }
  for (int i = 9; i >= 0; --i) EXPECT_EQ(other.PopBest(), &nodes[i]);
}

TEST(PriorityHeapTest, MayOutliveItsNodes) {
  PriorityHeap<int> heap;
  {
    std::deque<HeapNode<int>> nodes(9);
    for (HeapNode<int>& each : nodes) heap.Push(&each);
    heap.Drain();
  }
}

TEST(PriorityHeapTest, OrdersByAComparatorWithStateAndByStrings) {
  const std::vector<int> rank = {3, 1, 2, 0};
  auto by_rank = [&rank](int a, int b) { return rank[a] < rank[b]; };
  PriorityHeap<int, decltype(by_rank)> ranked(by_rank);
  std::deque<HeapNode<int>> nodes;
  for (int i = 0; i < 4; ++i) ranked.Push(&nodes.emplace_back(i));
  for (int i : {3, 1, 2, 0}) EXPECT_EQ(ranked.PopBest()->key(), i);

  PriorityHeap<std::string, std::greater<>> named;
  std::deque<HeapNode<std::string>> names;
  for (const char* name : {"long enough to be on the free store: b", "c", "",
                           "long enough to be on the free store: a"}) {
    named.Push(&names.emplace_back(std::string(name)));
  }
  EXPECT_TRUE(named.Reprioritize(&names[2], "z"));
  EXPECT_TRUE(named.Erase(&names[0]));
  EXPECT_EQ(named.PopBest(), &names[2]);
  EXPECT_EQ(named.PopBest(), &names[3]);
  EXPECT_EQ(named.PopBest(), &names[1]);
  EXPECT_EQ(named.PopBest(), nullptr);
}

// --- Several at once ---------------------------------------------------------

TEST(PriorityHeapTest, ABatchIsTheBestInOrder) {
  for (int far : {0, 1000}) {  // In levels, or not.
    PriorityHeap<int> heap;
    std::deque<HeapNode<int>> nodes;
    for (int i = 0; i < 10; ++i) heap.Push(&nodes.emplace_back(far + i / 2));
    std::array<HeapNode<int>*, 4> batch;
    EXPECT_EQ(heap.PopBest(std::span(batch).first(0)), 0u);
    for (int popped = 0; popped < 8; popped += 4) {
      ASSERT_EQ(heap.PopBest(batch), 4u);
      for (int i = 0; i < 4; ++i) EXPECT_EQ(batch[i], &nodes[popped + i]);
    }
    EXPECT_EQ(heap.PopBest(batch), 2u);
    EXPECT_EQ(batch[1], &nodes[9]);
    EXPECT_EQ(heap.PopBest(batch), 0u);
  }
}

TEST(PriorityHeapTest, ASessionDoesAllTheHeapDoes) {
  PriorityHeap<int> heap;
  HeapNode<int> a(1), b(2);
  {
    PriorityHeap<int>::Session session(&heap);
    heap.Push(&b);  // Never needs the session.
    session->Push(&a);
    EXPECT_EQ(session->PopBest(), &a);
    EXPECT_TRUE(session->Reprioritize(&b, 0));
  }
  EXPECT_EQ(heap.PopBest(), &b);
}

// --- The two sides -----------------------------------------------------------

TEST(PriorityHeapTest, KeysWithoutALevelMoveAllToTheOtherSide) {
  PriorityHeap<int> heap;
  std::deque<HeapNode<int>> nodes;
  for (int key : {63, 5, 0, 5}) heap.Push(&nodes.emplace_back(key));
  EXPECT_EQ(heap.side(), HeapSide::kLevels);
  for (int key : {5, 64, -1, 5}) heap.Push(&nodes.emplace_back(key));
  EXPECT_EQ(heap.side(), HeapSide::kKeys);
  for (int i : {6, 2, 1, 3, 4, 7, 0}) EXPECT_EQ(heap.PopBest(), &nodes[i]);
  EXPECT_EQ(heap.side(), HeapSide::kKeys);
  EXPECT_EQ(heap.PopBest(), &nodes[5]);
  EXPECT_EQ(heap.side(), HeapSide::kLevels);  // Empty: from the beginning.
}

TEST(PriorityHeapTest, ANewKeyMayMoveAllToTheOtherSide) {
  PriorityHeap<int> heap;
  HeapNode<int> a(1), b(1), c(1);
  for (HeapNode<int>* node : {&a, &b, &c}) heap.Push(node);
  EXPECT_TRUE(heap.Reprioritize(&b, 100));
  EXPECT_EQ(heap.side(), HeapSide::kKeys);
  for (HeapNode<int>* node : {&a, &c, &b}) EXPECT_EQ(heap.PopBest(), node);
}

TEST(PriorityHeapTest, TheSideCanBeChosen) {
  PriorityHeap<int> heap;
  std::deque<HeapNode<int>> nodes;
  for (int key : {3, 1, 3, 1, 2}) heap.Push(&nodes.emplace_back(key));
  EXPECT_TRUE(heap.Use(HeapSide::kKeys));
  EXPECT_EQ(heap.side(), HeapSide::kKeys);
  EXPECT_TRUE(heap.Erase(&nodes[4]));
  HeapNode<int> late(1), far(64);
  heap.Push(&late);
  heap.Push(&far);
  EXPECT_FALSE(heap.Use(HeapSide::kLevels));
  EXPECT_TRUE(heap.Erase(&far));
  EXPECT_TRUE(heap.Use(HeapSide::kLevels));
  EXPECT_EQ(heap.side(), HeapSide::kLevels);
  for (HeapNode<int>* node :
       {&nodes[1], &nodes[3], &late, &nodes[0], &nodes[2]}) {
    EXPECT_EQ(heap.PopBest(), node);
  }
}

TEST(PriorityHeapTest, WhatHasNoLevelsHasOneSide) {
  PriorityHeap<std::string> heap;
  EXPECT_EQ(heap.side(), HeapSide::kKeys);
  EXPECT_FALSE(heap.Use(HeapSide::kLevels));
  EXPECT_TRUE(heap.Use(HeapSide::kKeys));
}

struct ByFirstInLevels : ByFirstOfPair {
  uint64_t LevelOf(const std::pair<int, int>& key) const {
    return static_cast<uint64_t>(key.first);
  }
};

TEST(PriorityHeapTest, ACompareMayNumberLevels) {
  using Pair = std::pair<int, int>;
  PriorityHeap<Pair, ByFirstInLevels> heap;
  std::deque<HeapNode<Pair>> nodes;
  for (int i = 0; i < 6; ++i) heap.Push(&nodes.emplace_back(Pair(i % 2, -i)));
  EXPECT_EQ(heap.side(), HeapSide::kLevels);
  for (int i : {0, 2, 4, 1, 3, 5}) EXPECT_EQ(heap.PopBest(), &nodes[i]);
}

TEST(PriorityHeapTest, TheGreatestKeysOfGreaterAreLevelsToo) {
  PriorityHeap<int, std::greater<>> heap;
  std::deque<HeapNode<int>> nodes;
  for (int key : {0, 63, 7}) heap.Push(&nodes.emplace_back(key));
  EXPECT_EQ(heap.side(), HeapSide::kLevels);
  for (int i : {1, 2, 0}) EXPECT_EQ(heap.PopBest(), &nodes[i]);
  HeapNode<int> high(64), low(-1), zero(0);
  for (HeapNode<int>* node : {&low, &zero, &high}) heap.Push(node);
  for (HeapNode<int>* node : {&high, &zero, &low}) {
    EXPECT_EQ(heap.PopBest(), node);
  }
}

// --- Counters at their end ---------------------------------------------------

TEST(PriorityHeapTest, TheSequenceNumberMayWrap) {
  PriorityHeap<int> heap;
  std::deque<HeapNode<int>> nodes;
  for (int i = 0; i < 20; ++i) heap.Push(&nodes.emplace_back(1000));
  heap.Drain();
  PriorityHeapPeer::SetNextSeq(&heap, UINT32_MAX - 5);
  for (int i = 20; i < 60; ++i) heap.Push(&nodes.emplace_back(1000));
  for (HeapNode<int>& node : nodes) ASSERT_EQ(heap.PopBest(), &node);
}

TEST(PriorityHeapTest, ErasedPlacesInTheArrayAreUsedAgain) {
  PriorityHeap<int> heap;
  std::deque<HeapNode<int>> nodes;
  for (int i = 0; i < 100; ++i) heap.Push(&nodes.emplace_back(1000 + i));
  for (int round = 0; round < 50; ++round) {
    for (int i = 1; i < 100; i += 2) {
      ASSERT_TRUE(heap.Erase(&nodes[i]));
      heap.Push(&nodes[i]);
      ASSERT_TRUE(heap.Reprioritize(&nodes[i], 5000 + (i * 7 + round) % 100));
    }
  }
  EXPECT_EQ(heap.size(), 100u);
  int last = 0;
  for (int i = 0; i < 100; ++i) {
    const int key = heap.PopBest()->key();
    ASSERT_GE(key, last);
    last = key;
  }
}

#ifndef NDEBUG
TEST(PriorityHeapDeathTest, PushingTwiceIsCaughtInDebugBuilds) {
  PriorityHeap<int> heap;
  HeapNode<int> node;
  heap.Push(&node);
  EXPECT_DEATH_IF_SUPPORTED(heap.Push(&node), "linked");
}
#endif

// The seeds of a property test; MUSTER_SEED=n runs that one alone.
std::vector<uint64_t> Seeds(uint64_t count) {
  if (const char* seed = std::getenv("MUSTER_SEED")) {
    return {std::strtoull(seed, nullptr, 10)};
  }
  std::vector<uint64_t> seeds;
  for (uint64_t i = 1; i <= count; ++i) seeds.push_back(i);
  return seeds;
}

// What the heap should do, said with a std::multiset.
class Oracle {
 public:
  struct Item {
    int key;
    uint64_t stamp;
    size_t id;
    bool operator<(const Item& other) const {
      return std::tie(key, stamp) < std::tie(other.key, other.stamp);
    }
  };
  using Where = std::multiset<Item>::iterator;

  explicit Oracle(size_t ids) : where_(ids, items_.end()) {}

  bool Has(size_t id) const { return where_[id] != items_.end(); }
  void Push(size_t id, int key) {
    where_[id] = items_.insert({key, stamp_++, id});
  }
  void Erase(size_t id) {
    items_.erase(where_[id]);
    where_[id] = items_.end();
  }
  void Reprioritize(size_t id, int key) {
    if (where_[id]->key == key) return;
    Erase(id);
    Push(id, key);
  }
  const std::multiset<Item>& items() const { return items_; }

 private:
  std::multiset<Item> items_;
  std::vector<Where> where_;
  uint64_t stamp_ = 0;
};

struct Numbered : HeapNode<int> {
  explicit Numbered(size_t i) : id(i) {}
  size_t id;
};

void CompareWithOracle(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&random](uint64_t n) { return random() % n; };
  const size_t nodes = 1 + below(seed % 4 == 0 ? 8 : 400);
  // In levels; in an array; from one to the other and back.
  const int keys = std::array{4, 100'000, 66}[seed % 3];
  const uint64_t pushes = 20 + below(40);  // In a hundred operations.
  PriorityHeap<int, std::less<int>, Numbered> heap;
  Oracle oracle(nodes);
  std::vector<std::unique_ptr<Numbered>> owned;
  for (size_t i = 0; i < nodes; ++i) {
    owned.push_back(std::make_unique<Numbered>(i));
  }
  // Frees and replaces a node that has just left the heap: if anything still
  // pointed to it, AddressSanitizer would say so.
  auto renew = [&](size_t id) { owned[id] = std::make_unique<Numbered>(id); };

  for (int step = 0; step < 4000; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    const size_t id = below(nodes);
    const int key = static_cast<int>(below(keys));
    const uint64_t dice = below(100);
    if (dice < pushes) {
      if (oracle.Has(id)) continue;
      owned[id]->set_key(key);
      heap.Push(owned[id].get());
      oracle.Push(id, key);
    } else if (dice < 75) {
      const Numbered* peeked = dice % 2 == 0 ? heap.PeekBest() : nullptr;
      Numbered* popped = heap.PopBest();
      if (dice % 2 == 0) {
        ASSERT_EQ(peeked, popped);
      }
      if (oracle.items().empty()) {
        ASSERT_EQ(popped, nullptr);
        continue;
      }
      ASSERT_NE(popped, nullptr);
      ASSERT_EQ(popped->id, oracle.items().begin()->id);
      ASSERT_EQ(popped->key(), oracle.items().begin()->key);
      oracle.Erase(popped->id);
      renew(popped->id);
    } else if (dice < 84) {
      ASSERT_EQ(heap.Erase(owned[id].get()), oracle.Has(id));
      if (oracle.Has(id)) oracle.Erase(id);
      renew(id);
    } else if (dice < 94) {
      ASSERT_EQ(heap.Reprioritize(owned[id].get(), key), oracle.Has(id));
      if (oracle.Has(id)) {
        oracle.Reprioritize(id, key);
        ASSERT_EQ(owned[id]->key(), key);
      }
    } else if (dice < 95) {
      heap.Use(below(2) == 0 ? HeapSide::kKeys : HeapSide::kLevels);
    } else if (dice < 96) {
      PriorityHeapPeer::HastenWrap(&heap, below(20));
    } else if (dice < 98) {
      ASSERT_EQ(heap.empty(), oracle.items().empty());
    } else if (dice < 99 || below(40) != 0) {
      ASSERT_EQ(heap.size(), oracle.items().size());
    } else {
      heap.Clear();
      for (size_t i = 0; i < nodes; ++i) {
        if (!oracle.Has(i)) continue;
        oracle.Erase(i);
        renew(i);
      }
    }
  }
  while (!oracle.items().empty()) {
    Numbered* popped = heap.PopBest();
    ASSERT_NE(popped, nullptr);
    ASSERT_EQ(popped->id, oracle.items().begin()->id);
    oracle.Erase(popped->id);
  }
  ASSERT_EQ(heap.PopBest(), nullptr);
}

TEST(PriorityHeapPropertyTest, RandomOperationsMatchAMultiset) {
  const std::vector<uint64_t> seeds = Seeds(60);
  std::cout << "seeds " << seeds.front() << " to " << seeds.back() << "\n";
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(testing::Message() << "MUSTER_SEED=" << seed);
    CompareWithOracle(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace muster
