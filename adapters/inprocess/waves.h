// Starts in waves: which tasks of a gang begin when.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "adapters/inprocess/host_model.h"
#include "adapters/inprocess/live_gang.h"
#include "muster/decision.h"
#include "muster/plan.h"

namespace muster::inprocess {

// A decision, or one wave of it, under way.
struct Act {
  uint64_t seq = 0;  // 0: none; somebody else stops a task.
  DecisionKind kind = DecisionKind::kStart;
  uint32_t slot = 0;  // Live gang.
  bool whole = true;  // All of the decision: answered by DecisionApplied.
  std::optional<Lapse> lapse{};
  std::vector<std::pair<uint32_t, uint32_t>> tasks{};  // Flat, incarnation.
  // Of a later wave: how many tasks of which roles must run before.
  std::vector<std::pair<uint32_t, uint32_t>> after{};

  bool has(LapseKind kind) const {
    return lapse.has_value() && lapse->kind == kind;
  }
};

// The acts of starts that have not begun. One thread at a time; memory O(acts).
class Waves {
 public:
  // These tasks of the gang in the act's slot have their places: an act for
  // each wave of them, otherwise like `all`. What is refused is refused as a
  // whole. O(tasks log tasks).
  void Add(std::span<const PlannedTask> tasks, const LiveGang& g,
           const Act& all);
  // Takes out the first act of the slot's gang that may begin: the roles before
  // it run, and none of their tasks is about to. Forgets those all of whose
  // tasks stopped or were lost meanwhile. O(acts x tasks of the gang).
  std::optional<Act> Next(uint32_t slot, const LiveGang& g);
  void Forget(uint32_t slot) { acts_.erase(slot); }
  bool empty() const { return acts_.empty(); }

 private:
  std::map<uint32_t, std::vector<Act>> acts_;  // By slot.
};

}  // namespace muster::inprocess
