#include "adapters/translate/selectors.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"

namespace muster::translate {

Labels ToLabels(const LabelMap& labels) {
  Labels list;
  for (const auto& [key, value] : labels) list.push_back({key, value});
  return list;
}

absl::StatusOr<Requirement> ToRequirement(std::string key, std::string_view op,
                                          std::vector<std::string> values) {
  const std::optional<SelectorOp> known = FromName<SelectorOp>(op);
  if (!known) {
    return absl::InvalidArgumentError("operator: expected a selector operator");
  }
  return Requirement{std::move(key), *known, std::move(values)};
}

std::vector<Requirement> ToRequirements(const LabelMap& labels) {
  std::vector<Requirement> all_of;
  for (const auto& [key, value] : labels) {
    all_of.push_back({key, SelectorOp::kIn, {value}});
  }
  return all_of;
}

NodeSelector ToNodeSelector(const std::vector<Requirement>& all_of,
                            const std::vector<SelectorTerm>& any_of) {
  NodeSelector selector;
  if (any_of.empty()) {
    if (!all_of.empty()) selector.any_of.push_back({all_of});
    return selector;
  }
  for (const SelectorTerm& term : any_of) {
    SelectorTerm& both = selector.any_of.emplace_back();
    both.all_of = all_of;
    both.all_of.insert(both.all_of.end(), term.all_of.begin(),
                       term.all_of.end());
  }
  return selector;
}

bool Matches(const Requirement& requirement, const LabelMap& labels) {
  return muster::Matches(requirement, ToLabels(labels));
}

}  // namespace muster::translate
