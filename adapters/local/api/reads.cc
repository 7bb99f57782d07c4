// Routes that change nothing.
#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/job_json.h"
#include "adapters/local/api/metrics_page.h"
#include "adapters/local/api/view_json.h"
#include "adapters/local/controller/job_maker.h"
#include "adapters/local/controller/task_folder.h"
#include "adapters/serve/metrics_text.h"
#include "muster/version.h"

namespace muster::local {
namespace {

using serve::HttpResponse;
using Json = nlohmann::ordered_json;

constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMax64 = std::numeric_limits<int64_t>::max();

bool HasReason(const JobRow& row) {
  return row.phase == Name(workload::LifePhase::kQueued) ||
         row.phase == Name(workload::LifePhase::kNew) ||
         row.phase == Name(workload::LifePhase::kSuspended);
}

// Written job by job: there may be many.
class JobList {
 public:
  void Add(const std::string& job) {
    text_ += count_++ == 0 ? "" : ",";
    text_ += job;
  }
  HttpResponse Answer() && {
    return JsonAnswer(absl::StrCat("{\"jobs\":[", text_, "]}"));
  }

 private:
  std::string text_{};
  size_t count_ = 0;
};

// Why jobs wait. Those whose gangs are in one class wait for the same: one of
// them is asked.
class WaitTexts {
 public:
  explicit WaitTexts(Controller* controller) : controller_(*controller) {}

  std::string Of(const JobRow& row) {
    const Scheduler& scheduler = controller_.scheduler();
    const uint64_t c =
        scheduler.WaitingGangClass(scheduler.FindGang(GangKey(row.id)));
    if (c == 0) return Ask(row);
    const auto [known, is_new] = by_class_.try_emplace(c);
    if (is_new) known->second = Ask(row);
    return known->second;
  }

 private:
  std::string Ask(const JobRow& row) {
    auto explanation = controller_.Explain(row.id);
    return explanation.ok() ? std::move(explanation->text) : "";
  }

