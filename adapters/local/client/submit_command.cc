// submit, apply, what-if, wait.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <memory>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/job_finder.h"
#include "adapters/local/client/job_id.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/submitted_code.h"
#include "adapters/local/client/tables.h"
#include "adapters/text/table.h"

namespace muster::local {
namespace {

using Json = Session::Json;

// Shorter than what the server allows.
constexpr int kWaitSeconds = 50;

// What holds for each job of the manifest.
absl::StatusOr<Json> SubmissionOf(const std::string& manifest,
                                  const SubmitOptions& options) {
  Json body{{"manifest", manifest}};
  std::error_code error;
  const auto directory = std::filesystem::current_path(error);
  if (!error) body["directory"] = directory.string();
  Json environment = Json::array();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    // What is no variable is nothing to pass on.
    const std::string_view text = *variable;
    if (text.find('=') != std::string_view::npos && text[0] != '=') {
      environment.push_back(text);
    }
  }
  body["environment"] = std::move(environment);
  // The manifest of a command has its name.
  if (options.command.empty() && !options.name.empty()) {
    body["name"] = options.name;
  }
  if (!options.queue.empty()) body["queue"] = options.queue;
  if (!options.priority.empty()) body["priority"] = options.priority;
  if (options.hold) body["hold"] = true;
  if (!options.array.empty()) {
    auto indices = ParseIndices(options.array);
    if (!indices.ok()) return indices.status();
    body["array"] = *indices;
  }
  return body;
}

// Ignored fields and notes, for those who read.
void TellRemarks(Session* session, const Json& answer) {
  for (const Json& field : ListOf(answer, "ignored")) {
    session->err() << "muster: ignored: "
                   << text::Printable(field.value("path", "")) << " (line "
                   << field.value("line", 0)
                   << "): " << text::Printable(field.value("why", "")) << "\n";
  }
  for (const Json& note : ListOf(answer, "notes")) {
    session->err() << "muster: note: "
                   << text::Printable(note.get<std::string>(), 1'000) << "\n";
  }
}

absl::StatusOr<Json> WaitForOne(Session* session, uint64_t job) {
  for (;;) {
    auto answer = session->Ask(
        "GET", absl::StrCat("/v1/jobs/", job, "?wait=", kWaitSeconds));
    if (!answer.ok() || answer->contains("finished")) return answer;
  }
}

int WaitFor(Session* session, const std::vector<uint64_t>& jobs) {
  int code = kDone;
  Json list = Json::array();
  for (const uint64_t job : jobs) {
    const auto ended = WaitForOne(session, job);
    if (!ended.ok()) return session->Fail(ended.status());
    code = std::max(code, CodeOf(*ended));
    list.push_back({{"id", job},
                    {"phase", ended->value("phase", "")},
                    {"code", CodeOf(*ended)}});
  }
  if (session->json()) session->PrintJson({{"jobs", std::move(list)}});
  return code;
}

int TellSubmitted(Session* session, const Json& answer) {
  if (session->json()) {
    session->PrintJson(answer);
    return kDone;
  }
  TellRemarks(session, answer);
  for (const Json& cron : ListOf(answer, "crons")) {
    session->out() << "Submitted calendar " << cron.value("id", uint64_t{0})
                   << ": its next start is "
                   << (cron.contains("next") ? TimeText(cron.value("next", 0.0))
                                             : "never")
                   << "\n";
  }
  const Json& jobs = ListOf(answer, "jobs");
  uint64_t array = 0;
  for (const Json& job : jobs) {
    const uint64_t of = job.value("array", uint64_t{0});
    if (of == 0) {
      session->out() << "Submitted job " << job.value("id", uint64_t{0})
                     << "\n";
    } else if (of != array) {
      const auto count = std::ranges::count_if(jobs, [&](const Json& j) {
        return j.value("array", uint64_t{0}) == of;
      });
      session->out() << "Submitted array " << of << ", " << count << " jobs\n";
    }
    array = of;
  }
  return kDone;
}

// `code`: null, or what the jobs run in.
int SubmitText(Session* session, const std::string& manifest,
               const SubmitOptions& options, SubmitMode mode,
               SubmittedCode* code = nullptr) {
  const auto body = SubmissionOf(manifest, options);
  if (!body.ok()) {
    session->Fail(body.status());
    return kUsage;
  }
  const auto answer =
      session->Ask("POST", mode.dry_run ? "/v1/what-if" : "/v1/jobs", *body);
  if (!answer.ok()) return session->Fail(answer.status());
  if (mode.dry_run) {
    session->out() << manifest << "\n";
    TellRemarks(session, *answer);
    return kDone;
  }
  std::vector<uint64_t> ids;
  for (const Json& job : ListOf(*answer, "jobs")) {
    ids.push_back(job.value("id", uint64_t{0}));
  }
  if (code != nullptr) code->Keep(session, ids);
  if (!mode.wait) return TellSubmitted(session, *answer);
  if (!session->json()) TellSubmitted(session, *answer);
  session->out().flush();
  return WaitFor(session, ids);
}

}  // namespace

int CodeOf(const Json& job) {
  const bool succeeded = job.value("phase", "") == "succeeded";
  return job.value("exit_code", succeeded ? kDone : kRefused);
}

int Submit(Session* session, SubmitOptions options, SubmitMode mode) {
  std::unique_ptr<SubmittedCode> code;
  if (options.snapshot && !mode.dry_run) {
    auto taken = SubmittedCode::Take(session, &options);
    if (!taken.ok()) return session->Fail(taken.status());
    code = *std::move(taken);
  }
  const auto manifest = MakeManifest(options);
  if (!manifest.ok()) {
    session->Fail(manifest.status());
    return kUsage;
  }
  return SubmitText(session,
                    manifest->dump(mode.dry_run ? 2 : -1, ' ', false,
                                   Json::error_handler_t::replace),
                    options, mode, code.get());
}

int Apply(Session* session, const std::string& file,
          const SubmitOptions& options, SubmitMode mode) {
  std::ifstream opened;
  if (file != "-") opened.open(file, std::ios::binary);
  std::istream& in = file == "-" ? session->in() : opened;
  const std::string manifest{std::istreambuf_iterator<char>(in), {}};
  if (file != "-" && (!opened.is_open() || opened.bad())) {
    return session->Fail(
        absl::NotFoundError(absl::StrCat(file, ": cannot be read")));
  }
  return SubmitText(session, manifest, options, mode);
}

int WhatIf(Session* session, const SubmitOptions& options) {
  const auto manifest = MakeManifest(options);
  const auto body = manifest.ok() ? SubmissionOf(manifest->dump(), options)
                                  : manifest.status();
  if (!body.ok()) {
    session->Fail(body.status());
    return kUsage;
  }
  const auto answer = session->Ask("POST", "/v1/what-if", *body);
  if (!answer.ok()) return session->Fail(answer.status());
  if (session->json()) {
    session->PrintJson(*answer);
  } else {
    TellRemarks(session, *answer);
    session->out() << ForecastText(*answer);
  }
  return kDone;
}

int Wait(Session* session, const std::vector<std::string>& jobs) {
  const auto ids = FindJobs(session, jobs);
  if (!ids.ok()) return session->Fail(ids.status());
  return WaitFor(session, *ids);
}

}  // namespace muster::local
