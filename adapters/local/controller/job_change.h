// What people ask to change of a job that is there, and what they can.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "adapters/local/edit/job_edits.h"
#include "adapters/local/model/job_row.h"
#include "muster/enum_names.h"
#include "muster/ids.h"
#include "muster/workload/job.h"

namespace muster::local {

// A value. What is not there stays.
struct JobChange {
  std::optional<std::string> name{};
  std::optional<std::string> queue{};
  std::optional<std::string> priority{};  // A class, or an integer.
  JobEdits edits{};
  // Who changes it may do everything: raise the time limit of a job that runs,
  // and its priority above all classes.
  bool may_all = false;
};

// What a job that has not finished is now, as far as it can be changed.
struct EditableJob {
  JobRow row{};         // Its manifest, environment and endpoints are empty.
  workload::Job job{};  // With its edits; of a point, without its values.
  Duration limit = 0;   // 0: none.
  bool waits = false;   // What it runs and asks for can be changed.
};

// Where a job goes among those of its user that wait in the same queue with the
// same priority.
enum class MoveTo : uint8_t { kFirst, kLast, kBefore, kAfter };
MUSTER_ENUM_NAMES(MoveTo, "first", "last", "before", "after");

}  // namespace muster::local
