// Small worlds in which nothing happens but that the host does as it is told:
// evictions come to an end, and each gang makes room at most once. Rings of any
// length are looked for, by reclaim, priority and several kinds in turn.
//
// MUSTER_WORLDS=n: how many; MUSTER_ROUND=n: as many that follow on those of
// round n - 1; MUSTER_WORLD=n: the one of that number, told step by step.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/property/dice.h"
#include "test/property/print.h"
#include "test/property/random_world.h"

namespace muster {
namespace {

constexpr uint64_t kWorlds = 4000;
constexpr int kMostPasses = 1000;

uint64_t Environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class SmallWorld {
 public:
  SmallWorld(uint64_t number, bool tells)
      : dice_(number), scheduler_(*Scheduler::Create(RandomConfig())) {
    tells_ = tells;
    AddNodes();
    AddQueues();
    AddGangs();
  }

  // What is wrong, if anything.
  std::string Run() {
    Time now = 0;
    for (int pass = 0; pass < kMostPasses; ++pass) {
      Plan plan;
      scheduler_.Schedule(now, &plan);
      const PlanRecord record = scheduler_.Record(plan);
      Note(now, record);
      for (const auto& [gang, times] : made_room_) {
        if (times > 1)
          return gang + " makes room " + std::to_string(times) + " times";
      }
      if (record.decisions.empty() && record.next_wakeup == kForever) return "";
      now = record.decisions.empty() ? std::max(now, record.next_wakeup)
                                     : now + kSecond;
      DoAsTold(now, record);
    }
    return "it does not come to its end";
  }

  size_t evictions() const { return evictions_; }

 private:
  SchedulerConfig RandomConfig() {
    SchedulerConfig config;
    // Times only delay what bounds the number of evictions.
    if (dice_.OneIn(2)) {
      config.eviction_backoff = {.wait_base = 0, .protection_base = 0};
    }
    if (Dice aside = dice_.Aside(); aside.OneIn(3)) {
      using enum QueueOrderKey;
      config.queue_order = {kWithin, kShare, kPriority};
    }
    return config;
  }

  void Happens(EventBody what) {
    if (tells_) std::cout << Printer::Text(what) << "\n";
    const absl::Status status = scheduler_.Apply({0, std::move(what)});
    if (!status.ok()) ADD_FAILURE() << status;
  }

  void AddNodes() {
    const int64_t nodes = dice_.In(1, 3);
    for (int64_t i = 0; i < nodes; ++i) {
      Node node;
      node.key = "n" + std::to_string(i);
      node.capacity.Set(0, dice_.In(1, 4) * 1000);
      node.capacity.Set(1, dice_.In(1, 4));
      node.devices.resize(static_cast<size_t>(dice_.In(1, 3)));
      Happens(NodeChanged{node});
    }
  }

  // Two to four, some of them below a group.
  void AddQueues() {
    const bool group = dice_.OneIn(3);
    if (group) Happens(QueueChanged{RandomQueue("group")});
    const int64_t queues = dice_.In(2, 4);
    for (int64_t i = 0; i < queues; ++i) {
      queues_.push_back("q" + std::to_string(i));
      Queue queue = RandomQueue(queues_.back());
      if (group && dice_.OneIn(2)) queue.parent = "group";
      Happens(QueueChanged{queue});
    }
  }

  Queue RandomQueue(const std::string& key) {
    Queue queue;
    queue.key = key;
    for (const char* kind : {"cpu", "memory", "gpu"}) {
      if (dice_.OneIn(3)) continue;
      const int64_t unit = std::string(kind) == "memory" ? 1 : 1000;
      queue.quotas.push_back(
          {.resource = kind, .guarantee = dice_.In(0, 3) * unit});
    }
    if (Dice aside = dice_.Aside(); aside.OneIn(2)) {
      queue.preemption = RandomPolicy(aside);
      queue.band = static_cast<int32_t>(aside.Below(2));
      for (Quota& quota : queue.quotas) {
        const int64_t unit = quota.resource == "memory" ? 1 : 1000;
        if (aside.OneIn(4)) quota.borrow_limit = aside.In(0, 3) * unit;
      }
    }
    return queue;
  }

  void AddGangs() {
    for (int32_t value = 0; value < 3; ++value) {
      Happens(PriorityClassChanged{
          {.key = "p" + std::to_string(value), .value = value}});
    }
    const int64_t gangs = dice_.In(4, 12);
    for (int64_t i = 0; i < gangs; ++i) {
      Gang gang;
      gang.key = "g" + std::to_string(i);
      gang.queue = queues_[dice_.Below(static_cast<uint32_t>(queues_.size()))];
      gang.priority_class = "p" + std::to_string(dice_.Below(3));
      Role role;
      role.name = "main";
      role.desired_tasks = static_cast<uint32_t>(dice_.In(1, 3));
      role.min_tasks = role.desired_tasks;
      TaskShape& shape = role.shape;
      if (dice_.OneIn(3)) shape.resources.Set(0, dice_.In(1, 4) * 1000);
      if (dice_.OneIn(3)) shape.resources.Set(1, dice_.In(1, 3));
      if (!dice_.OneIn(4)) {
        shape.devices.count = static_cast<uint32_t>(dice_.In(1, 2));
      }
      gang.roles.push_back(role);
      // Comes into the game later, by time alone.
      if (!dice_.OneIn(3)) gang.not_before = dice_.In(1, 9) * kSecond;
      if (Dice aside = dice_.Aside(); aside.OneIn(2)) {
        gang.submitted = aside.In(0, 3);
      }
      Happens(GangSubmitted{gang});
    }
  }

  void Note(Time now, const PlanRecord& record) {
    std::set<std::string> preemptors;
    for (const DecisionRecord& d : record.decisions) {
      if (tells_)
        std::cout << now / kSecond << " s: " << Printer::Text(d) << "\n";
      if (d.on_behalf_of.empty()) continue;
      ++evictions_;
      preemptors.insert(d.on_behalf_of);
    }
    for (const std::string& gang : preemptors) ++made_room_[gang];
  }

  void DoAsTold(Time now, const PlanRecord& record) {
    for (const DecisionRecord& d : record.decisions) {
      const absl::Status status =
          scheduler_.Apply({now, DecisionApplied{d.seq}});
      if (!status.ok()) ADD_FAILURE() << status;
    }
  }

  Dice dice_;
  bool tells_ = false;
  Scheduler scheduler_;
  std::vector<std::string> queues_;
  std::map<std::string, int> made_room_;
  size_t evictions_ = 0;
};

TEST(EvictionRings, ComeToTheirEnd) {
  const uint64_t worlds = Environment("MUSTER_WORLDS", kWorlds);
  uint64_t first = worlds * Environment("MUSTER_ROUND", 0);
  uint64_t last = first + worlds;
  const bool one = std::getenv("MUSTER_WORLD") != nullptr;
  if (one) {
    first = Environment("MUSTER_WORLD", 0);
    last = first + 1;
  }
  size_t evictions = 0;
  for (uint64_t number = first; number < last; ++number) {
    SmallWorld world(number, one);
    const std::string wrong = world.Run();
    ASSERT_EQ(wrong, "") << "MUSTER_WORLD=" << number;
    evictions += world.evictions();
  }
  std::cout << last - first << " worlds, " << evictions << " evictions\n";
  EXPECT_GT(evictions, one ? 0 : (last - first) / 10);
}

}  // namespace
}  // namespace muster
