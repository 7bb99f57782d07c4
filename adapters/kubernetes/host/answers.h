// What the controller knows, as JSON for those who ask. Texts of users are
// bounded; what is no UTF-8 in them becomes U+FFFD. Pure; O(bytes).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/controller/overview.h"
#include "adapters/kubernetes/controller/what_if.h"

namespace muster::kubernetes {

// {"items": [{"name", "parent", "closed", "held", "refused", "pendingGroups",
//  "runningGroups", "pendingPods", "runningPods", "used": {RESOURCE: QUANTITY},
//  "quotas": [{"resource", "guarantee", "limit"}]}]}
std::string QueuesJson(const std::vector<QueueOverview>& queues);
// {"items": [{"name", "exceeded": [RESOURCE]}]}: Overview::ExceededNodes.
std::string NodesJson(
    const std::map<std::string, std::vector<std::string>>& exceeded);
// {"items": [{"kind", "namespace", "name", "queue", "phase", "priorityClass",
//  "minPods", "pendingPods", "runningPods", "submitted", "reason",
//  "message"}], "all": NUMBER}
std::string GangsJson(const std::vector<GangOverview>& gangs, size_t all);
// A group as above, and "ahead", "pods": [{"name", "node", "phase"}],
// "allPods".
std::string ExplanationJson(const GangExplanation& explanation);
// {"decisions": [{"kind", "namespace", "group", "onBehalfOf", "pods",
//  "nodes"}], "complete"}
std::string WhatIfJson(const WhatIfAnswer& answer);

// {"finish": [{"namespace", "group"}], "removeNodes": [NAME],
//  "addNodes": {"like": NAME, "count": NUMBER}}, each optional.
// INVALID_ARGUMENT names the field; unknown ones are refused.
absl::StatusOr<WhatIfQuestion> ParseWhatIf(std::string_view json);

// {"error": {"code": HTTP STATUS, "message": TEXT}}
std::string ErrorJson(int http_status, std::string_view message);

}  // namespace muster::kubernetes
