// All gangs, in the order of their groups when that is asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "adapters/kubernetes/controller/gang_record.h"

namespace muster::kubernetes {

// A tree would cost each gang that comes a walk over strings that lie apart;
// most questions are about one gang, or about all of them. Not synchronised.
class GangOrder {
 public:
  // O(1).
  void Add(GangRecord* gang) {
    gang->ordered_at = gangs_.size();
    gangs_.push_back(gang);
  }
  // O(1).
  void Remove(const GangRecord* gang) {
    gangs_[gang->ordered_at] = nullptr;
    ++removed_;
  }
  // Until the next one comes or goes. O(1) if none did since the last time,
  // else O(n + came log came).
  std::span<GangRecord* const> Get() {
    if (sorted_ == gangs_.size() && removed_ == 0) return gangs_;
    const auto gone = [](const GangRecord* gang) { return gang == nullptr; };
    const auto middle = gangs_.begin() + static_cast<ptrdiff_t>(sorted_);
    sorted_ -= static_cast<size_t>(std::count_if(gangs_.begin(), middle, gone));
    std::erase_if(gangs_, gone);
    const auto came = gangs_.begin() + static_cast<ptrdiff_t>(sorted_);
    const auto before = [](const GangRecord* a, const GangRecord* b) {
      return a->ref < b->ref;
    };
    std::sort(came, gangs_.end(), before);
    std::inplace_merge(gangs_.begin(), came, gangs_.end(), before);
    for (size_t i = 0; i < gangs_.size(); ++i) gangs_[i]->ordered_at = i;
    sorted_ = gangs_.size();
    removed_ = 0;
    return gangs_;
  }

 private:
  // The first so many are in order. Null: it has been removed.
  std::vector<GangRecord*> gangs_;
  size_t sorted_ = 0;
  size_t removed_ = 0;
};

}  // namespace muster::kubernetes
