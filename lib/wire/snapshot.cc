#include "muster/wire/snapshot.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "lib/base/status_macros.h"
#include "lib/wire/file.h"
#include "lib/wire/format.h"
#include "muster/wire/convert.h"

namespace muster::wire {
namespace {

using internal::At;
using internal::File;

// Behind the preamble: checksum of all that follows it; length of the state.
constexpr size_t kChecksumAt = internal::kPreambleSize;
constexpr size_t kLengthAt = kChecksumAt + 4;
constexpr size_t kStateAt = kLengthAt + 8;

}  // namespace

absl::StatusOr<std::string> EncodeSnapshot(const SchedulerState& state) {
  std::string bytes = internal::MakePreamble(internal::kSnapshotMagic);
  bytes.resize(kStateAt);
  MUSTER_RETURN_IF_ERROR(Serialize(state, &bytes));
  internal::PutFixed<uint64_t>(bytes.size() - kStateAt,
                               bytes.data() + kLengthAt);
  const std::string_view covered = std::string_view(bytes).substr(kLengthAt);
  internal::PutFixed<uint32_t>(internal::Crc32c(covered),
                               bytes.data() + kChecksumAt);
  return bytes;
}

absl::StatusOr<SchedulerState> DecodeSnapshot(std::string_view bytes,
                                              const std::string& name) {
  MUSTER_RETURN_IF_ERROR(
      internal::CheckPreamble(bytes.substr(0, internal::kPreambleSize),
                              internal::kSnapshotMagic, "snapshot", name));
  if (bytes.size() < kStateAt) {
    return absl::DataLossError(
        At(name, bytes.size(), "the snapshot is cut off before its state"));
  }
  const uint64_t length =
      internal::GetFixed<uint64_t>(bytes.data() + kLengthAt);
  const uint64_t there = bytes.size() - kStateAt;
  if (length != there) {
    return absl::DataLossError(At(name, kLengthAt,
                                  "the state should have " +
                                      std::to_string(length) + " bytes, " +
                                      std::to_string(there) + " are there"));
  }
  const uint32_t checksum =
      internal::GetFixed<uint32_t>(bytes.data() + kChecksumAt);
  if (internal::Crc32c(bytes.substr(kLengthAt)) != checksum) {
    return absl::DataLossError(
        At(name, kChecksumAt, "the checksum is not that of the state"));
  }
  SchedulerState state;
  if (absl::Status s = Parse(bytes.substr(kStateAt), &state, kStateAt);
      !s.ok()) {
    return internal::Within(name, s);
  }
  return state;
}

absl::Status WriteSnapshot(const std::string& path,
                           const SchedulerState& state) {
  MUSTER_ASSIGN_OR_RETURN(const std::string bytes, EncodeSnapshot(state));
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());  // Left by a crash.
  MUSTER_ASSIGN_OR_RETURN(File file, File::Create(fresh));
  absl::Status status = file.Append(bytes);
  if (status.ok()) status = file.Sync();
  if (status.ok() && rename(fresh.c_str(), path.c_str()) != 0) {
    status = internal::ErrorOf(path, "replace");
  }
  if (!status.ok()) {
    unlink(fresh.c_str());
    return status;
  }
  return internal::SyncDirectoryOf(path);
}

absl::StatusOr<SchedulerState> ReadSnapshot(const std::string& path) {
  MUSTER_ASSIGN_OR_RETURN(const File file, File::OpenToRead(path));
  MUSTER_ASSIGN_OR_RETURN(const uint64_t size, file.Size());
  std::string bytes(size, '\0');
  MUSTER_RETURN_IF_ERROR(file.ReadAt(0, bytes.size(), bytes.data()));
  return DecodeSnapshot(bytes, path);
}

}  // namespace muster::wire
