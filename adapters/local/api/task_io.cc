// What a task writes, and what it reads.
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/job_json.h"
#include "adapters/local/controller/task_folder.h"

namespace muster::local {
namespace {

using serve::HttpResponse;

constexpr uint64_t kMostAttempts = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMostBytes = std::numeric_limits<int64_t>::max();

struct LogQuestion {
  uint32_t attempt = 0;  // 0: the last.
  bool error = false;
  bool follow = false;
  uint64_t from = 0;
  uint64_t last = 0;  // 0: all.
};

absl::StatusOr<LogQuestion> ReadLogQuestion(const Asked& asked) {
  LogQuestion question;
  const auto attempt = asked.Number("attempt", 0, kMostAttempts);
  const auto from = asked.Number("from", 0, kMostBytes);
  const auto last = asked.Number("last", 0, kMostBytes);
  const auto follow = asked.Flag("follow");
  if (!attempt.ok()) return attempt.status();
  if (!from.ok()) return from.status();
  if (!last.ok()) return last.status();
  if (!follow.ok()) return follow.status();
  const std::string stream = asked.Parameter("stream");
  if (!stream.empty() && stream != "output" && stream != "error") {
    return absl::InvalidArgumentError("stream: expected output or error");
  }
  question.attempt = static_cast<uint32_t>(*attempt);
  question.error = stream == "error";
  question.follow = *follow;
  question.from = *from;
  question.last = *last;
  return question;
}

struct Attempt {
  JobRow job{};  // With its manifest.
  TaskRow task{};
};

// Of the job that is asked for, which is the viewer's to use; 0: the last.
absl::StatusOr<Attempt> FindAttempt(const ApiContext& context,
                                    const Asked& asked, uint32_t attempt) {
  const auto known = FindOwnJob(context, asked);
  if (!known.ok()) return known.status();
  auto row = context.history.Find(asked.job);
  if (!row.ok()) return row.status();
  const std::string name = asked.Parameter("task");
  uint32_t role = 0;
  uint32_t index = 0;
  if (!name.empty() && !TaskNames(*row).Find(name, &role, &index)) {
    return absl::NotFoundError(
        absl::StrCat("task: job ", row->id, " has no such role"));
  }
  const auto tasks = context.history.Tasks(row->id);
  if (!tasks.ok()) return tasks.status();
  const TaskRow* found = nullptr;
  for (const TaskRow& task : *tasks) {
    const TaskKey& key = task.key;
    if (key.role != role || key.index != index) continue;
    if (attempt != 0 && key.attempt != attempt) continue;
    found = &task;  // The last.
  }
  if (found == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("task: none of job ", row->id, " has started as that"));
  }
  return Attempt{*std::move(row), *found};
}

}  // namespace

HttpResponse LogAnswer(const ApiContext& context, const Asked& asked) {
  const auto question = ReadLogQuestion(asked);
  if (!question.ok()) return ErrorAnswer(question.status());
  const auto found = FindAttempt(context, asked, question->attempt);
  if (!found.ok()) return ErrorAnswer(found.status());
  const TaskRow& task = found->task;
  LogFile file{.folder = TaskFolder(context.options.state, task.key),
               .path = question->error ? "error" : "output",
               .uid = found->job.uid,
               .gid = found->job.gid};
  if (context.options.output_of) {
    file.path = context.options.output_of(file.folder, question->error);
  }
  auto over = std::make_shared<std::atomic<bool>>(task.state == "ended");
  if (question->follow && !*over) {
    context.followers.push_back({task.key, over});
  }
  return {.content_type = "text/plain; charset=utf-8",
          .more = context.logs.Open(std::move(file), question->from,
                                    question->follow, over, question->last)};
}

HttpResponse InputAnswer(const ApiContext& context, const Asked& asked) {
  const auto end = asked.Flag("end");
  if (!end.ok()) return ErrorAnswer(end.status());
  const auto found = FindAttempt(context, asked, 0);
  if (!found.ok()) return ErrorAnswer(found.status());
  const auto taken =
      context.options.send
          ? context.options.send(found->task.key, asked.body, *end)
          : absl::UnimplementedError("nothing can be sent to tasks here");
  if (!taken.ok()) {
    return ErrorAnswer(absl::Status(
        taken.status().code(),
        absl::StrCat("job ", asked.job, ": ", taken.status().message())));
  }
  return JsonAnswer(absl::StrCat("{\"taken\":", *taken, "}"));
}

}  // namespace muster::local
