// Labels and selectors of Kubernetes' objects. Pure functions: any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/selector.h"

namespace muster::translate {

// Labels, matchLabels, a nodeSelector: by key. Labels of the library are a list
// by key, and may hold no key twice.
using LabelMap = std::map<std::string, std::string, std::less<>>;

Labels ToLabels(const LabelMap& labels);

// An entry of matchExpressions; INVALID_ARGUMENT names the field if `op` is no
// operator. Whether the values suit the operator is the scheduler's to say.
absl::StatusOr<Requirement> ToRequirement(std::string key, std::string_view op,
                                          std::vector<std::string> values);

// Each label is there with its value, by key.
std::vector<Requirement> ToRequirements(const LabelMap& labels);

// A pod's nodeSelector and what else holds for all its nodes, together with the
// terms of its required node affinity, of which one must hold. No terms: no
// affinity. A term without requirements holds for every node here and for none
// in Kubernetes: leave it out. O(terms x requirements).
NodeSelector ToNodeSelector(const std::vector<Requirement>& all_of,
                            const std::vector<SelectorTerm>& any_of);

// Whether an object with these labels is selected: namespaces by a queue's
// selector, say. For nodes the scheduler does it. O(labels + values).
bool Matches(const Requirement& requirement, const LabelMap& labels);

}  // namespace muster::translate
