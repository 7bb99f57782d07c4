// What no placement of a gang can fall below, read from sums of slots.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/traffic.h"

namespace muster::solver {

// Bounds for placements of problem.add() tasks inside a domain of the first
// tree, where nothing but fixed tasks is on the placement. Each looks at one
// thing that must hold, and is as large as the largest of them.
class GangBound {
 public:
  static constexpr uint32_t kNoRoom = 0xffffffff;

  // Slices and spreads are counted once a question: O(domains), and O(nodes)
  // where a slice lies on a single node.
  void Start(PartialPlacement& placement, const Traffic& traffic);

  // Whether the domain has slots for every column's tasks.
  bool HasSlots(const DomainRef& domain) const {
    return placement_->table().HasSlots(need_, domain);
  }

  // The fewest domains of each level without fixed tasks that get tasks, by
  // level, widest first, nodes last; kNoRoom where there is none. Of the
  // levels narrower than the domain's each by itself: its largest domains that
  // together hold every column's tasks, every role's whole slices and, with
  // `nodes`, the gang's demand of every kind; then at nodes, too, those with
  // most slots, else as many as if all were like the best. O(domains and
  // nodes inside).
  void Domains(const DomainRef& domain, bool nodes, std::span<uint32_t> least);

  // The least traffic. At each level, the tasks of a role are together with no
  // more of another's than the domains they fill can hold; so are those of the
  // other: the less counts. O(domains inside x edges).
  int64_t LeastTraffic(const DomainRef& domain);

 private:
  // A role whose slices or spread let domains take less than their slots say.
  struct RoleCapacity {
    uint32_t role = 0;
    int64_t need = 0;
    std::vector<std::vector<uint32_t>> sums{};  // [level][domain]
  };
  // Slots and tasks of a role in a domain: how many of the other role's tasks
  // each of its own may meet there, and how many of its own there may be.
  struct Meeting {
    int64_t others = 0;
    int64_t tasks = 0;
  };

  void AddCapacity(uint32_t role);
  void FillCapacity(RoleCapacity* capacity);
  uint32_t Limit(uint32_t role, int level) const;
  uint32_t SliceAt(uint32_t role, int level) const;
  void Need(int64_t need);
  void Have(int64_t amount, bool has_tasks);
  void Raise(uint32_t* least);
  uint32_t ByDevices();
  uint32_t FewestNodes(uint32_t column, int64_t need, const DomainRef& domain);
  void AtDomains(const DomainRef& domain, int level, uint32_t* least);
  void AtNodes(const DomainRef& domain, bool each, uint32_t* least);
  void ByKinds(const DomainRef& domain, std::span<uint32_t> least);
  int64_t MostPairs(int64_t tasks);
  int64_t Together(const DomainRef& domain, int level, uint32_t role,
                   uint32_t other);
  int64_t WithFixed(int level, uint32_t role);

  PartialPlacement* placement_ = nullptr;
  PlacementProblem* problem_ = nullptr;
  const Traffic* traffic_ = nullptr;
  std::vector<int64_t> need_;             // By column.
  std::vector<int64_t> kind_need_;        // By position in SlotTable::kinds.
  std::vector<RoleCapacity> capacities_;  // capacities_used_ of them.
  size_t capacities_used_ = 0;
  int64_t missing_ = 0;          // Of what is needed.
  std::vector<int64_t> offers_;  // By domain that could be opened for it.
  std::vector<Meeting> meetings_;
  std::vector<int64_t> by_domain_;  // [domain or node][kind]
  std::vector<uint8_t> has_tasks_;  // By node, likewise.
};

}  // namespace muster::solver
