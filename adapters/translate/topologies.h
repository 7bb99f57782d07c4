// Topologies: from level names and lists of domains to node labels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/translate/selectors.h"
#include "muster/topology.h"

namespace muster::translate {

// Nodes that are near each other: a HyperNode of Volcano.
struct DomainSpec {
  std::string name{};
  int64_t tier = 0;  // Wider domains have higher ones.
  std::vector<std::string> nodes{};
};

struct TopologySpec {
  std::string name{};
  // Widest first: the keys of node labels (Kueue, KAI), or "tier-N" (Volcano).
  // Empty: the tiers that there are.
  std::vector<std::string> levels{};
  LabelMap aliases{};                 // Other names of levels.
  std::vector<DomainSpec> domains{};  // Empty: node labels tell them.
};

// Every `size` tasks sit in one domain of the level.
struct SliceSpec {
  std::string required{};
  std::optional<int64_t> size{};
};

// What pods ask: levels by name, "" for none.
struct TopologyRequest {
  std::string topology{};  // Empty: the first.
  std::string required{};
  std::string preferred{};
  std::vector<SliceSpec> slices{};  // Outer first.
};

// A constraint, and whether it names a topology or level that is not there.
// The library refuses such a gang; so do the peers.
struct TranslatedConstraint {
  TopologyConstraint constraint{};
  bool unknown = false;
};

// Levels of a topology that lives in node labels keep their names, which are
// the label keys. A topology given as lists of domains becomes labels: level
// tier-2 of topology t is the label t/tier-2. Any number of threads may read.
class Topologies {
 public:
  // UNIMPLEMENTED for a list of domains that labels cannot say.
  // O(nodes x domains).
  static absl::StatusOr<Topologies> Create(std::span<const TopologySpec> specs,
                                           std::span<const std::string> nodes);

  const std::vector<Topology>& topologies() const { return topologies_; }
  // The labels a node has beside its own.
  LabelMap LabelsOf(const std::string& node) const;
  // UNIMPLEMENTED for a level whose tier cannot be told from its name, and for
  // slices without a level.
  absl::StatusOr<TranslatedConstraint> Translate(
      const TopologyRequest& request) const;
  // The levels of the topology of this name (the first, if ""); null: there is
  // none. Valid as long as this object.
  const std::vector<std::string>* LevelsOf(const std::string& topology) const;

 private:
  const TopologySpec* Find(const std::string& name) const;
  // The level's name in the library; "" where the level holds everything.
  absl::StatusOr<std::string> Level(const TopologySpec& topology,
                                    const std::string& level, bool required,
                                    bool* unknown) const;

  std::vector<TopologySpec> specs_;
  std::vector<Topology> topologies_;
  std::map<std::string, LabelMap> labels_;
};

}  // namespace muster::translate
