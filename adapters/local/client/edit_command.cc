// muster edit.
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/edit_text.h"
#include "adapters/local/client/editor.h"
#include "adapters/local/client/job_finder.h"
#include "adapters/text/table.h"

namespace muster::local {
namespace {

using Json = Session::Json;

constexpr char kWholeGpus[] = "nvidia.com/gpu";
constexpr char kGpuMilli[] = "muster.dev/gpu-milli";
constexpr char kGpuMemory[] = "muster.dev/gpu-memory";

// Devices that the options mean are in place of those there were.
absl::StatusOr<Json> RequestsOfEdit(const SubmitOptions& options) {
  auto requests = RequestsOf(options);
  if (!requests.ok()) return requests;
  if (!options.gpus.empty()) {
    for (const char* resource : {kWholeGpus, kGpuMilli}) {
      if (!requests->contains(resource)) (*requests)[resource] = "0";
    }
    const bool part = (*requests)[kGpuMilli] != "0";
    if (!part && options.gpu_memory.empty()) (*requests)[kGpuMemory] = "0";
  } else if (!options.gpu_memory.empty()) {
    (*requests)[kWholeGpus] = "0";
  }
  return requests;
}

// Empty: nothing was said.
absl::StatusOr<Json> BodyOf(const std::string& role,
                            const SubmitOptions& options) {
  Json body = Json::object();
  if (!options.name.empty()) body["name"] = options.name;
  if (!options.queue.empty()) body["queue"] = options.queue;
  if (!options.priority.empty()) body["priority"] = options.priority;
  if (!options.time.empty()) {
    const auto time = ParseTime("--time", options.time);
    if (!time.ok()) return time.status();
    body["time"] = *time;
  }
  auto requests = RequestsOfEdit(options);
  if (!requests.ok()) return requests.status();
  Json of_role = Json::object();
  if (!requests->empty()) of_role["requests"] = *std::move(requests);
  if (!options.command.empty()) of_role["command"] = options.command;
  if (!of_role.empty()) body["roles"][role] = std::move(of_role);
  return body;
}

// The first line is a remark of this program; it may be gone.
std::string WithRemark(const std::string& remark, const std::string& text) {
  return absl::StrCat("# ", text::Printable(remark, 4'096), "\n", text);
}
std::string WithoutRemark(const std::string& text) {
  if (!text.starts_with('#')) return text;
  const size_t end = text.find('\n');
  return end == std::string::npos ? "" : text.substr(end + 1);
}

absl::Status Apply(Session* session, const std::string& target,
                   const std::string& file, const Json& editable,
                   bool* changes) {
  const auto body = ReadEdited(file, editable);
  if (!body.ok()) return body.status();
  *changes = !body->empty();
  if (body->empty()) return absl::OkStatus();
  return session->Ask("POST", target, *body).status();
}

int TellEdited(Session* session, uint64_t job, bool changes) {
  if (session->json()) {
    session->PrintJson({{"id", job}, {"changed", changes}});
  } else {
    session->out() << "Job " << job
                   << (changes ? " is edited\n" : ": nothing was changed\n");
  }
  return kDone;
}

int EditByHand(Session* session, uint64_t job) {
  const std::string target = absl::StrCat("/v1/jobs/", job, "/edit");
  const auto editable = session->Ask("GET", target);
  if (!editable.ok()) return session->Fail(editable.status());
  auto file = EditedFile::Make();
  if (!file.ok()) return session->Fail(file.status());
  std::string text = EditText(*editable);
  std::string remark = absl::StrCat(
      "Job ", job, editable->value("waits", false) ? "" : ", which runs",
      ": save it to change it; left as it is, nothing is changed");
  absl::Status status;
  for (;;) {
    const auto edited = file->Edit(WithRemark(remark, text));
    if (!edited.ok()) return session->Fail(edited.status());
    const std::string now = WithoutRemark(*edited);
    if (now == text) break;
    text = now;
    bool changes = false;
    status = Apply(session, target, file->path(), *editable, &changes);
    if (status.ok()) return TellEdited(session, job, changes);
    remark = absl::StrCat("NOT CHANGED: ", std::string(status.message()));
  }
  if (status.ok()) return TellEdited(session, job, false);
  // Whoever gives up after a mistake keeps what he has written.
  file->Keep();
  session->err() << "muster: what you wrote is in " << file->path() << "\n";
  return session->Fail(status);
}

}  // namespace

int Edit(Session* session, const std::string& job, const std::string& role,
         const SubmitOptions& options) {
  const auto body = BodyOf(role, options);
  if (!body.ok()) {
    session->Fail(body.status());
    return kUsage;
  }
  const auto id = FindJob(session, job);
  if (!id.ok()) return session->Fail(id.status());
  if (body->empty()) return EditByHand(session, *id);
  const auto answer =
      session->Ask("POST", absl::StrCat("/v1/jobs/", *id, "/edit"), *body);
  if (!answer.ok()) return session->Fail(answer.status());
  return TellEdited(session, *id, true);
}

}  // namespace muster::local
