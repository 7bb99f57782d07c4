// CRC-32C (Castagnoli), the checksum of snapshots and journals.
#ifndef MUSTER_LIB_WIRE_CRC32C_H_
#define MUSTER_LIB_WIRE_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace muster::wire::internal {

// Of `bytes` behind those whose checksum is `before`: Crc32c(b, Crc32c(a)) is
// the checksum of a and b in a row.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_CRC32C_H_
