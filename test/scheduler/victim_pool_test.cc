// Who is drawn as a candidate, and in which order: against all gangs, looked at
// one by one.
#include "lib/scheduler/victim_pool.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/scheduler/stop_cost.h"
#include "test/scheduler/tables_stage.h"

namespace muster {
namespace {

TEST(StopPriceTest, RoundedAmountsAreNoMoreAndNearlyAsMuch) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto amount = static_cast<int64_t>(random() >> (random() % 62 + 2));
    for (const int64_t a : {amount, amount / kWholeDevice * kWholeDevice}) {
      const int64_t rounded = StopCost::Rounded(a);
      ASSERT_LE(rounded, a);
      ASSERT_LE(a - rounded, rounded / 8) << a;
      ASSERT_GE(StopCost::Unrounded(rounded), a);
    }
  }
  for (int64_t devices = 0; devices < 16; ++devices) {
    const int64_t amount = devices * kWholeDevice;
    EXPECT_EQ(StopCost::Rounded(amount), amount);
    EXPECT_EQ(StopCost::Unrounded(amount), amount);
  }
}

// Nodes of four devices in two queues, one guaranteed all and one nothing, full
// of gangs of three priorities.
class Pools {
 public:
  explicit Pools(uint64_t seed) : random_(seed) {
    s.tables.config.preemption = true;
    s.Happens(QueueChanged{
        {.key = "owed", .quotas = {GpuQuota(1000, std::nullopt)}}});
    s.Happens(QueueChanged{{.key = "other"}});
    for (const char* key : {"low", "mid", "high"}) {
      PriorityClass cls;
      cls.key = key;
      cls.value = key[0] == 'l' ? 0 : key[0] == 'm' ? 10 : 20;
      s.Happens(PriorityClassChanged{cls});
    }
    for (int n = 0; n < 6; ++n) {
      s.Happens(NodeChanged{Machine("n" + std::to_string(n), 4)});
    }
    for (int i = 0; i < 30; ++i) {
      s.tables.now += Below(100) * kSecond;
      Gang gang = Random("r" + std::to_string(i));
      gang.restart_cost = Below(50) * kSecond;
      const GangIndex g = s.Submit(gang);
      if (s.Run(g, gang.roles[0].min_tasks)) running.push_back(g);
    }
    s.tables.now += Below(100) * kSecond;
    EndOfRound();
    preemptor = s.Submit(Random("preemptor"));
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  TablesStage s;
  std::vector<GangIndex> running;
  GangIndex preemptor = kNoGang;

 private:
  Gang Random(const std::string& key) {
    const char* classes[] = {"low", "mid", "high"};
    Gang gang = Job(key, 1 + Below(2), 1 + Below(4), classes[Below(3)]);
    gang.queue = Below(2) == 0 ? "owed" : "other";
    if (Below(2) == 0) gang.roles[0].desired_tasks += 2;
    return gang;
  }
  // What was placed in it may be a victim now.
  void EndOfRound() { s.tables.round_seq = s.tables.next_seq; }

  std::mt19937_64 random_;
};

int64_t DevicesOf(const SchedulerTables& tables, GangIndex g) {
  int64_t devices = 0;
  for (const TaskRecord& task : tables.gangs.at(g).tasks) {
    devices +=
        tables.cluster.demand(task.at.shape)[tables.cluster.device_kind()];
  }
  return devices;
}

int64_t CostOf(const SchedulerTables& tables, GangIndex g) {
  const GangRecord& r = tables.gangs.at(g);
  return DevicesOf(tables, g) *
         ((UnsavedWork(r, tables.now) + r.restart_cost) / kMillisecond) /
         kWholeDevice;
}

bool GivesWay(const SchedulerTables& tables, GangIndex preemptor, GangIndex g) {
  const GangRecord& w = tables.gangs.at(preemptor);
  const GangRecord& r = tables.gangs.at(g);
  if (w.queue != r.queue) {
    return tables.quota.MayReclaim(w.queue, r.queue,
                                   LeastOf(tables.SpecOf(w), tables.cluster));
  }
  const int32_t most = tables.PriorityOf(w);
  return tables.PriorityOf(r) < most ||
         (tables.PriorityOf(r) == most && r.listing.elastic);
}

// The same for part of what it has.
bool GivesSpare(const SchedulerTables& tables, GangIndex preemptor,
                GangIndex g) {
  return tables.gangs.at(g).listing.elastic && GivesWay(tables, preemptor, g);
}

using Rule = bool (*)(const SchedulerTables& tables, GangIndex preemptor,
                      GangIndex g);

// Whether the preemptor's task fits on one of its nodes with all gone who give
// way by the rule.
bool Helps(const SchedulerTables& tables, GangIndex preemptor, GangIndex g,
           Rule gives) {
  const ShapeId shape = tables.SpecOf(preemptor).shapes[0];
  const ResourceKind gpu = tables.cluster.device_kind();
  const GangRecord& r = tables.gangs.at(g);
  return std::ranges::any_of(r.tasks, [&](const TaskRecord& task) {
    int64_t amount = tables.cluster.free(task.at.node, gpu, Ledger::kLater);
    for (const NodeTask& on : tables.nodes.tasks(task.at.node)) {
      const TaskRecord* other = FindTask(tables.gangs.at(on.gang), on.task);
      if (gives(tables, preemptor, on.gang)) {
        amount += tables.cluster.demand(other->at.shape)[gpu];
      }
    }
    return amount >= tables.cluster.demand(shape)[gpu];
  });
}

// All who give way and help.
std::set<GangIndex> Expected(const Pools& p, Rule gives) {
  std::set<GangIndex> expected;
  for (const GangIndex g : p.running) {
    if (gives(p.s.tables, p.preemptor, g) &&
        Helps(p.s.tables, p.preemptor, g, gives)) {
      expected.insert(g);
    }
  }
  return expected;
}

constexpr uint64_t kSeeds = 400;

TEST(VictimPoolTest, TheMostThatOneHoldsIsWhatTheyHold) {
  uint32_t compared = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Pools p(seed);
    VictimPool pool(p.s.tables);
    pool.Begin(AskedInAll(p.s.tables, p.preemptor), 0, false);
    int64_t most = 0;
    for (const GangIndex g : p.running) {
      if (GivesWay(p.s.tables, p.preemptor, g)) {
        most = std::max(most, DevicesOf(p.s.tables, g));
      }
    }
    EXPECT_EQ(pool.most_amount(), most);
    compared += most > 0;
  }
  EXPECT_GT(compared, kSeeds / 2);
}

