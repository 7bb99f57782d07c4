#include "adapters/local/api/route.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "adapters/serve/query.h"

namespace muster::local {
namespace {

constexpr RouteRow kRoutes[] = {
    {Route::kSubmit, "POST", "/v1/jobs", ""},
    {Route::kWhatIf, "POST", "/v1/what-if", ""},
    {Route::kCancel, "DELETE", "/v1/jobs/{id}", ""},
    {Route::kHold, "POST", "/v1/jobs/{id}/hold", ""},
    {Route::kRelease, "POST", "/v1/jobs/{id}/release", ""},
    {Route::kSuspend, "POST", "/v1/jobs/{id}/suspend", ""},
    {Route::kResume, "POST", "/v1/jobs/{id}/resume", ""},
    {Route::kPriority, "POST", "/v1/jobs/{id}/priority", ""},
    {Route::kMove, "POST", "/v1/jobs/{id}/queue", ""},
    {Route::kResize, "POST", "/v1/jobs/{id}/resize", ""},
    {Route::kEdit, "POST", "/v1/jobs/{id}/edit", ""},
    {Route::kOrder, "POST", "/v1/jobs/{id}/order", ""},
    {Route::kSuspendCron, "POST", "/v1/crons/{id}/suspend", ""},
    {Route::kResumeCron, "POST", "/v1/crons/{id}/resume", ""},
    {Route::kRemoveCron, "DELETE", "/v1/crons/{id}", ""},
    {Route::kMakeToken, "POST", "/v1/web/token", ""},
    {Route::kForgetToken, "DELETE", "/v1/web/token", ""},
    {Route::kDrain, "POST", "/v1/nodes/drain", ""},
    {Route::kResumeNode, "POST", "/v1/nodes/resume", ""},
    {Route::kJobs, "GET", "/v1/jobs", "uid why"},
    {Route::kJob, "GET", "/v1/jobs/{id}", "wait"},
    {Route::kLogs, "GET", "/v1/jobs/{id}/logs",
     "task attempt stream follow from last"},
    {Route::kInput, "POST", "/v1/jobs/{id}/input", "task end"},
    {Route::kExplain, "GET", "/v1/jobs/{id}/explain", ""},
    {Route::kEditable, "GET", "/v1/jobs/{id}/edit", ""},
    {Route::kTimeline, "GET", "/v1/jobs/{id}/timeline", ""},
    {Route::kQueue, "GET", "/v1/queue", "limit"},
    {Route::kEvents, "GET", "/v1/events", "after follow"},
    {Route::kHistory, "GET", "/v1/history",
     "uid name queue phase since until before limit"},
    {Route::kRemoved, "GET", "/v1/history/removed", "uid limit"},
    {Route::kCrons, "GET", "/v1/crons", "uid"},
    {Route::kNodes, "GET", "/v1/nodes", ""},
    {Route::kQueues, "GET", "/v1/queues", ""},
    {Route::kUsers, "GET", "/v1/users", ""},
    {Route::kWeb, "GET", "/v1/web", ""},
    {Route::kVersion, "GET", "/v1/version", ""},
    {Route::kHealth, "GET", "/v1/healthz", ""},
    {Route::kMetrics, "GET", "/v1/metrics", ""},
};

std::vector<std::string> Split(std::string_view text, char by) {
  return absl::StrSplit(std::string(text), by, absl::SkipEmpty());
}

// Only digits, and no zero in front: an id has one form.
bool ReadId(const std::string& text, uint64_t* id) {
  return !text.empty() && text[0] >= '1' && text[0] <= '9' &&
         absl::SimpleAtoi(text, id) &&
         *id <= uint64_t{std::numeric_limits<int64_t>::max()};
}

bool Matches(std::string_view pattern, const std::vector<std::string>& path,
             uint64_t* id) {
  const std::vector<std::string> parts = Split(pattern, '/');
  if (parts.size() != path.size()) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "{id}" ? !ReadId(path[i], id) : parts[i] != path[i]) {
      return false;
    }
  }
  return true;
}

absl::Status CheckParameters(const RouteRow& row, const Asked& asked) {
  const std::vector<std::string> known = Split(row.parameters, ' ');
  for (const auto& [name, value] : asked.parameters) {
    if (std::ranges::find(known, name) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "query: there is no such parameter here; there are: ",
          row.parameters.empty() ? "none" : std::string(row.parameters)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const RouteRow> Routes() { return kRoutes; }

std::string Asked::Parameter(const std::string& name) const {
  const auto it = parameters.find(name);
  return it == parameters.end() ? "" : it->second;
}

absl::StatusOr<uint64_t> Asked::Number(const std::string& name,
                                       uint64_t otherwise,
                                       uint64_t most) const {
  const std::string text = Parameter(name);
  if (text.empty()) return otherwise;
  uint64_t number = 0;
  const bool digits =
      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || !absl::SimpleAtoi(text, &number) || number > most) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": expected an integer from 0 to ", most));
  }
  return number;
}

absl::StatusOr<bool> Asked::Flag(const std::string& name) const {
  const auto number = Number(name, 0, 1);
  if (!number.ok()) return number.status();
  return *number == 1;
}

absl::StatusOr<Asked> ParseRequest(const serve::HttpRequest& request,
                                   uint32_t owner) {
  if (!request.peer) {
    return absl::PermissionDeniedError(
        "who asks is known over the Unix socket alone");
  }
  Asked asked{.viewer = {.uid = request.peer->uid,
                         .gid = request.peer->gid,
                         .privileged = request.peer->uid == 0 ||
                                       request.peer->uid == owner},
              .body = request.body};
  const std::vector<std::string> path = Split(request.path, '/');
  bool there = false;
  for (const RouteRow& row : kRoutes) {
    if (!Matches(row.path, path, &asked.job)) continue;
    there = true;
    if (row.method != request.method) continue;
    asked.route = row.route;
    auto parameters = serve::ParseQuery(request.query);
    if (!parameters.ok()) return parameters.status();
    asked.parameters = *std::move(parameters);
    const absl::Status status = CheckParameters(row, asked);
    if (!status.ok()) return status;
    return asked;
  }
  if (there) return absl::UnimplementedError("not by this method");
  return absl::NotFoundError("there is no such path: see docs/local-api.yaml");
}

}  // namespace muster::local
