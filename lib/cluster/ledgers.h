// What every node has, and what of it is free in either ledger.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "lib/base/string_map.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/device_choice.h"
#include "lib/cluster/needs.h"
#include "lib/cluster/partition_table.h"
#include "muster/device_set.h"
#include "muster/node.h"

namespace muster {

// Knows quantities only: not names, and not who may use a node. Everything hot
// is in flat arrays by node. A value type. Of many functions, since all forms
// of use (amounts, whole devices, shares, partitions) change the same few words
// of a node, and whatever knows these words must be in here.
//
// A device's raw free share (capacity less external usage less what is charged)
// is kept whether it is healthy or not, so that health may come and go under
// running tasks; what is offered counts healthy devices only.
class Ledgers {
 public:
  // The two ledgers' places in arrays.
  static constexpr size_t kNow = 0;
  static constexpr size_t kLater = 1;

  Ledgers(uint32_t kinds, ResourceKind device_kind, ResourceKind node_kind,
          std::vector<PartitionScheme> schemes = {})
      : kinds_(kinds),
        device_kind_(device_kind),
        node_kind_(node_kind),
        partition_table_(std::move(schemes)) {}

  uint32_t kinds() const { return kinds_; }
  ResourceKind device_kind() const { return device_kind_; }
  ResourceKind node_kind() const { return node_kind_; }
  uint32_t ModelNumber(std::string_view model) {
    const auto next = static_cast<uint32_t>(models_.size());
    return models_.try_emplace(model, next).first->second;
  }

  // Takes over what `node` has; what is charged and external usage stay (on
  // devices that are still there).
  void SetNode(NodeIndex n, const Node& node, const ExternalUsage& external);
  void ClearNode(NodeIndex n);
  // Replaces external usage; whether some of it is given up.
  bool SetExternalUsage(NodeIndex n, const ExternalUsage& before,
                        const ExternalUsage& after);

  // Charges (sign 1) or credits (sign -1).
  void Post(NodeIndex n, const Needs& needs, DeviceSet devices, uint32_t slot,
            Ledger ledger, int sign) {
    if (needs.form == DeviceForm::kWhole) {
      PostWhole(n, devices, ledger, sign);
    } else if (needs.form != DeviceForm::kNone) {
      PostPartitions(n, needs, devices, slot, ledger, sign);
    }
    for (size_t l = First(ledger); l <= Last(ledger); ++l) {
      charges_[n][l] += sign;
      int64_t* const row = Row(n, l);
      for (const Needs::Amount& need : needs.amounts) {
        row[need.kind] -= sign * need.amount;
      }
    }
  }
  bool Fits(NodeIndex n, const Needs& needs, DeviceSet devices, uint32_t slot,
            Ledger ledger) const;
  uint32_t Slots(NodeIndex n, const Needs& needs, Ledger ledger,
                 uint32_t limit) const;
  uint32_t SlotsBesideDevices(NodeIndex n, const Needs& needs, Ledger ledger,
                              uint32_t limit) const;
  // Whether one such task fits, and on which devices (and from which slice on).
  // Whole devices preferably on `rails` (bit r: rail r).
  bool Choose(NodeIndex n, const Needs& needs, Ledger ledger, uint64_t rails,
              DeviceSet* devices, uint32_t* slot) const;
  // The devices, where there is no choice but all that are free: else none.
  DeviceSet AllOf(NodeIndex n, const Needs& needs, Ledger ledger) const {
    if (needs.form != DeviceForm::kWhole || !needs.models.empty()) return {};
    const DeviceSet usable = Whole(n, ledger);
    return usable.size() == needs.count ? usable : DeviceSet{};
  }

