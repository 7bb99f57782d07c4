// The part of Ledgers that keeps partitions on their slices.

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "lib/cluster/ledgers.h"

namespace muster {

const PartitionExtent* Ledgers::ExtentOn(NodeIndex n, uint32_t device,
                                         ProfileNumber profile) const {
  const PartitionBook* book = PartitionsOn(n, device);
  if (book == nullptr || profile == kNoProfile) return nullptr;
  const PartitionExtent& extent =
      partition_table_[book->layout].extents[profile];
  return extent.slices == 0 ? nullptr : &extent;
}

// Null where such a task may not have it, too.
const PartitionExtent* Ledgers::ExtentOn(NodeIndex n, uint32_t device,
                                         const Needs& needs) const {
  const PartitionExtent* extent = ExtentOn(n, device, needs.partition);
  return extent != nullptr && extent->milli <= needs.most_milli ? extent
                                                                : nullptr;
}

DevicePart Ledgers::ShareOn(NodeIndex n, uint32_t device,
                            const Needs& needs) const {
  const DeviceBook& book = At(n, device);
  if (needs.form != DeviceForm::kPartition) return ShareOf(needs, book.memory);
  const PartitionExtent* extent = ExtentOn(n, device, needs.partition);
  if (extent == nullptr) return Whole(book);  // Only a host puts it there.
  const int64_t all = partition_table_[partitions_[n][device].layout].slices;
  return {extent->milli, book.memory * extent->slices / all};
}

SliceMask Ledgers::BusySlices(NodeIndex n, uint32_t device,
                              Ledger ledger) const {
  const PartitionBook* book = PartitionsOn(n, device);
  if (book == nullptr) return 0;
  return book->books[First(ledger)].busy | book->books[Last(ledger)].busy;
}

std::span<const int32_t> Ledgers::SliceTasks(NodeIndex n, uint32_t device,
                                             size_t ledger) const {
  const PartitionBook* book = PartitionsOn(n, device);
  if (book == nullptr) return {};
  return std::span(book->books[ledger].tasks)
      .first(partition_table_[book->layout].slices);
}

// What is charged stays, on devices that are still there and have slices.
void Ledgers::SetPartitions(NodeIndex n, const std::vector<Device>& devices) {
  const bool any = std::ranges::any_of(
      devices, [](const Device& d) { return !d.partition_scheme.empty(); });
  if (n >= partitions_.size()) {
    if (!any) return;
    partitions_.resize(n + 1);
  }
  std::array<DeviceSet, 2> split;
  std::vector<PartitionBook>& books = partitions_[n];
  books.resize(any ? devices.size() : 0);
  for (uint32_t d = 0; d < books.size(); ++d) {
    books[d].layout = partition_table_.Intern(devices[d]);
    if (books[d].layout == PartitionTable::kNoLayout) {
      books[d].books = {};
      continue;
    }
    const bool fixed = partition_table_[books[d].layout].fixed;
    for (const size_t l : {kNow, kLater}) {
      if (fixed || books[d].books[l].count > 0) split[l].Insert(d);
    }
  }
  for (const size_t l : {kNow, kLater}) {
    Scatter(n, split[l], [l](DeviceBits& b) -> auto& { return b.split[l]; });
  }
}

void Ledgers::PostPartition(NodeIndex n, uint32_t device, ProfileNumber profile,
                            uint32_t slot, size_t ledger, int sign) {
  const DevicePart share = ShareOn(
      n, device, {.form = DeviceForm::kPartition, .partition = profile});
  if (const PartitionExtent* extent = ExtentOn(n, device, profile)) {
    PartitionBook& partitions = partitions_[n][device];
    SliceBook& book = partitions.books[ledger];
    const PartitionTable::PartitionLayout& layout =
        partition_table_[partitions.layout];
    const SliceMask slices =
        slot < layout.slices ? extent->At(slot) & layout.all() : 0;
    ForEachBit(slices, [&](uint32_t s) {
      book.tasks[s] += sign;
      const SliceMask bit = SliceMask{1} << s;
      book.busy = book.tasks[s] > 0 ? book.busy | bit : book.busy & ~bit;
    });
    book.count += sign;
    book.taken.milli += sign * share.milli;
    book.taken.memory += sign * share.memory;
    uint64_t& split = Bits(n, device).split[ledger];
    const uint64_t bit = uint64_t{1} << device % kBits;
    split = layout.fixed || book.count > 0 ? split | bit : split & ~bit;
  }
  PostDevice(n, device, share, ledger, sign);
}

inline DevicePart Ledgers::OtherUse(NodeIndex n, uint32_t device,
                                    size_t ledger) const {
  const DevicePart free = RawFree(n, device, ledger);
  const DevicePart& slices = partitions_[n][device].books[ledger].taken;
  return {kWholeDevice - free.milli - slices.milli,
          At(n, device).memory - free.memory - slices.memory};
}

SliceMask Ledgers::OpenSlices(NodeIndex n, uint32_t device,
                              const PartitionExtent& extent,
                              Ledger ledger) const {
  const PartitionBook& partitions = partitions_[n][device];
  SliceMask open = partition_table_[partitions.layout].all();
  for (const size_t l : {First(ledger), Last(ledger)}) {
    if (!(OtherUse(n, device, l) == DevicePart{}) ||
        RawFree(n, device, l).milli < extent.milli ||
        partitions.books[l].Overlap()) {
      return 0;
    }
    open &= ~partitions.books[l].busy;
  }
  return open;
}

uint32_t Ledgers::PartitionSlotsOn(NodeIndex n, uint32_t device,
                                   const Needs& needs, Ledger ledger) const {
  const PartitionExtent* extent = ExtentOn(n, device, needs);
  if (extent == nullptr) return 0;
  const SliceMask open = OpenSlices(n, device, *extent, ledger);
  if (open == 0) return 0;
  return MostPartitions(*extent, open, MinFree(n, device, ledger).milli);
}

uint32_t Ledgers::PartitionSlots(NodeIndex n, const Needs& needs, Ledger ledger,
                                 uint32_t limit) const {
  if (n >= partitions_.size() || partitions_[n].empty()) return 0;
  uint32_t slots = 0;
  for (const uint32_t d : Healthy(n) & DevicesOfModels(n, needs)) {
    if (slots >= limit) break;
    slots += PartitionSlotsOn(n, d, needs, ledger);
  }
  return std::min(slots, limit);
}

// Never where it would cost a second partition of its own kind; then where the
// least of other placements is lost, then on the device with the fewest free
// slices, then the lowest device and slice.
bool Ledgers::ChoosePartition(NodeIndex n, const Needs& needs, Ledger ledger,
                              DeviceSet* devices, uint32_t* slot) const {
  std::optional<std::pair<uint64_t, int>> best;
  ForEachPlace(n, needs, ledger, [&](uint32_t d, uint32_t start) {
    const PartitionExtent& extent = *ExtentOn(n, d, needs.partition);
    const PartitionTable::PartitionLayout& layout =
        partition_table_[partitions_[n][d].layout];
    const SliceMask open = OpenSlices(n, d, extent, ledger);
    const SliceMask left = open & ~extent.At(start);
    const int32_t free = MinFree(n, d, ledger).milli;
    const int32_t free_left = free - extent.milli;
    if (MostPartitions(extent, left, free_left) + 1 <
        MostPartitions(extent, open, free)) {
      return;
    }
    const uint64_t lost = PartitionTable::OpenPlaces(layout, open, free) -
                          PartitionTable::OpenPlaces(layout, left, free_left);
    const std::pair key(lost, std::popcount(open));
    if (best && *best <= key) return;
    best = key;
    *devices = {d};
    *slot = start;
  });
  return best.has_value();
}

bool Ledgers::FitsPartition(NodeIndex n, const Needs& needs, DeviceSet devices,
                            uint32_t slot, Ledger ledger) const {
  if (devices.size() != 1 || slot >= PartitionScheme::kMaxSlices) return false;
  const uint32_t d = devices.first();
  const PartitionExtent* extent = ExtentOn(n, d, needs);
  return extent != nullptr &&
         (FreeStarts(*extent, OpenSlices(n, d, *extent, ledger)) >> slot & 1) !=
             0;
}

DeviceSet Ledgers::Clashes(NodeIndex n, Ledger ledger) const {
  DeviceSet clashes;
  if (n >= partitions_.size()) return clashes;
  for (uint32_t d = 0; d < partitions_[n].size(); ++d) {
    for (const size_t l : {First(ledger), Last(ledger)}) {
      const SliceBook& book = partitions_[n][d].books[l];
      if (book.count <= 0) continue;
      if (!(OtherUse(n, d, l) == DevicePart{}) || book.Overlap()) {
        clashes.Insert(d);
      }
    }
  }
  return clashes;
}

uint32_t Ledgers::PartitionCapacity(NodeIndex n, const Needs& needs) const {
  uint32_t count = 0;
  for (const uint32_t d : DevicesOfModels(n, needs)) {
    const PartitionExtent* extent = ExtentOn(n, d, needs.partition);
    if (extent == nullptr) continue;
    const SliceMask all = partition_table_[partitions_[n][d].layout].all();
    count += MostPartitions(*extent, all, kWholeDevice);
  }
  return count;
}

absl::Status Ledgers::ValidatePartitions(NodeIndex n, const Node& node,
                                         const Ledgers& fresh) const {
  for (uint32_t d = 0; d < node.devices.size(); ++d) {
    const PartitionBook* book = PartitionsOn(n, d);
    const PartitionBook* least = fresh.PartitionsOn(0, d);
    bool fine = (book == nullptr) == (least == nullptr);
    for (const size_t l : {kNow, kLater}) {
      if (book == nullptr || !fine) break;
      const SliceBook& have = book->books[l];
      const SliceBook& others = least->books[l];
      fine = partition_table_[book->layout].partitions ==
                 node.devices[d].partitions &&
             have.count >= others.count &&
             (charges_[n][l] > 0 || have.count == others.count);
      for (size_t s = 0; s < have.tasks.size(); ++s) {
        fine = fine && (have.busy >> s & 1) == (have.tasks[s] > 0 ? 1u : 0u) &&
               have.tasks[s] >= others.tasks[s];
      }
    }
    if (!fine) {
      return absl::InternalError(absl::StrFormat(
          "%s: the partitions of device %u are off", node.key, d));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
