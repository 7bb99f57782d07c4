// musterd and its programs, for the benchmark of the local runner.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/local/client/connection.h"

namespace muster::local {

// A daemon with a state of its own in a folder for temporary files, which goes
// with the program. Whatever fails ends the program with a message: there is
// nothing to measure then. Not synchronised, but for Post and Get.
class BenchDaemon {
 public:
  using Json = nlohmann::json;

  explicit BenchDaemon(uint32_t gpus);
  ~BenchDaemon();
  BenchDaemon(const BenchDaemon&) = delete;
  BenchDaemon& operator=(const BenchDaemon&) = delete;

  // Ends it as a crash does; starts it again. Start returns when it answers.
  void Kill();
  void Start();

  // `muster WORDS`, its output thrown away; from its start to its end in
  // milliseconds.
  double Muster(std::vector<std::string> words);
  // Of the API: the answer, which is a 2xx.
  Json Get(const std::string& target);
  Json Post(const std::string& target, const Json& body);
  // Jobs of a batch/v1 Job with that command, each element of `array` one;
  // their ids.
  std::vector<uint64_t> Submit(const std::vector<std::string>& command,
                               uint32_t gpus, std::vector<uint32_t> array = {});
  // Waits until nothing is queued or runs.
  void Idle();

  // Pairs of stamps that local_stamp has written: when it began, when it ends,
  // in nanoseconds of the monotonic clock. Blocks until there are so many.
  std::vector<std::pair<int64_t, int64_t>> Stamps(size_t count);
  const std::string& fifo() const { return fifo_; }
  const std::string& folder() const { return folder_; }

  // Now; and at the most since it was started.
  double RssMegabytes() const { return StatusMegabytes("VmRSS:"); }
  double PeakMegabytes() const { return StatusMegabytes("VmHWM:"); }
  // Of the daemon alone.
  double CpuSeconds() const;

 private:
  double StatusMegabytes(std::string_view field) const;
  Json Ask(std::string_view method, const std::string& target,
           const std::string& body);

  std::string folder_{};
  std::string fifo_{};
  uint32_t gpus_;
  int fifo_fd_ = -1;
  pid_t pid_ = -1;
  std::optional<Connection> connection_{};
};

// Of the monotonic clock.
int64_t NowNanos();

// A new folder for temporary files, which goes with the program.
std::string MakeFolder();

// Starts the program with these words; its output is appended to a file.
pid_t Spawn(std::vector<std::string> words, const std::string& output);
// Starts the program with these words and waits; false: it did not end with 0.
bool Run(std::vector<std::string> words);

// Of this process and of those that it has waited for.
double OwnCpuSeconds();

}  // namespace muster::local