void ExpectAllDrawn(Rule gives, bool spare_only) {
  uint32_t drawn = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Pools p(seed);
    VictimPool pool(p.s.tables);
    pool.Begin(AskedInAll(p.s.tables, p.preemptor), 0, spare_only);
    pool.Draw(1000);
    EXPECT_TRUE(pool.done());
    const std::set<GangIndex> all(pool.gangs().begin(), pool.gangs().end());
    EXPECT_EQ(all.size(), pool.gangs().size());
    EXPECT_EQ(all, Expected(p, gives));
    drawn += all.size();
  }
  EXPECT_GT(drawn, kSeeds);
}

TEST(VictimPoolTest, AllAreDrawnWhoGiveWayAndHelp) {
  ExpectAllDrawn(GivesWay, false);
}

TEST(VictimPoolTest, AllAreDrawnWhoHaveSomethingToSpareAndHelp) {
  ExpectAllDrawn(GivesSpare, true);
}

// What each device of it costs.
int64_t LostOf(const SchedulerTables& tables, GangIndex g) {
  const GangRecord& r = tables.gangs.at(g);
  return (UnsavedWork(r, tables.now) + r.restart_cost) / kMillisecond;
}

TEST(VictimPoolTest, WhoIsNotDrawnYetIsNoCheaper) {
  uint32_t left_out = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Pools p(seed);
    const SchedulerTables& tables = p.s.tables;
    VictimPool pool(p.s.tables);
    const int64_t lacks = p.Below(3) * kWholeDevice;
    pool.Begin(AskedInAll(p.s.tables, p.preemptor), lacks, false);
    const auto priority = static_cast<int32_t>(10 * p.Below(3));
    const int64_t cost = p.Below(2'000'000);
    pool.DrawForLess(priority, cost, 1000);
    for (const GangIndex g : Expected(p, GivesWay)) {
      if (std::ranges::count(pool.gangs(), g) > 0) continue;
      ++left_out;
      const int32_t its = tables.PriorityOf(tables.gangs.at(g));
      EXPECT_GE(its, priority);
      if (its > priority) continue;
      // It is too dear, or what is lacking is where no device is cheaper.
      EXPECT_GT(
          std::max(CostOf(tables, g), lacks * LostOf(tables, g) / kWholeDevice),
          cost);
    }
  }
  EXPECT_GT(left_out, kSeeds / 4);
}

// Handles are no order: who comes later into the scheduler, with equal keys and
// costs, is drawn alike.
TEST(VictimPoolTest, EqualOnesAreDrawnByKey) {
  for (const bool backwards : {false, true}) {
    TablesStage s;
    s.Happens(QueueChanged{{.key = "q"}});
    PriorityClass high;
    high.key = "high";
    high.value = 1;
    s.Happens(PriorityClassChanged{high});
    for (int n = 0; n < 4; ++n) {
      s.Happens(NodeChanged{Machine("n" + std::to_string(n), 1)});
    }
    std::vector<std::string> keys = {"a", "b", "c", "d"};
    if (backwards) std::ranges::reverse(keys);
    for (const std::string& key : keys) {
      ASSERT_TRUE(s.Run(s.Submit(Job(key)), 1));
    }
    s.tables.round_seq = s.tables.next_seq;
    VictimPool pool(s.tables);
    pool.Begin(AskedInAll(s.tables, s.Submit(Job("preemptor", 1, 1, "high"))),
               0, false);
    for (const std::string key : {"a", "b", "c", "d"}) {
      pool.Draw(1);
      EXPECT_EQ(s.tables.gangs.at(pool.gangs().back()).key, key);
    }
  }
}

}  // namespace
}  // namespace muster
