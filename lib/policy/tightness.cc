#include "lib/policy/tightness.h"

#include <algorithm>
#include <bit>

#include "lib/policy/node_state.h"
#include "lib/topology/needs.h"

namespace muster::policy {
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

uint32_t DevicesLeft(const Cluster& cluster, NodeIndex node, Ledger ledger) {
  return DeviceSteps(FreeDevices(cluster, node, ledger));
}

uint32_t OthersLeft(const Cluster& cluster, NodeIndex node, Ledger ledger) {
  uint64_t steps = 0;
  uint64_t kinds = 0;
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    if (k == cluster.device_kind()) continue;
    steps += LogSteps(cluster.free(node, k, ledger));
    ++kinds;
  }
  if (kinds == 0) return 0;
  constexpr uint64_t kMost = (1 << kOtherBits) - 1;
  return static_cast<uint32_t>(steps * kMost / (kinds * kMostSteps));
}

bool OpensDevice(const Cluster& cluster, NodeIndex node, ShapeId shape,
                 Ledger ledger) {
  const DeviceRequest& request = cluster.device_request(shape);
  if (SharesNoDevice(request)) return false;
  if (!request.partition.empty()) {
    Allocation at;
    return cluster.Choose(node, shape, ledger, &at) &&
           !at.devices.Intersects(cluster.split_devices(node, ledger));
  }
  const uint32_t devices =
      static_cast<uint32_t>(cluster.node(node).devices.size());
  uint32_t shared = 0;
  for (uint32_t d = 0; d < devices; ++d) {
    const int32_t milli = cluster.free_milli(node, d, ledger);
    if (milli == 0 || milli >= kWholeDevice) continue;
    if (request.memory_bytes > 0) {
      if (cluster.free_memory(node, d, ledger) >= request.memory_bytes) {
        ++shared;
      }
    } else if (milli >= request.milli) {
      ++shared;
    }
  }
  return shared < request.count;
}

uint64_t TightestGist(const Cluster& cluster, NodeIndex node, Ledger ledger) {
  const uint64_t tasks = cluster.task_count(node, ledger);
  const auto devices =
      static_cast<uint64_t>(FreeDevices(cluster, node, ledger));
  return (2 * tasks + 1) << 32 | devices << kOtherBits |
         OthersLeft(cluster, node, ledger);
}

uint32_t TightestRank(const Cluster& cluster, NodeIndex node, ShapeId shape,
                      Ledger ledger) {
  const uint32_t opens = OpensDevice(cluster, node, shape, ledger) ? 1 : 0;
  return opens << (kDeviceBits + kOtherBits) |
         TightestRankOf(TightestGist(cluster, node, ledger),
                        cluster.device_request(shape).count > 0,
                        DeviceDemand(cluster, shape));
}

}  // namespace muster::policy
