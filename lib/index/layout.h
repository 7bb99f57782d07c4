// The nodes of a cluster in the order of one topology, cut into chunks: where
// the index keeps what it knows of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/cluster/cluster.h"

namespace muster::index {

// A node's row. Nodes inside the topology come first, domain after domain (so
// that a domain of any level is a range), then those outside, in key order: an
// order no arrival can change.
using Position = uint32_t;

class Layout {
 public:
  // A chunk is (a part of) one narrowest domain, or of the nodes outside.
  static constexpr uint32_t kChunk = 64;
  static constexpr uint32_t kNoDomain = 0xffffffff;
  static constexpr uint32_t kMaxSiblings = 4;

  struct Chunk {
    Position first = 0;
    uint32_t count = 0;
    uint32_t domain = kNoDomain;  // Of the narrowest level.
    // The chunks of that domain: first, and one past; none outside, and none
    // of a domain of more than kMaxSiblings.
    uint32_t siblings = 0;
    uint32_t siblings_end = 0;
  };

  // Once. `topology` -1: none, all nodes are outside. O(n).
  void Build(const Cluster& cluster, int topology);

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  // Nodes inside; positions from here on are outside.
  uint32_t inside() const { return inside_; }
  NodeIndex node(Position p) const { return nodes_[p]; }
  std::span<const NodeIndex> nodes() const { return nodes_; }
  Position position(NodeIndex n) const { return position_[n]; }

  std::span<const Chunk> chunks() const { return chunks_; }
  // Chunks of nodes inside; those outside follow.
  uint32_t inside_chunks() const { return inside_chunks_; }
  uint32_t chunk_of(Position p) const { return chunk_of_[p]; }
  // Bit i for the chunk's node i.
  uint64_t bit(Position p) const {
    return uint64_t{1} << (p - chunks_[chunk_of_[p]].first);
  }
  // The chunks of a domain of the narrowest level: first, and one past.
  uint32_t first_chunk(uint32_t domain) const { return domain_chunk_[domain]; }
  // The domains around the chunk, widest first, as numbers among the domains of
  // all stored levels (first_domain). None outside.
  std::span<const uint32_t> domains_around(uint32_t chunk) const {
    return {around_.data() + chunk * levels_,
            chunks_[chunk].domain == kNoDomain ? 0 : levels_};
  }
  // Of a level among the domains of all; of levels(): how many there are.
  uint32_t first_domain(int level) const { return first_domain_[level]; }

  // Stored levels, widest first; hosts are not stored.
  int levels() const { return static_cast<int>(levels_); }
  uint32_t domains(int level) const {
    return static_cast<uint32_t>(parents_[level].size());
  }
  // By domain: the domain around it in the next wider level.
  std::span<const uint32_t> parents(int level) const { return parents_[level]; }
  // By domain: its first child in the next narrower level (of the narrowest:
  // its first position); one entry more than domains.
  std::span<const uint32_t> children(int level) const {
    return children_[level];
  }
  // The domain's positions: first, and one past.
  std::pair<Position, Position> range(int level, uint32_t domain) const;

 private:
  void Cut(Position first, Position last, uint32_t domain);
  void FindDomainsAround();

  size_t levels_ = 0;
  uint32_t inside_ = 0;
  uint32_t inside_chunks_ = 0;
  std::vector<NodeIndex> nodes_;
  std::vector<Position> position_;
  std::vector<Chunk> chunks_;
  std::vector<uint32_t> chunk_of_;
  std::vector<uint32_t> domain_chunk_;
  std::vector<uint32_t> around_;  // By chunk and level.
  std::vector<uint32_t> first_domain_;
  std::vector<std::vector<uint32_t>> parents_;
  std::vector<std::vector<uint32_t>> children_;
};

}  // namespace muster::index
