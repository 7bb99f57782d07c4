// A daemon without processes, clock and socket: what is asked of it is answered
// turn by turn. For tests.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/api/api.h"
#include "adapters/local/controller/controller.h"
#include "adapters/local/store/store.h"

namespace muster::local {

// A manifest of a batch/v1 Job of one task that asks for so many GPUs.
std::string ManifestOf(const std::string& name, int gpus = 1,
                       const std::string& command = "train");

struct Answered {
  int status = 0;  // 0: not yet.
  std::string body{};
  serve::BodySource more{};

  nlohmann::json json() const {
    return nlohmann::json::parse(body, nullptr, false);
  }
};

class Daemon {
 public:
  // A machine with two GPUs, whose tasks are bound to these.
  explicit Daemon(CpuPool cpus = {});
  ~Daemon();

  // Asks as a user, without a turn. The answer is filled in later.
  std::shared_ptr<Answered> Begin(const std::string& method,
                                  const std::string& target,
                                  const std::string& body = "",
                                  uint32_t uid = kAlice);
  // One turn; its tasks start at once.
  void Turn();
  // The same, but it cannot be kept: another daemon goes on with what was kept.
  void LoseTurn();
  // Begin, and a turn.
  Answered Ask(const std::string& method, const std::string& target,
               const std::string& body = "", uint32_t uid = kAlice);
  // Submits one job; its id.
  uint64_t Submit(const std::string& manifest, uint32_t uid = kAlice);
  // The job's only task ends.
  void Exit(uint64_t job, int32_t code);
  std::string FolderOf(uint64_t job, uint32_t attempt = 1) const;

  static constexpr uint32_t kAlice = 1001;
  static constexpr uint32_t kBob = 1002;
  static constexpr uint32_t kOwner = 500;

  Time now = 1'000 * kSecond;
  std::string state{};
  std::unique_ptr<Store> store{};
  std::unique_ptr<Controller> controller{};
  std::unique_ptr<Api> api{};
  std::string web = "http://127.0.0.1:8750";  // Where its page is.
  std::vector<OtherProcess> others{};
  int woken = 0;
  // To tasks of job 1, which have room for so many bytes: "ROLE-INDEX BYTES".
  std::vector<std::string> sent{};
  static constexpr size_t kRoom = 5;

 private:
  absl::StatusOr<size_t> Send(const TaskKey& task, std::string_view bytes,
                              bool end);

  ControllerConfig config_{};
};

// The body of a submission.
std::string SubmissionOf(const std::string& manifest);

}  // namespace muster::local
