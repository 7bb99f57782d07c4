// Routes of jobs that become others.
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/job_json.h"
#include "adapters/local/api/submission_json.h"
#include "adapters/local/controller/job_change.h"

namespace muster::local {
namespace {

using Json = nlohmann::ordered_json;

Json RolesJson(const workload::Job& job) {
  Json roles = Json::object();
  for (const workload::Role& role : job.roles) {
    const workload::TaskTemplate& t = role.task;
    Json& to = roles[role.name];
    to["requests"] = Json::object();
    for (const workload::Amount& a : t.requests) {
      to["requests"][a.resource] = QuantityText(a.resource, a.amount);
    }
    std::vector<std::string> command = t.command;
    command.insert(command.end(), t.args.begin(), t.args.end());
    if (!command.empty()) to["command"] = std::move(command);
  }
  return roles;
}

}  // namespace

absl::Status EditJob(const ApiContext& context, const Asked& asked,
                     bool* content) {
  auto change = ReadChange(asked.body);
  if (!change.ok()) return change.status();
  change->may_all = asked.viewer.privileged;
  *content = true;
  return context.controller.Edit(asked.job, *change, context.now);
}

absl::Status OrderJob(const ApiContext& context, const Asked& asked,
                      bool* content) {
  const auto order = ReadOrder(asked.body);
  if (!order.ok()) return order.status();
  *content = true;
  return context.controller.Reorder(asked.job, order->to, order->job,
                                    context.now);
}

serve::HttpResponse EditableAnswer(const ApiContext& context,
                                   const Asked& asked) {
  const auto own = FindOwnJob(context, asked);
  if (!own.ok()) return ErrorAnswer(own.status());
  if (own->finished != kForever) {
    return ErrorAnswer(absl::FailedPreconditionError(
        absl::StrCat("job ", asked.job, ": has finished")));
  }
  const auto editable = context.controller.Editable(asked.job);
  if (!editable.ok()) return ErrorAnswer(editable.status());
  const JobRow& row = editable->row;
  return JsonAnswer(ToText(Json{{"id", row.id},
                                {"waits", editable->waits},
                                {"name", row.name},
                                {"queue", row.queue},
                                {"priority", row.priority_class},
                                {"time", editable->limit / kSecond},
                                {"roles", RolesJson(editable->job)}}));
}

}  // namespace muster::local
