#include "test/conformance/device_book.h"

#include <algorithm>
#include <cstdlib>

namespace muster::conformance {

int32_t DeviceBook::MilliOf(const DeviceRequest& request) const {
  if (request.memory_bytes == 0) return request.milli;
  if (memory_ <= 0) return kWholeDevice;
  return static_cast<int32_t>(std::min<int64_t>(
      kWholeDevice, kWholeDevice * request.memory_bytes / memory_));
}

// A number names the device of that number, if there is one and no other label
// has it; any other label the first device that is free of labels and use.
uint32_t DeviceBook::DeviceOf(const std::string& label) {
  const auto known = std::find(labelled_.begin(), labelled_.end(), label);
  uint32_t device = static_cast<uint32_t>(known - labelled_.begin());
  if (known != labelled_.end()) return device;
  char* end = nullptr;
  const unsigned long number = std::strtoul(label.c_str(), &end, 10);
  const bool numeric = !label.empty() && *end == '\0';
  if (numeric && number < labelled_.size() && labelled_[number].empty()) {
    device = static_cast<uint32_t>(number);
  } else {
    device = 0;
    while (device < labelled_.size() &&
           (!labelled_[device].empty() || used_milli_[device] > 0)) {
      ++device;
    }
  }
  if (device < labelled_.size()) labelled_[device] = label;
  return device;
}

std::vector<uint32_t> DeviceBook::Enter(
    const DeviceRequest& request, const std::vector<std::string>& labels) {
  const int32_t milli = MilliOf(request);
  std::vector<uint32_t> devices;
  if (labels.size() == request.count && milli < kWholeDevice) {
    for (const std::string& label : labels) devices.push_back(DeviceOf(label));
  } else {
    for (uint32_t d = 0; d < used_milli_.size(); ++d) {
      if (devices.size() == request.count) break;
      if (used_milli_[d] + milli <= kWholeDevice) devices.push_back(d);
    }
  }
  const bool fits =
      devices.size() == request.count &&
      std::all_of(devices.begin(), devices.end(),
                  [&](uint32_t d) { return d < used_milli_.size(); });
  if (!fits) return {};
  for (uint32_t d : devices) used_milli_[d] += milli;
  return devices;
}

}  // namespace muster::conformance
