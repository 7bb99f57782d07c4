// How the files of muster::wire are made: their preambles, the frames of
// records, and what these are written with.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace muster::wire::internal {

// Integers of fixed size, little-endian on every machine.
template <std::unsigned_integral T>
T GetFixed(const char* from) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= T{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return value;
}

template <std::unsigned_integral T>
void PutFixed(T value, char* to) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<char>(value >> (8 * i));
  }
}

// CRC-32C (Castagnoli), the checksum of snapshots and journals, of `bytes`
// behind those whose checksum is `before`: Crc32c(b, Crc32c(a)) is the checksum
// of a and b in a row.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);

// Eight bytes of magic, then the format's version: it changes when files would
// be framed otherwise, not when messages get new fields.
inline constexpr std::string_view kSnapshotMagic = "MUSTSNAP";
inline constexpr std::string_view kJournalMagic = "MUSTJRNL";
inline constexpr uint32_t kFormat = 1;
inline constexpr size_t kPreambleSize = 12;

std::string MakePreamble(std::string_view magic);

// Whether `bytes`, the first kPreambleSize of the file `name` or all that it
// has, begin a `kind` ("snapshot") that this version reads.
absl::Status CheckPreamble(std::string_view bytes, std::string_view magic,
                           const std::string& kind, const std::string& name);

// "NAME: byte 12: WHAT"
std::string At(const std::string& name, uint64_t byte, const std::string& what);
// The error with "WHERE: " before it.
absl::Status Within(const std::string& where, const absl::Status& error);

// Before each record: its length, the checksum of the length, the checksum of
// the record. A length that can be trusted tells a torn tail from damage.
inline constexpr size_t kFrameSize = 12;
inline constexpr uint32_t kMaxRecord = uint32_t{1} << 30;

inline void PutFrame(std::string_view record, char* to) {
  PutFixed<uint32_t>(static_cast<uint32_t>(record.size()), to);
  PutFixed<uint32_t>(Crc32c({to, 4}), to + 4);
  PutFixed<uint32_t>(Crc32c(record), to + 8);
}

// Whether the frame itself is whole.
inline bool GetFrame(std::string_view frame, uint32_t* length,
                     uint32_t* checksum) {
  *length = GetFixed<uint32_t>(frame.data());
  *checksum = GetFixed<uint32_t>(frame.data() + 8);
  return Crc32c(frame.substr(0, 4)) == GetFixed<uint32_t>(frame.data() + 4);
}

}  // namespace muster::wire::internal
