// Failure policies: which exits of tasks a job bears, and how many of them.
#ifndef MUSTER_WORKLOAD_FAILURE_POLICY_H_
#define MUSTER_WORKLOAD_FAILURE_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/enum_names.h"
#include "muster/ids.h"

namespace muster::workload {

// When a task that has exited starts again.
enum class RestartPolicy : uint8_t {
  kNever,      // As kExitCode with no code that is retried.
  kOnFailure,  // With any code but 0.
  kAlways,     // With 0, too.
  kExitCode,   // With codes that are retried: FailurePolicy::codes.
  // With any code but 0, and a job counts it: batch/v1, where a pod that has
  // failed is replaced whatever its restartPolicy says.
  kReplace,
};
MUSTER_ENUM_NAMES(RestartPolicy, "Never", "OnFailure", "Always", "ExitCode",
                  "Replace");

// What starts anew when a task has failed and may be retried.
enum class RestartUnit : uint8_t { kTask, kGang };
MUSTER_ENUM_NAMES(RestartUnit, "task", "gang");

// The codes that RestartPolicy::kExitCode retries.
enum class RetryableCodes : uint8_t {
  kFourSignals,  // 130, 137, 138 and 143: KubeDL.
  kSignals,      // 128 and above: training operator.
};
MUSTER_ENUM_NAMES(RetryableCodes, "four-signals", "signals");

enum class ExitAction : uint8_t {
  kFailJob,
  kFailIndex,  // The task has failed for good, the job goes on.
  kIgnore,     // It starts again, and is not counted.
  kCount,      // As without a rule.
};
MUSTER_ENUM_NAMES(ExitAction, "FailJob", "FailIndex", "Ignore", "Count");

// A rule of a podFailurePolicy. The first that fits decides.
struct ExitRule {
  ExitAction action = ExitAction::kCount;
  // Of exit codes: any of these, or with `other` any but these and 0. Empty:
  // the rule is one of disruptions.
  std::vector<int32_t> codes{};
  bool other = false;

  friend bool operator==(const ExitRule&, const ExitRule&) = default;
};

enum class GroupAction : uint8_t {
  kFailJob,           // FailJobSet
  kRestartGang,       // RestartJobSet
  kRestartGangFree,   // RestartJobSetAndIgnoreMaxRestarts
  kRestartGroup,      // RestartJob
  kRestartGroupFree,  // RestartJobAndIgnoreMaxRestarts
};
MUSTER_ENUM_NAMES(GroupAction, "FailJobSet", "RestartJobSet",
                  "RestartJobSetAndIgnoreMaxRestarts", "RestartJob",
                  "RestartJobAndIgnoreMaxRestarts");

// A rule of a JobSet's failurePolicy, for a group (one of its Jobs) that has
// failed. The first that fits decides; if none does, kRestartGang.
struct GroupRule {
  GroupAction action = GroupAction::kRestartGang;
  std::vector<std::string> reasons{};  // Of the failure; empty: any.
  std::vector<uint32_t> roles{};       // Empty: any.

  friend bool operator==(const GroupRule&, const GroupRule&) = default;
};

// How a job bears failures. Preemptions, lost nodes and stops that were asked
// for are no failures: no number here counts them.
struct FailurePolicy {
  static constexpr uint32_t kUnlimited = 0xffffffff;

  RestartUnit unit = RestartUnit::kTask;
  RetryableCodes codes = RetryableCodes::kSignals;
  // Restarts by failures, of all tasks together (of a gang's restart: one). The
  // next failure fails the job.
  uint32_t backoff_limit = 6;
  // Of one task: then it has failed for good, and the job goes on.
  std::optional<uint32_t> backoff_limit_per_index{};
  // More such tasks fail the job.
  uint32_t max_failed_indexes = kUnlimited;
  // A task that ran out of memory is retried at the same size so often.
  uint32_t out_of_memory_retries = 1;
  std::vector<ExitRule> exit_rules{};
  // A JobSet's: backoff_limit is that of each group, by role; a group that has
  // failed is judged by group_rules, and restarts of the whole are counted.
  bool by_group = false;
  std::vector<uint32_t> group_backoff_limits{};  // By role.
  std::vector<GroupRule> group_rules{};
  uint32_t max_restarts = 0;
  // Before the n-th restart: base x 2^(n - 1), at most max; `first_at_once`:
  // the first waits for nothing, the others as if they were one less.
  Duration backoff_base = kSecond;
  Duration backoff_max = 300 * kSecond;
  bool first_at_once = true;

  friend bool operator==(const FailurePolicy&, const FailurePolicy&) = default;
};

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_FAILURE_POLICY_H_
