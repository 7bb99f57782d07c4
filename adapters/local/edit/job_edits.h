// JobEdits: what has been changed of a job since it was submitted, beside its
// manifest, which stays as it was.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/ids.h"
#include "muster/workload/job.h"

namespace muster::local {

// Of the tasks of one role.
struct RoleEdits {
  // By resource, as manifests have them: "cpu" is "1.5", "memory" is "16Gi";
  // "0": nothing is asked for.
  std::map<std::string, std::string> requests{};
  std::vector<std::string> command{};  // With all arguments; empty: no other.

  friend bool operator==(const RoleEdits&, const RoleEdits&) = default;
};

// A value.
struct JobEdits {
  std::optional<Duration> limit{};  // Time with places; 0: no end.
  // By the role's name; "": the only one.
  std::map<std::string, RoleEdits> roles{};

  bool empty() const { return !limit && roles.empty(); }
  friend bool operator==(const JobEdits&, const JobEdits&) = default;
};

// {"time": 3600, "roles": {"worker": {"requests": {"cpu": "2"}, "command":
// ["train"]}}}: each member may be left out; "" of no edits. O(bytes).
std::string ToJson(const JobEdits& edits);
// Back. INVALID_ARGUMENT names the member and what is expected. O(bytes).
absl::StatusOr<JobEdits> JobEditsFromJson(std::string_view text);

// The edits and then `later` ones, whose roles are among the job's: "" becomes
// the only one's name. INVALID_ARGUMENT names the role, or the resource whose
// quantity is none; of a role that runs a script, or nothing of its own, no
// command is another. O(edits).
absl::StatusOr<JobEdits> WithLater(const JobEdits& edits, const JobEdits& later,
                                   const workload::Job& job);

// The job with the edits of its roles; not with the limit, which a job's life
// has learned when it was set. O(size).
void EditRoles(const JobEdits& edits, workload::Job* job);

// "1.5" of 1,500 of "cpu", "16Gi" of bytes, "3" of pieces: what edits may say.
std::string QuantityText(std::string_view resource, int64_t amount);

}  // namespace muster::local
