#include "lib/topology/ledgers.h"

#include <algorithm>
#include <limits>
#include <span>

namespace muster {

Share Ledgers::MinFree(NodeIndex n, uint32_t device, Ledger ledger) const {
  const Share a = RawFree(n, device, First(ledger));
  const Share b = RawFree(n, device, Last(ledger));
  return {std::min(a.milli, b.milli), std::min(a.memory, b.memory)};
}

uint32_t Ledgers::Quotient(Share free, Share share, uint32_t limit) {
  // A device that is overcommitted in one measure takes nothing more, even
  // what rounds to nothing there.
  if (free.milli < share.milli || free.memory < share.memory) return 0;
  int64_t slots = limit;
  if (share.milli > 0) {
    slots = std::min<int64_t>(slots, free.milli / share.milli);
  }
  if (share.memory > 0) {
    // Fractions alone never run out of memory: the division is rare.
    if (share.memory > std::numeric_limits<int32_t>::max() ||
        share.memory * slots > free.memory) {
      slots = std::min(slots, free.memory / share.memory);
    }
  }
  return static_cast<uint32_t>(slots);
}

uint64_t Ledgers::DevicesOfModels(NodeIndex n, const Needs& needs) const {
  const NodeBook& book = nodes_[n];
  const uint64_t all = Mask(book.count);
  if (needs.models.empty()) return all;
  const auto wanted = [&](uint32_t device) {
    return std::binary_search(needs.models.begin(), needs.models.end(),
                              At(n, device).model);
  };
  if (book.one_model) return all != 0 && wanted(0) ? all : 0;
  uint64_t mask = 0;
  for (uint32_t d = 0; d < book.count; ++d) {
    if (wanted(d)) mask |= uint64_t{1} << d;
  }
  return mask;
}

uint32_t Ledgers::SlotsBesideDevices(NodeIndex n, const Needs& needs,
                                     Ledger ledger, uint32_t limit) const {
  const int64_t* a = Row(n, First(ledger));
  const int64_t* b = Row(n, Last(ledger));
  uint32_t slots = limit;
  for (const Needs::Amount& need : needs.amounts) {
    const int64_t free = std::min(a[need.kind], b[need.kind]);
    if (free < need.amount) return 0;
    // Multiplying is cheaper than dividing.
    if (static_cast<__int128>(need.amount) * slots > free) {
      slots = static_cast<uint32_t>(free / need.amount);
    }
  }
  return slots;
}

uint32_t Ledgers::Slots(NodeIndex n, const Needs& needs, Ledger ledger,
                        uint32_t limit) const {
  const uint32_t slots = SlotsBesideDevices(n, needs, ledger, limit);
  if (needs.form == DeviceForm::kNone || slots == 0) return slots;
  if (needs.form != DeviceForm::kWhole) {
    return needs.form == DeviceForm::kPartition
               ? PartitionSlots(n, needs, ledger, slots)
               : SharedSlots(n, needs, ledger, slots);
  }
  const NodeBook& book = nodes_[n];
  uint64_t usable = book.whole(First(ledger)) & book.whole(Last(ledger));
  if (usable == 0) return 0;
  if (!needs.models.empty()) usable &= DevicesOfModels(n, needs);
  const uint32_t devices = CountBits(usable);
  return std::min(slots, needs.count == 1 ? devices : devices / needs.count);
}

uint32_t Ledgers::SharedSlots(NodeIndex n, const Needs& needs, Ledger ledger,
                              uint32_t limit) const {
  if (needs.count > 1) {
    std::array<SharedDevice, 64> devices;
    const uint32_t count = SharedDevices(n, needs, ledger, limit, &devices);
    return MaxTasks({devices.data(), count}, needs.count, limit);
  }
  uint64_t slots = 0;
  for (uint64_t mask =
           nodes_[n].healthy & ~split(n, ledger) & DevicesOfModels(n, needs);
       mask != 0 && slots < limit; mask &= mask - 1) {
    const auto d = static_cast<uint32_t>(std::countr_zero(mask));
    const int64_t memory = At(n, d).memory;
    if (needs.form == DeviceForm::kMemory && memory <= 0) continue;
    slots += Quotient(MinFree(n, d, ledger), ShareOf(needs, memory), limit);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(slots, limit));
}

uint32_t Ledgers::SharedDevices(NodeIndex n, const Needs& needs, Ledger ledger,
                                uint32_t limit,
                                std::array<SharedDevice, 64>* out) const {
  uint32_t count = 0;
  const uint64_t offered = nodes_[n].healthy & ~split(n, ledger);
  ForEachBit(offered & DevicesOfModels(n, needs), [&](uint32_t d) {
    const DeviceBook& book = At(n, d);
    if (needs.form == DeviceForm::kMemory && book.memory <= 0) return;
    const Share free = MinFree(n, d, ledger);
    const uint32_t slots = Quotient(free, ShareOf(needs, book.memory), limit);
    if (slots > 0) (*out)[count++] = {d, slots, free.milli, free.memory};
  });
  return count;
}

uint64_t Ledgers::ChooseOf(NodeIndex n, uint64_t usable, uint32_t count,
                           uint64_t rails) const {
  std::array<uint64_t, 64> islands;
  std::array<uint64_t, 64> numa;
  uint64_t island_count = 0;
  uint64_t numa_count = 0;
  uint64_t aligned = 0;
  for (uint32_t d = 0; d < nodes_[n].count; ++d) {
    const DeviceBook& book = At(n, d);
    const uint64_t bit = uint64_t{1} << d;
    if (book.island == island_count) islands[island_count++] = 0;
    if (book.numa == numa_count) numa[numa_count++] = 0;
    islands[book.island] |= bit;
    numa[book.numa] |= bit;
    if (book.rail >= 0 && (rails >> book.rail & 1) != 0) aligned |= bit;
  }
  return ChooseWhole(
      usable,
      {{islands.data(), island_count}, {numa.data(), numa_count}, aligned},
      count);
}

uint64_t Ledgers::Rails(NodeIndex n, uint64_t devices) const {
  uint64_t rails = 0;
  ForEachBit(devices & Mask(nodes_[n].count), [&](uint32_t d) {
    const int8_t rail = At(n, d).rail;
    if (rail >= 0) rails |= uint64_t{1} << rail;
  });
  return rails;
}

bool Ledgers::Choose(NodeIndex n, const Needs& needs, Ledger ledger,
                     uint64_t rails, uint64_t* devices, uint32_t* slot) const {
  *devices = 0;
  *slot = 0;
  if (Slots(n, needs, ledger, 1) == 0) return false;
  if (needs.form == DeviceForm::kNone) return true;
  if (needs.form == DeviceForm::kPartition) {
    return ChoosePartition(n, needs, ledger, devices, slot);
  }
  if (needs.form == DeviceForm::kWhole) {
    const NodeBook& book = nodes_[n];
    const uint64_t usable = book.whole(First(ledger)) &
                            book.whole(Last(ledger)) &
                            DevicesOfModels(n, needs);
    *devices = usable;
    if (CountBits(usable) == needs.count) return true;  // No choice.
    *devices = ChooseOf(n, usable, needs.count, rails);
  } else {
    std::array<SharedDevice, 64> shared;
    const uint32_t count = SharedDevices(
        n, needs, ledger, std::numeric_limits<uint32_t>::max(), &shared);
    *devices = ChooseShared({shared.data(), count}, needs.count);
  }
  return *devices != 0;
}

bool Ledgers::Fits(NodeIndex n, const Needs& needs, uint64_t devices,
                   uint32_t slot, Ledger ledger) const {
  for (const Needs::Amount& need : needs.amounts) {
    if (free(n, need.kind, ledger) < need.amount) return false;
  }
  if (needs.form == DeviceForm::kNone) return true;
  if ((devices & ~nodes_[n].healthy) != 0) return false;
  if (needs.form == DeviceForm::kPartition) {
    return FitsPartition(n, needs, devices, slot, ledger);
  }
  if ((devices & split(n, ledger)) != 0) return false;
  bool fits = true;
  ForEachBit(devices, [&](uint32_t d) {
    const DeviceBook& book = At(n, d);
    fits &= needs.form != DeviceForm::kMemory || book.memory > 0;
    fits &= Quotient(MinFree(n, d, ledger), ShareOf(needs, book.memory), 1) > 0;
  });
  return fits;
}

void Ledgers::PostPieces(NodeIndex n, const Needs& needs, uint64_t devices,
                         uint32_t slot, Ledger ledger, int sign) {
  devices &= Mask(nodes_[n].count);
  for (size_t l = First(ledger); l <= Last(ledger); ++l) {
    ForEachBit(devices, [&](uint32_t d) {
      if (needs.form == DeviceForm::kPartition) {
        PostPartition(n, d, needs.partition, slot, l, sign);
        return;
      }
      PostDevice(n, d, ShareOf(needs, At(n, d).memory), l, sign);
    });
  }
}

void Ledgers::PostShare(NodeIndex n, uint32_t device, Share share,
                        size_t ledger, int sign) {
  NodeBook& node = nodes_[n];
  DeviceBook& book = At(n, device);
  Share& rest = book.rest[ledger];
  // Modulo 2^n, so that it can be taken back whatever a host books: only 2^20
  // tasks and more on one device, which nothing places there, go beyond.
  rest.milli = static_cast<int32_t>(static_cast<uint32_t>(rest.milli) -
                                    static_cast<uint32_t>(sign * share.milli));
  rest.memory =
      static_cast<int64_t>(static_cast<uint64_t>(rest.memory) -
                           static_cast<uint64_t>(sign * share.memory));
  const uint64_t bit = uint64_t{1} << device;
  uint64_t& unshared = node.unshared[ledger];
  unshared = rest == Whole(book) ? unshared | bit : unshared & ~bit;
}

void Ledgers::PostDevice(NodeIndex n, uint32_t device, Share share,
                         size_t ledger, int sign) {
  PostShare(n, device, share, ledger, sign);
  if (CountsDevices() && (nodes_[n].healthy >> device & 1) != 0) {
    Row(n, ledger)[device_kind_] -= sign * share.milli;
  }
}

int64_t Ledgers::free(NodeIndex n, ResourceKind k, Ledger ledger) const {
  return std::min(Row(n, First(ledger))[k], Row(n, Last(ledger))[k]);
}

int32_t Ledgers::free_milli(NodeIndex n, uint32_t device, Ledger ledger) const {
  if (device >= 64 || (nodes_[n].healthy >> device & 1) == 0) return 0;
  return MinFree(n, device, ledger).milli;
}

int64_t Ledgers::free_memory(NodeIndex n, uint32_t device,
                             Ledger ledger) const {
  if (device >= 64 || (nodes_[n].healthy >> device & 1) == 0) return 0;
  return MinFree(n, device, ledger).memory;
}

bool Ledgers::Overcommitted(NodeIndex n, Ledger ledger) const {
  if (ledger == Ledger::kBoth) {
    return Overcommitted(n, Ledger::kNow) || Overcommitted(n, Ledger::kLater);
  }
  const size_t which = First(ledger);
  const int64_t* const row = Row(n, which);
  if (std::any_of(row, row + kinds_, [](int64_t f) { return f < 0; })) {
    return true;
  }
  // What no share is used of is free, or taken once.
  const NodeBook& book = nodes_[n];
  bool over = false;
  ForEachBit(Mask(book.count) & ~book.unshared[which], [&](uint32_t d) {
    const Share free = RawFree(n, d, which);
    over |= free.milli < 0 || free.memory < 0;
  });
  return over || Clashes(n, ledger) != 0;
}

}  // namespace muster
