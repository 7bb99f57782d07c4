// The priority classes a scheduler knows.
#pragma once

#include <cstdint>

#include "lib/base/keyed_table.h"
#include "muster/ids.h"
#include "muster/priority_class.h"

namespace muster {

struct PriorityClassRow : PriorityClass {
  bool exists = false;
  uint32_t generation = 0;
};

// Position 0 is the default class, without a key.
class PriorityClasses : public KeyedTable<PriorityClassId, PriorityClassRow,
                                          &PriorityClassRow::key> {
 public:
  PriorityClasses() { Add(""); }

  // Adds or replaces it.
  uint32_t Upsert(const PriorityClass& c) {
    const uint32_t known = Find(c.key);
    return Put(known == kNone ? Add(c.key) : known, c);
  }
  // It has no gangs.
  using KeyedTable::Remove;
  // See KeyedTable; the last removal was that of `c`.
  using KeyedTable::UndoAdd;
  void UndoRemove(const PriorityClass& c) {
    Put(KeyedTable::UndoRemove(c.key), c);
  }

 private:
  uint32_t Put(uint32_t position, const PriorityClass& c) {
    static_cast<PriorityClass&>(row(position)) = c;
    return position;
  }
};

}  // namespace muster
