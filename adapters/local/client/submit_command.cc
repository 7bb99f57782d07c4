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

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/grid_file.h"
#include "adapters/local/client/job_files.h"
#include "adapters/local/client/job_finder.h"
#include "adapters/local/client/job_id.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/own_umask.h"
#include "adapters/local/client/submitted_code.h"
#include "adapters/local/client/tables.h"
#include "adapters/text/table.h"

namespace muster::local {
namespace {

using Json = Session::Json;

// Where the host looks for config maps and secrets of a job.
constexpr std::string_view kFilesVariable = "MUSTER_JOB_FILES=";
// Shorter than what the server allows.
constexpr int kWaitSeconds = 50;

// "0-9:2,12", "0-9%4", or "%4" of points.
absl::Status AddArray(std::string array, Json* body) {
  if (const size_t percent = array.rfind('%'); percent != std::string::npos) {
    const std::string limit = array.substr(percent + 1);
    uint32_t at_once = 0;
    if (!absl::SimpleAtoi(limit, &at_once) || at_once == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "array: '%", limit, "': expected how many run at a time: 0-9%4"));
    }
    (*body)["array_limit"] = at_once;
    array.resize(percent);
  }
  if (array.empty()) return absl::OkStatus();
  auto indices = ParseIndices(array);
  if (!indices.ok()) return indices.status();
  (*body)["array"] = *std::move(indices);
  return absl::OkStatus();
}

// What holds for each job of the manifest.
absl::StatusOr<Json> SubmissionOf(const std::string& manifest,
                                  const SubmitOptions& options,
                                  const ParameterGrid& grid,
                                  const JobFiles* files = nullptr) {
  Json body{{"manifest", manifest}};
  std::error_code error;
  const auto directory = std::filesystem::current_path(error);
  if (!error) body["directory"] = directory.string();
  Json environment = Json::array();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    // What is no variable is nothing to pass on.
    const std::string_view text = *variable;
    // The files of a job are not those of what it submits.
    if (text.find('=') != std::string_view::npos && text[0] != '=' &&
        !text.starts_with(kFilesVariable)) {
      environment.push_back(text);
    }
  }
  if (files != nullptr) {
    environment.push_back(
        absl::StrCat(std::string(kFilesVariable), files->path()));
  }
  body["environment"] = std::move(environment);
  if (const std::string umask = OwnUmask(); !umask.empty()) {
    body["umask"] = umask;
  }
  // The manifest of a command has its name.
  if (options.command.empty() && !options.name.empty()) {
    body["name"] = options.name;
  }
  if (!options.queue.empty()) body["queue"] = options.queue;
  if (!options.priority.empty()) body["priority"] = options.priority;
  if (options.hold) body["hold"] = true;
  if (absl::Status s = AddArray(options.array, &body); !s.ok()) return s;
  if (!grid.empty()) body["parameters"] = Json::parse(grid.ToJson());
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

