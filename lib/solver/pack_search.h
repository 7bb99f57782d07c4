// Parts of a gang that each lie in one domain of a level, packed into the
// domains of a wider one.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/solver/bin_packing.h"
#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "muster/reason.h"

namespace muster::solver {

// Asks a BinPacking. Parts are the groups and roles below a scope that require
// a narrower domain; bins are the domains of the widest level that any
// part requires; what parts need and bins have are slots by column, and with
// several columns amounts by kind. That leaves things out (nodes and devices
// inside a bin, narrower levels, spreads, whatever is no part), and so only
// allows more: that there is no packing is a proof; one that is found must
// still be placed. Parts with fixed tasks have their bin.
class PackSearch {
 public:
  // False, and nothing is known, if there are not two parts.
  bool Start(PartialPlacement& placement, ScopeIndex s,
             const DomainRef& domain);

  // Whether sums prove that there is no packing.
  bool refuted() const {
    return none_ || (!parts_.empty() && packing_.refuted());
  }
  // The next packing, of which no bin is forbidden; at most `budget` steps
  // more. What they take is charged.
  SearchOutcome Solve(uint64_t budget);
  // Since Start, for bounds at first.
  uint64_t steps() const { return parts_.empty() ? 0 : packing_.steps(); }

  // Places the packing found: place(scope, domain) for each part with its bin,
  // then for whatever else is below the scope with the whole domain. At a bin
  // whose parts cannot be placed it stops, false, with some tasks placed, and
  // forbids those parts for bins like it.
  template <class F>
  bool Put(const F& place);

  // After kNone: what the bins cannot hold of, if that is so of one sum.
  std::optional<Reason> Shortage() const;

 private:
  struct Part {
    ScopeIndex scope = 0;
    uint32_t row = 0;   // In needs_.
    uint32_t type = 0;  // As the packing has them.
  };
  struct Bin {
    int nearness = 0;
    size_t order = 0;  // In the tree.
    uint32_t domain = 0;

    friend auto operator<=>(const Bin&, const Bin&) = default;
  };

  void FindParts(ScopeIndex s);
  void FindDims();
  void FindBins();
  void AddBin(uint32_t domain);
  bool SetFixedApart();
  void FindTypes();
  std::span<int64_t> Row(uint32_t row) {
    return std::span(needs_).subspan(size_t{row} * width_, width_);
  }
  DomainRef DomainRefOf(uint32_t domain) const {
    return {domain_.tree, level_, domain};
  }

  PartialPlacement* placement_ = nullptr;
  PlacementProblem* problem_ = nullptr;
  DomainRef domain_{};
  int level_ = 0;     // Of the bins.
  size_t width_ = 0;  // Columns, then kinds.
  std::vector<Part> parts_;
  std::vector<Part> fixed_;  // With fixed tasks; type: the bin's domain.
  std::vector<ScopeIndex> others_;
  std::vector<int64_t> needs_;  // By part.
  std::vector<size_t> dims_;    // Of a row: those that count.
  std::vector<Bin> bins_;
  std::vector<int64_t> room_;  // [bin][dim]
  std::vector<int64_t> need_;  // [type][dim]
  std::vector<uint32_t> count_;
  std::vector<uint32_t> next_;
  BinPacking packing_;
  bool able_ = true;  // False: what is no part, or fixed, finds no place.
  bool none_ = false;
};

template <class F>
bool PackSearch::Put(const F& place) {
  able_ = false;
  for (const Part& part : fixed_) {
    if (!place(part.scope, DomainRefOf(part.type))) return false;
  }
  // Parts of a type follow each other.
  next_.assign(count_.size(), 0);
  for (uint32_t i = static_cast<uint32_t>(parts_.size()); i-- > 0;) {
    next_[parts_[i].type] = i;
  }
  const size_t loads = parts_.empty() ? 0 : packing_.loads();
  for (size_t load = 0; load < loads; ++load) {
    const DomainRef bin = DomainRefOf(bins_[packing_.BinOf(load)].domain);
    for (uint32_t type = 0; type < count_.size(); ++type) {
      for (uint32_t n = packing_.PartsOf(load, type); n > 0; --n) {
        if (place(parts_[next_[type]++].scope, bin)) continue;
        packing_.Forbid(load);
        able_ = true;
        return false;
      }
    }
  }
  for (const ScopeIndex other : others_) {
    if (!place(other, domain_)) return false;
  }
  return true;
}

}  // namespace muster::solver
