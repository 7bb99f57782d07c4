// What routes are answered with. Included by the Api's parts alone.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/api/api.h"
#include "adapters/local/api/event_log.h"
#include "adapters/local/api/job_json.h"
#include "adapters/local/api/log_reader.h"
#include "adapters/local/api/route.h"
#include "adapters/local/controller/controller.h"
#include "adapters/local/store/history.h"

namespace muster::local {

// Those who follow what a job writes.
struct Follower {
  TaskKey task{};
  std::weak_ptr<std::atomic<bool>> over{};
};

// Of one turn. Nothing is owned.
struct ApiContext {
  Controller& controller;
  History& history;
  LogReader& logs;
  EventLog& events;
  std::vector<Follower>& followers;
  const ApiOptions& options;
  Time now = 0;
};

inline Reader ReaderOf(const Viewer& viewer, const JobRow& row) {
  return viewer.Owns(row.uid) ? Reader::kOwner : Reader::kOther;
}

// A job that has not finished, or of the history; without manifest and
// environment. NOT_FOUND. O(log jobs).
absl::StatusOr<JobRow> FindJob(const ApiContext& context, uint64_t job);
// The job that is asked for, which is the viewer's to use. And
// PERMISSION_DENIED.
absl::StatusOr<JobRow> FindOwnJob(const ApiContext& context,
                                  const Asked& asked);

// Whether the turn has to be kept before anything is told of it.
bool IsChange(Route route);

// Carries a change out, and what is to be told once it is kept. O(as the
// controller's function).
serve::HttpResponse Change(const ApiContext& context, const Asked& asked);

// What is asked of a job that is there: edits, and its place among others. An
// error of the body leaves *content false.
absl::Status EditJob(const ApiContext& context, const Asked& asked,
                     bool* content);
absl::Status OrderJob(const ApiContext& context, const Asked& asked,
                      bool* content);
// What can be edited of it, as it is. O(its size).
serve::HttpResponse EditableAnswer(const ApiContext& context,
                                   const Asked& asked);

// Answers what changes nothing.
serve::HttpResponse Read(const ApiContext& context, const Asked& asked);

// Whether there is a page; NOT_FOUND, and how to have one.
bool HasPage(const ApiContext& context);
absl::Status NoPage();

// What a task has written, and has been given to read. O(attempts of the job),
// and bytes to read.
serve::HttpResponse LogAnswer(const ApiContext& context, const Asked& asked);
serve::HttpResponse InputAnswer(const ApiContext& context, const Asked& asked);

// What the page asks for besides. O(jobs x log jobs), and the page's limit.
serve::HttpResponse QueueAnswer(const ApiContext& context, const Asked& asked);
// Users of this machine, as its own list has them. O(users).
serve::HttpResponse UsersAnswer(const Asked& asked);
// O(attempts + what happened).
serve::HttpResponse TimelineAnswer(const ApiContext& context,
                                   const Asked& asked);

// The job as the viewer may see it: whole, if it is his to use.
serve::HttpResponse JobAnswer(const ApiContext& context, const Viewer& viewer,
                              uint64_t job);

}  // namespace muster::local
