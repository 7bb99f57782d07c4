// Commands that change jobs.
#include <ostream>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/job_finder.h"

namespace muster::local {
namespace {

using Json = Session::Json;

// One after another: what is refused of one does not keep the next from it.
int ChangeAll(Session* session, const std::vector<std::string>& jobs,
              std::string_view method, const std::string& action,
              const Json& body) {
  const auto ids = FindJobs(session, jobs);
  if (!ids.ok()) return session->Fail(ids.status());
  int code = kDone;
  Json list = Json::array();
  for (const uint64_t id : *ids) {
    const auto answer =
        session->Ask(method, absl::StrCat("/v1/jobs/", id, action), body);
    Json one{{"id", id}};
    if (!answer.ok()) {
      if (absl::IsUnavailable(answer.status())) {
        return session->Fail(answer.status());
      }
      code = kRefused;
      one["error"] = std::string(answer.status().message());
      if (!session->json()) session->Fail(answer.status());
    }
    list.push_back(std::move(one));
  }
  if (session->json()) session->PrintJson({{"jobs", std::move(list)}});
  return code;
}

}  // namespace

int Change(Session* session, std::string_view command,
           const std::vector<std::string>& jobs) {
  if (command == "cancel") return ChangeAll(session, jobs, "DELETE", "", {});
  return ChangeAll(session, jobs, "POST",
                   absl::StrCat("/", std::string(command)), {});
}

int ChangeTo(Session* session, const std::string& command,
             const std::vector<std::string>& jobs, const std::string& value) {
  return ChangeAll(session, jobs, "POST", "/" + command, {{command, value}});
}

int ChangeNode(Session* session, const std::string& action,
               const std::string& node, std::optional<uint32_t> device,
               const std::string& reason) {
  Json body{{"node", node}};
  if (device) body["device"] = *device;
  if (!reason.empty()) body["reason"] = reason;
  const auto answer = session->Ask("POST", "/v1/nodes/" + action, body);
  if (!answer.ok()) return session->Fail(answer.status());
  if (session->json()) session->PrintJson(*answer);
  return kDone;
}

int Move(Session* session, const std::string& job, const std::string& queue,
         const PlaceOptions& place) {
  const int said = (queue.empty() ? 0 : 1) + (place.first ? 1 : 0) +
                   (place.last ? 1 : 0) + (place.before.empty() ? 0 : 1) +
                   (place.after.empty() ? 0 : 1);
  if (said != 1) {
    session->Fail(absl::InvalidArgumentError(
        "move: expected a queue, or one of --first, --last, --before JOB and "
        "--after JOB"));
    return kUsage;
  }
  if (!queue.empty()) return ChangeTo(session, "queue", {job}, queue);
  Json body{{"to", place.first             ? "first"
                   : place.last            ? "last"
                   : !place.before.empty() ? "before"
                                           : "after"}};
  const std::string& other = place.before.empty() ? place.after : place.before;
  if (!other.empty()) {
    const auto id = FindJob(session, other);
    if (!id.ok()) return session->Fail(id.status());
    body["job"] = *id;
  }
  return ChangeAll(session, {job}, "POST", "/order", body);
}

int Resize(Session* session, const std::string& job, uint32_t size,
           const std::string& role) {
  Json body{{"size", size}};
  if (!role.empty()) body["role"] = role;
  return ChangeAll(session, {job}, "POST", "/resize", body);
}

}  // namespace muster::local
