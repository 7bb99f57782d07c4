#include "lib/cluster/ledgers.h"

#include <algorithm>
#include <limits>

namespace muster {

uint32_t Ledgers::Quotient(DevicePart free, DevicePart share, uint32_t limit) {
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

inline SharedDevice Ledgers::SharedOn(NodeIndex n, uint32_t device,
                                      const Needs& needs, Ledger ledger,
                                      uint32_t limit) const {
  const int64_t memory = At(n, device).memory;
  if (needs.memory > 0 && memory <= 0) return {};
  const DevicePart share = ShareOf(needs, memory);
  if (share.milli > needs.most_milli) return {};
  const DevicePart free = MinFree(n, device, ledger);
  const uint32_t slots = Quotient(free, share, limit);
  return {device, slots, free.milli, free.memory};
}

DeviceSet Ledgers::DevicesOfModels(NodeIndex n, const Needs& needs) const {
  const NodeBook& book = nodes_[n];
  const DeviceSet all = All(n);
  if (needs.models.empty()) return all;
  const auto wanted = [&](uint32_t device) {
    return std::ranges::binary_search(needs.models, At(n, device).model);
  };
  if (book.one_model) return book.count > 0 && wanted(0) ? all : DeviceSet{};
  DeviceSet devices;
  for (uint32_t d = 0; d < book.count; ++d) {
    if (wanted(d)) devices.Insert(d);
  }
  return devices;
}

void Ledgers::PostBeyond(NodeIndex n, uint64_t devices, Ledger ledger,
                         int sign) {
  PostWord(n, kBits, devices, ledger, sign);
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
  const DeviceSet usable = UsableWhole(n, needs, ledger);
  if (usable.empty()) return 0;
  const uint32_t devices = usable.size();
  return std::min(slots, needs.count == 1 ? devices : devices / needs.count);
}

uint32_t Ledgers::SharedSlots(NodeIndex n, const Needs& needs, Ledger ledger,
                              uint32_t limit) const {
  if (needs.count > 1) {
    ByDevice<SharedDevice> devices;
    SharedDevices(n, needs, ledger, limit, &devices);
    return MaxTasks(devices, needs.count, limit);
  }
  uint64_t slots = 0;
  const DeviceSet offered = Healthy(n) - split(n, ledger);
  for (const uint32_t d : offered& DevicesOfModels(n, needs)) {
    if (slots >= limit) break;
    slots += SharedOn(n, d, needs, ledger, limit).slots;
  }
  return static_cast<uint32_t>(std::min<uint64_t>(slots, limit));
}

void Ledgers::SharedDevices(NodeIndex n, const Needs& needs, Ledger ledger,
                            uint32_t limit, ByDevice<SharedDevice>* out) const {
  const DeviceSet offered = Healthy(n) - split(n, ledger);
  for (const uint32_t d : offered& DevicesOfModels(n, needs)) {
    const SharedDevice shared = SharedOn(n, d, needs, ledger, limit);
    if (shared.slots > 0) out->push_back(shared);
  }
}

DeviceSet Ledgers::ChooseOf(NodeIndex n, DeviceSet usable, uint32_t count,
                            uint64_t rails) const {
  const NodeBook& node = nodes_[n];
  if (node.islands == 1 && node.numa == 1 && rails == 0) {
    return ChooseWhole(usable, {{&usable, 1}, {&usable, 1}, {}}, count);
  }
  ByDevice<DeviceSet> islands(node.islands);
  ByDevice<DeviceSet> numa(node.numa);
  DeviceSet* const island = islands.data();
  DeviceSet* const numa_node = numa.data();
  DeviceSet aligned;
  for (uint32_t w = 0; w < 2; ++w) {
    ForEachBit(usable.word(w), [&](uint32_t i) {
      const DeviceBook& book = At(n, w * kBits + i);
      const uint64_t bit = uint64_t{1} << i;
      island[book.island].word(w) |= bit;
      numa_node[book.numa].word(w) |= bit;
      if (book.rail >= 0) aligned.word(w) |= (rails >> book.rail & 1) << i;
    });
  }
  return ChooseWhole(usable, {islands, numa, aligned}, count);
}

uint64_t Ledgers::Rails(NodeIndex n, DeviceSet devices) const {
  uint64_t rails = 0;
  for (const uint32_t d : devices& All(n)) {
    const int8_t rail = At(n, d).rail;
    if (rail >= 0) rails |= uint64_t{1} << rail;
  }
  return rails;
}

bool Ledgers::Choose(NodeIndex n, const Needs& needs, Ledger ledger,
                     uint64_t rails, DeviceSet* devices, uint32_t* slot) const {
  *devices = {};
  *slot = 0;
  if (needs.form == DeviceForm::kWhole) {
    if (SlotsBesideDevices(n, needs, ledger, 1) == 0) return false;
    *devices = UsableWhole(n, needs, ledger);
    const uint32_t most = devices->size();
    if (most > needs.count) {  // Else there is no choice.
      *devices = ChooseOf(n, *devices, needs.count, rails);
    }
    return most >= needs.count;
  }
  if (Slots(n, needs, ledger, 1) == 0) return false;
  if (needs.form == DeviceForm::kNone) return true;
  if (needs.form == DeviceForm::kPartition) {
    return ChoosePartition(n, needs, ledger, devices, slot);
  }
  ByDevice<SharedDevice> shared;
  SharedDevices(n, needs, ledger, std::numeric_limits<uint32_t>::max(),
                &shared);
  *devices = ChooseShared(shared, needs.count);
  return !devices->empty();
}

bool Ledgers::Fits(NodeIndex n, const Needs& needs, DeviceSet devices,
                   uint32_t slot, Ledger ledger) const {
  if (SlotsBesideDevices(n, needs, ledger, 1) == 0) return false;
  if (needs.form == DeviceForm::kNone) return true;
  if (!Healthy(n).ContainsAll(devices)) return false;
  if (needs.form == DeviceForm::kPartition) {
    return FitsPartition(n, needs, devices, slot, ledger);
  }
  return !devices.Intersects(split(n, ledger)) &&
         std::ranges::all_of(devices, [&](uint32_t d) {
           return SharedOn(n, d, needs, ledger, 1).slots > 0;
         });
}

void Ledgers::PostPartitions(NodeIndex n, const Needs& needs, DeviceSet devices,
                             uint32_t slot, Ledger ledger, int sign) {
  for (size_t l = First(ledger); l <= Last(ledger); ++l) {
    for (const uint32_t d : devices& All(n)) {
      if (needs.form == DeviceForm::kPartition) {
        PostPartition(n, d, needs.partition, slot, l, sign);
      } else {
        PostDevice(n, d, ShareOf(needs, At(n, d).memory), l, sign);
      }
    }
  }
}

void Ledgers::PostShare(NodeIndex n, uint32_t device, DevicePart share,
                        size_t ledger, int sign) {
  DeviceBook& book = At(n, device);
  DevicePart& rest = book.rest[ledger];
  // Modulo 2^n, so that it can be taken back whatever a host books: only 2^20
  // tasks and more on one device, which nothing places there, go beyond.
  rest.milli = static_cast<int32_t>(static_cast<uint32_t>(rest.milli) -
                                    static_cast<uint32_t>(sign * share.milli));
  rest.memory =
      static_cast<int64_t>(static_cast<uint64_t>(rest.memory) -
                           static_cast<uint64_t>(sign * share.memory));
  const uint64_t bit = uint64_t{1} << device % kBits;
  uint64_t& unshared = Bits(n, device).unshared[ledger];
  unshared = rest == Whole(book) ? unshared | bit : unshared & ~bit;
}

void Ledgers::PostDevice(NodeIndex n, uint32_t device, DevicePart share,
                         size_t ledger, int sign) {
  PostShare(n, device, share, ledger, sign);
  if (CountsDevices() && Has(Bits(n, device).healthy, device)) {
    Row(n, ledger)[device_kind_] -= sign * share.milli;
  }
}

int64_t Ledgers::free(NodeIndex n, ResourceKind k, Ledger ledger) const {
  return std::min(Row(n, First(ledger))[k], Row(n, Last(ledger))[k]);
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
  const DeviceSet unshared =
      Gather(n, [which](const DeviceBits& b) { return b.unshared[which]; });
  for (const uint32_t d : All(n) - unshared) {
    const DevicePart free = RawFree(n, d, which);
    if (free.milli < 0 || free.memory < 0) return true;
  }
  return !Clashes(n, ledger).empty();
}

}  // namespace muster
