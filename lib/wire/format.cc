#include "lib/wire/format.h"

namespace muster::wire::internal {

std::string MakePreamble(std::string_view magic) {
  std::string preamble(magic);
  preamble.resize(kPreambleSize);
  PutFixed32(kFormat, preamble.data() + magic.size());
  return preamble;
}

absl::Status CheckPreamble(std::string_view bytes, std::string_view magic,
                           const std::string& kind, const std::string& name) {
  if (bytes.empty()) {
    return absl::DataLossError(At(name, 0, "the " + kind + " is empty"));
  }
  if (bytes.substr(0, magic.size()) != magic.substr(0, bytes.size())) {
    return absl::InvalidArgumentError(At(name, 0, "is not a Muster " + kind));
  }
  if (bytes.size() < kPreambleSize) {
    return absl::DataLossError(
        At(name, bytes.size(), "the " + kind + " is cut off in its preamble"));
  }
  const uint32_t format = GetFixed32(bytes.data() + magic.size());
  if (format != kFormat) {
    return absl::InvalidArgumentError(
        At(name, magic.size(),
           "the " + kind + " has format " + std::to_string(format) +
               ", this version reads format " + std::to_string(kFormat)));
  }
  return absl::OkStatus();
}

absl::Status Within(const std::string& where, const absl::Status& error) {
  return absl::Status(error.code(),
                      where + ": " + std::string(error.message()));
}

std::string At(const std::string& name, uint64_t byte,
               const std::string& what) {
  return name + ": byte " + std::to_string(byte) + ": " + what;
}

}  // namespace muster::wire::internal
