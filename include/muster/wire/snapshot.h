// Snapshots: a scheduler's whole state in one file.
//
// docs/wire.md has the format: a magic number, a format version, a checksum,
// the length, and the state's encoding.
#ifndef MUSTER_WIRE_SNAPSHOT_H_
#define MUSTER_WIRE_SNAPSHOT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/state.h"

namespace muster::wire {

// INVALID_ARGUMENT for a value outside its enum, RESOURCE_EXHAUSTED for 2 GiB.
absl::StatusOr<std::string> EncodeSnapshot(const SchedulerState& state);

// INVALID_ARGUMENT if the bytes are no snapshot, or one of another format or
// with something this version does not know; DATA_LOSS if they are cut off or
// damaged. The message begins with `name` and the byte where it is wrong.
absl::StatusOr<SchedulerState> DecodeSnapshot(
    std::string_view bytes, const std::string& name = "snapshot");

// Replaces the file as a whole, by way of PATH.new: a crash leaves the old one
// or the new one, and the new one is on the disk when this returns OK. One
// call at a time for a path. Errors name the file.
absl::Status WriteSnapshot(const std::string& path,
                           const SchedulerState& state);

// NOT_FOUND if there is none; else the errors of DecodeSnapshot().
absl::StatusOr<SchedulerState> ReadSnapshot(const std::string& path);

}  // namespace muster::wire

#endif  // MUSTER_WIRE_SNAPSHOT_H_
