// Gangs to which something is to be done.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "adapters/kubernetes/controller/gang_record.h"

namespace muster::kubernetes {

// Each is in it once; its record knows where. Not synchronised. O(1) a call
// unless said otherwise.
template <size_t GangRecord::* kPlace>
class GangList {
 public:
  bool empty() const { return size_ == 0; }
  void Add(GangRecord* gang) {
    if (gang->*kPlace != GangRecord::kNoPlace) return;
    gang->*kPlace = gangs_.size();
    gangs_.push_back(gang);
    ++size_;
  }
  void Remove(GangRecord* gang) {
    const size_t place = std::exchange(gang->*kPlace, GangRecord::kNoPlace);
    if (place == GangRecord::kNoPlace) return;
    gangs_[place] = nullptr;
    if (--size_ == 0) gangs_.clear();
  }
  // O(n).
  void Clear() {
    for (GangRecord* gang : gangs_) {
      if (gang != nullptr) gang->*kPlace = GangRecord::kNoPlace;
    }
    gangs_.clear();
    size_ = 0;
  }
  // All of them, as they were added; none is in it any more. O(n).
  std::vector<GangRecord*> Take() {
    std::vector<GangRecord*> taken = gangs_;
    Clear();
    std::erase(taken, nullptr);
    return taken;
  }

 private:
  std::vector<GangRecord*> gangs_;  // Null: it was removed.
  size_t size_ = 0;
};

}  // namespace muster::kubernetes
