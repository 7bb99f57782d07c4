// The cluster as plainly as it can be said: maps, lists, and sums made anew at
// every question. The judge in property tests.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/cluster/cluster.h"
#include "muster/gang.h"
#include "muster/node.h"

namespace muster {

// A task in one ledger: its role stands for its shape.
struct NaiveCharge {
  size_t role = 0;  // Position in NaiveCluster::roles.
  DeviceSet devices{};
  uint32_t first_slice = 0;

  friend bool operator==(const NaiveCharge&, const NaiveCharge&) = default;
};

struct NaiveNode {
  Node node{};
  ExternalUsage external{};
  bool available = true;
  std::vector<NaiveCharge> charges[2]{};  // Now, later.
};

struct NaiveCluster {
  uint32_t kinds = 0;
  ResourceKind device_kind = 0;
  std::vector<PartitionScheme> schemes{};
  std::vector<Role> roles{};  // Their first shapes are used.
  std::map<std::string, NaiveNode> nodes{};
  std::map<std::string, std::set<std::string>> sets{};

  DeviceShare ShareOf(size_t role, const Device& device) const;
  // Raw free shares of a device, healthy or not.
  DeviceShare FreeShare(const NaiveNode& n, uint32_t device, int ledger) const;
  int64_t Free(const NaiveNode& n, ResourceKind kind, int ledger) const;
  bool Admits(const NaiveNode& n, size_t role) const;
  bool Fits(const NaiveNode& n, const NaiveCharge& charge, int ledger) const;
  // `ledgers`: bit 0 now, bit 1 later.
  uint32_t Slots(const NaiveNode& n, size_t role, unsigned ledgers,
                 uint32_t limit) const;
  bool Overcommitted(const NaiveNode& n, int ledger) const;
  Resources TotalCapacity() const;
  int64_t DemandedMilli(size_t role) const;

 private:
  // A partition on a device, as slices [start, start + slices).
  struct Held {
    uint32_t start = 0;
    uint32_t slices = 0;
    DeviceShare share{};
  };

  const PartitionScheme* SchemeOf(const Device& device) const;
  const PartitionProfile* ProfileOn(const Device& device,
                                    const std::string& name) const;
  DeviceShare PieceOf(const Device& device, const std::string& name) const;
  std::vector<Held> HeldOn(const NaiveNode& n, uint32_t d, int ledger) const;
  bool Split(const NaiveNode& n, uint32_t d, int ledger) const;
  // Whether shares are used of the device beside partitions.
  bool Shared(const NaiveNode& n, uint32_t d, int ledger) const;
  // Whether partitions lie on the same slices.
  bool Overlap(const NaiveNode& n, uint32_t d, int ledger) const;
  bool MayStart(const NaiveNode& n, uint32_t d, const std::string& profile,
                uint32_t start, int ledger) const;
  uint32_t Pieces(const NaiveNode& n, uint32_t d, const std::string& profile,
                  unsigned ledgers) const;
  // How many more of the role's shares fit on the device in all the ledgers.
  uint32_t DeviceSlots(const NaiveNode& n, size_t role, uint32_t device,
                       unsigned ledgers, uint32_t limit) const;
};

}  // namespace muster
