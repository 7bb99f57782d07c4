#include "adapters/translate/taints.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"

namespace muster::translate {
namespace {

absl::StatusOr<TaintEffect> ToEffect(std::string_view name) {
  const std::optional<TaintEffect> effect = FromName<TaintEffect>(name);
  if (effect) return *effect;
  return absl::InvalidArgumentError("effect: expected a taint's effect");
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  const bool any_value = toleration.op == TolerationOp::kExists;
  const bool key =
      toleration.key.empty() ? any_value : toleration.key == taint.key;
  const auto& effects = toleration.effects;
  return key && (any_value || toleration.value == taint.value) &&
         (effects.empty() ||
          std::ranges::find(effects, taint.effect) != effects.end());
}

}  // namespace

absl::StatusOr<Taint> ToTaint(std::string key, std::string value,
                              std::string_view effect) {
  const absl::StatusOr<TaintEffect> known = ToEffect(effect);
  if (!known.ok()) return known.status();
  return Taint{
      .key = std::move(key), .value = std::move(value), .effect = *known};
}

absl::StatusOr<Toleration> ToToleration(std::string key, std::string_view op,
                                        std::string value,
                                        std::string_view effect) {
  Toleration toleration{.key = std::move(key), .value = std::move(value)};
  if (!op.empty()) {
    const std::optional<TolerationOp> known = FromName<TolerationOp>(op);
    if (!known) {
      return absl::InvalidArgumentError("operator: expected Equal or Exists");
    }
    toleration.op = *known;
  }
  if (!effect.empty()) {
    const absl::StatusOr<TaintEffect> known = ToEffect(effect);
    if (!known.ok()) return known.status();
    toleration.effects.push_back(*known);
  }
  return toleration;
}

bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint) {
  return std::ranges::any_of(
      tolerations, [&](const Toleration& t) { return Tolerates(t, taint); });
}

}  // namespace muster::translate
