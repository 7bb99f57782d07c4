// The policies that FGD was published against, by their published scores: 100
// for the best node, hence cost = 100 - score.
#include <algorithm>

#include "lib/base/hash.h"
#include "lib/scoring/free_amounts.h"
#include "lib/scoring/tightness.h"

namespace muster::scoring {
namespace {

// The sum of what(kind) over the two kinds that the paper looks at, "cpu and
// gpu": the first that is not the device kind stands for the rest of a node.
template <class What>
auto SumOfBoth(const Cluster& cluster, const What& what) {
  decltype(what(0)) sum = 0;
  const ResourceKind device = cluster.device_kind();
  for (const ResourceKind k : {device == 0 ? ResourceKind{1} : 0, device}) {
    if (k < cluster.resource_count()) sum += what(k);
  }
  return sum;
}

// x / 2^30 of 100, halved, rounded up.
uint32_t HalfPercent(unsigned __int128 x) {
  const unsigned __int128 percent =
      (x * 50 + Yardstick::kWhole - 1) >> Yardstick::kShareBits;
  return static_cast<uint32_t>(
      std::min<unsigned __int128>(percent, NodePolicy::kMaxNodeCost));
}

// What would be left of the first kind and of devices: half of each counts.
// The published normalisation over all nodes changes no order.
class BestFit final : public NodePolicy {
 public:
  explicit BestFit(const Resources& yardstick) : yardstick_(yardstick) {}

  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    const Resources& demand = at.cluster.demand(q.shape);
    return HalfPercent(SumOfBoth(at.cluster, [&](ResourceKind k) {
      return yardstick_.ShareOf(at, k, at.free(k) - demand[k]);
    }));
  }

 private:
  Yardstick yardstick_;
};

// The inner product of what is free and what is asked: the least is best.
class DotProduct final : public NodePolicy {
 public:
  explicit DotProduct(const Resources& yardstick) : yardstick_(yardstick) {}

  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    const Resources& demand = at.cluster.demand(q.shape);
    const auto product = SumOfBoth(at.cluster, [&](ResourceKind k) {
      return static_cast<unsigned __int128>(
                 yardstick_.ShareOf(at, k, at.free(k))) *
             yardstick_.ShareOf(at, k, demand[k]);
    });
    return HalfPercent(product >> Yardstick::kShareBits);
  }

 private:
  Yardstick yardstick_;
};

// How the node's healthy devices are used.
struct DeviceUse {
  int64_t whole = 0;   // Wholly free.
  int64_t shared = 0;  // Partly.
  int64_t full = 0;    // Not at all.
};

DeviceUse UseOf(const NodeLedger& at) {
  DeviceUse use;
  const std::vector<Device>& devices = at.devices();
  for (uint32_t d = 0; d < devices.size(); ++d) {
    if (!devices[d].healthy) continue;
    const int32_t milli = at.free_milli(d);
    ++(milli >= kWholeDevice ? use.whole : milli > 0 ? use.shared : use.full);
  }
  return use;
}

class GpuPacking final : public NodePolicy {
 public:
  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    const DeviceRequest& request = at.cluster.device_request(q.shape);
    if (request.count == 0) return 100;
    const DeviceUse use = UseOf(at);
    if (use.shared + use.full == 0) {  // An idle node: the smallest.
      return static_cast<uint32_t>(
          100 -
          std::max<int64_t>(33 - use.whole, std::min<int64_t>(use.whole, 33)));
    }
    Allocation chosen;
    (void)at.cluster.Choose(at.node, q.shape, at.ledger, &chosen);
    int64_t opened = 0;  // Wholly free devices that it would use.
    int64_t left = 0;    // Percent free on used devices it would use.
    for (const uint32_t d : chosen.devices) {
      const int32_t milli = at.free_milli(d);
      if (milli >= kWholeDevice) {
        ++opened;
      } else {
        left += milli * 100 / kWholeDevice;
      }
    }
    if (opened > 0) {
      return static_cast<uint32_t>(100 - std::max<int64_t>(50 - opened, 33));
    }
    return static_cast<uint32_t>(100 - std::max<int64_t>(100 - left / 10, 50));
  }
};

// Two kinds of use, as the devices show them: shared, and taken whole. A node
// of the task's kind alone is best, then one of both kinds, then an idle one,
// then one of the other kind; among these the fullest, for the paper's largest
// node of 8 devices.
class GpuClustering final : public NodePolicy {
 public:
  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    const DeviceRequest& request = at.cluster.device_request(q.shape);
    if (request.count == 0) return 100;
    const bool shares = request.milli < kWholeDevice ||
                        request.memory_bytes > 0 || !request.partition.empty();
    const DeviceUse use = UseOf(at);
    const bool same = (shares ? use.shared : use.full) > 0;
    const bool other = (shares ? use.full : use.shared) > 0;
    const int64_t base = same ? (other ? 50 : 75) : (other ? 0 : 25);
    constexpr int64_t kLargest = 8 * kWholeDevice;
    const int64_t used = kLargest - std::min(kLargest, FreeDevices(at));
    return static_cast<uint32_t>(100 - base - 25 * used / kLargest);
  }
};

// Any node, any device: a hash, so that it is the same everywhere.
class Random final : public NodePolicy {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}

  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    return std::min(static_cast<uint32_t>(Hash(at, q) >> 32), kMaxNodeCost);
  }
  bool PerGang() const override { return true; }

  Allocation Choose(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    if (!SharesOneDevice(at.cluster.device_request(q.shape))) {
      return NodePolicy::Choose(at, q);
    }
    const DeviceSet usable = DevicesWithRoom(at, q);
    if (usable.empty()) return NodePolicy::Choose(at, q);
    const uint64_t skip = (Hash(at, q) & 0xffffffff) % usable.size();
    const uint32_t chosen =
        *std::ranges::next(usable.begin(), static_cast<int64_t>(skip));
    return {.node = at.node, .shape = q.shape, .devices = {chosen}};
  }

 private:
  uint64_t Hash(const NodeLedger& at, const NodeQuestion& q) const {
    StableHash hash;
    hash.Add(seed_);
    hash.Add(q.gang);
    hash.Add(std::string_view(at.cluster.node(at.node).key));
    return hash.value();
  }

  uint64_t seed_;
};

}  // namespace

std::unique_ptr<NodePolicy> NewFgdRival(const PlacementOptions& options) {
  switch (options.policy) {
    case PlacementPolicy::kBestFit:
      return std::make_unique<BestFit>(options.yardstick);
    case PlacementPolicy::kDotProduct:
      return std::make_unique<DotProduct>(options.yardstick);
    case PlacementPolicy::kGpuPacking:
      return std::make_unique<GpuPacking>();
    case PlacementPolicy::kGpuClustering:
      return std::make_unique<GpuClustering>();
    case PlacementPolicy::kRandom:
      return std::make_unique<Random>(options.seed);
    default:
      return nullptr;
  }
}

}  // namespace muster::scoring
