#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "lib/wire/decoder.h"
#include "muster/wire/convert.h"

namespace muster::wire {

template <Value T>
absl::Status Parse(std::string_view bytes, T* value, uint64_t offset) {
  internal::Decoder decoder(bytes);
  T fresh{};
  if (!decoder.Message(&fresh)) {
    return absl::InvalidArgumentError(
        decoder.failure().ToString() + " (byte " +
        std::to_string(offset + decoder.offset()) + ")");
  }
  *value = std::move(fresh);
  return absl::OkStatus();
}

#define MUSTER_WIRE_PARSE(T) \
  template absl::Status Parse(std::string_view, T*, uint64_t);
MUSTER_WIRE_VALUES(MUSTER_WIRE_PARSE)

}  // namespace muster::wire
