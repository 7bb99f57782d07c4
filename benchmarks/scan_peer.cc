#include "benchmarks/scan_peer.h"

#include <algorithm>
#include <array>

#include "benchmarks/busy_cluster.h"

namespace muster::bench {
namespace {

template <class Room>
void SumsOf(const uint8_t* free, const std::vector<Domain>& racks, Room room,
            uint32_t* sums) {
  for (size_t r = 0; r < racks.size(); ++r) {
    const uint8_t* at = free + racks[r].first_node;
    const uint32_t count = racks[r].node_count;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += room(at[i]);
    sums[r] = sum;
  }
}

// As one writes it who wants it fast, without words for a processor: what a
// node has room for is its free devices, or one task or none, or looked up;
// nothing is divided. The first two are loops that -O3 vectorises.
void PlainSums(const uint8_t* free, const std::vector<Domain>& racks,
               uint32_t devices, uint32_t* sums) {
  if (devices == 1) {
    SumsOf(free, racks, [](uint8_t n) -> uint32_t { return n; }, sums);
  } else if (2 * devices > kDevices) {
    const auto floor = static_cast<uint8_t>(devices);
    SumsOf(
        free, racks,
        [floor](uint8_t n) -> uint32_t { return n >= floor ? 1 : 0; }, sums);
  } else {
    std::array<uint8_t, 256> room{};
    for (uint32_t n = 0; n < room.size(); ++n) {
      room[n] = static_cast<uint8_t>(n / devices);
    }
    SumsOf(
        free, racks, [&room](uint8_t n) -> uint32_t { return room[n]; }, sums);
  }
}

// Counts the nodes with room for a k-th task, for each k: compares of packed
// bytes, no division; one byte is enough to count a rack, and its size known
// when this is compiled.
#define MUSTER_PACKED_SUMS(NAME, TARGET)                                       \
  [[gnu::optimize("O3"), gnu::target(TARGET)]] void NAME(                      \
      const uint8_t* free, const std::vector<Domain>& racks, uint32_t devices, \
      uint32_t* sums) {                                                        \
    const Domain* rack = racks.data();                                         \
    const size_t count = racks.size();                                         \
    for (size_t r = 0; r < count; ++r) {                                       \
      const uint8_t* at = free + rack[r].first_node;                           \
      uint32_t sum = 0;                                                        \
      for (uint32_t need = devices; need <= kDevices; need += devices) {       \
        const auto floor = static_cast<uint8_t>(need);                         \
        uint8_t rooms = 0;                                                     \
        if (rack[r].node_count == kRackNodes) {                                \
          for (uint32_t i = 0; i < kRackNodes; ++i) rooms += at[i] >= floor;   \
        } else {                                                               \
          for (uint32_t i = 0; i < rack[r].node_count; ++i) {                  \
            rooms += at[i] >= floor;                                           \
          }                                                                    \
        }                                                                      \
        sum += rooms;                                                          \
      }                                                                        \
      sums[r] = sum;                                                           \
    }                                                                          \
  }

#if defined(__x86_64__)
MUSTER_PACKED_SUMS(SumsAvx512, "avx512f,avx512bw,avx512vl")
MUSTER_PACKED_SUMS(SumsAvx2, "avx2")
#endif
#undef MUSTER_PACKED_SUMS

}  // namespace

ScanPeer::ScanPeer(const Cluster& cluster) : index_(cluster.index(0)) {
  for (const NodeIndex n : index_.nodes) {
    const int64_t free =
        cluster.free(n, cluster.device_kind(), Ledger::kBoth) / kWholeDevice;
    free_.push_back(static_cast<uint8_t>(std::clamp<int64_t>(free, 0, 255)));
  }
  racks_.resize(index_.levels[2].size());
  blocks_.resize(index_.levels[1].size());
  zones_.resize(index_.levels[0].size());
}

uint32_t ScanPeer::SumUp() {
  std::fill(blocks_.begin(), blocks_.end(), 0);
  std::fill(zones_.begin(), zones_.end(), 0);
  for (size_t r = 0; r < racks_.size(); ++r) {
    blocks_[index_.levels[2][r].parent] += racks_[r];
  }
  for (size_t b = 0; b < blocks_.size(); ++b) {
    zones_[index_.levels[1][b].parent] += blocks_[b];
  }
  return *std::max_element(zones_.begin(), zones_.end());
}

uint32_t ScanPeer::Plain(uint32_t devices) {
  PlainSums(free_.data(), index_.levels[2], devices, racks_.data());
  return SumUp();
}

uint32_t ScanPeer::Simd(uint32_t devices) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw")) {
    SumsAvx512(free_.data(), index_.levels[2], devices, racks_.data());
  } else if (__builtin_cpu_supports("avx2")) {
    SumsAvx2(free_.data(), index_.levels[2], devices, racks_.data());
  } else {
    return Plain(devices);
  }
  return SumUp();
#else
  return Plain(devices);
#endif
}

uint32_t ScanPeer::Rebuild(const Cluster& cluster, ShapeId shape) {
  std::fill(racks_.begin(), racks_.end(), 0);
  const std::vector<uint32_t>& rack_of = index_.domain_of[2];
  for (const NodeIndex n : cluster.nodes()) {
    racks_[rack_of[n]] += cluster.Slots(n, shape, Ledger::kBoth, 255);
  }
  return SumUp();
}

}  // namespace muster::bench
