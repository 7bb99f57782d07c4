// The tables of a scheduler without its passes: events come in, tasks are put
// where there is room.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/scheduler_tables.h"
#include "lib/scheduler/snapshot.h"
#include "test/scheduler/story.h"

namespace muster {

class TablesStage {
 public:
  explicit TablesStage(SchedulerConfig config = {})
      : tables(std::move(config)) {}

  template <class Event>
  absl::Status Try(const Event& event) {
    absl::Status status = Take(tables, event);
    tables.activator.Publish(false);
    return status;
  }
  template <class Event>
  void Happens(const Event& event) {
    const absl::Status status = Try(event);
    EXPECT_TRUE(status.ok()) << status;
  }
  // Queue "q" and a node "n1" with so many devices.
  void HasNode(uint32_t gpus) {
    Happens(QueueChanged{{.key = "q"}});
    Happens(NodeChanged{Machine("n1", gpus)});
  }
  GangIndex Submit(Gang gang) {
    Happens(GangSubmitted{gang});
    return tables.gangs.Find(gang.key);
  }
  // So many tasks of its first role are told to start; false if they find no
  // place.
  bool Start(GangIndex g, uint32_t tasks) {
    const ShapeId shape = tables.SpecOf(g).prepared.shapes[0][0];
    const uint64_t seq = tables.next_seq++;
    GangEdit gang(tables, g);
    ++gang->attempts;
    for (uint32_t i = 0; i < tasks; ++i) {
      TaskRecord task = {.task = {0, i}, .phase = TaskPhase::kStarting};
      if (!Place(shape, &task.at)) {
        life.Stop(gang);
        return false;
      }
      task.attempt = gang->attempts;
      task.pending_seq = seq;
      gang->tasks.push_back(task);
      tables.answers.Expect(g, *gang, seq, DecisionKind::kStart, "");
      holdings.HoldCharged(g, task);
    }
    gang->phase = GangPhase::kStarting;
    gang->placed_seq = seq;
    tables.placed.push_back(g);
    return true;
  }
  // The same, and they run.
  bool Run(GangIndex g, uint32_t tasks) {
    if (!Start(g, tasks)) return false;
    Happens(DecisionApplied{tables.gangs.at(g).placed_seq});
    return true;
  }
  std::string Check() const { return std::string(CheckAll(tables).message()); }

  SchedulerTables tables;
  Life& life = tables.life;
  Holdings& holdings = tables.holdings;

 private:
  bool Place(ShapeId shape, Allocation* at) {
    for (const NodeIndex n : tables.cluster.nodes()) {
      if (tables.cluster.Take(n, shape, Ledger::kBoth, at)) return true;
    }
    return false;
  }
};

}  // namespace muster