  Controller& controller_;
  std::map<uint64_t, std::string> by_class_{};
};

HttpResponse Jobs(const ApiContext& context, const Asked& asked) {
  const auto uid = asked.Number("uid", kMax64, kMax32);
  const auto why = asked.Flag("why");
  if (!uid.ok()) return ErrorAnswer(uid.status());
  if (!why.ok()) return ErrorAnswer(why.status());
  JobList list;
  WaitTexts texts(&context.controller);
  for (const JobRow* row : context.controller.Jobs()) {
    if (row->finished != kForever) continue;
    if (*uid != kMax64 && row->uid != *uid) continue;
    list.Add(JobLine(*row, ReaderOf(asked.viewer, *row),
                     *why && HasReason(*row) ? texts.Of(*row) : ""));
  }
  return std::move(list).Answer();
}

HttpResponse Explain(const ApiContext& context, const Asked& asked) {
  const auto row = FindOwnJob(context, asked);
  if (!row.ok()) return ErrorAnswer(row.status());
  const auto explanation = context.controller.Explain(asked.job);
  if (!explanation.ok()) {
    return ErrorAnswer(absl::FailedPreconditionError(
        absl::StrCat("job ", asked.job, ": has finished: ", row->phase,
                     row->reason.empty() ? "" : ", ", row->reason)));
  }
  return JsonAnswer(ToText(ExplanationJson(asked.job, *explanation)));
}

absl::StatusOr<HistoryFilter> ReadFilter(const Asked& asked) {
  HistoryFilter filter;
  const auto text = [&](const char* name, std::optional<std::string>* to) {
    if (asked.parameters.contains(name)) *to = asked.Parameter(name);
  };
  text("name", &filter.name);
  text("queue", &filter.queue);
  text("phase", &filter.phase);
  constexpr uint64_t kMaxSeconds = 9'000'000'000;
  const auto uid = asked.Number("uid", kMax64, kMax32);
  const auto since = asked.Number("since", 0, kMaxSeconds);
  const auto until = asked.Number("until", kMax64, kMaxSeconds);
  const auto before = asked.Number("before", 0, kMax64);
  const auto limit = asked.Number("limit", 100, HistoryFilter::kMaxLimit);
  for (const auto* number : {&uid, &since, &until, &before, &limit}) {
    if (!number->ok()) return number->status();
  }
  if (*uid != kMax64) filter.uid = static_cast<uint32_t>(*uid);
  filter.since = static_cast<Time>(*since) * kSecond;
  if (*until != kMax64) filter.until = static_cast<Time>(*until) * kSecond;
  filter.before = *before;
  filter.limit = static_cast<uint32_t>(*limit);
  return filter;
}

HttpResponse HistoryPage(const ApiContext& context, const Asked& asked) {
  const auto filter = ReadFilter(asked);
  if (!filter.ok()) return ErrorAnswer(filter.status());
  const auto rows = context.history.Jobs(*filter);
  if (!rows.ok()) return ErrorAnswer(rows.status());
  JobList list;
  for (const JobRow& row : *rows) {
    list.Add(JobLine(row, ReaderOf(asked.viewer, row)));
  }
  return std::move(list).Answer();
}

HttpResponse Removed(const ApiContext& context, const Asked& asked) {
  const auto uid = asked.Number("uid", kMax64, kMax32);
  const auto limit = asked.Number("limit", 100, HistoryFilter::kMaxLimit);
  if (!uid.ok()) return ErrorAnswer(uid.status());
  if (!limit.ok()) return ErrorAnswer(limit.status());
  std::optional<uint32_t> of;
  if (*uid != kMax64) of = static_cast<uint32_t>(*uid);
  const auto rows = context.history.Removed(of, static_cast<uint32_t>(*limit));
  if (!rows.ok()) return ErrorAnswer(rows.status());
  JobList list;
  for (const RemovedRow& row : *rows) list.Add(ToText(RemovedJson(row)));
  return std::move(list).Answer();
}

HttpResponse Events(const ApiContext& context, const Asked& asked) {
  const auto after = asked.Number("after", 0, kMax64);
  const auto follow = asked.Flag("follow");
  if (!after.ok()) return ErrorAnswer(after.status());
  if (!follow.ok()) return ErrorAnswer(follow.status());
  return {.content_type = "application/x-ndjson",
          .more = context.events.Open(*after, *follow)};
}

HttpResponse Web(const ApiContext& context) {
  if (!HasPage(context)) return ErrorAnswer(NoPage());
  return JsonAnswer(
      ToText(Json{{"address", context.options.web_address()},
                  {"token_file", context.options.state + "/web-token"}}));
}

HttpResponse Nodes(const ApiContext& context) {
  Json json{{"nodes", Json::array()}};
  const auto others = context.options.others ? context.options.others()
                                             : std::vector<OtherProcess>();
  json["nodes"].push_back(NodeJson(context.controller.ViewNode(), others,
                                   context.options.visible,
                                   context.controller.config().scheduler));
  return JsonAnswer(ToText(json));
}

HttpResponse Crons(const ApiContext& context, const Asked& asked) {
  const auto uid = asked.Number("uid", kMax64, kMax32);
  if (!uid.ok()) return ErrorAnswer(uid.status());
  Json json{{"crons", Json::array()}};
  for (const CronView& view : context.controller.Crons()) {
    if (*uid != kMax64 && view.row.uid != *uid) continue;
    const bool own = asked.viewer.Owns(view.row.uid);
    json["crons"].push_back(
        CronJson(view, own ? Reader::kOwner : Reader::kOther));
  }
  return JsonAnswer(ToText(json));
}

HttpResponse Queues(const ApiContext& context) {
  Json list = Json::array();
  for (const QueueView& view : context.controller.Queues()) {
    list.push_back(QueueJson(view, context.controller.config().scheduler));
  }
  Json classes = Json::array();
  for (const PriorityClass& c : context.controller.config().classes) {
    classes.push_back({{"name", c.key}, {"value", c.value}});
  }
  return JsonAnswer(ToText(Json{{"queues", std::move(list)},
                                {"priority_classes", std::move(classes)}}));
}

}  // namespace

bool HasPage(const ApiContext& context) {
  const ApiOptions& options = context.options;
  return options.web_address && !options.web_address().empty();
}

absl::Status NoPage() {
  return absl::NotFoundError(
      "musterd serves no page: set `listen` in its configuration, or start "
      "it with --listen 127.0.0.1:8750");
}

absl::StatusOr<JobRow> FindJob(const ApiContext& context, uint64_t job) {
  const JobRow* row = context.controller.Find(job);
  if (row != nullptr) return *row;
  auto kept = context.history.Find(job);
  if (absl::IsNotFound(kept.status())) {
    return absl::NotFoundError(absl::StrCat("job ", job, ": there is none"));
  }
  return kept;
}

absl::StatusOr<JobRow> FindOwnJob(const ApiContext& context,
                                  const Asked& asked) {
  auto row = FindJob(context, asked.job);
  if (row.ok() && !asked.viewer.Owns(row->uid)) {
    return absl::PermissionDeniedError(
        absl::StrCat("job ", asked.job, ": is another user's"));
  }
  return row;
}

HttpResponse JobAnswer(const ApiContext& context, const Viewer& viewer,
                       uint64_t job) {
  const auto row = FindJob(context, job);
  if (!row.ok()) return ErrorAnswer(row.status());
  if (!viewer.Owns(row->uid)) {
    return JsonAnswer(ToText(JobJson(*row, Reader::kOther)));
  }
  const auto tasks = context.history.Tasks(job);
  if (!tasks.ok()) return ErrorAnswer(tasks.status());
  const auto details = context.controller.Details(job);
  if (details.ok()) {
    Json json =
        WholeJobJson(details->row, LastAttempts(*tasks), details->tasks);
    AddDetails(*details, &json);
    const auto explanation = context.controller.Explain(job);
    if (explanation.ok()) {
      json["explanation"] = ExplanationJson(job, *explanation);
    }
    return JsonAnswer(ToText(json));
  }
  const auto whole = context.history.Find(job);
  if (!whole.ok()) return ErrorAnswer(whole.status());
  return JsonAnswer(ToText(WholeJobJson(*whole, LastAttempts(*tasks))));
}

HttpResponse Read(const ApiContext& context, const Asked& asked) {
  switch (asked.route) {
    case Route::kJobs:
      return Jobs(context, asked);
    case Route::kJob:
      return JobAnswer(context, asked.viewer, asked.job);
    case Route::kLogs:
      return LogAnswer(context, asked);
    case Route::kInput:
      return InputAnswer(context, asked);
    case Route::kExplain:
      return Explain(context, asked);
    case Route::kEditable:
      return EditableAnswer(context, asked);
    case Route::kTimeline:
      return TimelineAnswer(context, asked);
    case Route::kQueue:
      return QueueAnswer(context, asked);
    case Route::kEvents:
      return Events(context, asked);
    case Route::kHistory:
      return HistoryPage(context, asked);
    case Route::kRemoved:
      return Removed(context, asked);
    case Route::kCrons:
      return Crons(context, asked);
    case Route::kNodes:
      return Nodes(context);
    case Route::kQueues:
      return Queues(context);
    case Route::kUsers:
      return UsersAnswer(asked);
    case Route::kWeb:
      return Web(context);
    case Route::kVersion:
      return JsonAnswer(absl::StrCat("{\"version\":\"", MUSTER_VERSION, "\"}"));
    case Route::kHealth:
      return JsonAnswer("{\"status\":\"ok\"}");
    case Route::kMetrics:
      return {.content_type = serve::kMetricsContentType,
              .body = MetricsPage(context.controller)};
    default:
      return ErrorAnswer(absl::InternalError("no such question"));
  }
}

}  // namespace muster::local
