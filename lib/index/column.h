// How many tasks of one shape every node and every domain can take, and which
// node is best for one: kept from question to question.
#ifndef MUSTER_LIB_INDEX_COLUMN_H_
#define MUSTER_LIB_INDEX_COLUMN_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/base/step_cost.h"
#include "lib/index/layout.h"
#include "lib/index/node_states.h"
#include "lib/index/scan.h"
#include "lib/policy/node_policy.h"
#include "muster/cluster.h"

namespace muster::index {

// A cache: what it says follows from the cluster's state alone, whenever it
// was built and whatever was asked before. After changes to k nodes a refresh
// costs O(k * levels); where NodeStates no longer tells which nodes changed, it
// is built anew by one scan. Ranks are brought up to date only when a best node
// is asked for, and only where something changed.
//
// Most tasks take whole devices of any model, or none. Of these, a column is
// *plain* if they take devices and nothing else: its slots are a quotient of
// NodeStates::whole(), so that a chunk is counted from a few words
// (NodeStates::at_least), and slots are written down only where somebody reads
// all of them.
//
// It has many members because slots, sums and ranks follow one change together,
// chunk by chunk: none of them can be brought up to date without the others.
class Column {
 public:
  // More tasks a node are not counted: sums fit into 32 bits for a million
  // nodes. See saturated().
  static constexpr uint32_t kMaxSlots = 4095;
  // Memory: slots and ranks; domains and chunks need a little more.
  static constexpr size_t kBytesPerNode = 6;

  // Forgets everything and belongs to this shape, and to the layout and ledger
  // of the states, which must stay until the next Bind, as must the policy.
  void Bind(const Cluster& cluster, NodeStates* states,
            const policy::NodePolicy& policy, ShapeId shape);
  // Brings slots and sums up to the cluster's state.
  void Refresh(const Cluster& cluster);
  // Brings ranks up to date, too. Slots must be.
  void RefreshRanks(const Cluster& cluster);

  ShapeId shape() const { return question_.shape; }
  uint32_t slots(Position p) const { return SlotsIn(layout_->chunk_of(p), p); }
  // The same where the node's chunk is known.
  uint32_t SlotsIn(uint32_t chunk, Position p) const {
    if (form_ != Form::kPlain) return slots_[p];
    const Position i = p - layout_->chunks()[chunk].first;
    return (chunks_[chunk].any >> i & 1) != 0 ? QuotientOf(p) : 0;
  }
  // Devices that the node has.
  uint32_t devices(Position p) const { return states_->devices()[p]; }
  // Of all nodes; O(chunks that changed since somebody asked last).
  std::span<const uint16_t> AllSlots();
  // By domain of a stored level.
  std::span<const uint32_t> sums(int level) const {
    return {sums_.data() + layout_->first_domain(level),
            layout_->domains(level)};
  }
  // Of the nodes inside the topology, and of those outside.
  uint64_t inside() const { return inside_; }
  uint64_t outside() const { return outside_; }
  uint64_t all() const { return inside_ + outside_; }
  // The most slots of one node.
  uint32_t most() const { return Greatest(chunk_most_); }
  // Of one inside the topology.
  uint32_t most_inside() const {
    return Greatest(std::span(chunk_most_).first(layout_->inside_chunks()));
  }
  uint32_t most(uint32_t chunk) const { return chunk_most_[chunk]; }
  // Bit i: whether node i of the chunk has slots.
  uint64_t any(uint32_t chunk) const { return chunks_[chunk].any; }
  // Nodes with slots: all of them, and those of chunks from `from` to before
  // `to`.
  uint32_t with_slots() const { return with_slots_; }
  uint32_t WithSlots(uint32_t from, uint32_t to) const;
  // Nodes with more slots than are counted.
  uint32_t saturated() const { return saturated_; }
  // Nodes with slots that a taint asks to avoid: ranks do not say so.
  uint32_t reluctant() const { return reluctant_; }
  // What a question that asks for the column is charged, known or not.
  uint64_t nanos() const {
    if (form_ == Form::kPlain) return empty_nanos_;
    const uint64_t nodes = layout_->size();
    return empty_nanos_ + std::min(nodes, all()) * kRoomNs;
  }

  // The rank of a node with slots; kNoRank without.
  static constexpr uint32_t kNoRank = 0xffffffff;
  uint32_t rank(Position p) const { return slots(p) > 0 ? ranks_[p] : kNoRank; }
  // The node with slots that has the least rank; among equals, in the domain
  // with the fewest slots (where the domain is not cut into many chunks), then
  // the first position. False if there is none. With `inside_only`, among
  // nodes inside the topology. RefreshRanks must have been called.
  bool Best(bool inside_only, Position* best) const;
  // Of chunks from `from` to before `to` the first node with slots that has
  // the least rank, whatever the tightness. O(chunks / 64).
  bool BestIn(uint32_t from, uint32_t to, Position* best) const;
  // The same as Best among the nodes that have at least `tasks` slots.
  bool BestWith(uint32_t tasks, bool inside_only, Position* best) const;

