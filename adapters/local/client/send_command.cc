// send: what a task reads on its standard input.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/job_finder.h"
#include "adapters/local/client/job_id.h"
#include "adapters/text/percent.h"

namespace muster::local {
namespace {

using Json = Session::Json;

// While the task has enough to read.
constexpr std::chrono::milliseconds kTryEvery{50};
constexpr size_t kPart = size_t{64} << 10;

// All of it, as the task reads on.
absl::Status SendAll(Session* session, const std::string& target,
                     std::string_view bytes) {
  for (;;) {
    const auto answer =
        session->connection().Call("POST", target, std::string(bytes));
    if (!answer.ok()) return answer.status();
    if (absl::Status s = StatusOf(*answer); !s.ok()) return s;
    const Json json = Json::parse(answer->body, nullptr, false);
    if (!json.is_object() || !json.contains("taken")) {
      return absl::InternalError("what answers is not musterd");
    }
    const size_t taken = json.value("taken", size_t{0});
    if (taken >= bytes.size()) return absl::OkStatus();
    bytes.remove_prefix(taken);
    std::this_thread::sleep_for(kTryEvery);
  }
}

// The standard input, part by part, as it comes.
absl::Status SendStream(Session* session, const std::string& target) {
  std::array<char, kPart> part{};
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, "standard input");
    if (count == 0) return absl::OkStatus();
    absl::Status s =
        SendAll(session, target, {part.data(), static_cast<size_t>(count)});
    if (!s.ok()) return s;
  }
}

}  // namespace

int Send(Session* session, const SendOptions& options) {
  const JobAndTask named = SplitTask(options.job);
  const auto job = FindJob(session, named.job);
  if (!job.ok()) return session->Fail(job.status());
  std::string target = absl::StrCat(
      "/v1/jobs/", *job, "/input?task=", text::PercentEncoded(named.task));
  absl::Status status;
  if (!options.words.empty()) {
    status = SendAll(session, target, absl::StrJoin(options.words, " ") + "\n");
  } else if (!options.end) {
    status = SendStream(session, target);
  }
  if (status.ok() && options.end) {
    status = SendAll(session, target + "&end=1", "");
  }
  return status.ok() ? kDone : session->Fail(status);
}

}  // namespace muster::local