  int64_t capacity(NodeIndex n, ResourceKind k) const {
    return capacity_[n * kinds_ + k];
  }
  int64_t free(NodeIndex n, ResourceKind k, Ledger ledger) const;
  uint32_t free_devices(NodeIndex n, Ledger ledger) const {
    return Whole(n, ledger).size();
  }
  // What the device has free; nothing if it is not healthy.
  DevicePart Offered(NodeIndex n, uint32_t device, Ledger ledger) const {
    return Healthy(n).Contains(device) ? MinFree(n, device, ledger)
                                       : DevicePart{};
  }
  uint32_t device_count(NodeIndex n) const { return nodes_[n].count; }
  int64_t device_memory(NodeIndex n, uint32_t device) const {
    return At(n, device).memory;
  }
  // Devices of the node that are of one of the needs' models, healthy or not.
  DeviceSet DevicesOfModels(NodeIndex n, const Needs& needs) const;
  // Charged less credited; for kBoth, the lesser of the two.
  uint32_t TaskCount(NodeIndex n, Ledger ledger) const {
    const std::array<int32_t, 2>& charges = charges_[n];
    return static_cast<uint32_t>(
        std::max(0, std::min(charges[First(ledger)], charges[Last(ledger)])));
  }
  bool Overcommitted(NodeIndex n, Ledger ledger) const;

  // What one task with these needs takes of this device.
  DevicePart ShareOn(NodeIndex n, uint32_t device, const Needs& needs) const;

  // Whether any device ever had a rail, and the rails of these devices.
  bool has_rails() const { return has_rails_; }
  uint64_t Rails(NodeIndex n, DeviceSet devices) const;

  // --- Partitions (ledgers_partitions.cc) ----------------------------------
  const PartitionTable& partition_table() const { return partition_table_; }
  // Devices that are split by the host or hold a partition.
  DeviceSet split(NodeIndex n, Ledger ledger) const {
    return Gather(n, [ledger](const DeviceBits& b) {
      return b.split[First(ledger)] | b.split[Last(ledger)];
    });
  }
  // Slices that partitions hold.
  SliceMask BusySlices(NodeIndex n, uint32_t device, Ledger ledger) const;
  // Devices that partitions hold twice, or together with other use.
  DeviceSet Clashes(NodeIndex n, Ledger ledger) const;
  // Calls f(device, slot) for each place that one such partition could take.
  template <class F>
  void ForEachPlace(NodeIndex n, const Needs& needs, Ledger ledger,
                    F&& f) const {
    for (const uint32_t d : Healthy(n) & DevicesOfModels(n, needs)) {
      const PartitionExtent* extent = ExtentOn(n, d, needs);
      if (extent == nullptr) continue;
      const SliceMask open = OpenSlices(n, d, *extent, ledger);
      ForEachBit(FreeStarts(*extent, open), [&](uint32_t slot) { f(d, slot); });
    }
  }
  // How many of them an idle node holds, its devices healthy or not.
  uint32_t PartitionCapacity(NodeIndex n, const Needs& needs) const;
  // What is charged, for hashes: tasks by slice.
  std::span<const int32_t> SliceTasks(NodeIndex n, uint32_t device,
                                      size_t ledger) const;

  // Of a device, healthy or not. For hashes.
  DevicePart RawFree(NodeIndex n, uint32_t device, size_t ledger) const {
    const DeviceBook& book = At(n, device);
    const DevicePart& rest = book.rest[ledger];
    if (!Has(Bits(n, device).taken[ledger], device)) return rest;
    return {rest.milli - kWholeDevice, rest.memory - book.memory};
  }

  // Compares everything derived with what it is derived from. Charges leave
  // no list behind to add up again, only their number: a node with none must
  // have all of its capacity free that external usage leaves; a node with some
  // must not have more.
  absl::Status Validate(NodeIndex n, const Node& node,
                        const ExternalUsage& external) const;

