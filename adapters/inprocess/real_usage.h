// What really runs where on the host's nodes, apart from what the scheduler has
// recorded: chooses devices where the host does, says how much is used and how
// fragmented the rest is, and finds a scheduler that overcommits a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "muster/device_set.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/resources.h"

namespace muster::inprocess {

// Sums over the nodes that work, kept up to date at every change.
struct UsageTotals {
  std::vector<int64_t> capacity{};  // By kind; devices in thousandths.
  std::vector<int64_t> used{};
  int64_t free_milli = 0;          // Thousandths of devices that are not used.
  int64_t partly_free_milli = 0;   // Of these, on devices in partial use.
  int64_t whole_free = 0;          // Devices that no task uses.
  int64_t whole_on_free_node = 0;  // Of these, on nodes with all devices free.
};

class RealUsage {
 public:
  static constexpr uint32_t kNoNode = 0xffffffff;

  // `device_kind` = kinds: no resource is counted by devices.
  RealUsage(uint32_t kinds, ResourceKind device_kind,
            std::vector<PartitionScheme> schemes = {});

  // A new node, or new values for a known one; returns its index, which stays.
  uint32_t Upsert(const Node& node);
  // kNoNode: none has this key.
  uint32_t Find(std::string_view key) const;
  void SetUp(uint32_t node, bool up);
  void SetExternalUsage(uint32_t node, const ExternalUsage& usage);
  uint32_t node_count() const { return static_cast<uint32_t>(nodes_.size()); }
  const std::string& key(uint32_t node) const { return nodes_[node].node.key; }
  const Node& node(uint32_t node) const { return nodes_[node].node; }
  const ExternalUsage& external(uint32_t node) const {
    return nodes_[node].external;
  }
  bool up(uint32_t node) const { return nodes_[node].up; }

  // Where on a node: devices, and a partition's first slice.
  struct Place {
    DeviceSet devices{};
    uint32_t first_slice = 0;
  };
  // Devices for one such task: the fullest that still fit, lowest number first,
  // those in `avoid` last; a partition from the first slice that will do.
  // nullopt: none.
  std::optional<Place> Pick(uint32_t node, const DeviceRequest& request,
                            DeviceSet avoid) const;
  // A task with this shape holds (no longer holds) its share of the node.
  // Charge says whether the node and its devices had room for it; it is
  // charged all the same.
  bool Charge(uint32_t node, const TaskShape& shape, Place place);
  void Credit(uint32_t node, const TaskShape& shape, Place place);
  // A suspended task keeps (sign 1), or gives back, so much of the node; Keep
  // says whether there was room.
  bool Keep(uint32_t node, const Resources& amounts, int sign);
  // What is used of one of a node's devices, in thousandths.
  int64_t DeviceMilli(uint32_t node, size_t device) const {
    return nodes_[node].devices[device].milli;
  }
  // The external usage of the node's devices, in thousandths.
  int64_t ExternalMilli(uint32_t node) const;

  const UsageTotals& totals() const { return totals_; }
  // The first node on which a task still holds something; empty: none.
  std::string FirstInUse() const;

 private:
  struct DeviceUse {
    int64_t milli = 0;
    int64_t memory = 0;
    uint32_t slices = 0;  // That partitions hold.
  };
  struct Entry {
    Node node{};
    ExternalUsage external{};
    bool up = true;
    uint64_t tasks = 0;
    uint64_t whole = 0;  // Of them, those that have the node for themselves.
    std::vector<int64_t> used{};  // By kind, without the device kind.
    std::vector<DeviceUse> devices{};
  };

  // Null where the device cannot have it.
  const PartitionProfile* ProfileOn(const Device& device,
                                    const std::string& profile) const;
  DeviceUse ShareOf(const Device& device, const DeviceRequest& request,
                    uint32_t first_slice) const;
  DeviceUse ShareOf(const Device& device, const DeviceShare& share) const;
  static void Use(DeviceUse& of, const DeviceUse& share, int sign);
  void Use(Entry& e, const TaskShape& shape, Place place, int sign);
  bool HasRoom(const Entry& e, size_t device, const DeviceRequest& request,
               uint32_t first_slice) const;
  bool HasRoom(const Entry& e, const TaskShape& shape, Place place) const;
  // The first slice of the first free place for the partition; nullopt: none.
  std::optional<uint32_t> FirstSliceOn(const Entry& e, size_t device,
                                       const DeviceRequest& request) const;
  // Adds (sign 1) or takes out (-1) a node's part of totals_.
  void Sum(const Entry& e, int sign);

  uint32_t kinds_;
  ResourceKind device_kind_;
  std::vector<PartitionScheme> schemes_;
  std::vector<Entry> nodes_;
  std::unordered_map<std::string, uint32_t> index_;
  UsageTotals totals_;
};

}  // namespace muster::inprocess