  // Compares with a column built anew; names the first difference, or empty.
  std::string Difference(const Cluster& cluster);

 private:
  // No node in the chunk.
  static constexpr uint64_t kNoEntry = ~uint64_t{0};
  static constexpr uint32_t kGroup = 64;  // Chunks that share one entry.
  // A domain of more chunks has no tightness.
  static constexpr uint32_t kMaxTightChunks = 4;

  // What a task takes; kWhole: whole devices of any model, or none, and other
  // things.
  enum class Form : uint8_t { kPlain, kWhole, kOther };

  // What is kept of a chunk and touched together; bit i is its node i.
  struct Chunk {
    uint64_t any = 0;     // With slots.
    uint64_t admits = 0;  // That admit the shape, slots aside.
    uint64_t changed = 0;
    uint64_t stale = 0;      // Whose rank may differ.
    uint32_t sum = 0;        // Of a plain column: slots.
    uint8_t best_at = 0;     // A node with the rank of the chunk's entry.
    bool structure = false;  // Changed more than what is charged, perhaps.
  };

  void Build(const Cluster& cluster);
  void Follow(const Cluster& cluster);
  void Prefetch(const NodeStates::Change& change) const;
  void FollowByChunks(const Cluster& cluster);
  void Apply(const Cluster& cluster, uint32_t chunk);
  uint64_t AllNodes(uint32_t chunk) const;
  uint32_t Recount(uint32_t chunk);
  uint32_t CountSlots(const Cluster& cluster, uint32_t chunk, uint64_t nodes);
  // How many tasks the node's devices are enough for, if they are whole.
  uint32_t QuotientOf(Position p) const {
    return devices_ == 0 ? kMaxSlots : states_->whole()[p] * inverse_ >> 16;
  }
  uint32_t Count(const Cluster& cluster, Position p) const;
  uint64_t Admitting(const Cluster& cluster, uint32_t chunk) const;
  void AddToSums(uint32_t chunk, uint32_t change);
  void FindLostMost();
  void CountReluctance(const Cluster& cluster, uint32_t chunk);
  void MarkChunk(uint32_t chunk);
  void MarkDomain(uint32_t chunk, bool sums_changed);
  // Where the chunk's entry stands in chunk_best_.
  uint32_t EntryAt(uint32_t chunk) const {
    return chunk < layout_->inside_chunks() ? chunk : chunk + outside_shift_;
  }
  uint32_t TightnessOf(uint32_t chunk) const;
  void RefreshRanksOf(const Cluster& cluster, uint32_t chunk, uint64_t nodes);
  uint32_t LeastRank(uint32_t chunk, uint64_t changed);
  // The first node with slots of that rank in the chunk, which has one.
  Position FirstOf(uint32_t chunk, uint32_t rank) const;
  void RefreshChunk(const Cluster& cluster, uint32_t chunk);
  void RefreshGroup(const Cluster& cluster, uint32_t group);
  uint32_t GroupCount() const {
    return static_cast<uint32_t>(group_best_.size());
  }

  NodeStates* states_ = nullptr;
  const Layout* layout_ = nullptr;
  const policy::NodePolicy* policy_ = nullptr;
  const ScanTable* scans_ = nullptr;
  policy::Question question_{};
  Form form_ = Form::kOther;
  uint32_t devices_ = 0;      // A task's, unless the form is kOther.
  uint32_t inverse_ = 0;      // Of devices_, for Divide.
  bool by_gist_ = false;      // Ranks are made of NodeStates::Gists.
  uint64_t empty_nanos_ = 0;  // What a column without slots is charged.
  bool built_ = false;
  uint64_t version_ = 0;  // Of states_.
  uint64_t inside_ = 0;
  uint64_t outside_ = 0;
  uint32_t with_slots_ = 0;
  uint32_t saturated_ = 0;
  uint32_t reluctant_ = 0;
  std::vector<uint16_t> slots_;
  std::vector<uint64_t> unwritten_;  // Of a plain column: bit c, for chunk c.
  std::vector<uint32_t> sums_;
  std::vector<uint16_t> chunk_most_;
  std::vector<Chunk> chunks_;
  uint64_t admits_version_ = 0;  // Of what structure.
  std::vector<uint8_t> most_lost_;
  std::vector<uint32_t> lost_;
  std::vector<uint64_t> chunk_avoided_;  // Empty while none is.
  // Ranks (those of nodes without slots mean nothing), and over them the least
  // (rank, tightness) of chunks and groups.
  std::vector<uint32_t> ranks_;
  std::vector<uint64_t> chunk_best_;  // Groups of inside and outside apart.
  std::vector<uint64_t> group_best_;
  // By group: which of its entries may differ; of these groups alone.
  std::vector<uint64_t> marked_;
  uint32_t marked_from_ = 0;
  uint32_t marked_to_ = 0;
  uint32_t narrowest_ = 0;      // The first domain of that level, in sums_.
  uint32_t outside_shift_ = 0;  // Entries skipped before those outside.
};

}  // namespace muster::index

#endif  // MUSTER_LIB_INDEX_COLUMN_H_
