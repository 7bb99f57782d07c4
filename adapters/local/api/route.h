// Which requests there are, and what is in them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/serve/http_server.h"
#include "muster/enum_names.h"

namespace muster::local {

enum class Route : uint8_t {
  kSubmit,
  kWhatIf,
  kCancel,
  kHold,
  kRelease,
  kSuspend,
  kResume,
  kPriority,
  kMove,
  kResize,
  kEdit,
  kOrder,
  kSuspendCron,
  kResumeCron,
  kRemoveCron,
  kMakeToken,
  kForgetToken,
  kDrain,
  kResumeNode,
  kJobs,
  kJob,
  kLogs,
  kInput,
  kExplain,
  kEditable,
  kTimeline,
  kQueue,
  kEvents,
  kHistory,
  kRemoved,
  kCrons,
  kNodes,
  kQueues,
  kUsers,
  kWeb,
  kVersion,
  kHealth,
  kMetrics,
};
MUSTER_ENUM_NAMES(Route, "submit", "what-if", "cancel", "hold", "release",
                  "suspend", "resume", "priority", "move", "resize", "edit",
                  "order", "suspend-cron", "resume-cron", "remove-cron",
                  "make-token", "forget-token", "drain", "resume-node", "jobs",
                  "job", "logs", "input", "explain", "editable", "timeline",
                  "queue", "events", "history", "removed", "crons", "nodes",
                  "queues", "users", "web", "version", "health", "metrics");

// One row of the table of routes; docs/local-api.yaml has them, too.
struct RouteRow {
  Route route = Route::kSubmit;
  std::string_view method{};
  std::string_view path{};        // "{id}" stands for a job's id.
  std::string_view parameters{};  // Of the query, with spaces between them.
};
std::span<const RouteRow> Routes();

// Who asks. Root and the user whose daemon it is may do everything, others may
// with their own jobs.
struct Viewer {
  uint32_t uid = 0;
  uint32_t gid = 0;
  bool privileged = false;

  bool Owns(uint32_t job_uid) const { return privileged || uid == job_uid; }
};

// A request that was understood.
struct Asked {
  Route route = Route::kSubmit;
  Viewer viewer{};
  uint64_t job = 0;
  std::map<std::string, std::string> parameters{};
  std::string body{};

  // "" if it is not there. O(log parameters).
  std::string Parameter(const std::string& name) const;
  // The parameter as a number, `otherwise` if it is not there.
  // INVALID_ARGUMENT names it and its range.
  absl::StatusOr<uint64_t> Number(const std::string& name, uint64_t otherwise,
                                  uint64_t most) const;
  // The same of "0" and "1".
  absl::StatusOr<bool> Flag(const std::string& name) const;
};

// PERMISSION_DENIED: it did not come over a Unix socket. NOT_FOUND: there is
// no such path. UNIMPLEMENTED: not by this method. INVALID_ARGUMENT: the query.
// `owner`: the user whose daemon it is. Pure; O(bytes).
absl::StatusOr<Asked> ParseRequest(const serve::HttpRequest& request,
                                   uint32_t owner);

}  // namespace muster::local
