// Values to bytes and back: the Protobuf encoding of package muster.v1.
//
// The bytes are read and written straight from the values' fields, without a
// Protobuf message between; a test compares them with protoc's code, both ways.
// proto/muster/v1/README.md has the rules on presence, defaults and change.
#ifndef MUSTER_WIRE_CONVERT_H_
#define MUSTER_WIRE_CONVERT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/wire/values.h"

namespace muster::wire {

// Appends the value's encoding. Equal values have equal bytes. An error
// (INVALID_ARGUMENT: a value outside its enum; RESOURCE_EXHAUSTED: 2 GiB or
// more, the bound of Protobuf) appends nothing.
template <Value T>
absl::Status Serialize(const T& value, std::string* out);

template <Value T>
absl::StatusOr<std::string> Serialize(const T& value) {
  std::string bytes;
  if (absl::Status status = Serialize(value, &bytes); !status.ok()) {
    return status;
  }
  return bytes;
}

// Reads one value. All of `bytes` must be known to this version; whatever is
// not is refused with INVALID_ARGUMENT, never dropped, and leaves *value as it
// was. The error tells the field and the byte, e.g.
//   gang.roles[1].shape.devices.milli: 5000000000 is out of range (byte 71)
// where bytes are counted from `offset`. Any input is safe; memory in use is
// linear in its size.
template <Value T>
absl::Status Parse(std::string_view bytes, T* value, uint64_t offset = 0);

// The first difference between two values, as Protobuf's MessageDifferencer
// tells it, e.g.
//   modified: decisions[3].tasks[0].node: "n1" -> "n2"
// with the names of proto/muster/v1. Empty if their encodings are equal; what
// Serialize says of a value that has none. O(values).
template <Value T>
std::string Difference(const T& expected, const T& actual);

}  // namespace muster::wire

#endif  // MUSTER_WIRE_CONVERT_H_
