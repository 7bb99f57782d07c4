// logs: what a task has written, and what it writes.
#include <chrono>
#include <ostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/job_finder.h"
#include "adapters/local/client/job_id.h"
#include "adapters/local/client/json_list.h"
#include "adapters/text/percent.h"

namespace muster::local {
namespace {

using Json = Session::Json;

constexpr std::chrono::milliseconds kLookEvery{300};

class LogPrinter {
 public:
  LogPrinter(Session* session, uint64_t job, std::string task,
             const LogOptions& options)
      : session_(*session),
        job_(job),
        task_(std::move(task)),
        options_(options) {}

  // One attempt, to its end with `follow`. The daemon ends a long stream in
  // between: it is asked for the rest.
  absl::Status Print(uint32_t attempt) {
    attempt_ = attempt;
    bytes_ = 0;
    return PrintMore();
  }
  absl::Status PrintMore() {
    std::string target = absl::StrCat(
        "/v1/jobs/", job_, "/logs?stream=", options_.error ? "error" : "output",
        "&follow=", options_.follow ? 1 : 0, "&from=", bytes_);
    if (!task_.empty())
      absl::StrAppend(&target, "&task=", text::PercentEncoded(task_));
    if (attempt_ != 0) absl::StrAppend(&target, "&attempt=", attempt_);
    const auto answer =
        session_.connection().Stream(target, [this](std::string_view part) {
          bytes_ += part.size();
          session_.out() << part << std::flush;
          return session_.out().good();
        });
    return answer.ok() ? StatusOf(*answer) : answer.status();
  }

  // The last attempt that there is; 0: none.
  absl::StatusOr<uint32_t> LastAttempt(bool* finished) {
    const auto job = session_.Ask("GET", absl::StrCat("/v1/jobs/", job_));
    if (!job.ok()) return job.status();
    *finished = job->contains("finished");
    const Json& tasks = ListOf(*job, "tasks");
    for (const Json& task : tasks) {
      const std::string name = task.value("task", "");
      if (task_.empty() || name == task_ || name.ends_with("-" + task_)) {
        return task.value("attempt", uint32_t{0});
      }
    }
    if (!tasks.empty() && *finished) {
      return absl::NotFoundError(
          absl::StrCat("task: job ", job_, " has none like ", task_));
    }
    return 0;
  }

 private:
  Session& session_;
  const uint64_t job_;
  const std::string task_;
  const LogOptions& options_;
  uint32_t attempt_ = 0;
  uint64_t bytes_ = 0;
};

// Attempt after attempt, until the job has finished.
int Follow(Session* session, LogPrinter* printer) {
  uint32_t printed = 0;
  for (;;) {
    bool finished = false;
    const auto attempt = printer->LastAttempt(&finished);
    if (!attempt.ok()) return session->Fail(attempt.status());
    absl::Status status;
    if (*attempt > printed) {
      status = printer->Print(*attempt);
      printed = *attempt;
    } else if (printed > 0) {
      status = printer->PrintMore();
    }
    if (!status.ok() && !absl::IsNotFound(status)) return session->Fail(status);
    if (finished || !session->out().good()) return kDone;
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace

int Logs(Session* session, const LogOptions& options) {
  const JobAndTask named = SplitTask(options.job);
  const auto job = FindJob(session, named.job);
  if (!job.ok()) return session->Fail(job.status());
  LogPrinter printer(session, *job, named.task, options);
  if (options.follow && options.attempt == 0) return Follow(session, &printer);
  const absl::Status status = printer.Print(options.attempt);
  return status.ok() ? kDone : session->Fail(status);
}

}  // namespace muster::local
