#include "test/conformance/device_book.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace muster::conformance {

int32_t DeviceBook::MilliOf(const DeviceRequest& request) const {
  if (request.memory_bytes == 0) return request.milli;
  if (memory_ <= 0) return kWholeDevice;
  return static_cast<int32_t>(std::min<int64_t>(
      kWholeDevice, kWholeDevice * request.memory_bytes / memory_));
}

// A number names the device of that number, if there is one and no other label
// has it; any other label the first device that is free of labels and use. If
// that leaves too few whole ones, the first named one that has room.
uint32_t DeviceBook::NewDeviceFor(const std::string& label,
                                  int32_t milli) const {
  const uint32_t all = static_cast<uint32_t>(used_milli_.size());
  uint32_t fresh = all, shared = all, left = 0;
  for (uint32_t d = all; d-- > 0;) {
    if (!named_[d] && used_milli_[d] == 0) {
      fresh = d;
      ++left;
    }
    if (named_[d] && used_milli_[d] + milli <= kWholeDevice) shared = d;
  }
  if (left <= whole_) return shared;
  char* end = nullptr;
  const unsigned long number = std::strtoul(label.c_str(), &end, 10);
  const bool numeric = !label.empty() && *end == '\0';
  return numeric && number < all && !named_[number]
             ? static_cast<uint32_t>(number)
             : fresh;
}

uint32_t DeviceBook::DeviceOf(const std::string& label, int32_t milli) {
  const auto known = by_label_.find(label);
  if (known != by_label_.end()) return known->second;
  const uint32_t device = NewDeviceFor(label, milli);
  if (device < used_milli_.size()) {
    named_[device] = true;
    by_label_[label] = device;
  }
  return device;
}

std::vector<uint32_t> DeviceBook::Enter(
    const DeviceRequest& request, const std::vector<std::string>& labels) {
  const int32_t milli = MilliOf(request);
  std::vector<uint32_t> devices;
  if (labels.size() == request.count && milli < kWholeDevice) {
    for (const std::string& label : labels) {
      devices.push_back(DeviceOf(label, milli));
    }
  } else {
    for (uint32_t d = 0; d < used_milli_.size(); ++d) {
      if (devices.size() == request.count) break;
      if (used_milli_[d] + milli <= kWholeDevice) devices.push_back(d);
    }
  }
  const bool fits =
      devices.size() == request.count &&
      std::set(devices.begin(), devices.end()).size() == request.count &&
      std::all_of(devices.begin(), devices.end(),
                  [&](uint32_t d) { return d < used_milli_.size(); });
  if (!fits) return {};
  for (uint32_t d : devices) used_milli_[d] += milli;
  return devices;
}

}  // namespace muster::conformance
