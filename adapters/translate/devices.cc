#include "adapters/translate/devices.h"

#include <algorithm>
#include <charconv>

#include "absl/status/status.h"

namespace muster::translate {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
// More than any node has: it is refused, and does not overflow.
constexpr int64_t kTooMany = 1'000'000;

}  // namespace

absl::StatusOr<DeviceRequest> ToDeviceRequest(const GpuAsk& ask) {
  DeviceRequest request;
  if (ask.share) {
    if (ask.milli > 0) {
      return absl::UnimplementedError("shares beside counted GPUs");
    }
    request.count = static_cast<uint32_t>(
        std::clamp<int64_t>(ask.share->devices, 0, kTooMany));
    if (ask.share->memory_mib) {
      request.memory_bytes = *ask.share->memory_mib * kMiB;
      request.milli = 0;
    } else {
      request.milli = static_cast<int32_t>(ask.share->milli);
    }
    return request;
  }
  if (ask.milli <= 0) return request;
  if (ask.milli % kWholeDevice == 0) {
    request.count =
        static_cast<uint32_t>(std::min(ask.milli / kWholeDevice, kTooMany));
  } else if (ask.milli < kWholeDevice) {
    request.count = 1;
    request.milli = static_cast<int32_t>(ask.milli);
  } else {
    return absl::UnimplementedError("a pod with one and a half GPUs");
  }
  return request;
}

int64_t MigSlices(std::string_view resource) {
  constexpr std::string_view kPrefix = "nvidia.com/mig-";
  if (!resource.starts_with(kPrefix)) return 0;
  resource.remove_prefix(kPrefix.size());
  int64_t slices = 0;
  std::from_chars(resource.data(), resource.data() + resource.size(), slices);
  return slices;
}

}  // namespace muster::translate
