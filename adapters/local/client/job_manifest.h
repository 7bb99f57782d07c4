// From the options of `muster submit` to a manifest. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::local {

// What was typed; empty: nothing was said.
struct SubmitOptions {
  std::string name{};
  std::string queue{};
  std::string priority{};
  std::string gpus{};        // "2", "0.5"
  std::string gpu_memory{};  // "10G", of one GPU.
  std::string gpu_ids{};     // "0,2-3": any of these.
  std::string cpus{};
  std::string memory{};
  std::vector<std::string> others{};  // "cpus=16,mem=64G", in place of these.
  uint32_t tasks = 1;                 // That start together.
  std::string time{};                 // "90m", "1:30:00"
  std::string ttl{};                  // "7d"
  std::string grace{};
  std::string output{};
  std::string error{};
  bool input = false;
  std::vector<std::string> environment{};  // "K=V"
  std::string directory{};
  std::string image{};
  std::string array{};
  std::vector<std::string> grid{};  // "lr=0.1,0.01"
  std::string grid_file{};
  std::string checkpoint{};
  uint32_t retries = 0;
  bool hold = false;
  bool snapshot = false;  // It runs in a snapshot of the code:
  std::string code{};     // of what, once it was taken.
  // Of a calendar; empty: it is submitted once, now.
  std::string cron{};  // "*/10 * * * *"
  std::string time_zone{};
  std::string concurrency{};
  std::string starting_deadline{};  // "10m"
  std::vector<std::string> command{};
};

// A batch/v1 Job, or CronJob, that does what the options say; docs/jobs.md has
// the names of resources and annotations. INVALID_ARGUMENT names the option and
// what is allowed. O(bytes).
absl::StatusOr<nlohmann::ordered_json> MakeManifest(
    const SubmitOptions& options);

// What each task asks for, by resource: "nvidia.com/gpu", "cpu" and so on.
// INVALID_ARGUMENT names the option.
absl::StatusOr<nlohmann::ordered_json> RequestsOf(const SubmitOptions& options);

// A name that a manifest may have, of a command's path: "./Train_1.py" is
// "train-1.py".
std::string NameOf(const std::string& command);

// Seconds of "90m", "1h30m", "1:30:00" or "45:00", rounded up. INVALID_ARGUMENT
// begins with the option's name.
absl::StatusOr<int64_t> ParseTime(const std::string& option,
                                  const std::string& text);

}  // namespace muster::local
