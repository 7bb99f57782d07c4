// A full cluster with a standing backlog: the generator of ./dev bench backlog.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/random.h"
#include "benchmarks/scheduler_host.h"

namespace muster::bench {

// For N nodes of 8 devices: 2 N gangs, then 5 N more, drawn uniformly from 200
// shapes and 100 queues, all from one seed. Preemption is on.
//   shapes     of 1 to 16 tasks of 1 to 8 devices, 4.3 devices in the mean
//              (45 % are 1 x 1, 0.3 % 16 x 8); cpu tells shapes of like size
//              apart. In turn: no topology, prefers a rack, requires a rack,
//              requires a block. Every eighth asks for one of four pools.
//   priority   three classes, by shape: 60 % low, 20 % middle, 20 % high
//   queues     flat; every second one is guaranteed devices, together 60 % of
//              all
// The host answers all decisions at once.
class BacklogWorld {
 public:
  static constexpr uint32_t kShapes = 200;
  static constexpr uint32_t kQueues = 100;

  // Nodes, queues and classes; no gang.
  explicit BacklogWorld(uint32_t nodes);

  // The gangs that fill it; those that wait behind them.
  void SubmitRunning() { Submit(2 * nodes_); }
  void SubmitWaiting() { Submit(5 * nodes_); }
  // Both, an hour apart, until nothing follows any more.
  void FillAndSettle();
  // The next one; of a shape that no other gang has.
  Gang MakeKnown();
  Gang MakeNew();

  // Passes, and answers, until nothing follows. Their decisions are counted.
  void Settle();
  // The decisions of host.plan; then as Settle.
  void Follow();

  // A gang in that phase, drawn uniformly; one that finishes, and is not drawn
  // again.
  std::string Draw(GangPhase phase) { return gangs_[DrawAt(phase)]; }
  std::string TakeOut(GangPhase phase);
  Node NodeAt(uint32_t number) const;
  uint32_t DrawNode() { return random_.Below(nodes_); }
  uint32_t nodes() const { return nodes_; }
  // Of all devices, how many are free.
  double FreeShare() const;

  SchedulerHost host;
  // Of all plans so far.
  struct Decided {
    uint64_t starts = 0;       // Nominated ones count when they start.
    uint64_t evictions = 0;    // Suspensions and shrinks, too.
    uint64_t preemptions = 0;  // Gangs for which others make room.
    uint64_t runner_ups = 0;   // Of these, with the next best choice told.

    Decided& operator+=(const Decided& other);
    Decided operator-(const Decided& other) const;
  };
  Decided decided{};

 private:
  void Submit(uint32_t count);
  size_t DrawAt(GangPhase phase);
  void Count();

  uint32_t nodes_ = 0;
  uint32_t made_ = 0;
  uint32_t new_shapes_ = 0;
  Random random_{20'261'123};
  std::vector<std::string> gangs_;  // That can be drawn.
};

// The settled world of so many nodes, shared by the cases of a process that
// follow each other: made where the one that is there has other nodes.
BacklogWorld& SettledBacklog(uint32_t nodes);
// There is none any more.
void DropSettledBacklog();

}  // namespace muster::bench
