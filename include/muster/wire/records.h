// The records of a journal, as values.
#ifndef MUSTER_WIRE_RECORDS_H_
#define MUSTER_WIRE_RECORDS_H_

#include <string>
#include <variant>

#include "muster/event.h"
#include "muster/fields.h"
#include "muster/plan.h"
#include "muster/state.h"

namespace muster::wire {

// Always the first record, and only the first: where the journal begins.
struct JournalHeader {
  std::string writer{};  // "muster 0.1.0": whose code wrote it.
  SchedulerState start{};
};

struct JournalRecord {
  std::variant<JournalHeader, Event, PlanRecord> what{};
};

}  // namespace muster::wire

namespace muster {

template <>
struct FieldsOf<wire::JournalHeader> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "writer", s.writer);
    v(2, "start", s.start);
  }
};

template <>
struct FieldsOf<wire::JournalRecord> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "what", s.what);
  }
};

}  // namespace muster

#endif  // MUSTER_WIRE_RECORDS_H_
