// Quantities of resources: integers only, so that sums are exact and replays
// are equal bit for bit on every machine.
#ifndef MUSTER_RESOURCES_H_
#define MUSTER_RESOURCES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace muster {

template <class T>
struct FieldsOf;  // muster/fields.h

// A kind of resource: its position in SchedulerConfig::resources. (Slurm: a
// TRES; Kubernetes: a resource name.)
using ResourceKind = uint32_t;

// An amount of each kind of resource, in the units of the configuration (the
// usual ones: milli-cores, bytes, thousandths of a device, pieces). A kind
// beyond size() counts as 0, so values of different sizes mix.
//
// A value type, with its own memory: copying it allocates unless it is empty.
// Not synchronised. O(kinds) where nothing else is said. Arithmetic is modulo
// 2^64: the scheduler refuses, at its border, any single quantity above
// kMaxQuantity, and what would bring the capacity of all nodes, or what all
// gangs could use together, above kMaxTotal of a kind. So sums of either, and a
// sum of one less a sum of the other, are in range.
class Resources {
 public:
  // The largest amount of one kind in a value that a host hands in; the least
  // is 0.
  static constexpr int64_t kMaxQuantity = int64_t{1} << 53;
  // The largest sum of one kind over all nodes, or over all gangs.
  static constexpr int64_t kMaxTotal = int64_t{1} << 62;
  // The most kinds that a configuration can have.
  static constexpr uint32_t kMaxKinds = 64;

  // Nothing of any kind, with room for none or for so many; and the amounts of
  // kinds 0, 1, ...
  Resources() = default;
  explicit Resources(uint32_t kinds) : amount_(kinds, 0) {}
  Resources(std::initializer_list<int64_t> amounts) : amount_(amounts) {}

  // The kinds that are held, from 0 on; of all others the amount is 0. O(1).
  uint32_t size() const { return static_cast<uint32_t>(amount_.size()); }
  int64_t operator[](ResourceKind kind) const {
    return kind < amount_.size() ? amount_[kind] : 0;
  }
  // Grows to hold `kind`.
  void Set(ResourceKind kind, int64_t amount) {
    if (kind >= amount_.size()) amount_.resize(kind + 1, 0);
    amount_[kind] = amount;
  }
  // Back to nothing of any kind; keeps its memory.
  void Clear() { amount_.clear(); }
  // Of each kind that much more or less; grows to other.size(). The result may
  // be negative.
  void Add(const Resources& other) { AddTimes(other, 1); }
  void Subtract(const Resources& other) { AddTimes(other, -1); }
  void AddTimes(const Resources& other, int64_t times) {
    if (other.size() > size()) amount_.resize(other.size(), 0);
    for (uint32_t k = 0; k < other.size(); ++k) {
      amount_[k] =
          static_cast<int64_t>(static_cast<uint64_t>(amount_[k]) +
                               static_cast<uint64_t>(times) *
                                   static_cast<uint64_t>(other.amount_[k]));
    }
  }
  // Whether `have` has at least this much of every kind this asks for. A kind
  // of which nothing is asked is not looked at, even where `have` is negative.
  bool FitsIn(const Resources& have) const {
    for (uint32_t k = 0; k < size(); ++k) {
      if (amount_[k] > 0 && amount_[k] > have[k]) return false;
    }
    return true;
  }
  // Whether the amount of every kind is 0.
  bool IsZero() const {
    return std::all_of(amount_.begin(), amount_.end(),
                       [](int64_t a) { return a == 0; });
  }
  // Equal in every kind, trailing zeros aside.
  friend bool operator==(const Resources& a, const Resources& b) {
    for (uint32_t k = 0; k < std::max(a.size(), b.size()); ++k) {
      if (a[k] != b[k]) return false;
    }
    return true;
  }

 private:
  friend struct FieldsOf<Resources>;

  std::vector<int64_t> amount_;
};

}  // namespace muster

#endif  // MUSTER_RESOURCES_H_
