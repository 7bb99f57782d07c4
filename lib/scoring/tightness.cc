#include "lib/scoring/tightness.h"

#include <bit>

#include "lib/scoring/free_amounts.h"

namespace muster::scoring {
namespace {

constexpr int kMantissaBits = 9;
constexpr uint64_t kMostSteps = uint64_t{64} << kMantissaBits;

// 2^kMantissaBits steps an octave, evenly spaced within each: rises with x.
uint64_t LogSteps(int64_t x) {
  if (x <= 0) return 0;
  const uint64_t value = static_cast<uint64_t>(x);
  const int octave = std::bit_width(value) - 1;
  const uint64_t mantissa = octave >= kMantissaBits
                                ? value >> (octave - kMantissaBits)
                                : value << (kMantissaBits - octave);
  return (static_cast<uint64_t>(octave) << kMantissaBits) +
         (mantissa - (uint64_t{1} << kMantissaBits)) + 1;
}

}  // namespace

uint32_t DevicesLeft(const NodeLedger& at) {
  return DeviceSteps(static_cast<uint32_t>(FreeDevices(at)));
}

uint32_t OthersLeft(const NodeLedger& at) {
  uint64_t steps = 0;
  uint64_t kinds = 0;
  for (ResourceKind k = 0; k < at.cluster.resource_count(); ++k) {
    if (k == at.cluster.device_kind()) continue;
    steps += LogSteps(at.free(k));
    ++kinds;
  }
  if (kinds == 0) return 0;
  constexpr uint64_t kMost = (1 << kOtherBits) - 1;
  return static_cast<uint32_t>(steps * kMost / (kinds * kMostSteps));
}

}  // namespace muster::scoring
