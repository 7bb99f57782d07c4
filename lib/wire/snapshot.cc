#include "muster/wire/snapshot.h"

#include <cstddef>
#include <cstdint>

#include "lib/base/status_macros.h"
#include "lib/wire/file.h"
#include "lib/wire/format.h"
#include "muster/wire/convert.h"

namespace muster::wire {
namespace {

using internal::At;

// Behind the preamble: checksum of all that follows it; length of the state.
constexpr size_t kChecksumAt = internal::kPreambleSize;
constexpr size_t kLengthAt = kChecksumAt + 4;
constexpr size_t kStateAt = kLengthAt + 8;

}  // namespace

absl::StatusOr<std::string> EncodeSnapshot(const SchedulerState& state) {
  std::string bytes = internal::MakePreamble(internal::kSnapshotMagic);
  bytes.resize(kStateAt);
  if (absl::Status s = Serialize(state, &bytes); !s.ok()) return s;
  internal::PutFixed64(bytes.size() - kStateAt, bytes.data() + kLengthAt);
  const std::string_view covered = std::string_view(bytes).substr(kLengthAt);
  internal::PutFixed32(internal::Crc32c(covered), bytes.data() + kChecksumAt);
  return bytes;
}

absl::StatusOr<SchedulerState> DecodeSnapshot(std::string_view bytes,
                                              const std::string& name) {
  if (absl::Status s =
          internal::CheckPreamble(bytes.substr(0, internal::kPreambleSize),
                                  internal::kSnapshotMagic, "snapshot", name);
      !s.ok()) {
    return s;
  }
  if (bytes.size() < kStateAt) {
    return absl::DataLossError(
        At(name, bytes.size(), "the snapshot is cut off before its state"));
  }
  const uint64_t length = internal::GetFixed64(bytes.data() + kLengthAt);
  const uint64_t there = bytes.size() - kStateAt;
  if (length != there) {
    return absl::DataLossError(At(name, kLengthAt,
                                  "the state should have " +
                                      std::to_string(length) + " bytes, " +
                                      std::to_string(there) + " are there"));
  }
  const uint32_t checksum = internal::GetFixed32(bytes.data() + kChecksumAt);
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
  MUSTER_ASSIGN_OR_RETURN(std::string bytes, EncodeSnapshot(state));
  return internal::ReplaceWhole(path, bytes);
}

absl::StatusOr<SchedulerState> ReadSnapshot(const std::string& path) {
  MUSTER_ASSIGN_OR_RETURN(std::string bytes, internal::ReadWhole(path));
  return DecodeSnapshot(bytes, path);
}

}  // namespace muster::wire
