// One gang: pods become tasks of roles, its tree becomes groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/translate/gang_builder.h"
#include "adapters/translate/topologies.h"
#include "test/conformance/role_maker.h"
#include "test/conformance/scenario.h"
#include "test/conformance/translation.h"

namespace muster::conformance {

class GangTranslator {
 public:
  // Writes to *out and appends to *units.
  GangTranslator(const Scenario& scenario, size_t gang, const RoleMaker& roles,
                 const translate::Topologies& topologies, TranslatedGang* out,
                 std::vector<Unit>* units)
      : s_(scenario),
        index_(gang),
        spec_(scenario.gangs[gang]),
        roles_(roles),
        topologies_(topologies),
        out_(*out),
        units_(*units),
        builder_(&out->gang) {}

  absl::Status Translate();

 private:
  absl::Status AddUnits();
  // The four ways in which scenarios group pods.
  absl::Status AddTree(const TreeSpec& tree, uint32_t parent);
  absl::Status AddPodSets();
  absl::Status AddSubgroups();
  absl::Status AddPlainRoles();

  absl::Status Constrain(const TopologyRequestSpec& request,
                         TopologyConstraint* constraint);
  // Adds the pods to the group, like ones as one role, and says which roles
  // they became. Each role may run without any of its tasks.
  absl::StatusOr<std::vector<uint32_t>> AddPods(const std::vector<size_t>& pods,
                                                uint32_t group);
  // At least so many of the group's tasks, whichever.
  void RequireTasks(const std::vector<uint32_t>& roles, int64_t minimum,
                    uint32_t group);
  absl::Status AddSubgroup(const SubgroupPolicySpec& policy,
                           const std::vector<size_t>& pods,
                           const std::string& name, uint32_t parent);
  int64_t MembersOf(const std::vector<size_t>& pods) const;
  std::vector<size_t> PodsOf(const TreeSpec& leaf) const;
  int64_t MembersUnder(const TreeSpec& tree) const;
  bool RoleMinimaBind() const;
  absl::Status Preemptibility();
  void Refusable(const std::string& why);

  const Scenario& s_;
  const size_t index_;
  const GangSpec& spec_;
  const RoleMaker& roles_;
  const translate::Topologies& topologies_;
  TranslatedGang& out_;
  std::vector<Unit>& units_;
  size_t first_unit_ = 0;
  translate::GangBuilder builder_;
};

}  // namespace muster::conformance
