// Values to Protobuf messages and back, for hosts that speak Protobuf anyway
// (RPC, text and JSON forms). The only header that includes generated code.
#ifndef MUSTER_WIRE_PROTO_H_
#define MUSTER_WIRE_PROTO_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/v1/cluster.pb.h"  // IWYU pragma: export
#include "muster/v1/event.pb.h"    // IWYU pragma: export
#include "muster/v1/gang.pb.h"     // IWYU pragma: export
#include "muster/v1/journal.pb.h"  // IWYU pragma: export
#include "muster/v1/plan.pb.h"     // IWYU pragma: export
#include "muster/v1/queue.pb.h"    // IWYU pragma: export
#include "muster/v1/state.pb.h"    // IWYU pragma: export
#include "muster/wire/convert.h"

namespace muster::wire {

template <Value T>
struct MessageOf;
#define MUSTER_WIRE_MESSAGE(T) \
  template <>                  \
  struct MessageOf<T> {        \
    using type = v1::T;        \
  };
MUSTER_WIRE_VALUES(MUSTER_WIRE_MESSAGE)
#undef MUSTER_WIRE_MESSAGE

// The generated class of T: Message<muster::Gang> is muster::v1::Gang.
template <Value T>
using Message = typename MessageOf<T>::type;

template <Value T>
absl::StatusOr<Message<T>> ToMessage(const T& value) {
  absl::StatusOr<std::string> bytes = Serialize(value);
  if (!bytes.ok()) return bytes.status();
  Message<T> message;
  if (!message.ParseFromString(*bytes)) {
    return absl::InternalError("not the encoding of " + message.GetTypeName());
  }
  return message;
}

// As Parse(): what this version does not know is refused.
template <Value T>
absl::Status FromMessage(const Message<T>& message, T* value) {
  std::string bytes;
  if (!message.SerializeToString(&bytes)) {
    return absl::ResourceExhaustedError(message.GetTypeName() + ": too large");
  }
  return Parse(bytes, value);
}

}  // namespace muster::wire

#endif  // MUSTER_WIRE_PROTO_H_
