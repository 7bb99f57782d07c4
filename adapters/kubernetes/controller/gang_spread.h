// How the pods of a gang spread: constraints of its roles, and of groups around
// them.
#pragma once

#include <string>

#include "adapters/kubernetes/controller/gang_record.h"
#include "muster/gang.h"

namespace muster::kubernetes {

// Writes the topologySpreadConstraints of the gang's pods: each one around the
// roles that have it, in a group of its own where a role's constraint is not
// enough. `wanted` is GangRecord::ToGang's. Returns what cannot be written so,
// naming the field; "": nothing. A selector has to select the pods of the gang
// that have the constraint and no others of it, and two that have a pod in
// common select the same pods, or one of them the other's. O(roles x pods).
std::string SpreadRoles(const GangRecord& gang, Gang* wanted);

}  // namespace muster::kubernetes
