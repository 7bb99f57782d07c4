#include "lib/cluster/selector.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace muster {
namespace {

template <class T>
bool Contains(const std::vector<T>& values, const T& value) {
  return std::ranges::find(values, value) != values.end();
}

// As strconv.ParseInt(text, 10, 64): a sign of either kind, digits, no more.
std::optional<int64_t> ParseInteger(std::string_view text) {
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

// <0, 0 or >0 as the label's integer is less, equal or greater.
std::optional<int> CompareIntegers(const std::string* label,
                                   const std::vector<std::string>& values) {
  if (label == nullptr || values.size() != 1) return std::nullopt;
  const std::optional<int64_t> left = ParseInteger(*label);
  const std::optional<int64_t> right = ParseInteger(values[0]);
  if (!left || !right) return std::nullopt;
  return *left < *right ? -1 : *left > *right ? 1 : 0;
}

}  // namespace

const std::string* FindLabel(const Labels& labels, std::string_view key) {
  const auto label = std::ranges::find(labels, key, &Label::key);
  return label == labels.end() ? nullptr : &label->value;
}

bool AgreeIn(std::string_view key, const Labels& a, const Labels& b) {
  const std::string* x = FindLabel(a, key);
  const std::string* y = FindLabel(b, key);
  return x == nullptr || y == nullptr ? x == y : *x == *y;
}

bool Matches(const Requirement& requirement, const Labels& labels) {
  const std::string* label = FindLabel(labels, requirement.key);
  switch (requirement.op) {
    case SelectorOp::kIn:
      return label != nullptr && Contains(requirement.values, *label);
    case SelectorOp::kNotIn:
      return label == nullptr || !Contains(requirement.values, *label);
    case SelectorOp::kExists:
      return label != nullptr;
    case SelectorOp::kDoesNotExist:
      return label == nullptr;
    case SelectorOp::kGt:
      return CompareIntegers(label, requirement.values).value_or(0) > 0;
    case SelectorOp::kLt:
      return CompareIntegers(label, requirement.values).value_or(0) < 0;
  }
  return false;
}

bool Matches(const SelectorTerm& term, const Labels& labels) {
  return std::ranges::all_of(
      term.all_of, [&](const Requirement& r) { return Matches(r, labels); });
}

bool Matches(const NodeSelector& selector, const Labels& labels) {
  return selector.any_of.empty() ||
         std::ranges::any_of(selector.any_of, [&](const SelectorTerm& t) {
           return Matches(t, labels);
         });
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effects.empty() &&
      !Contains(toleration.effects, taint.effect)) {
    return false;
  }
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return toleration.op == TolerationOp::kExists ||
         toleration.value == taint.value;
}

bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations, [&](const Toleration& t) {
    return Tolerates(t, taint) &&
           (t.seconds < 0 || taint.effect != TaintEffect::kNoExecute);
  });
}

Time BorneUntil(std::span<const Toleration> tolerations, const Taint& taint) {
  if (taint.effect != TaintEffect::kNoExecute) return kForever;
  Time until = 0;
  for (const Toleration& t : tolerations) {
    if (!Tolerates(t, taint)) continue;
    if (t.seconds < 0) return kForever;
    until = std::max(until, taint.since + t.seconds * kSecond);
  }
  return until;
}

}  // namespace muster
