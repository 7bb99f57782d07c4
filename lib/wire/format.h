// How the files of muster::wire begin.
#ifndef MUSTER_LIB_WIRE_FORMAT_H_
#define MUSTER_LIB_WIRE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace muster::wire::internal {

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

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_FORMAT_H_
