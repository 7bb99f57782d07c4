#include <cstddef>
#include <limits>
#include <string>

#include "lib/wire/encoder.h"
#include "muster/wire/convert.h"

namespace muster::wire {

template <Value T>
absl::Status Serialize(const T& value, std::string* out) {
  const size_t before = out->size();
  internal::Encoder encoder(out);
  if (!encoder.Message(value)) {
    out->resize(before);
    return absl::InvalidArgumentError(encoder.failure().ToString());
  }
  if (out->size() - before > std::numeric_limits<int>::max()) {
    out->resize(before);
    return absl::ResourceExhaustedError("the value takes 2 GiB or more");
  }
  return absl::OkStatus();
}

#define MUSTER_WIRE_SERIALIZE(T) \
  template absl::Status Serialize(const T&, std::string*);
MUSTER_WIRE_VALUES(MUSTER_WIRE_SERIALIZE)

}  // namespace muster::wire
