#include "adapters/inprocess/live_gangs.h"

namespace muster::inprocess {

uint32_t LiveGangs::NewSlot() {
  if (free_.empty()) {
    gangs_.emplace_back();
    return slots() - 1;
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void LiveGangs::Enter(uint32_t slot) {
  const GangId id = gangs_[slot].id;
  if (id.index >= slot_of_.size()) slot_of_.resize(id.index + 1, kNoSlot);
  slot_of_[id.index] = slot;
  ++alive_;
}

void LiveGangs::Free(uint32_t slot) {
  LiveGang& g = gangs_[slot];
  g.alive = false;
  ++g.version;
  slot_of_[g.id.index] = kNoSlot;
  free_.push_back(slot);
  --alive_;
}

uint32_t LiveGangs::SlotOf(GangId id) const {
  if (!id.valid() || id.index >= slot_of_.size()) return kNoSlot;
  const uint32_t slot = slot_of_[id.index];
  return slot != kNoSlot && gangs_[slot].alive && gangs_[slot].id == id
             ? slot
             : kNoSlot;
}

}  // namespace muster::inprocess
