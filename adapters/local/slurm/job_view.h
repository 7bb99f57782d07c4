// A job of the API in Slurm's words. Pure functions but for names of users.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::local::slurm {

using Json = nlohmann::ordered_json;

// "PENDING", "RUNNING" and so on, and what it is in short: "PD".
std::string_view StateOf(const Json& job);
std::string_view ShortState(std::string_view state);
// "PD", "pending": the long name. "all" is not among them. INVALID_ARGUMENT
// names those that there are.
absl::StatusOr<std::string_view> ReadState(std::string_view text);
// It will not run any more.
bool HasEnded(std::string_view state);

// Why it waits, or how it ended; "None".
std::string ReasonOf(const Json& job);

// Its name; that of an array is the name of each of its jobs.
std::string NameOfJob(const Json& job);

// The code that it returned, and the signal that ended it.
struct ExitCode {
  int32_t code = 0;
  int32_t signal = 0;
};
ExitCode ExitCodeOf(const Json& job);

// What a job asks for: of its manifest, which one sees of one's own jobs alone.
struct Asked {
  int64_t tasks = 0;
  int64_t cpus = 0;
  int64_t gpu_milli = 0;
  int64_t memory = 0;              // Bytes; 0: it does not say.
  std::optional<int64_t> limit{};  // Seconds.
  std::string output{};
  std::string error{};
};
// `job`: as /v1/jobs/ID tells it. None: it does not tell the manifest.
std::optional<Asked> AskedOf(const Json& job);
// "cpu=2,mem=4G,node=1,gres/gpu=1"
std::string TresText(const Asked& asked);
// "4G", "512M", as sacct has it; "0".
std::string MemoryText(int64_t bytes);
// "1", "0.5"
std::string GpuText(int64_t milli);

// The user's name, or its number where it has none.
std::string UserName(uint32_t uid);
// INVALID_ARGUMENT: there is no such user.
absl::StatusOr<uint32_t> ReadUser(const std::string& name);

// The parts of "a,b,c"; none of "".
std::vector<std::string> Parts(std::string_view text);

// Ids as Slurm writes them: "7", "7_3", "7_[1-3,8]", and the ranges of muster.
class JobIds {
 public:
  // "7,8_2": INVALID_ARGUMENT names what is none.
  static absl::StatusOr<JobIds> Parse(std::string_view text);

  absl::Status Add(std::string_view text);
  bool empty() const { return ids_.empty(); }
  size_t size() const { return ids_.size(); }
  // Of all of them, or of the i-th.
  bool Has(const Json& job) const;
  bool Has(size_t i, const Json& job) const;
  const std::string& text(size_t i) const { return ids_[i].text; }
  // The plain id to ask for.
  uint64_t first(size_t i) const { return ids_[i].first; }

 private:
  struct Id {
    std::string text{};
    uint64_t first = 0;
    uint64_t last = 0;
    uint64_t step = 1;
    bool element = false;
    std::vector<uint32_t> indices{};
  };
  std::vector<Id> ids_{};
};

}  // namespace muster::local::slurm
