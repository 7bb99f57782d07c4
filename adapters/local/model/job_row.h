// A job as it is kept: what was submitted, by whom, and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/model/umask.h"
#include "muster/ids.h"

namespace muster::local {

// A value. Strings are bytes: names may hold any, zeros included.
struct JobRow {
  uint64_t id = 0;  // From 1; never given twice.
  // Who submitted it, and as whom it runs.
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::string name{};
  std::string queue{};
  std::string priority_class{};
  Time submitted = 0;
  // The manifest as it was submitted, whole.
  std::string manifest{};
  uint32_t document = 0;  // Which job of the manifest, from 0.
  // Of an element of an array: its index, and the id of the array; 0: none.
  std::optional<uint32_t> array_index{};
  uint64_t array = 0;
  uint32_t array_limit = 0;  // So many have places at a time; 0: all.
  // At submission: the working directory, and the environment as "K=V".
  std::string directory{};
  std::vector<std::string> environment{};
  bool held = false;    // It is not scheduled until it is released.
  std::string phase{};  // workload::Name of its LifePhase.
  std::string reason{};
  Time started = kForever;  // kForever: not yet; likewise `finished`.
  Time finished = kForever;
  std::optional<int32_t> exit_code{};
  uint32_t restarts = 0;
  uint32_t preemptions = 0;
  std::string endpoints{};  // JSON; the store does not look into it.
  // What is kept of it goes so long after its end; negative: as the
  // configuration says.
  Duration ttl = -1;
  uint64_t cron = 0;  // The calendar that it is of: CronRow::id; 0: none.
  // Of a point of a grid: ToJson of its ParameterPoint; else empty.
  std::string parameters{};
  // Its place in its queue, where it is not that of its submission.
  std::optional<Time> place{};
  // What was changed of it since: ToJson of its JobEdits; else empty.
  std::string edits{};
  // Which CPUs its tasks have of their own; JSON; the store does not look into
  // it.
  std::string cpus{};
  uint32_t umask = kDefaultUmask;  // Of the submitter, at submission.

  friend bool operator==(const JobRow&, const JobRow&) = default;
};

}  // namespace muster::local
