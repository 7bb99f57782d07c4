// Which elements of arrays may have places now.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "adapters/local/model/job_row.h"

namespace muster::local {

// Of an array with a limit, the first so many elements that have not ended, by
// their ids: so it depends on nothing but who is there. Not synchronised.
class ArrayBook {
 public:
  // An element, with a higher id than those of its array before it. Whether it
  // may have places; true of all that are of no such array. O(log elements).
  bool Add(const JobRow& element);
  // It has ended. Who may have places by that; 0: nobody. O(log elements).
  uint64_t Remove(const JobRow& element);

 private:
  struct Array {
    std::set<uint64_t> in{};      // At most its limit.
    std::set<uint64_t> behind{};  // None, unless `in` is full.
  };

  std::map<uint64_t, Array> arrays_;  // By id; none is empty.
};

}  // namespace muster::local
