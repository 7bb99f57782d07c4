// What one pod asks for, as a role of one task.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/translate/topologies.h"
#include "muster/gang.h"
#include "test/conformance/flavors.h"
#include "test/conformance/kinds.h"
#include "test/conformance/scenario.h"

namespace muster::conformance {

// The label of a node that stands for the quotas of a queue tree, where no
// nodes are described: its value is the root queue.
inline constexpr char kQuotaOnlyLabel[] = "muster.conformance/quota-of";

class RoleMaker {
 public:
  RoleMaker(const Scenario& scenario, const Kinds& kinds,
            const Flavors& flavors, const translate::Topologies& topologies)
      : s_(scenario),
        kinds_(kinds),
        flavors_(flavors),
        topologies_(topologies) {}

  // Shapes, selectors, tolerations, order. Names, counts, groups and topology
  // constraints are the gang's to add. UNIMPLEMENTED for what has no word.
  absl::StatusOr<Role> Make(const GangSpec& gang, const PodSpec& pod) const;
  // The topology the pod's flavours have; "" for none in particular.
  std::string TopologyOf(const GangSpec& gang, const PodSpec& pod) const;
  // Whether the pod's capacity is quota alone, on no described node.
  bool IsQuotaOnly(const GangSpec& gang, const PodSpec& pod) const;
  // Whether a quantity asked for is beyond what any scheduler accepts.
  static bool AsksTooMuch(const Role& role);

 private:
  std::vector<FlavorChoice> ChoicesOf(const GangSpec& gang,
                                      const PodSpec& pod) const;
  TaskShape ShapeFor(const GangSpec& gang, const PodSpec& pod,
                     const FlavorChoice& choice) const;
  absl::Status CheckClaims(const PodSpec& pod) const;

  const Scenario& s_;
  const Kinds& kinds_;
  const Flavors& flavors_;
  const translate::Topologies& topologies_;
};

}  // namespace muster::conformance
