// Which devices of a node are in whose hands when a scenario begins.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "muster/device.h"

namespace muster::conformance {

// Scenarios tell which shares sit on the same device, by labels of their own,
// and nothing of whole devices. Shares with labels are to be entered first,
// then whole devices, then the other shares.
class DeviceBook {
 public:
  // So many of the devices are kept for who holds `whole` ones: labels that
  // name more than the rest of them share.
  DeviceBook(size_t devices, int64_t memory_bytes, uint32_t whole = 0)
      : used_milli_(devices, 0),
        named_(devices, false),
        memory_(memory_bytes),
        whole_(whole) {}

  // The devices the request holds; empty if the book is full.
  std::vector<uint32_t> Enter(const DeviceRequest& request,
                              const std::vector<std::string>& labels);

 private:
  uint32_t DeviceOf(const std::string& label, int32_t milli);
  uint32_t NewDeviceFor(const std::string& label, int32_t milli) const;
  int32_t MilliOf(const DeviceRequest& request) const;

  std::vector<int32_t> used_milli_;  // By device.
  std::vector<bool> named_;          // By device: whether a label has it.
  std::map<std::string, uint32_t> by_label_;
  int64_t memory_;
  uint32_t whole_;
};

}  // namespace muster::conformance
