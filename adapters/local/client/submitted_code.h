// The snapshot of one submission's code: muster submit --snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/client/code_snapshot.h"
#include "adapters/local/client/job_manifest.h"
#include "adapters/local/client/session.h"

namespace muster::local {

// Removes the snapshot at its end, unless it was kept.
class SubmittedCode {
 public:
  // Takes a snapshot of the working directory, and makes the options those of a
  // job that runs there: names of output files stay what they were. Tells on
  // the session's error stream where a word of the command names the original.
  static absl::StatusOr<std::unique_ptr<SubmittedCode>> Take(
      Session* session, SubmitOptions* options);
  ~SubmittedCode();
  SubmittedCode(const SubmittedCode&) = delete;
  SubmittedCode& operator=(const SubmittedCode&) = delete;

  // These jobs run in it. Older snapshots whose jobs are over are removed.
  void Keep(Session* session, const std::vector<uint64_t>& jobs);

 private:
  explicit SubmittedCode(CodeSnapshot snapshot);

  const CodeSnapshot snapshot_;
  bool kept_ = false;
};

}  // namespace muster::local
