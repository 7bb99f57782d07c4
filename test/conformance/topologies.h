// Topologies: from domain lists and level names to node labels.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/topology.h"
#include "test/conformance/scenario.h"

namespace muster::conformance {

// A constraint, and whether it names a topology or level that is not there.
// The library refuses such a gang; so do the peers.
struct TranslatedConstraint {
  TopologyConstraint constraint;
  bool unknown = false;
};

// Levels of a topology that lives in node labels keep their names, which are
// the label keys. A topology given as lists of domains becomes labels: level
// tier-2 of topology t is the label t/tier-2.
class Topologies {
 public:
  // UNIMPLEMENTED for a list of domains that labels cannot say.
  static absl::StatusOr<Topologies> Create(const ClusterSpec& cluster);

  const std::vector<Topology>& topologies() const { return topologies_; }
  // The labels a node has beside its own.
  StringMap LabelsOf(const std::string& node) const;
  // UNIMPLEMENTED for a level name whose tier the scenario does not tell.
  absl::StatusOr<TranslatedConstraint> Translate(
      const TopologyRequestSpec& request) const;
  // The levels of the topology a request names (the first, if none).
  const std::vector<std::string>* LevelsOf(const std::string& topology) const;

 private:
  const TopologySpec* Find(const std::string& name) const;
  // The level's name in the library; "" where the level holds everything.
  absl::StatusOr<std::string> Level(const TopologySpec& topology,
                                    const std::string& level, bool required,
                                    bool* unknown) const;

  std::vector<TopologySpec> specs_;
  std::vector<Topology> topologies_;
  std::map<std::string, StringMap> labels_;
};

}  // namespace muster::conformance
