// How many tasks of one shape every node and every domain can take, and which
// node is best for one: kept from question to question.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "lib/base/step_cost.h"
#include "lib/cluster/cluster.h"
#include "lib/index/layout.h"
#include "lib/index/layout_state.h"
#include "lib/index/least_chunk.h"
#include "lib/index/scan.h"
#include "lib/scoring/node_policy.h"

namespace muster::index {

// A cache: what it says follows from the cluster's state alone, whenever it
// was built and whatever was asked before. After changes to k nodes a refresh
// costs O(k * levels); where LayoutState no longer tells which nodes changed,
// it is built anew by one scan. Costs are brought up to date only when a best
// node is asked for, and only where something changed.
//
// Most tasks take whole devices of any model, or none. Of these, a shape is
// *plain* if they take devices and nothing else: its slots are a quotient of
// LayoutState::whole(), so that a chunk is counted from a few words
// (LayoutState::at_least), and slots are written down only where all of them
// are read.
class ShapeSlots {
 public:
  // More tasks a node are not counted: sums fit into 32 bits for a million
  // nodes. See Totals.
  static constexpr uint32_t kMaxSlots = 4095;
  // Memory: slots and costs; domains, chunks and scores need a little more.
  static constexpr size_t kBytesPerNode = 6;

  // Over all nodes.
  struct Totals {
    uint64_t inside = 0;      // Slots of nodes inside the topology,
    uint64_t outside = 0;     // and of those outside.
    uint32_t with_slots = 0;  // Nodes with slots.
    uint32_t saturated = 0;   // Nodes with more slots than are counted.

    uint64_t all() const { return inside + outside; }
    friend bool operator==(const Totals&, const Totals&) = default;
  };

  // Forgets everything and belongs to this shape, and to the layout and ledger
  // of the state, which must stay until the next Bind, as must the policy.
  // With a score, only nodes that have it (Cluster::Score) have slots.
  void Bind(const Cluster& cluster, LayoutState* state,
            const scoring::NodePolicy& policy, ShapeId shape,
            std::optional<int64_t> score = {});
  // Brings slots and sums up to the cluster's state.
  void Refresh(const Cluster& cluster);
  // Brings costs up to date, too. Slots must be.
  void RefreshCosts(const Cluster& cluster);

  ShapeId shape() const { return question_.shape; }
  const Layout& layout() const { return *layout_; }
  uint32_t slots(Position p) const { return SlotsIn(layout_->chunk_of(p), p); }
  // The same where the node's chunk is known.
  uint32_t SlotsIn(uint32_t chunk, Position p) const {
    if (form_ != Form::kPlain) return slots_[p];
    const Position i = p - layout_->chunks()[chunk].first;
    return (chunks_[chunk].any >> i & 1) != 0 ? QuotientOf(p) : 0;
  }
  // Devices that the node has.
  uint32_t devices(Position p) const { return state_->devices()[p]; }
  // No node has more.
  uint32_t most_devices() const { return state_->most_devices(); }
  // Of all nodes; O(chunks that changed since the last call).
  std::span<const uint16_t> AllSlots();
  // By domain of a stored level.
  std::span<const uint32_t> sums(int level) const {
    return {sums_.data() + layout_->first_domain(level),
            layout_->domains(level)};
  }
  const Totals& totals() const { return totals_; }
  // The most slots of one node.
  uint32_t most() const { return Greatest(chunk_most_); }
  // Of one inside the topology.
  uint32_t most_inside() const {
    return Greatest(std::span(chunk_most_).first(layout_->inside_chunks()));
  }
  uint32_t most(uint32_t chunk) const { return chunk_most_[chunk]; }
  // Bit i: whether node i of the chunk has slots.
  uint64_t any(uint32_t chunk) const { return chunks_[chunk].any; }
  // Nodes with slots in chunks from `from` to before `to`.
  uint32_t WithSlots(uint32_t from, uint32_t to) const;

  // Whether all nodes with slots have the same score: costs do not tell it.
  bool alike() const;
  // Whether there are so many scores that they are not known; never alike.
  bool crowded() const { return crowded_; }
  // Otherwise: the greatest score below `bound` of a node with slots, if there
  // is one. O(scores).
  static constexpr int64_t kAnyScore = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> ScoreBelow(int64_t bound) const;
  // Of a node with slots.
  int64_t score(Position p) const {
    const uint32_t chunk = layout_->chunk_of(p);
    return (chunks_[chunk].scored & layout_->bit(p)) == 0
               ? 0
               : scores_[score_of_[p]].score;
  }

  // What a question that asks for these slots is charged, known or not.
  uint64_t nanos() const {
    if (form_ == Form::kPlain) return empty_nanos_;
    const uint64_t nodes = layout_->size();
    return empty_nanos_ + std::min(nodes, totals_.all()) * kRoomNs;
  }

