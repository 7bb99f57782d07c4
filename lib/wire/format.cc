#include "lib/wire/format.h"

#include <array>

namespace muster::wire::internal {
namespace {

// kTables[k][b]: what byte b contributes when k more bytes follow it. Eight
// bytes a step ("slicing by 8").
constexpr size_t kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Tables MakeTables() {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41, reflected.
  Tables tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    }
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < kSlices; ++k) {
    for (uint32_t b = 0; b < 256; ++b) {
      const uint32_t crc = tables[k - 1][b];
      tables[k][b] = crc >> 8 ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
  uint32_t crc = ~before;
  while (bytes.size() >= kSlices) {
    const uint64_t eight = GetFixed<uint64_t>(bytes.data()) ^ crc;
    crc = 0;
    for (size_t k = 0; k < kSlices; ++k) {
      crc ^= kTables[kSlices - 1 - k][eight >> (8 * k) & 0xff];
    }
    bytes.remove_prefix(kSlices);
  }
  for (const char c : bytes) {
    crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return ~crc;
}

std::string MakePreamble(std::string_view magic) {
  std::string preamble(magic);
  preamble.resize(kPreambleSize);
  PutFixed<uint32_t>(kFormat, preamble.data() + magic.size());
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
  const uint32_t format = GetFixed<uint32_t>(bytes.data() + magic.size());
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
