// Whether labels satisfy selectors and tolerations bear taints, with the
// meanings of Kubernetes. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "muster/ids.h"
#include "muster/selector.h"

namespace muster {

// The label's value, or null when there is no such label.
const std::string* FindLabel(const Labels& labels, std::string_view key);

// Whether both have the label with one value, or neither has it.
bool AgreeIn(std::string_view key, const Labels& a, const Labels& b);

bool Tolerates(const Toleration& toleration, const Taint& taint);
// Whether any of them does, for good.
bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint);
// Until when they let a task stay; 0: not at all.
Time BorneUntil(std::span<const Toleration> tolerations, const Taint& taint);

}  // namespace muster
