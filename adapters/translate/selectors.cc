#include "adapters/translate/selectors.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"

namespace muster::translate {
namespace {

// Digits after a sign of either kind, and no more.
std::optional<int64_t> IntegerIn(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

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

bool Holds(const Requirement& requirement, const LabelMap& labels) {
  const auto label = labels.find(requirement.key);
  const bool there = label != labels.end();
  const auto& values = requirement.values;
  const bool among =
      there && std::ranges::find(values, label->second) != values.end();
  switch (requirement.op) {
    case SelectorOp::kIn:
      return among;
    case SelectorOp::kNotIn:
      return !among;
    case SelectorOp::kExists:
      return there;
    case SelectorOp::kDoesNotExist:
      return !there;
    case SelectorOp::kGt:
    case SelectorOp::kLt: {
      if (!there || values.size() != 1) return false;
      const std::optional<int64_t> has = IntegerIn(label->second);
      const std::optional<int64_t> bound = IntegerIn(values[0]);
      if (!has || !bound) return false;
      return requirement.op == SelectorOp::kGt ? *has > *bound : *has < *bound;
    }
  }
  return false;
}

}  // namespace muster::translate
