// DeviceSet: some of the devices of one node.
#ifndef MUSTER_DEVICE_SET_H_
#define MUSTER_DEVICE_SET_H_

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <vector>

namespace muster {

// Devices by number, which is their position in Node::devices. A plain value;
// numbers from kCapacity on are in no set. Nothing but ToList allocates or
// fails; all is O(1) where nothing else is said. Iterated in rising order:
//   for (uint32_t device : task.devices) ...
//
// Two words, so that a set travels in registers and Allocation stays half a
// cache line; nodes of more devices are seen as nodes whose devices are shared.
class DeviceSet {
 public:
  // The most devices that a node can have and a task can ask for.
  static constexpr uint32_t kCapacity = 128;

  // The empty set.
  constexpr DeviceSet() = default;
  // These devices. O(devices).
  constexpr DeviceSet(std::initializer_list<uint32_t> devices) {
    for (const uint32_t d : devices) Insert(d);
  }
  // The devices 0 to count - 1: all that a node with so many has.
  static constexpr DeviceSet FirstOf(uint32_t count) {
    return OfWords(LowBits(count), count > kBits ? LowBits(count - kBits) : 0);
  }
  // Those of a list, as TaskAnswer and RealTask have them; ToList tells it
  // again, rising. O(devices).
  static constexpr DeviceSet Of(std::span<const uint32_t> devices) {
    DeviceSet set;
    for (const uint32_t d : devices) set.Insert(d);
    return set;
  }
  // The devices of the set, in rising order; for a wire or a message.
  std::vector<uint32_t> ToList() const;
  // Bit i of `low` is device i, of `high` device 64 + i.
  static constexpr DeviceSet OfWords(uint64_t low, uint64_t high = 0) {
    DeviceSet set;
    set.words_ = {low, high};
    return set;
  }
  // The same words again, 0 or 1; every value of them is a set.
  constexpr const uint64_t& word(size_t i) const { return words_[i]; }
  constexpr uint64_t& word(size_t i) { return words_[i]; }

  // Whether there are none; how many there are.
  constexpr bool empty() const { return (words_[0] | words_[1]) == 0; }
  constexpr uint32_t size() const {
    return Count(words_[0]) + (words_[1] == 0 ? 0 : Count(words_[1]));
  }
  // The lowest; kCapacity of the empty set.
  constexpr uint32_t first() const {
    return static_cast<uint32_t>(words_[0] != 0
                                     ? std::countr_zero(words_[0])
                                     : 64 + std::countr_zero(words_[1]));
  }
  // False for a number from kCapacity on, as these are in no set.
  constexpr bool Contains(uint32_t device) const {
    return device < kCapacity &&
           (words_[device / kBits] >> device % kBits & 1) != 0;
  }
  // Whether each device of `other` is in this set, too; yes for the empty one.
  constexpr bool ContainsAll(DeviceSet other) const {
    return (other - *this).empty();
  }
  // Whether there is a device that is in both.
  constexpr bool Intersects(DeviceSet other) const {
    return !(*this & other).empty();
  }
  // A number from kCapacity on is left out; one that is there already, or not
  // there, changes nothing.
  constexpr void Insert(uint32_t device) { *this |= Only(device); }
  constexpr void Erase(uint32_t device) { *this -= Only(device); }

  // In one of them; in both; in the first alone.
  friend constexpr DeviceSet operator|(DeviceSet a, DeviceSet b) {
    return OfWords(a.words_[0] | b.words_[0], a.words_[1] | b.words_[1]);
  }
  friend constexpr DeviceSet operator&(DeviceSet a, DeviceSet b) {
    return OfWords(a.words_[0] & b.words_[0], a.words_[1] & b.words_[1]);
  }
  friend constexpr DeviceSet operator-(DeviceSet a, DeviceSet b) {
    return OfWords(a.words_[0] & ~b.words_[0], a.words_[1] & ~b.words_[1]);
  }
  constexpr DeviceSet& operator|=(DeviceSet b) { return *this = *this | b; }
  constexpr DeviceSet& operator&=(DeviceSet b) { return *this = *this & b; }
  constexpr DeviceSet& operator-=(DeviceSet b) { return *this = *this - b; }

  // A total order: the less set is the one without the highest device in which
  // they differ.
  friend constexpr bool operator==(DeviceSet, DeviceSet) = default;
  friend constexpr auto operator<=>(DeviceSet a, DeviceSet b) {
    return a.words_[1] != b.words_[1] ? a.words_[1] <=> b.words_[1]
                                      : a.words_[0] <=> b.words_[0];
  }

  // Over the set as it is now: what is done to it meanwhile is not seen.
  class Iterator;
  constexpr Iterator begin() const;
  constexpr std::default_sentinel_t end() const { return {}; }

 private:
  static constexpr uint32_t kBits = 64;  // Of a word.

  // The first `count` bits of a word.
  static constexpr uint64_t LowBits(uint32_t count) {
    return count >= kBits ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  }
  // The one device, or nothing.
  static constexpr DeviceSet Only(uint32_t device) {
    const uint64_t bit = uint64_t{1} << device % kBits;
    return OfWords(device < kBits ? bit : 0,
                   device >= kBits && device < kCapacity ? bit : 0);
  }
  // std::popcount without a library call on a baseline x86-64.
  static constexpr uint32_t Count(uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return static_cast<uint32_t>((x * 0x0101010101010101u) >> 56);
  }

  std::array<uint64_t, 2> words_{};
};

// Over the devices of a set as it was when the iteration began, which it holds
// a copy of: it stays valid whatever becomes of the set. A forward iterator but
// for references: what it gives is a number.
class DeviceSet::Iterator {
 public:
  using value_type = uint32_t;
  using difference_type = std::ptrdiff_t;

  // At the end.
  constexpr Iterator() = default;
  explicit constexpr Iterator(DeviceSet set) : rest_(set) {}
  constexpr uint32_t operator*() const { return rest_.first(); }
  // Not at the end.
  constexpr Iterator& operator++() {
    uint64_t& word = rest_.words_[rest_.words_[0] != 0 ? 0 : 1];
    word &= word - 1;
    return *this;
  }
  constexpr Iterator operator++(int) {
    const Iterator before = *this;
    ++*this;
    return before;
  }
  friend constexpr bool operator==(const Iterator&, const Iterator&) = default;
  friend constexpr bool operator==(const Iterator& i, std::default_sentinel_t) {
    return i.rest_.empty();
  }

 private:
  DeviceSet rest_{};
};

constexpr DeviceSet::Iterator DeviceSet::begin() const {
  return Iterator(*this);
}

inline std::vector<uint32_t> DeviceSet::ToList() const {
  std::vector<uint32_t> list;
  list.reserve(size());
  for (const uint32_t d : *this) list.push_back(d);
  return list;
}

}  // namespace muster

#endif  // MUSTER_DEVICE_SET_H_
