// What people submit, and what they are answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/grid/parameter_grid.h"
#include "adapters/local/model/umask.h"
#include "muster/ids.h"
#include "muster/reason.h"
#include "muster/workload/parse.h"

namespace muster::local {

// A value.
struct Submission {
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::string manifest{};  // As workload::Parse reads it: one job or more.
  // Of the submitter: an absolute path, and "K=V".
  std::string directory{};
  std::vector<std::string> environment{};
  uint32_t umask = kDefaultUmask;  // At most kMostUmask.
  // In place of what the manifest says of each of its jobs. A priority is a
  // class, or an integer.
  std::optional<std::string> name{};
  std::optional<std::string> queue{};
  std::optional<std::string> priority{};
  bool held = false;
  // Indices of an array of each job; empty: as the manifest says.
  std::vector<uint32_t> array{};
  // So many elements of it have places at a time; 0: as the manifest says.
  uint32_t array_limit = 0;
  // The calendar that submits it, of this document alone; 0: none. Else a
  // document with a calendar becomes one, and no job.
  uint64_t cron = 0;
  uint32_t document = 0;
  // Each job is an array of its points; `array`, if it is there, are some.
  ParameterGrid parameters{};
};

struct SubmittedJob {
  uint64_t id = 0;
  std::string name{};
  std::optional<uint32_t> array_index{};
  uint64_t array = 0;  // The id of the array's first job; 0: no array.
};

struct SubmittedCron {
  uint64_t id = 0;
  std::string name{};
  Time next = kForever;  // Of the wall clock; kForever: never.
};

struct SubmitResult {
  std::vector<SubmittedJob> jobs{};
  std::vector<SubmittedCron> crons{};
  // Fields of the manifest without effect, and what else is to be known.
  std::vector<workload::IgnoredField> ignored{};
  std::vector<std::string> notes{};
};

// What the next pass would make of one job of a submission.
struct Forecast {
  enum class Outcome : uint8_t {
    kStarts,     // At once, in `places`.
    kMakesRoom,  // In `places`, when `victims` have stopped.
    kWaits,      // `why` tells for what.
  };
  struct Place {
    std::string task{};  // "ROLE-INDEX".
    std::vector<uint32_t> devices{};
  };
  std::string name{};
  Outcome outcome = Outcome::kWaits;
  std::vector<Place> places{};
  std::vector<uint64_t> victims{};  // Ascending ids of jobs.
  std::string why{};
  NamedReason reason{};
  uint32_t ahead = 0;  // Jobs that wait before it in its queue.
};

struct ForecastResult {
  // Of an array, its first element alone.
  std::vector<Forecast> jobs{};
  std::vector<workload::IgnoredField> ignored{};
  std::vector<std::string> notes{};
};

}  // namespace muster::local
