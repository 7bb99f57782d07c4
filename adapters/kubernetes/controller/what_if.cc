#include "adapters/kubernetes/controller/what_if.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/overview.h"
#include "muster/event.h"
#include "muster/plan.h"

namespace muster::kubernetes {
namespace {

constexpr char kHostname[] = "kubernetes.io/hostname";

absl::Status AddNodes(const WhatIfQuestion& question,
                      const ControllerState& state,
                      std::vector<Event>* events) {
  if (question.add_nodes == 0) return absl::OkStatus();
  const Node* like = state.nodes.Find(question.node_like);
  if (like == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("node '", question.node_like, "' is not there"));
  }
  for (uint32_t i = 1; i <= question.add_nodes; ++i) {
    Node node = *like;
    node.key = absl::StrCat("what-if-", i);
    for (auto& [key, value] : node.labels) {
      if (key == kHostname) value = node.key;
    }
    if (state.nodes.Has(node.key)) {
      return absl::FailedPreconditionError(
          absl::StrCat("there is a node '", node.key, "' already"));
    }
    events->push_back({state.link.now(), NodeChanged{std::move(node)}});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Event>> ToEvents(const WhatIfQuestion& question,
                                            const ControllerState& state) {
  if (question.finish.size() + question.remove_nodes.size() +
          question.add_nodes >
      kMostWhatIfChanges) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected at most ", kMostWhatIfChanges, " changes"));
  }
  std::vector<Event> events;
  const Time now = state.link.now();
  for (const WhatIfQuestion::GroupName& group : question.finish) {
    auto key = Overview(&state).KeyOf(group.namespace_name, group.name);
    if (!key.ok()) return key.status();
    events.push_back({now, GangFinished{*std::move(key)}});
  }
  for (const std::string& node : question.remove_nodes) {
    if (!state.nodes.Has(node)) {
      return absl::NotFoundError(
          absl::StrCat("node '", node, "' is not there"));
    }
    events.push_back({now, NodeRemoved{node}});
  }
  const absl::Status added = AddNodes(question, state, &events);
  if (!added.ok()) return added;
  return events;
}

WhatIfDecision ToDecision(const DecisionRecord& record,
                          ControllerState* state) {
  WhatIfDecision decision{.kind = std::string(Name(record.kind)),
                          .group = record.gang,
                          .pods = static_cast<uint32_t>(record.tasks.size())};
  if (const GangRecord* gang = state->gangs.FindTold(record.gang)) {
    decision.namespace_name = gang->ref.namespace_name;
    decision.group = NameOf(*gang);
  }
  if (const GangRecord* other = state->gangs.FindTold(record.on_behalf_of)) {
    decision.on_behalf_of =
        absl::StrCat(other->ref.namespace_name, "/", NameOf(*other));
  }
  for (const PlannedTaskRecord& task : record.tasks) {
    decision.nodes.push_back(task.node);
  }
  std::ranges::sort(decision.nodes);
  const auto rest = std::ranges::unique(decision.nodes);
  decision.nodes.erase(rest.begin(), rest.end());
  return decision;
}

}  // namespace

absl::StatusOr<WhatIfAnswer> WhatIf(const WhatIfQuestion& question,
                                    ControllerState* state) {
  auto events = ToEvents(question, *state);
  if (!events.ok()) return events.status();
  Plan plan;
  const absl::Status status = state->link.WhatIf(*events, &plan);
  if (!status.ok()) return status;
  WhatIfAnswer answer{.complete = !plan.budget_exhausted};
  for (const DecisionRecord& record :
       state->link.scheduler().DecisionsOf(plan)) {
    answer.decisions.push_back(ToDecision(record, state));
  }
  return answer;
}

}  // namespace muster::kubernetes
