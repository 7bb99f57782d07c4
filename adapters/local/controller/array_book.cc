#include "adapters/local/controller/array_book.h"

namespace muster::local {

bool ArrayBook::Add(const JobRow& element) {
  if (element.array_limit == 0) return true;
  Array& array = arrays_[element.array];
  const bool full = array.in.size() >= element.array_limit;
  (full ? array.behind : array.in).insert(element.id);
  return !full;
}

uint64_t ArrayBook::Remove(const JobRow& element) {
  const auto it = arrays_.find(element.array);
  if (element.array_limit == 0 || it == arrays_.end()) return 0;
  Array& array = it->second;
  uint64_t next = 0;
  if (array.in.erase(element.id) == 0) {
    array.behind.erase(element.id);
  } else if (!array.behind.empty()) {
    next = *array.in.insert(array.behind.extract(array.behind.begin()).value())
                .first;
  }
  if (array.in.empty()) arrays_.erase(it);
  return next;
}

}  // namespace muster::local
