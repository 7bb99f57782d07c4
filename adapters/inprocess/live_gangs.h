// The gangs that the scheduler knows, in slots that are used again: indices
// stay small and memory bounded.
#pragma once

#include <cstdint>
#include <vector>

#include "adapters/inprocess/live_gang.h"
#include "muster/ids.h"

namespace muster::inprocess {

// One thread at a time; each function is O(1), amortised.
class LiveGangs {
 public:
  static constexpr uint32_t kNoSlot = 0xffffffff;

  // A slot for a gang that is about to begin. Ends references to others.
  uint32_t NewSlot();
  // The gang of the slot has begun (LiveGang::Begin): its id finds it.
  void Enter(uint32_t slot);
  void Free(uint32_t slot);
  // Of a gang that is alive, else kNoSlot.
  uint32_t SlotOf(GangId id) const;

  LiveGang& operator[](uint32_t slot) { return gangs_[slot]; }
  const LiveGang& operator[](uint32_t slot) const { return gangs_[slot]; }
  // All slots, those included whose gang is not alive.
  uint32_t slots() const { return static_cast<uint32_t>(gangs_.size()); }
  auto begin() { return gangs_.begin(); }
  auto end() { return gangs_.end(); }
  auto begin() const { return gangs_.begin(); }
  auto end() const { return gangs_.end(); }
  // How many are alive.
  uint64_t alive() const { return alive_; }

 private:
  std::vector<LiveGang> gangs_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> slot_of_;  // By GangId::index.
  uint64_t alive_ = 0;
};

}  // namespace muster::inprocess