  // The cost of a node with slots; kNoCost without.
  static constexpr uint32_t kNoCost = 0xffffffff;
  uint32_t node_cost(Position p) const {
    return slots(p) > 0 ? costs_[p] : kNoCost;
  }
  // The node with slots that has the least cost; among equals, in the domain
  // with the fewest slots (where the domain is not cut into many chunks), then
  // the first position. False if there is none. With `inside_only`, among
  // nodes inside the topology. RefreshCosts must have been called.
  bool Best(bool inside_only, Position* best) const {
    return FirstOf(best_.Find(inside_only), best);
  }
  // Of chunks from `from` to before `to` the first node with slots that has
  // the least cost, whatever the tightness. O(chunks / 64).
  bool BestIn(uint32_t from, uint32_t to, Position* best) const {
    return FirstOf(best_.FindIn(from, to), best);
  }
  // The same as Best among the nodes that have at least `tasks` slots.
  bool BestWith(uint32_t tasks, bool inside_only, Position* best) const;

 private:
  // What a task takes; kWhole: whole devices of any model, or none, and other
  // things.
  enum class Form : uint8_t { kPlain, kWhole, kOther };

  // What is kept of a chunk and touched together; bit i is its node i.
  struct Chunk {
    uint64_t any = 0;     // With slots.
    uint64_t admits = 0;  // That admit the shape, slots aside.
    uint64_t changed = 0;
    uint64_t stale = 0;      // Whose cost may differ.
    uint64_t scored = 0;     // That admit it, with a score that is not 0.
    uint32_t sum = 0;        // Of a plain shape: slots.
    uint8_t best_at = 0;     // A node with the cost of the chunk's entry.
    bool structure = false;  // Changed more than what is charged, perhaps.
    bool most_lost = false;  // Is in lost_.
  };

  void Build(const Cluster& cluster);
  void Follow(const Cluster& cluster);
  void FollowByChunks(const Cluster& cluster);
  void Apply(const Cluster& cluster, uint32_t chunk);
  uint64_t AllNodes(uint32_t chunk) const;
  uint32_t Recount(uint32_t chunk);
  uint32_t CountSlots(const Cluster& cluster, uint32_t chunk, uint64_t nodes);
  // How many tasks the node's devices are enough for, if they are whole.
  uint32_t QuotientOf(Position p) const {
    return devices_ == 0 ? kMaxSlots : state_->whole()[p] * inverse_ >> 16;
  }
  uint32_t Count(const Cluster& cluster, Position p) const;
  uint64_t Admitting(const Cluster& cluster, uint32_t chunk) const;
  void AddToSums(uint32_t chunk, uint32_t change);
  void FindLostMost();
  void ReadStructure(const Cluster& cluster, uint32_t chunk);
  void ReadScores(const Cluster& cluster, uint32_t chunk);
  uint8_t NumberOf(int64_t score);
  void ForgetScores();
  void CountScores(uint32_t chunk, uint64_t nodes, uint32_t times);
  uint32_t Unscored() const;
  void FollowDemand(const Cluster& cluster);
  void RefreshCostsOf(const Cluster& cluster, uint32_t chunk, uint64_t nodes);
  uint32_t LeastCost(uint32_t chunk, uint64_t changed);
  uint64_t EntryOf(const Cluster& cluster, uint32_t chunk);
  // The first node with slots that has the cost of the chunk's entry; false
  // for kNoChunk.
  bool FirstOf(uint32_t chunk, Position* first) const;

  LayoutState* state_ = nullptr;
  const Layout* layout_ = nullptr;
  const scoring::NodePolicy* policy_ = nullptr;
  const ScanTable* scans_ = nullptr;
  scoring::NodeQuestion question_{};
  Form form_ = Form::kOther;
  uint32_t devices_ = 0;      // A task's, unless the form is kOther.
  uint32_t inverse_ = 0;      // Of devices_, for Divide.
  bool by_memory_ = false;    // A task takes a piece of memory.
  Resources demand_{};        // Then: Cluster::demand, as the costs know it.
  bool by_summary_ = false;   // Costs are made of LayoutState::NodeSummaries.
  uint64_t empty_nanos_ = 0;  // What is charged where no node has slots.
  std::optional<int64_t> only_;  // The score of its nodes.
  bool prefers_ = false;         // The shape has preferences.
  bool built_ = false;
  uint64_t version_ = 0;  // Of state_.
  Totals totals_{};
  std::vector<uint16_t> slots_;
  std::vector<uint64_t> unwritten_;  // Of a plain shape: bit c, for chunk c.
  std::vector<uint32_t> sums_;
  std::vector<uint16_t> chunk_most_;
  std::vector<Chunk> chunks_;
  uint64_t admits_version_ = 0;  // Of what structure.
  std::vector<uint32_t> lost_;   // Chunks whose most may be less now.
  std::vector<uint32_t> costs_;  // Of nodes without slots they mean nothing.
  // Scores that are not 0, and how many nodes with slots have each. Where no
  // node has one, both are empty.
  struct Score {
    int64_t score = 0;
    uint32_t nodes = 0;
  };
  static constexpr size_t kMostScores = 64;
  std::vector<Score> scores_;
  std::vector<uint8_t> score_of_;  // By position, of scored nodes: its number.
  bool crowded_ = false;
  // Of (cost, tightness): the slots of the chunk's domain; 0 without siblings.
  LeastChunk best_;
};

}  // namespace muster::index
