// Routes that change something.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/job_json.h"
#include "adapters/local/api/submission_json.h"
#include "adapters/local/api/view_json.h"
#include "nlohmann/json.hpp"

namespace muster::local {
namespace {

using serve::HttpResponse;

HttpResponse Submit(const ApiContext& context, const Asked& asked) {
  const ApiOptions& options = context.options;
  if (!options.as_submitter && !asked.viewer.privileged) {
    return ErrorAnswer(absl::PermissionDeniedError(
        absl::StrCat("this daemon is the own one of user ", options.owner,
                     ": jobs run as that user, so nobody else submits any")));
  }
  auto submission = ReadSubmission(asked.body);
  if (!submission.ok()) return ErrorAnswer(submission.status());
  submission->uid = asked.viewer.uid;
  submission->gid = asked.viewer.gid;
  if (asked.route == Route::kWhatIf) {
    const auto forecast = context.controller.WhatIf(*submission, context.now);
    if (!forecast.ok()) return ContentErrorAnswer(forecast.status());
    return JsonAnswer(ToText(ForecastJson(*forecast)));
  }
  const auto result = context.controller.Submit(*submission, context.now);
  if (!result.ok()) return ContentErrorAnswer(result.status());
  return JsonAnswer(ToText(SubmitJson(*result)), 201);
}

// OK, or why the viewer may not change the job.
absl::Status MayChange(const ApiContext& context, const Asked& asked) {
  const auto row = FindOwnJob(context, asked);
  if (!row.ok()) return row.status();
  if (row->finished != kForever) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", asked.job, ": has finished"));
  }
  return absl::OkStatus();
}

// Changes that have something in their body.
absl::Status ChangeByBody(const ApiContext& context, const Asked& asked,
                          bool* content) {
  Controller& c = context.controller;
  absl::StatusOr<std::string> text = "";
  absl::StatusOr<ResizeBody> resize = ResizeBody{};
  if (asked.route == Route::kPriority) text = ReadText(asked.body, "priority");
  if (asked.route == Route::kMove) text = ReadText(asked.body, "queue");
  if (asked.route == Route::kResize) resize = ReadResize(asked.body);
  if (!text.ok()) return text.status();
  if (!resize.ok()) return resize.status();
  *content = true;
  switch (asked.route) {
    case Route::kPriority:
      return c.Reprioritize(asked.job, *text, context.now,
                            !asked.viewer.privileged);
    case Route::kMove:
      return c.Move(asked.job, *text, context.now);
    default:
      return c.Resize(asked.job, resize->role, resize->size, context.now);
  }
}

absl::Status ChangeJob(const ApiContext& context, const Asked& asked,
                       bool* content) {
  Controller& c = context.controller;
  if (asked.route == Route::kPriority || asked.route == Route::kMove ||
      asked.route == Route::kResize) {
    return ChangeByBody(context, asked, content);
  }
  if (asked.route == Route::kEdit) return EditJob(context, asked, content);
  if (asked.route == Route::kOrder) return OrderJob(context, asked, content);
  const absl::Status empty = ExpectNoContent(asked.body);
  if (!empty.ok()) return empty;
  switch (asked.route) {
    case Route::kCancel:
      return c.Cancel(asked.job, context.now);
    case Route::kHold:
      return c.Hold(asked.job, context.now);
    case Route::kRelease:
      return c.Release(asked.job, context.now);
    case Route::kSuspend:
      return c.Suspend(asked.job, context.now);
    case Route::kResume:
      return c.Resume(asked.job, context.now);
    default:
      return absl::InternalError("no change");
  }
}

HttpResponse ChangeCron(const ApiContext& context, const Asked& asked) {
  Controller& c = context.controller;
  const absl::Status empty = ExpectNoContent(asked.body);
  if (!empty.ok()) return ErrorAnswer(empty);
  const std::optional<uint32_t> owner = c.OwnerOfCron(asked.job);
  if (owner && !asked.viewer.Owns(*owner)) {
    return ErrorAnswer(absl::PermissionDeniedError(
        absl::StrCat("calendar ", asked.job, ": is another user's")));
  }
  const absl::Status status = asked.route == Route::kSuspendCron
                                  ? c.SuspendCron(asked.job, context.now)
                              : asked.route == Route::kResumeCron
                                  ? c.ResumeCron(asked.job, context.now)
                                  : c.RemoveCron(asked.job, context.now);
  if (!status.ok()) return ErrorAnswer(status);
  return JsonAnswer(absl::StrCat("{\"id\":", asked.job, "}"));
}

HttpResponse ChangeNode(const ApiContext& context, const Asked& asked) {
  Controller& c = context.controller;
  const auto body = ReadNodeBody(asked.body);
  if (!body.ok()) return ErrorAnswer(body.status());
  if (!asked.viewer.privileged) {
    return ErrorAnswer(absl::PermissionDeniedError(
        "nodes are drained and resumed by root and the daemon's user"));
  }
  const std::string& key = c.config().node.key;
  if (body->node != key) {
    return ErrorAnswer(absl::NotFoundError(
        absl::StrCat("node: there is no '", body->node, "'; there is: ", key)));
  }
  absl::Status status;
  if (asked.route == Route::kDrain) {
    DrainRow row{.uid = asked.viewer.uid, .reason = body->reason};
    if (body->device) row.device = *body->device;
    status = c.Drain(std::move(row), context.now);
  } else {
    status = c.ResumeNode(body->device, context.now);
  }
  if (!status.ok()) return ContentErrorAnswer(status);
  return JsonAnswer(ToText(nlohmann::ordered_json{{"node", key}}));
}

// Of who asks: nobody learns another's.
HttpResponse ChangeToken(const ApiContext& context, const Asked& asked) {
  const ApiOptions& options = context.options;
  const absl::Status empty = ExpectNoContent(asked.body);
  if (!empty.ok()) return ErrorAnswer(empty);
  if (!HasPage(context)) return ErrorAnswer(NoPage());
  if (asked.route == Route::kForgetToken) {
    const absl::Status status = options.forget_web_token(asked.viewer.uid);
    return status.ok() ? JsonAnswer("{}") : ErrorAnswer(status);
  }
  const auto token = options.web_token(asked.viewer.uid, asked.viewer.gid);
  if (!token.ok()) return ErrorAnswer(token.status());
  return JsonAnswer(ToText(nlohmann::ordered_json{{"token", *token}}));
}

bool IsOfCron(Route route) {
  return route == Route::kSuspendCron || route == Route::kResumeCron ||
         route == Route::kRemoveCron;
}

}  // namespace

bool IsChange(Route route) { return route <= Route::kResumeNode; }

HttpResponse Change(const ApiContext& context, const Asked& asked) {
  if (asked.route == Route::kSubmit || asked.route == Route::kWhatIf) {
    return Submit(context, asked);
  }
  if (asked.route == Route::kDrain || asked.route == Route::kResumeNode) {
    return ChangeNode(context, asked);
  }
  if (IsOfCron(asked.route)) return ChangeCron(context, asked);
  if (asked.route == Route::kMakeToken || asked.route == Route::kForgetToken) {
    return ChangeToken(context, asked);
  }
  const absl::Status may = MayChange(context, asked);
  if (!may.ok()) return ErrorAnswer(may);
  bool content = false;
  const absl::Status status = ChangeJob(context, asked, &content);
  if (!status.ok()) {
    return content ? ContentErrorAnswer(status) : ErrorAnswer(status);
  }
  return JsonAnswer(absl::StrCat("{\"id\":", asked.job, "}"));
}

}  // namespace muster::local
