#include "adapters/local/slurm/lookup.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/json_list.h"

namespace muster::local::slurm {
namespace {

constexpr int kWaitSeconds = 50;  // Shorter than what the server allows.
constexpr std::chrono::seconds kLongestAbsence{60};
constexpr std::chrono::milliseconds kPause{200};

}  // namespace

absl::StatusOr<std::optional<Asked>> LookUp(Session* session, Json* job) {
  const auto whole = session->Ask(
      "GET", absl::StrCat("/v1/jobs/", job->value("id", uint64_t{0})));
  if (absl::IsNotFound(whole.status())) return std::optional<Asked>();
  if (!whole.ok()) return whole.status();
  if (whole->contains("directory")) (*job)["directory"] = (*whole)["directory"];
  return AskedOf(*whole);
}

absl::StatusOr<Json> AskPatiently(Session* session, const std::string& target) {
  const auto until = std::chrono::steady_clock::now() + kLongestAbsence;
  for (;;) {
    auto answer = session->Ask("GET", target);
    if (!absl::IsUnavailable(answer.status()) ||
        std::chrono::steady_clock::now() > until) {
      return answer;
    }
    std::this_thread::sleep_for(kPause);
  }
}

absl::StatusOr<Json> WaitFor(Session* session, uint64_t job) {
  for (;;) {
    auto answer = AskPatiently(
        session, absl::StrCat("/v1/jobs/", job, "?wait=", kWaitSeconds));
    if (!answer.ok() || answer->contains("finished")) return answer;
  }
}

absl::StatusOr<std::string> NodeName(Session* session) {
  const auto nodes = session->Ask("GET", "/v1/nodes");
  if (!nodes.ok()) return nodes.status();
  const Json& list = ListOf(*nodes, "nodes");
  return list.empty() ? "" : list[0].value("name", "");
}

}  // namespace muster::local::slurm
