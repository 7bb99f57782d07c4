// Taints and tolerations as Kubernetes spells them. Pure functions: any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "muster/selector.h"

namespace muster::translate {

// INVALID_ARGUMENT names the field if `effect` is none. Taint::since, which is
// the node's timeAdded, stays 0.
absl::StatusOr<Taint> ToTaint(std::string key, std::string value,
                              std::string_view effect);

// `op` "": Equal; `effect` "": every effect. Errors as above.
// Toleration::seconds stays -1, for ever.
absl::StatusOr<Toleration> ToToleration(std::string key, std::string_view op,
                                        std::string value,
                                        std::string_view effect);

// Whether one of the tolerations is about the taint: of a flavour of nodes,
// say, before a quota is chosen. For nodes the scheduler does it.
// O(tolerations).
bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint);

}  // namespace muster::translate
