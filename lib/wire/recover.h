// A journal of which only the whole records are left.
#ifndef MUSTER_LIB_WIRE_RECOVER_H_
#define MUSTER_LIB_WIRE_RECOVER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "lib/wire/locked_file.h"
#include "muster/wire/journal.h"

namespace muster::wire::internal {

struct WholeJournal {
  LockedFile file;
  uint64_t size = 0;
  std::optional<TornTail> cut{};  // What was cut off its end.
};

// Locks the journal, reads it through and cuts a torn tail off. Errors leave
// the file alone; under another writer's lock it is not even read.
absl::StatusOr<WholeJournal> OpenWhole(const std::string& path);

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_RECOVER_H_
