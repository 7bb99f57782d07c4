// Sends requests to an API server as fast as it answers them: what a scheduler
// that only writes would reach.
//
//   kube_requests --kubeconfig FILE [--in-flight N] [--http1] < REQUESTS
//
// A line of REQUESTS is METHOD, PATH, CONTENT-TYPE and BODY, with tabs between
// them. They start in their order. Prints what became of them as JSON.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_split.h"
#include "adapters/kubernetes/client/curl_transport.h"
#include "adapters/kubernetes/client/kubeconfig.h"
#include "nlohmann/json.hpp"

namespace muster::kubernetes::client {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of this process, in user and kernel mode.
double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

absl::StatusOr<std::vector<HttpRequest>> ReadRequests(std::istream& in) {
  constexpr size_t kFields = 4;
  std::vector<HttpRequest> requests;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (fields.size() != kFields) {
      return absl::InvalidArgumentError(
          "expected METHOD, PATH, CONTENT-TYPE and BODY: " + line);
    }
    HttpRequest request;
    request.method = fields[0];
    request.path = fields[1];
    static std::set<std::string> types;  // Requests refer to them.
    request.content_type = *types.insert(fields[2]).first;
    request.body = fields[3];
    request.idempotent = false;
    requests.push_back(std::move(request));
  }
  return requests;
}

// What became of all requests.
class Tally final : public Receiver {
 public:
  void Started(RequestId id) { started_[id] = Clock::now(); }
  size_t ended() const { return latencies_.size(); }

  void OnHead(RequestId id, const ResponseHead& head) override {
    statuses_[id] = head.status;
  }

  void OnData(RequestId id, std::string_view data) override {
    const auto status = statuses_.find(id);
    const bool refused = status == statuses_.end() || status->second >= 300;
    if (refused && first_error_.empty()) first_error_ = data;
  }

  void OnEnd(RequestId id, const RequestEnd& end) override {
    latencies_.push_back(SecondsSince(started_.at(id)));
    started_.erase(id);
    if (end.status.ok()) {
      ++counts_[std::to_string(statuses_[id])];
    } else {
      ++counts_["none"];
      if (first_error_.empty()) first_error_ = end.status.ToString();
    }
    statuses_.erase(id);
  }

  nlohmann::json ToJson() {
    std::ranges::sort(latencies_);
    const auto quantile = [this](double q) {
      const auto last = static_cast<double>(latencies_.size() - 1);
      return latencies_.empty() ? 0 : latencies_[static_cast<size_t>(q * last)];
    };
    return {{"requests", latencies_.size()},
            {"statuses", counts_},
            {"p50_seconds", quantile(0.5)},
            {"p99_seconds", quantile(0.99)},
            {"first_error", first_error_}};
  }

 private:
  std::map<RequestId, Clock::time_point> started_;
  std::map<RequestId, int> statuses_;
  std::map<std::string, int> counts_;  // By HTTP status; "none": no answer.
  std::vector<double> latencies_;
  std::string first_error_;
};

absl::StatusOr<nlohmann::json> Run(const std::string& kubeconfig,
                                   const CurlOptions& options) {
  auto access = LoadKubeconfig(kubeconfig, "");
  if (!access.ok()) return access.status();
  auto transport = CurlTransport::Create(*std::move(access), options);
  if (!transport.ok()) return transport.status();
  auto requests = ReadRequests(std::cin);
  if (!requests.ok()) return requests.status();

  Tally tally;
  const Clock::time_point start = Clock::now();
  const double cpu = CpuSeconds();
  const auto most = static_cast<size_t>(options.most_requests);
  size_t next = 0;
  while (tally.ended() < requests->size()) {
    for (; next < requests->size() && next - tally.ended() < most; ++next) {
      tally.Started((*transport)->Start(std::move((*requests)[next]), &tally));
    }
    constexpr Millis kLongestPoll = 1'000;
    (*transport)->Poll(kLongestPoll);
  }
  nlohmann::json result = tally.ToJson();
  result["seconds"] = SecondsSince(start);
  result["cpu_seconds"] = CpuSeconds() - cpu;
  result["connections"] = (*transport)->counts().connections;
  return result;
}

int Main(int argc, char** argv) {
  CLI::App app("Sends the requests of its standard input to an API server.");
  std::string kubeconfig;
  CurlOptions options{.user_agent = "kube_requests"};
  bool http1 = false;
  app.add_option("--kubeconfig", kubeconfig)
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--in-flight", options.most_requests, "Requests at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--http1", http1, "A connection for each request at a time");
  CLI11_PARSE(app, argc, argv);
  options.http2 = !http1;
  const auto result = Run(kubeconfig, options);
  if (!result.ok()) {
    std::cerr << result.status() << '\n';
    return 1;
  }
  std::cout << *result << '\n';
  return 0;
}

}  // namespace
}  // namespace muster::kubernetes::client

int main(int argc, char** argv) {
  return muster::kubernetes::client::Main(argc, argv);
}
