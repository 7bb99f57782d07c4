// Policies by what a task would leave for the usual work.
#include <algorithm>
#include <array>

#include "lib/base/hash.h"
#include "lib/policy/memo.h"
#include "lib/policy/node_state.h"
#include "lib/policy/policies.h"
#include "lib/policy/requests.h"
#include "lib/policy/tightness.h"
#include "lib/policy/workload.h"

namespace muster::policy {
namespace {

// FGD's score: 100 / (1 + exp(-x)), rounded down, is at least 50 + i where x
// is at least this many billionths; and at least 50 - i from their negatives
// on.
constexpr std::array<int64_t, 50> kScoreFrom = {
    0,
    40'005'335,
    80'042'708,
    120'144'312,
    160'342'651,
    200'670'696,
    241'162'057,
    281'851'153,
    322'773'393,
    363'965'378,
    405'465'109,
    447'312'219,
    489'548'226,
    532'216'814,
    575'364'145,
    619'039'209,
    663'294'218,
    708'185'058,
    753'771'803,
    800'119'301,
    847'297'861,
    895'384'048,
    944'461'609,
    994'622'576,
    1'045'968'556,
    1'098'612'289,
    1'152'679'510,
    1'208'311'206,
    1'265'666'374,
    1'324'925'415,
    1'386'294'362,
    1'450'010'176,
    1'516'347'490,
    1'585'627'264,
    1'658'228'077,
    1'734'601'056,
    1'815'289'967,
    1'900'958'762,
    1'992'430'165,
    2'090'741'097,
    2'197'224'578,
    2'313'634'930,
    2'442'347'036,
    2'586'689'345,
    2'751'535'314,
    2'944'438'980,
    3'178'053'831,
    3'476'098'690,
    3'891'820'299,
    4'595'119'851,
};

// The score for x = gain / scale.
int32_t SigmoidScore(int64_t gain, int64_t scale) {
  const auto reaches = [&](int32_t score) {
    const int64_t from = score >= 50
                             ? kScoreFrom[static_cast<size_t>(score - 50)]
                             : -kScoreFrom[static_cast<size_t>(50 - score)];
    return static_cast<__int128>(gain) * 1'000'000'000 >=
           static_cast<__int128>(from) * scale;
  };
  int32_t low = 0;
  int32_t high = 99;
  while (low < high) {
    const int32_t middle = (low + high + 1) / 2;
    if (reaches(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Tries the task on the node and looks at what the free devices are then worth.
class Lookahead : public NodePolicy {
 public:
  explicit Lookahead(const PlacementOptions& options) : workload_(options) {}

  Allocation Choose(const Cluster& cluster, NodeIndex node,
                    const Question& q) const override {
    if (SharesOneDevice(cluster.device_request(q.shape))) {
      const DeviceSet device = Try(cluster, node, q).device;
      if (!device.empty()) return {node, q.shape, device};
    }
    return NodePolicy::Choose(cluster, node, q);
  }

 protected:
  // What there is less of Waste, and the one device to share.
  using Outcome = Memo::Answer;

  // How much free capacity is lost, in the policy's own unit.
  virtual int64_t Waste(const NodeState& state, const NodeKind& kind) const = 0;
  // What is compared between devices: rises with the gain.
  virtual int64_t Merit(int64_t gain) const = 0;

  // With the task on the node: on the device where the gain is most, the first
  // of equals.
  Outcome Try(const Cluster& cluster, NodeIndex node, const Question& q) const {
    const NodeKind& kind = workload_.KindOf(cluster, node);
    state_.Read(cluster, node, q.ledger);
    const Memo::Key key(kind.serial, requests_.SerialOf(cluster, q.shape),
                        state_, cluster.device_kind());
    // Where a partition goes depends on slices, which the key does not tell.
    const bool slices = !cluster.device_request(q.shape).partition.empty();
    if (slices || !key.fits()) return TryAnew(cluster, node, q, kind);
    if (const Outcome* known = memo_.Find(key)) return *known;
    const Outcome outcome = TryAnew(cluster, node, q, kind);
    memo_.Store(key, outcome);
    return outcome;
  }

  Workload& workload() const { return workload_; }

 private:
  // Leaves state_ as it is with the task.
  Outcome TryAnew(const Cluster& cluster, NodeIndex node, const Question& q,
                  const NodeKind& kind) const {
    const int64_t before = Waste(state_, kind);
    state_.TakeAmounts(cluster, q.shape);
    const DeviceRequest& request = cluster.device_request(q.shape);
    const std::vector<Device>& devices = cluster.node(node).devices;
    if (SharesOneDevice(request)) {
      return TryDevices(DevicesWithRoom(cluster, node, q), devices, request,
                        kind, before);
    }
    Allocation whole;
    if (request.count > 0 && cluster.Choose(node, q.shape, q.ledger, &whole)) {
      for (const uint32_t d : whole.devices) {
        if (request.partition.empty()) {
          state_.TakeDevice(d, request, devices[d].memory_bytes);
        } else {
          state_.Close(d);
        }
      }
    }
    return {.gain = before - Waste(state_, kind)};
  }

  Outcome TryDevices(DeviceSet usable, const std::vector<Device>& devices,
                     const DeviceRequest& request, const NodeKind& kind,
                     int64_t before) const {
    Outcome best;
    DeviceSet tried;
    for (const uint32_t d : usable) {
      if (IsLikeOneOf(tried, d, devices)) continue;
      tried.Insert(d);
      const int32_t milli = state_.milli[d];
      const int64_t memory = state_.memory[d];
      state_.TakeDevice(d, request, devices[d].memory_bytes);
      const int64_t gain = before - Waste(state_, kind);
      state_.milli[d] = milli;
      state_.memory[d] = memory;
      if (!best.device.empty() && Merit(gain) <= Merit(best.gain)) continue;
      best = {gain, {d}};
    }
    return best;
  }

  bool IsLikeOneOf(DeviceSet others, uint32_t d,
                   const std::vector<Device>& devices) const {
    return std::ranges::any_of(others, [&](uint32_t o) {
      return state_.milli[o] == state_.milli[d] &&
             state_.memory[o] == state_.memory[d] &&
             devices[o].memory_bytes == devices[d].memory_bytes &&
             devices[o].model == devices[d].model;
    });
  }

  mutable Workload workload_;
  mutable Requests requests_;
  mutable NodeState state_;
  mutable Memo memo_;
};

// FGD. The fragment that a typical task sees on a node are its free devices
// that have no room for it; all of them where the node has none at all, or the
// task asks for no device.
class Fragmentation final : public Lookahead {
 public:
  using Lookahead::Lookahead;

  uint32_t Rank(const Cluster& cluster, NodeIndex node,
                const Question& q) const override {
    return static_cast<uint32_t>(100 - Merit(Try(cluster, node, q).gain));
  }

 private:
  int64_t Waste(const NodeState& state, const NodeKind& kind) const override {
    return workload().total_weight() * state.Idle() -
           workload().Useful(state, kind);
  }
  int64_t Merit(int64_t gain) const override {
    return SigmoidScore(gain, kWholeDevice * workload().total_weight());
  }
};

// The library's default with a workload: docs/placement-policies.md tells why.
class LeastNewWaste final : public Lookahead {
 public:
  using Lookahead::Lookahead;

  uint32_t Rank(const Cluster& cluster, NodeIndex node,
                const Question& q) const override {
    int64_t cost = -Try(cluster, node, q).gain;
    const DeviceRequest& request = cluster.device_request(q.shape);
    if (request.count > 0 && request.models.empty() && IsKept(cluster, node)) {
      cost += kWholeDevice * kUnit;
    }
    const int64_t step = (cost + kMiddle * kStep) / kStep;  // Rounded down.
    const uint32_t high =
        static_cast<uint32_t>(std::clamp<int64_t>(step, 0, 2 * kMiddle - 1));
    return high << kTieBits | Tie(cluster, node, q, request.count > 0);
  }

 private:
  static constexpr int64_t kUnit = 256;         // A thousandth of a device.
  static constexpr int64_t kStep = 40 * kUnit;  // Costs within are equal.
  static constexpr int64_t kMiddle = 1 << 13;   // Steps; costs have 4800.
  static constexpr int kTieBits = kDeviceBits + 1;

  // For the average of the typical tasks that the node may run: the free
  // devices without room for it. And half of those that the node's other kinds
  // could not supply.
  int64_t Waste(const NodeState& state, const NodeKind& kind) const override {
    const int64_t idle = state.Idle();
    if (kind.weight == 0) return idle * kUnit;
    const int64_t useful = workload().Useful(state, kind) * kUnit / kind.weight;
    const int64_t starved =
        std::max<int64_t>(0, idle - workload().Supplied(state));
    return idle * kUnit - useful + starved * kUnit / 2;
  }
  int64_t Merit(int64_t gain) const override { return gain; }

  // Whether the node is one of those of its model that are kept for tasks that
  // ask for the model. Drawn by key: so many of them, whatever their number.
  bool IsKept(const Cluster& cluster, NodeIndex node) const {
    const uint64_t wanted = workload().KindOf(cluster, node).wanted;
    if (wanted == 0) return false;
    StableHash hash;
    hash.Add(std::string_view(cluster.node(node).key));
    return hash.value() >> 32 < wanted;
  }

  static uint32_t Tie(const Cluster& cluster, NodeIndex node, const Question& q,
                      bool with_devices) {
    if (!with_devices) return DevicesLeft(cluster, node, q.ledger);
    const int64_t free = FreeDevices(cluster, node, q.ledger);
    return free == cluster.capacity(node, cluster.device_kind()) ? 1 : 0;
  }
};

}  // namespace

std::unique_ptr<NodePolicy> NewFragmentation(const PlacementOptions& options) {
  return std::make_unique<Fragmentation>(options);
}
std::unique_ptr<NodePolicy> NewLeastNewWaste(const PlacementOptions& options) {
  return std::make_unique<LeastNewWaste>(options);
}

}  // namespace muster::policy
