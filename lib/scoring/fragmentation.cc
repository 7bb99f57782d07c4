// Policies by what a task would leave for the usual work.
#include <algorithm>
#include <array>
#include <ranges>

#include "lib/base/hash.h"
#include "lib/scoring/free_amounts.h"
#include "lib/scoring/memo.h"
#include "lib/scoring/tightness.h"
#include "lib/scoring/typical_mix.h"

namespace muster::scoring {
namespace {

// FGD's score: 100 / (1 + exp(-x)), rounded down, is at least 50 + i where x
// is at least ln((50 + i) / (50 - i)); and at least 50 - i from its negative
// on. In billionths, rounded up; by the series 2 artanh(i / 50), in 2^-60.
constexpr int64_t ScoreFrom(int64_t i) {
  __int128 power = (__int128{i} << 60) / 50;
  __int128 sum = 0;
  for (int n = 1; power > 0; n += 2) {
    sum += power / n;
    power = power * i * i / 2500;
  }
  return static_cast<int64_t>(((2 * sum * 1'000'000'000) >> 60) + (i > 0));
}

constexpr std::array<int64_t, 50> kScoreFrom = [] {
  std::array<int64_t, 50> from{};
  for (int64_t i = 0; i < 50; ++i) from[static_cast<size_t>(i)] = ScoreFrom(i);
  return from;
}();
static_assert(kScoreFrom[1] == 40'005'335 && kScoreFrom[49] == 4'595'119'851);

// The score for x = gain / scale.
int32_t SigmoidScore(int64_t gain, int64_t scale) {
  const auto reaches = [&](int32_t score) {
    const int64_t from = score >= 50
                             ? kScoreFrom[static_cast<size_t>(score - 50)]
                             : -kScoreFrom[static_cast<size_t>(50 - score)];
    return static_cast<__int128>(gain) * 1'000'000'000 >=
           static_cast<__int128>(from) * scale;
  };
  const auto above = std::views::iota(1, 100);
  return *std::ranges::partition_point(above, reaches) - 1;
}

// Tries the task on the node and looks at what the free devices are then worth.
class Lookahead : public NodePolicy {
 public:
  explicit Lookahead(const PlacementOptions& options) : mix_(options) {}

  Allocation Choose(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    if (SharesOneDevice(at.cluster.device_request(q.shape))) {
      const DeviceSet device = Try(at, q).device;
      if (!device.empty()) return {at.node, q.shape, device};
    }
    return NodePolicy::Choose(at, q);
  }

 protected:
  // What there is less of Waste, and the one device to share.
  using TrialResult = Memo::Answer;

  // How much free capacity is lost, in the policy's own unit.
  virtual int64_t Waste(const FreeAmounts& free_amounts,
                        const NodeProfile& profile) const = 0;
  // What is compared between devices: rises with the gain.
  virtual int64_t Merit(int64_t gain) const = 0;

  // With the task on the node: on the device where the gain is most, the first
  // of equals.
  TrialResult Try(const NodeLedger& at, const NodeQuestion& q) const {
    const NodeProfile& profile = mix_.ProfileOf(at.cluster, at.node);
    free_amounts_.Read(at);
    const auto anew = [&] { return TryAnew(at, q, profile); };
    // Where a partition goes depends on slices, which are not among the
    // amounts.
    if (!at.cluster.device_request(q.shape).partition.empty()) return anew();
    return memo_.Get(profile.serial, requests_.SerialOf(at.cluster, q.shape),
                     free_amounts_, at.cluster.device_kind(), anew);
  }

  TypicalMix& mix() const { return mix_; }

 private:
  // Leaves free_amounts_ as it is with the task.
  TrialResult TryAnew(const NodeLedger& at, const NodeQuestion& q,
                      const NodeProfile& profile) const {
    const int64_t before = Waste(free_amounts_, profile);
    free_amounts_.TakeAmounts(at.cluster, q.shape);
    const DeviceRequest& request = at.cluster.device_request(q.shape);
    const std::vector<Device>& devices = at.devices();
    if (SharesOneDevice(request)) {
      return TryDevices(DevicesWithRoom(at, q), devices, request, profile,
                        before);
    }
    Allocation whole;
    if (request.count > 0 &&
        at.cluster.Choose(at.node, q.shape, at.ledger, &whole)) {
      for (const uint32_t d : whole.devices) {
        if (request.partition.empty()) {
          free_amounts_.TakeDevice(d, request, devices[d].memory_bytes);
        } else {
          free_amounts_.Close(d);
        }
      }
    }
    return {.gain = before - Waste(free_amounts_, profile)};
  }

  TrialResult TryDevices(DeviceSet usable, const std::vector<Device>& devices,
                         const DeviceRequest& request,
                         const NodeProfile& profile, int64_t before) const {
    TrialResult best;
    DeviceSet tried;
    for (const uint32_t d : usable) {
      if (IsLikeOneOf(tried, d, devices)) continue;
      tried.Insert(d);
      const int32_t milli = free_amounts_.milli[d];
      const int64_t memory = free_amounts_.memory[d];
      free_amounts_.TakeDevice(d, request, devices[d].memory_bytes);
      const int64_t gain = before - Waste(free_amounts_, profile);
      free_amounts_.milli[d] = milli;
      free_amounts_.memory[d] = memory;
      if (!best.device.empty() && Merit(gain) <= Merit(best.gain)) continue;
      best = {gain, {d}};
    }
    return best;
  }

  bool IsLikeOneOf(DeviceSet others, uint32_t d,
                   const std::vector<Device>& devices) const {
    return std::ranges::any_of(others, [&](uint32_t o) {
      return free_amounts_.milli[o] == free_amounts_.milli[d] &&
             free_amounts_.memory[o] == free_amounts_.memory[d] &&
             devices[o].memory_bytes == devices[d].memory_bytes &&
             devices[o].model == devices[d].model;
    });
  }

  mutable TypicalMix mix_;
  mutable Requests requests_;
  mutable FreeAmounts free_amounts_;
  mutable Memo memo_;
};

// FGD. The fragment that a typical task sees on a node are its free devices
// that have no room for it; all of them where the node has none at all, or the
// task asks for no device.
class Fragmentation final : public Lookahead {
 public:
  using Lookahead::Lookahead;

  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    return static_cast<uint32_t>(100 - Merit(Try(at, q).gain));
  }

 private:
  int64_t Waste(const FreeAmounts& free_amounts,
                const NodeProfile& profile) const override {
    return mix().total_weight() * free_amounts.Idle() -
           mix().Useful(free_amounts, profile);
  }
  int64_t Merit(int64_t gain) const override {
    return SigmoidScore(gain, kWholeDevice * mix().total_weight());
  }
};

// The library's default with typical tasks: docs/placement-policies.md tells
// why.
class LeastNewWaste final : public Lookahead {
 public:
  using Lookahead::Lookahead;

  uint32_t NodeCost(const NodeLedger& at,
                    const NodeQuestion& q) const override {
    int64_t cost = -Try(at, q).gain;
    const DeviceRequest& request = at.cluster.device_request(q.shape);
    if (request.count > 0 && request.models.empty() && IsKept(at)) {
      cost += kWholeDevice * kUnit;
    }
    const int64_t step = (cost + kMiddle * kStep) / kStep;  // Rounded down.
    const uint32_t high =
        static_cast<uint32_t>(std::clamp<int64_t>(step, 0, 2 * kMiddle - 1));
    return high << kTieBits | Tie(at, request.count > 0);
  }

 private:
  static constexpr int64_t kUnit = 256;         // A thousandth of a device.
  static constexpr int64_t kStep = 40 * kUnit;  // Costs within are equal.
  static constexpr int64_t kMiddle = 1 << 13;   // Steps; costs have 4800.
  static constexpr int kTieBits = kDeviceBits + 1;

  // For the average of the typical tasks that the node may run: the free
  // devices without room for it. And half of those that the node's other kinds
  // could not supply.
  int64_t Waste(const FreeAmounts& free_amounts,
                const NodeProfile& profile) const override {
    const int64_t idle = free_amounts.Idle();
    if (profile.weight == 0) return idle * kUnit;
    const int64_t useful =
        mix().Useful(free_amounts, profile) * kUnit / profile.weight;
    const int64_t starved =
        std::max<int64_t>(0, idle - mix().Supplied(free_amounts));
    return idle * kUnit - useful + starved * kUnit / 2;
  }
  int64_t Merit(int64_t gain) const override { return gain; }

  // Whether the node is one of those of its model that are kept for tasks that
  // ask for the model. Drawn by key: so many of them, whatever their number.
  bool IsKept(const NodeLedger& at) const {
    const uint64_t wanted = mix().ProfileOf(at.cluster, at.node).wanted;
    if (wanted == 0) return false;
    const std::string_view key = at.cluster.node(at.node).key;
    return uint64_t{StableHasher()(key)} >> 32 < wanted;
  }

  static uint32_t Tie(const NodeLedger& at, bool with_devices) {
    if (!with_devices) return DevicesLeft(at);
    const int64_t free = FreeDevices(at);
    return free == at.capacity(at.cluster.device_kind()) ? 1 : 0;
  }
};

}  // namespace

std::unique_ptr<NodePolicy> NewByTypicalMix(const PlacementOptions& options) {
  if (options.policy == PlacementPolicy::kFragmentation) {
    return std::make_unique<Fragmentation>(options);
  }
  if (options.policy != PlacementPolicy::kMuster ||
      options.typical_tasks.empty()) {
    return nullptr;
  }
  return std::make_unique<LeastNewWaste>(options);
}

}  // namespace muster::scoring