 private:
  // A task that holds a device whole is one bit in DeviceBits::taken: most
  // tasks do, and what they hold costs no walk over devices. A second one on
  // the same device (the host may overcommit) is counted as a share.
  struct DeviceBook {
    int64_t memory = 0;
    std::array<DevicePart, 2> rest{};  // Free, were it not taken whole.
    uint32_t model = 0;
    uint8_t island = 0;  // Of those the node's devices fall into.
    uint8_t numa = 0;    // Likewise.
    int8_t rail = -1;
  };
  // What is said of 64 devices of a node, bit by bit.
  struct DeviceBits {
    uint64_t healthy = 0;
    std::array<uint64_t, 2> unshared{};  // Devices of which no share is used.
    std::array<uint64_t, 2> taken{};     // Held whole by a task.
    // Split by the host, or holding a partition: neither whole nor in shares.
    std::array<uint64_t, 2> split{};

    // Healthy and wholly free.
    uint64_t whole(size_t ledger) const {
      return healthy & unshared[ledger] & ~(taken[ledger] | split[ledger]);
    }
    friend bool operator==(const DeviceBits&, const DeviceBits&) = default;
  };
  static constexpr uint32_t kBits = 64;
  // One cache line, since a gang touches many: with the first 64 devices. Few
  // nodes have more; what is said of the others is in beyond_.
  struct alignas(64) NodeBook : DeviceBits {
    uint32_t first = 0;  // Into devices_.
    uint8_t count = 0;
    uint8_t islands = 0;  // DeviceBook::island is less.
    uint8_t numa = 0;     // Likewise.
    bool one_model = true;
  };
  static_assert(sizeof(NodeBook) == 64);
  // The partitions of one device in one ledger.
  struct SliceBook {
    std::array<int32_t, PartitionScheme::kMaxSlices> tasks{};  // By slice.
    SliceMask busy = 0;  // Slices with tasks.
    int32_t count = 0;   // Partitions held.
    DevicePart taken{};  // By them, of DeviceBook::free.

    // Whether partitions lie on the same slices: a host put tasks there that
    // had no room, so that where they are is not known.
    bool Overlap() const {
      return count > 1 &&
             std::ranges::any_of(tasks, [](int32_t t) { return t > 1; });
    }
  };
  struct PartitionBook {
    uint32_t layout = PartitionTable::kNoLayout;
    std::array<SliceBook, 2> books{};
  };

  static bool Has(uint64_t bits, uint32_t device) {
    return (bits >> device % kBits & 1) != 0;
  }
  static bool Has(Ledger ledger, size_t l) {
    return (static_cast<unsigned>(ledger) >> l & 1) != 0;
  }
  // For minima over the ledgers asked for: one of them, and the other one (or
  // the same again).
  static size_t First(Ledger ledger) {
    return Has(ledger, kNow) ? kNow : kLater;
  }
  static size_t Last(Ledger ledger) {
    return Has(ledger, kLater) ? kLater : kNow;
  }
  static DevicePart Whole(const DeviceBook& book) {
    return {kWholeDevice, book.memory};
  }
  DevicePart MinFree(NodeIndex n, uint32_t device, Ledger ledger) const {
    const DevicePart a = RawFree(n, device, First(ledger));
    const DevicePart b = RawFree(n, device, Last(ledger));
    return {std::min(a.milli, b.milli), std::min(a.memory, b.memory)};
  }
  // How many shares fit into what is free, at most `limit`.
  static uint32_t Quotient(DevicePart free, DevicePart share, uint32_t limit);

