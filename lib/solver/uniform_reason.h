// Why a gang of identical tasks has no place: as fast as a place is found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/index/capacity_table.h"
#include "lib/index/placement_index.h"
#include "muster/placement_solver.h"

namespace muster::solver {

// What all topology constraints of such a gang come to.
struct UniformRule {
  int topology = -1;
  bool named = false;  // Nodes outside are out of the question.
  int required = -1;   // The level one domain of which must hold all.
};

// The same reasons, in the same order, as Explain gives for any gang.
class UniformReason {
 public:
  // The index must stay.
  explicit UniformReason(index::PlacementIndex& index) : index_(index) {}

  // For a question that has been answered with "no room". False if the reason
  // is of a kind that only the general search tells.
  bool Explain(const Cluster& cluster, const PlacementRequest& request,
               const UniformRule& rule, PlacementResult* result);

 private:
  std::optional<Reason> Never();
  std::optional<Reason> OverHeadroom() const;
  const index::Column& ColumnOf(ShapeId shape) const {
    return index_.Get(*cluster_, rule_->topology, shape, request_->ledger);
  }
  Reason NoDomain(const index::Column& column) const;
  Reason ShortageOf(ShapeId shape, int64_t slots);

  index::PlacementIndex& index_;
  const Cluster* cluster_ = nullptr;
  const PlacementRequest* request_ = nullptr;
  const UniformRule* rule_ = nullptr;
  std::span<const ShapeId> shapes_{};  // The role's,
  uint32_t needed_ = 0;                // and its least tasks.
  index::CapacityTable capacity_;
  index::FreeTable free_;
};

}  // namespace muster::solver
