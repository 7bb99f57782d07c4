// A calendar entry as it is kept: what is submitted again and again, and when
// that was last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/local/model/umask.h"
#include "muster/ids.h"

namespace muster::local {

// A value. Its times are those of the wall clock. Strings are bytes.
struct CronRow {
  uint64_t id = 0;  // From 1; never given twice.
  // Of the submission, as in JobRow: who submitted it, and what. Empty: as the
  // manifest says.
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::string name{};  // Of its jobs, which have the time behind it.
  std::string queue{};
  std::string priority{};
  std::vector<uint32_t> array{};
  bool held = false;
  std::string manifest{};
  uint32_t document = 0;
  std::string directory{};
  std::vector<std::string> environment{};
  uint32_t umask = kDefaultUmask;

  bool suspended = false;
  Time made = 0;
  // Times up to this one have been seen to.
  Time last = 0;
  // The one that a job was submitted for last; kForever: none.
  Time started = kForever;
  std::string said{};  // What became of the last time: for people.
  // Of its finished jobs so many are kept, of each outcome; -1: no limit.
  int64_t keep_succeeded = -1;
  int64_t keep_failed = -1;
  bool removed = false;  // It is to be forgotten; the store keeps no such row.

  friend bool operator==(const CronRow&, const CronRow&) = default;
};

}  // namespace muster::local