  DeviceBook& At(NodeIndex n, uint32_t device) {
    return devices_[nodes_[n].first + device];
  }
  const DeviceBook& At(NodeIndex n, uint32_t device) const {
    return devices_[nodes_[n].first + device];
  }
  DeviceBits& Bits(NodeIndex n, uint32_t device) {
    return device < kBits ? nodes_[n] : beyond_[n];
  }
  const DeviceBits& Bits(NodeIndex n, uint32_t device) const {
    return device < kBits ? nodes_[n] : beyond_[n];
  }
  // A set of the node's devices: `of` reads (or names) a word of DeviceBits.
  template <class F>
  DeviceSet Gather(NodeIndex n, F&& of) const {
    const NodeBook& book = nodes_[n];
    return DeviceSet::OfWords(of(book),
                              book.count > kBits ? of(beyond_[n]) : 0);
  }
  template <class F>
  void Scatter(NodeIndex n, DeviceSet devices, F&& of) {
    of(nodes_[n]) = devices.word(0);
    if (nodes_[n].count > kBits) of(beyond_[n]) = devices.word(1);
  }
  DeviceSet Healthy(NodeIndex n) const {
    return Gather(n, [](const DeviceBits& b) { return b.healthy; });
  }
  // Healthy and wholly free, in (both of) the ledger(s).
  DeviceSet Whole(NodeIndex n, Ledger ledger) const {
    return Gather(n, [ledger](const DeviceBits& b) {
      return b.whole(First(ledger)) & b.whole(Last(ledger));
    });
  }
  DeviceSet UsableWhole(NodeIndex n, const Needs& needs, Ledger ledger) const {
    const DeviceSet whole = Whole(n, ledger);
    return needs.models.empty() ? whole : whole & DevicesOfModels(n, needs);
  }
  DeviceSet All(NodeIndex n) const {
    return DeviceSet::FirstOf(nodes_[n].count);
  }
  bool CountsDevices() const { return device_kind_ < kinds_; }
  // What the node has free, by kind.
  int64_t* Row(NodeIndex n, size_t ledger) {
    return free_.data() + (2 * size_t{n} + ledger) * kinds_;
  }
  const int64_t* Row(NodeIndex n, size_t ledger) const {
    return free_.data() + (2 * size_t{n} + ledger) * kinds_;
  }

  void Resize(NodeIndex n, uint32_t device_count);
  void SetDevices(NodeIndex n, const std::vector<Device>& devices);
  // Takes external usage from the free amounts (sign 1) or gives it back.
  void PostExternalUsage(NodeIndex n, const ExternalUsage& external, int sign);
  DevicePart ExternalShare(NodeIndex n, const DeviceShare& share) const;
  // Whole devices, all at once; fractions and partitions one by one.
  void PostWhole(NodeIndex n, DeviceSet devices, Ledger ledger, int sign);
  // The 64 devices from `first` on; those beyond the first 64, out of the way.
  void PostWord(NodeIndex n, uint32_t first, uint64_t devices, Ledger ledger,
                int sign);
  void PostBeyond(NodeIndex n, uint64_t devices, Ledger ledger, int sign);
  void PostPartitions(NodeIndex n, const Needs& needs, DeviceSet devices,
                      uint32_t slot, Ledger ledger, int sign);
  // A share of a device, and what it is to the sum over devices, too.
  void PostShare(NodeIndex n, uint32_t device, DevicePart share, size_t ledger,
                 int sign);
  void PostDevice(NodeIndex n, uint32_t device, DevicePart share, size_t ledger,
                  int sign);
  // Rebuilds what is summed up over devices.
  void SumDevices(NodeIndex n);
  // `count` whole devices, of more than that.
  DeviceSet ChooseOf(NodeIndex n, DeviceSet usable, uint32_t count,
                     uint64_t rails) const;
  // Enough for all devices of a node, and never on the heap.
  template <class T>
  using ByDevice = absl::InlinedVector<T, DeviceSet::kCapacity>;
  // Of a healthy device that is not split; slots 0: it cannot take any.
  SharedDevice SharedOn(NodeIndex n, uint32_t device, const Needs& needs,
                        Ledger ledger, uint32_t limit) const;
  void SharedDevices(NodeIndex n, const Needs& needs, Ledger ledger,
                     uint32_t limit, ByDevice<SharedDevice>* out) const;
  uint32_t SharedSlots(NodeIndex n, const Needs& needs, Ledger ledger,
                       uint32_t limit) const;
  absl::Status ValidateDevices(NodeIndex n, const Node& node) const;

