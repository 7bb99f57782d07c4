// The frame of a journal record.
#ifndef MUSTER_LIB_WIRE_FRAME_H_
#define MUSTER_LIB_WIRE_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/wire/crc32c.h"
#include "lib/wire/fixed.h"

namespace muster::wire::internal {

// Before each record: its length, the checksum of the length, the checksum of
// the record. A length that can be trusted tells a torn tail from damage.
inline constexpr size_t kFrameSize = 12;
inline constexpr uint32_t kMaxRecord = uint32_t{1} << 30;

inline void PutFrame(std::string_view record, char* to) {
  PutFixed32(static_cast<uint32_t>(record.size()), to);
  PutFixed32(Crc32c({to, 4}), to + 4);
  PutFixed32(Crc32c(record), to + 8);
}

// Whether the frame itself is whole.
inline bool GetFrame(std::string_view frame, uint32_t* length,
                     uint32_t* checksum) {
  *length = GetFixed32(frame.data());
  *checksum = GetFixed32(frame.data() + 8);
  return Crc32c(frame.substr(0, 4)) == GetFixed32(frame.data() + 4);
}

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_FRAME_H_
