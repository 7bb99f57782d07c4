// Policies that look at how full a node is, and at nothing else.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <vector>

#include "lib/cluster/device_choice.h"
#include "lib/cluster/needs.h"
#include "lib/scoring/free_amounts.h"
#include "lib/scoring/tightness.h"

namespace muster::scoring {
namespace {

// Whether a task that shares devices would have to take some that are whole.
bool OpensDevice(const NodeLedger& at, ShapeId shape) {
  const DeviceRequest& request = at.cluster.device_request(shape);
  if (SharesNoDevice(request)) return false;
  if (!request.partition.empty()) {
    Allocation chosen;
    return at.cluster.Choose(at.node, shape, at.ledger, &chosen) &&
           !chosen.devices.Intersects(
               at.cluster.split_devices(at.node, at.ledger));
  }
  const uint32_t devices = static_cast<uint32_t>(at.devices().size());
  uint32_t shared = 0;
  for (uint32_t d = 0; d < devices; ++d) {
    const int32_t milli = at.free_milli(d);
    if (milli == 0 || milli >= kWholeDevice) continue;
    const bool has_room =
        milli >= request.milli &&
        (request.memory_bytes == 0 ||
         at.cluster.free_memory(at.node, d, at.ledger) >= request.memory_bytes);
    shared += has_room ? 1 : 0;
  }
  return shared < request.count;
}

// The library's rule where it knows no typical tasks: a share of a device in
// use before one of a fresh device; then the least free devices; then the least
// of the other kinds. For a task that asks for devices, what counts is what it,
// if it has room, would leave free for each task on the node: divided by twice
// their number and one, so that an idle node comes last among its like.
class Tightest final : public NodePolicy {
 public:
  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    const uint32_t opens = OpensDevice(at, q.shape) ? 1 : 0;
    return opens << (kDeviceBits + kOtherBits) |
           CostOf(NodeSummary(at), at.cluster.device_request(q.shape).count > 0,
                  static_cast<uint32_t>(
                      at.cluster.demand(q.shape)[at.cluster.device_kind()]));
  }
  bool HasNodeSummary() const override { return true; }
  // A fresh device left aside: from the top, 32 bits each, twice the tasks and
  // one; free thousandths and, in kOtherBits, the other kinds.
  uint64_t NodeSummary(const NodeLedger& at) const override {
    const uint64_t tasks = at.cluster.task_count(at.node, at.ledger);
    const auto devices = static_cast<uint64_t>(FreeDevices(at));
    return (2 * tasks + 1) << 32 | devices << kOtherBits | OthersLeft(at);
  }
  void NodeCosts(const DeviceRequest& request, uint64_t which,
                 const uint64_t* summaries, uint32_t* costs) const override {
    const uint32_t demand = request.count * kWholeDevice;
    ForEachBit(which, [&](uint32_t i) {
      costs[i] = CostOf(summaries[i], request.count > 0, demand);
    });
  }

 private:
  // To a task which asks for devices, so many thousandths of them, or for none.
  static uint32_t CostOf(uint64_t summary, bool devices, uint32_t demand) {
    constexpr uint32_t kOthers = (uint32_t{1} << kOtherBits) - 1;
    const auto low = static_cast<uint32_t>(summary);
    const auto parts = static_cast<uint32_t>(summary >> 32);
    uint32_t left = low >> kOtherBits;
    if (devices) left = (left - std::min(left, demand)) / parts;
    return DeviceSteps(left) << kOtherBits | (low & kOthers);
  }
};

// A cost that is the same for all shapes is its own summary.
class SameForAll : public NodePolicy {
 public:
  uint32_t NodeCost(const NodeLedger& at, const NodeQuestion&) const final {
    return static_cast<uint32_t>(NodeSummary(at));
  }
  bool HasNodeSummary() const final { return true; }
  void NodeCosts(const DeviceRequest&, uint64_t which,
                 const uint64_t* summaries, uint32_t* costs) const final {
    ForEachBit(which, [&](uint32_t i) {
      costs[i] = static_cast<uint32_t>(summaries[i]);
    });
  }
};

class Binpack final : public SameForAll {
 public:
  uint64_t NodeSummary(const NodeLedger& at) const override {
    return DevicesLeft(at) << kOtherBits | OthersLeft(at);
  }
};

class Spread final : public NodePolicy {
 public:
  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    const uint32_t devices = DevicesLeft(at);
    const uint32_t others = OthersLeft(at);
    const uint32_t left = at.cluster.device_request(q.shape).count > 0
                              ? devices << kOtherBits | others
                              : others << kDeviceBits | devices;
    return kMaxNodeCost - left;
  }
};

class LeastFree final : public SameForAll {
 public:
  explicit LeastFree(const Resources& yardstick) : yardstick_(yardstick) {}

  uint64_t NodeSummary(const NodeLedger& at) const override {
    uint64_t sum = 0;
    const uint32_t kinds = std::max(1u, at.cluster.resource_count());
    for (ResourceKind k = 0; k < kinds; ++k) {
      sum += yardstick_.ShareOf(at, k, at.free(k)) >> kDroppedBits;
    }
    return sum / kinds;
  }

 private:
  // 2^20 stands for one whole yardstick.
  static constexpr int kDroppedBits = Yardstick::kShareBits - 20;
  Yardstick yardstick_;
};

class Balanced final : public NodePolicy {
 public:
  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    shares_.clear();
    for (ResourceKind k = 0; k < at.cluster.resource_count(); ++k) {
      if (at.capacity(k) > 0) shares_.push_back(Use(at, k, q));
    }
    if (shares_.empty()) return 0;
    const int64_t mean =
        std::reduce(shares_.begin(), shares_.end()) / std::ssize(shares_);
    int64_t deviation = 0;
    for (const int64_t share : shares_) deviation += std::abs(share - mean);
    return static_cast<uint32_t>(
        std::min<int64_t>(deviation, int64_t{kMaxNodeCost}));
  }

 private:
  // The share of the node's capacity that would be used, of 2^20.
  static int64_t Use(const NodeLedger& at, ResourceKind kind,
                     const NodeQuestion& q) {
    const int64_t capacity = at.capacity(kind);
    const int64_t left = at.free(kind) - at.cluster.demand(q.shape)[kind];
    const int64_t used = std::clamp<int64_t>(capacity - left, 0, capacity);
    return static_cast<int64_t>((static_cast<__int128>(used) << 20) / capacity);
  }

  mutable std::vector<int64_t> shares_{};  // Scratch.
};

}  // namespace

std::unique_ptr<NodePolicy> NewFullness(const PlacementOptions& options) {
  switch (options.policy) {
    case PlacementPolicy::kMuster:
      return std::make_unique<Tightest>();
    case PlacementPolicy::kBinpack:
      return std::make_unique<Binpack>();
    case PlacementPolicy::kLeastAllocated:
      return std::make_unique<Spread>();
    case PlacementPolicy::kLeastFree:
      return std::make_unique<LeastFree>(options.yardstick);
    case PlacementPolicy::kBalanced:
      return std::make_unique<Balanced>();
    default:
      return nullptr;
  }
}

}  // namespace muster::scoring