  // Null where the device has no scheme.
  const PartitionBook* PartitionsOn(NodeIndex n, uint32_t device) const {
    if (n >= partitions_.size() || device >= partitions_[n].size() ||
        partitions_[n][device].layout == PartitionTable::kNoLayout) {
      return nullptr;
    }
    return &partitions_[n][device];
  }
  // Null where the device has no such partitions.
  const PartitionExtent* ExtentOn(NodeIndex n, uint32_t device,
                                  ProfileNumber p) const;
  const PartitionExtent* ExtentOn(NodeIndex n, uint32_t device,
                                  const Needs& needs) const;
  void SetPartitions(NodeIndex n, const std::vector<Device>& devices);
  void PostPartition(NodeIndex n, uint32_t device, ProfileNumber profile,
                     uint32_t slot, size_t ledger, int sign);
  // What is used of a device with a scheme, its slices aside.
  DevicePart OtherUse(NodeIndex n, uint32_t device, size_t ledger) const;
  // The free slices if the device is open for such partitions, else 0.
  SliceMask OpenSlices(NodeIndex n, uint32_t device,
                       const PartitionExtent& extent, Ledger ledger) const;
  uint32_t PartitionSlotsOn(NodeIndex n, uint32_t device, const Needs& needs,
                            Ledger ledger) const;
  uint32_t PartitionSlots(NodeIndex n, const Needs& needs, Ledger ledger,
                          uint32_t limit) const;
  bool ChoosePartition(NodeIndex n, const Needs& needs, Ledger ledger,
                       DeviceSet* devices, uint32_t* slot) const;
  bool FitsPartition(NodeIndex n, const Needs& needs, DeviceSet devices,
                     uint32_t slot, Ledger ledger) const;
  absl::Status ValidatePartitions(NodeIndex n, const Node& node,
                                  const Ledgers& fresh) const;

  uint32_t kinds_;
  ResourceKind device_kind_;
  ResourceKind node_kind_;
  std::vector<int64_t> capacity_{};  // [node * kinds + kind]
  std::vector<int64_t> free_{};      // [node][ledger][kind]
  std::vector<NodeBook> nodes_{};
  // [node]: devices from 64 on; up to the last node that ever had such.
  std::vector<DeviceBits> beyond_{};
  std::vector<std::array<int32_t, 2>> charges_{};  // Charged less credited.
  std::vector<DeviceBook> devices_{};
  // Stretches of devices_ that no node uses, by their length.
  std::array<std::vector<uint32_t>, DeviceSet::kCapacity + 1> unused_{};
  StringMap<uint32_t> models_{};
  bool has_rails_ = false;
  PartitionTable partition_table_;
  // [node][device]; empty where no device of the node has a scheme.
  std::vector<std::vector<PartitionBook>> partitions_{};
};

[[gnu::always_inline]] inline void Ledgers::PostWhole(NodeIndex n,
                                                      DeviceSet devices,
                                                      Ledger ledger, int sign) {
  devices &= All(n);
  PostWord(n, 0, devices.word(0), ledger, sign);
  if (nodes_[n].count > kBits) PostBeyond(n, devices.word(1), ledger, sign);
}

[[gnu::always_inline]] inline void Ledgers::PostWord(NodeIndex n,
                                                     uint32_t first,
                                                     uint64_t devices,
                                                     Ledger ledger, int sign) {
  DeviceBits& bits = Bits(n, first);
  const int64_t milli = int64_t{sign} * kWholeDevice *
                        DeviceSet::OfWords(devices & bits.healthy).size();
  for (size_t l = First(ledger); l <= Last(ledger); ++l) {
    if (CountsDevices()) Row(n, l)[device_kind_] -= milli;
    const uint64_t taken = bits.taken[l];
    bits.taken[l] = sign > 0 ? taken | devices : taken & ~devices;
    ForEachBit(sign > 0 ? devices & taken : devices & ~taken, [&](uint32_t d) {
      PostShare(n, first + d, Whole(At(n, first + d)), l, sign);
    });
  }
}

}  // namespace muster
