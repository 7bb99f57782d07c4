// Adoption: what has become of a task that this process, or one before it, was
// to launch.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "adapters/local/shim/shim.h"
#include "adapters/local/shim/shim_exit.h"
#include "muster/ids.h"

namespace muster::local {

enum class AttemptState {
  kNeverLaunched,  // Its task did not start, and no shim is about to start it
                   // that has the lock: Launch.
  kRuns,           // A shim has it.
  kEnded,
  kLost,  // Its shim ended without telling how the task did.
};

struct Adoption {
  AttemptState state = AttemptState::kNeverLaunched;
  std::optional<Shim> shim{};      // kRuns.
  std::optional<ShimExit> exit{};  // kEnded.
};

// How long it is waited for processes to vanish that were killed.
inline constexpr Duration kAdoptPatience = 5 * kSecond;

// Looks at the folder of an attempt; one that is not there was never launched.
// The task of a lost shim is killed first, if it is still what the shim
// recorded, with its descendants, its session and its cgroup; that takes as
// long as they take to vanish. (Who left the session and lost its parent before
// is found by the cgroup only.) DEADLINE_EXCEEDED: some of them are still there
// when `patience` is over; 0: they are looked for once. Other errors are the
// system's. Any thread; some system calls where nothing is lost.
absl::StatusOr<Adoption> Adopt(const std::string& folder,
                               Duration patience = kAdoptPatience);

}  // namespace muster::local
