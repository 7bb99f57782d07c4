// Random numbers for workloads: the same everywhere for equal seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace muster::inprocess {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 <= result < bound, bound > 0.
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>((static_cast<unsigned __int128>(Next()) *
                                 static_cast<unsigned __int128>(bound)) >>
                                64);
  }
  // Any order is as likely as any other (Fisher and Yates).
  template <class T>
  void Shuffle(std::vector<T>* values) {
    for (size_t i = values->size(); i > 1; --i) {
      const auto j = static_cast<size_t>(Below(static_cast<int64_t>(i)));
      std::swap((*values)[i - 1], (*values)[j]);
    }
  }

 private:
  uint64_t state_;
};

}  // namespace muster::inprocess