// The largest of their codes.
absl::StatusOr<int> WaitFor(Session* session,
                            const std::vector<uint64_t>& jobs) {
  int code = kDone;
  Json list = Json::array();
  for (const uint64_t job : jobs) {
    const auto ended = WaitForOne(session, job);
    if (!ended.ok()) return ended.status();
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

// The points, each with what it is to run.
std::string PointsText(const ParameterGrid& grid, const SubmitOptions& options,
                       const Json& submission) {
  text::Table table({"INDEX", "PARAMETERS", "COMMAND"});
  const Json& chosen = ListOf(submission, "array");
  const uint32_t count =
      chosen.empty() ? grid.size() : static_cast<uint32_t>(chosen.size());
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = chosen.empty() ? i : chosen[i].get<uint32_t>();
    if (index >= grid.size()) continue;  // The daemon has refused it.
    const ParameterPoint point = grid.At(index);
    table.Add({absl::StrCat(index), TextOf(point),
               WithParameters(absl::StrJoin(options.command, " "), point)});
  }
  return table.Text();
}

int DryRun(Session* session, const std::string& manifest,
           const SubmitOptions& options, const ParameterGrid& grid,
           const Json& body) {
  const auto answer = session->Ask("POST", "/v1/what-if", body);
  if (!answer.ok()) return session->Fail(answer.status());
  if (grid.empty() || session->json()) {
    session->out() << manifest << "\n";
  } else {
    session->out() << PointsText(grid, options, body);
  }
  TellRemarks(session, *answer);
  return kDone;
}

// `code`: null, or what the jobs run in; `files`: null, or what they find
// there.
int SubmitText(Session* session, const std::string& manifest,
               const SubmitOptions& options, SubmitMode mode,
               SubmittedCode* code = nullptr, JobFiles* files = nullptr) {
  const auto grid = ReadGrid(session, options);
  const auto body =
      grid.ok() ? SubmissionOf(manifest, options, *grid, files) : grid.status();
  if (!body.ok()) {
    session->Fail(body.status());
    return kUsage;
  }
  if (mode.dry_run) return DryRun(session, manifest, options, *grid, *body);
  const auto answer = session->Ask("POST", "/v1/jobs", *body);
  if (absl::IsUnavailable(answer.status()) && files != nullptr) {
    files->KeepForNow();
  }
  if (!answer.ok()) return session->Fail(answer.status());
  std::vector<uint64_t> ids;
  for (const Json& job : ListOf(*answer, "jobs")) {
    ids.push_back(job.value("id", uint64_t{0}));
  }
  if (code != nullptr) code->Keep(session, ids);
  const bool calendar = !ListOf(*answer, "crons").empty();
  if (files != nullptr && calendar) files->KeepForGood(session);
  if (files != nullptr && !calendar) files->Keep(session, ids);
  DropOldJobFiles(session);
  if (!mode.wait) return TellSubmitted(session, *answer);
  if (!session->json()) TellSubmitted(session, *answer);
  session->out().flush();
  const auto code_of_jobs = WaitFor(session, ids);
  if (code_of_jobs.ok() && files != nullptr && !calendar) files->Drop();
  return code_of_jobs.ok() ? *code_of_jobs
                           : session->Fail(code_of_jobs.status());
}

// Those of a file without a job.
int KeepDocuments(Session* session,
                  const std::vector<ConfigDocument>& documents) {
  const absl::Status kept = KeepForUser(documents);
  if (!kept.ok()) return session->Fail(kept);
  for (const ConfigDocument& document : documents) {
    session->err() << "muster: " << (document.secret ? "secret" : "config map")
                   << " '" << document.name << "' is kept for later jobs\n";
  }
  return kDone;
}

}  // namespace

int CodeOf(const Json& job) {
  const bool succeeded = job.value("phase", "") == "succeeded";
  return job.value("exit_code", succeeded ? kDone : kRefused);
}

int Submit(Session* session, SubmitOptions options, SubmitMode mode) {
  std::unique_ptr<SubmittedCode> code;
  // A copy of the code is kept for jobs that are there already.
  if (options.snapshot && !options.cron.empty()) {
    session->Fail(absl::InvalidArgumentError("--snapshot: not with --cron"));
    return kUsage;
  }
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
  const auto split = TakeConfigDocuments(manifest);
  if (!split.ok()) {
    session->Fail(split.status());
    return kUsage;
  }
  if (split->documents.empty() || mode.dry_run) {
    return SubmitText(session, split->rest, options, mode);
  }
  if (!split->has_rest) return KeepDocuments(session, split->documents);
  const auto files = JobFiles::Write(split->documents);
  if (!files.ok()) return session->Fail(files.status());
  return SubmitText(session, split->rest, options, mode, nullptr, files->get());
}

int WhatIf(Session* session, const SubmitOptions& options) {
  const auto manifest = MakeManifest(options);
  const auto grid = ReadGrid(session, options);
  const absl::Status read = manifest.ok() ? grid.status() : manifest.status();
  const auto body = read.ok() ? SubmissionOf(manifest->dump(), options, *grid)
                              : absl::StatusOr<Json>(read);
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
  const auto code = WaitFor(session, *ids);
  return code.ok() ? *code : session->Fail(code.status());
}

}  // namespace muster::local
