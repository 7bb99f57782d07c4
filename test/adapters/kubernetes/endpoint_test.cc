// A replica that is asked over HTTP: probes, metrics, and people with tokens.
#include "adapters/kubernetes/host/endpoint.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/host/metrics_answer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "test/adapters/kubernetes/kube_server.h"
#include "test/adapters/serve/http_client.h"
#include "test/adapters/serve/metrics_reader.h"

namespace muster::kubernetes {
namespace {

using client::Millis;
using serve::Ask;
using serve::MetricSample;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr Millis kWallClock = 1'769'860'800'000;
constexpr char kQueues[] = "/apis/muster.dev/v1alpha1/queues";

// "n" has one GPU; the reviews know a token for each user, which is its name.
class EndpointTest : public testing::Test {
 protected:
  EndpointTest() {
    ServeEmpty(&server_);
    server_.Serve(kQueues);
    server_.Serve("/api/v1/nodes", {NodeJson("n")});
    server_.perform = [this](const client::HttpRequest& request) {
      return Review(request);
    };
  }
  ~EndpointTest() override {
    if (endpoint_ != nullptr) {
      stop_ = true;
      loop_.join();
    }
  }

  void Begin(EndpointOptions options = {}, HostOptions host_options = {}) {
    host_options.clock = [this] { return now_.load(); };
    options.reviews.clock = host_options.clock;
    options.addresses = {{.host = "127.0.0.1"}};
    auto host = Host::Create(&server_, std::move(host_options), now_,
                             kWallClock, [](std::string_view) {});
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
    auto endpoint = Endpoint::Start(std::move(options), &server_, host_.get());
    ASSERT_TRUE(endpoint.ok()) << endpoint.status();
    endpoint_ = *std::move(endpoint);
    loop_ = std::thread([this] { Loop(); });
  }
  // The program's loop, at a speed of its own.
  void Loop() {
    while (!stop_) {
      if (!paused_) {
        host_->Advance(now_);
        endpoint_->Advance(now_);
        server_.Poll(0);
        now_ += 10;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // What has happened by then has been seen.
  void Settle() {
    for (int i = 0; i < 200; ++i) {
      if (Get("/readyz") == "200 ok\n") break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    // Two hundred turns of the loop later all requests have been answered.
    const Millis settled = now_ + 2000;
    while (now_ < settled) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  KubeServer::Answered Review(const client::HttpRequest& request) {
    if (request.path == "/apis/authentication.k8s.io/v1/tokenreviews") {
      ++token_reviews_;
      if (broken_) return {500, {{"message", "broken"}}};
      const std::string token =
          Json::parse(request.body)["spec"]["token"].get<std::string>();
      Json status = {{"authenticated", token != "nobody"}};
      status["user"] = {{"username", token}, {"groups", {"g"}}};
      return {201, {{"status", status}}};
    }
    if (request.path == "/apis/authorization.k8s.io/v1/subjectaccessreviews") {
      const Json spec = Json::parse(request.body)["spec"];
      const Json& what = spec["resourceAttributes"];
      ++access_reviews_;
      const std::lock_guard lock(mutex_);
      last_access_ = absl::StrCat(spec["user"].get<std::string>(), " ",
                                  what["verb"].get<std::string>(), " ",
                                  what["resource"].get<std::string>(), ".",
                                  what["group"].get<std::string>(), " in ",
                                  what.value("namespace", "all"));
      const bool own =
          what.value("namespace", "") == spec["user"].get<std::string>();
      return {201, {{"status", {{"allowed", own || spec["user"] == "admin"}}}}};
    }
    return {};
  }

  std::string Get(const std::string& target, const std::string& token = "") {
    const std::string header =
        token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
    return serve::Get(endpoint_->ports()[0], target, header);
  }
  std::string Post(const std::string& target, const std::string& token,
                   const std::string& body) {
    return Ask(endpoint_->ports()[0],
               absl::StrCat("POST ", target,
                            " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ",
                            token, "\r\nConnection: close\r\nContent-Length: ",
                            body.size(), "\r\n\r\n", body));
  }
  std::map<std::string, serve::MetricFamily> Metrics() {
    const std::string answer = Get("/metrics");
    EXPECT_THAT(answer, StartsWith("200 "));
    const auto families = serve::ReadMetrics(answer.substr(4));
    EXPECT_TRUE(families.ok()) << families.status();
    return families.ok() ? *families
                         : std::map<std::string, serve::MetricFamily>();
  }
  // The value with these labels; -1: there is none.
  static double ValueOf(const serve::MetricFamily& family,
                        const std::map<std::string, std::string>& labels) {
    for (const MetricSample& sample : family.samples) {
      if (std::ranges::includes(sample.labels, labels)) return sample.value;
    }
    return -1;
  }

  std::atomic<Millis> now_ = 1'000'000;
  KubeServer server_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<Endpoint> endpoint_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> paused_ = false;
  std::atomic<bool> broken_ = false;
  std::atomic<int> token_reviews_ = 0;
  std::atomic<int> access_reviews_ = 0;
  std::mutex mutex_;
  std::string last_access_;  // Guarded by it.
  std::thread loop_;
};

Json GpuPod(const std::string& name, const std::string& ns,
            const std::string& queue = "") {
  Json pod = PodJson(name, ns + "-" + name);
  pod["metadata"]["namespace"] = ns;
  if (!queue.empty()) pod["metadata"]["labels"]["muster.dev/queue"] = queue;
  return pod;
}

TEST_F(EndpointTest, ItIsReadyWhenItDecides) {
  server_.slow_path = "/api/v1/nodes";
  Begin();
  EXPECT_EQ(Get("/healthz"), "200 ok\n");
  EXPECT_THAT(Get("/readyz"), StartsWith("503 "));
  EXPECT_EQ(ValueOf(Metrics()["muster_deciding"], {}), 0);
}

TEST_F(EndpointTest, AFollowerIsReadyWhenItKnowsTheLeader) {
  HostOptions options;
  options.election = {
      .namespace_name = "ns", .name = "muster", .identity = "other"};
  options.clock = [this] { return now_.load(); };
  auto other = Host::Create(&server_, options, now_, kWallClock,
                            [](std::string_view) {});
  ASSERT_TRUE(other.ok()) << other.status();
  for (int i = 0; i < 1'000 && server_.lease().is_null(); ++i) {
    (*other)->Advance(now_);
    server_.Poll(0);
    now_ += 100;
  }
  other->reset();
  options.election->identity = "me";
  Begin({}, options);
  Settle();
  EXPECT_EQ(Get("/readyz"), "200 ok\n");
  auto metrics = Metrics();
  EXPECT_EQ(ValueOf(metrics["muster_leader"], {}), 0);
  EXPECT_THAT(Get("/apis/muster/v1/gangs", "admin"),
              HasSubstr("leader: other"));
}

TEST_F(EndpointTest, ALoopThatStandsStillIsNotHealthy) {
  Begin({.longest_turn = 1'000});
  Settle();
  EXPECT_EQ(Get("/healthz"), "200 ok\n");
  paused_ = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  now_ += 2'000;
  EXPECT_THAT(Get("/healthz"), HasSubstr("503 the loop has not turned"));
  EXPECT_THAT(Get("/readyz"), StartsWith("503 "));
}

TEST_F(EndpointTest, MetricsTellWhatWasDecidedAndWhatWaits) {
  server_.Serve(kQueues, {{{"metadata", {{"name", "q"}, {"uid", "u-q"}}},
                           {"spec", Json::object()}}});
  server_.Serve("/api/v1/pods", {GpuPod("runs", "a", "q")});
  Begin();
  Settle();
  auto metrics = Metrics();
  EXPECT_EQ(ValueOf(metrics["muster_build_info"], {}), 1);
  EXPECT_EQ(ValueOf(metrics["muster_decisions_total"], {{"kind", "start"}}), 1);
  EXPECT_EQ(ValueOf(metrics["muster_api_requests_total"],
                    {{"verb", "create"},
                     {"resource", "pods/binding"},
                     {"outcome", "done"}}),
            1);
  EXPECT_GE(ValueOf(metrics["muster_api_requests_total"],
                    {{"verb", "patch"}, {"resource", "queues/status"}}),
            1);
  EXPECT_EQ(ValueOf(metrics["muster_queue_pods"],
                    {{"queue", "q"}, {"state", "running"}}),
            1);
  EXPECT_EQ(ValueOf(metrics["muster_watch_lists_total"],
                    {{"resource", "queues.muster.dev"}}),
            1);
  EXPECT_EQ(ValueOf(metrics["muster_nodes"], {}), 1);
  EXPECT_EQ(metrics["muster_event_to_request_seconds"].samples.back().value, 1);
  EXPECT_GE(metrics["muster_pass_duration_seconds"].samples.back().value, 1);
}

TEST_F(EndpointTest, ThereAreSoManyQueuesInMetricsAndNoMore) {
  Json queues = Json::array();
  Json pods = Json::array();
  for (int i = 0; i < 600; ++i) {
    const std::string name = absl::StrCat("q", 1'000 + i);
    queues.push_back({{"metadata", {{"name", name}, {"uid", name}}},
                      {"spec", Json::object()}});
    pods.push_back(GpuPod(absl::StrCat("p", i), "a", name));
  }
  server_.Serve(kQueues, queues);
  server_.Serve("/api/v1/pods", pods);
  Begin();
  Settle();
  const auto family = Metrics()["muster_queue_pods"];
  EXPECT_LE(family.samples.size(), 2 * (kMostMetricQueues + 1));
  double all = 0;
  for (const MetricSample& sample : family.samples) all += sample.value;
  EXPECT_EQ(all, 600);
}

TEST_F(EndpointTest, ATenantAsksAboutHisOwnNamespace) {
  server_.Serve("/api/v1/pods", {GpuPod("p", "a"), GpuPod("p", "b")});
  Begin();
  Settle();
  const std::string own = Get("/apis/muster/v1/explain?namespace=a&pod=p", "a");
  ASSERT_THAT(own, StartsWith("200 "));
  const Json answer = Json::parse(own.substr(4));
  EXPECT_EQ(answer["namespace"], "a");
  EXPECT_EQ(answer["pods"][0]["name"], "p");
  const std::string gangs = Get("/apis/muster/v1/gangs?namespace=a", "a");
  ASSERT_THAT(gangs, StartsWith("200 "));
  EXPECT_EQ(Json::parse(gangs.substr(4))["items"].size(), 1u);
  const std::string explain = "/apis/muster/v1/explain?namespace=b&pod=p";
  EXPECT_THAT(Get(explain, "a"), StartsWith("403 "));
  EXPECT_THAT(Get(explain, "a"), Not(HasSubstr("running")));
  // A namespace that is not there is refused as one that is.
  EXPECT_THAT(Get("/apis/muster/v1/explain?namespace=c&pod=p", "a"),
              StartsWith("403 "));
  EXPECT_THAT(Get("/apis/muster/v1/gangs", "a"), StartsWith("403 "));
  EXPECT_THAT(Get("/apis/muster/v1/queues", "a"), StartsWith("403 "));
  EXPECT_THAT(Get("/apis/muster/v1/nodes", "a"), StartsWith("403 "));
  EXPECT_THAT(Post("/apis/muster/v1/what-if", "a", "{}"), StartsWith("403 "));
  EXPECT_THAT(Get("/apis/muster/v1/gangs", "admin"), StartsWith("200 "));
  EXPECT_THAT(Get("/apis/muster/v1/queues", "admin"), StartsWith("200 "));
}

TEST_F(EndpointTest, TheApiServerIsAskedForTheVerbThatTheQuestionTakes) {
  Begin();
  Settle();
  const std::pair<const char*, const char*> questions[] = {
      {"/apis/muster/v1/queues", "admin list queues.muster.dev in all"},
      {"/apis/muster/v1/nodes", "admin list nodes. in all"},
      {"/apis/muster/v1/gangs", "admin list pods. in all"},
      {"/apis/muster/v1/gangs?namespace=x", "admin list pods. in x"},
      {"/apis/muster/v1/explain?namespace=x&group=y", "admin get pods. in x"}};
  for (const auto& [target, access] : questions) {
    Get(target, "admin");
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(last_access_, access) << target;
  }
}

TEST_F(EndpointTest, WhoIsNobodyIsTold401AndABrokenReviewIsNoAnswer) {
  Begin();
  Settle();
  const std::string target = "/apis/muster/v1/gangs?namespace=a";
  EXPECT_THAT(Get(target), StartsWith("401 "));
  EXPECT_THAT(Get(target, "nobody"), StartsWith("401 "));
  EXPECT_EQ(access_reviews_, 0);
  broken_ = true;
  EXPECT_THAT(Get(target, "a"), StartsWith("503 "));
  broken_ = false;
  EXPECT_THAT(Get(target, "a"), StartsWith("200 "));
}

TEST_F(EndpointTest, AnAnswerIsRememberedForAShortTime) {
  Begin({.reviews = {.memory = 60'000}});
  Settle();
  const std::string target = "/apis/muster/v1/gangs?namespace=a";
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Get(target, "a"), StartsWith("200"));
  EXPECT_EQ(token_reviews_, 1);
  EXPECT_EQ(access_reviews_, 1);
  now_ += 60'000;
  EXPECT_THAT(Get(target, "a"), StartsWith("200"));
  EXPECT_EQ(token_reviews_, 2);
  EXPECT_EQ(access_reviews_, 2);
}

TEST_F(EndpointTest, AWhatIfIsAnsweredAndNotTwiceAtOnce) {
  server_.Serve("/api/v1/pods", {GpuPod("p", "a")});
  Begin({.what_if_every = 1'000'000});
  Settle();
  const std::string what_if = "/apis/muster/v1/what-if";
  EXPECT_THAT(Post(what_if, "admin", R"({"removeNodes": ["none"]})"),
              StartsWith("404 "));
  now_ += 1'000'000;
  const std::string answer =
      Post(what_if, "admin",
           R"({"removeNodes": ["n"], "addNodes": {"like": "n", "count": 1}})");
  EXPECT_THAT(answer, HasSubstr(R"("complete":true)"));
  EXPECT_THAT(Post(what_if, "admin", "{}"), StartsWith("429 "));
}

TEST_F(EndpointTest, QuestionsThatAreNoneAreRefused) {
  Begin();
  Settle();
  const std::string root = "/apis/muster/v1/";
  EXPECT_THAT(Get("/other", "admin"), StartsWith("404 "));
  EXPECT_THAT(Get(root + "secrets", "admin"), StartsWith("404 "));
  EXPECT_THAT(Get(root + "what-if", "admin"), StartsWith("405 "));
  EXPECT_THAT(Post(root + "queues", "admin", ""), StartsWith("405 "));
  for (const char* query :
       {"explain", "explain?namespace=a", "explain?namespace=a&group=x&pod=y",
        "explain?group=x", "gangs?namespaces=a",
        "gangs?namespace=a&namespace=b", "gangs?namespace=%x"}) {
    EXPECT_THAT(Get(root + query, "admin"), StartsWith("400 ")) << query;
  }
  for (const char* body :
       {"", "[]", "{", R"({"finish": {}})", R"({"finish": [{}]})",
        R"({"finish": [{"namespace": 1, "group": "g"}]})",
        R"({"removeNodes": [1]})", R"({"addNodes": {"like": "n"}})",
        R"({"addNodes": {"like": "n", "count": -1}})",
        R"({"addNodes": {"like": "n", "count": 100000}})", R"({"other": 1})",
        R"({"finish": [[[[[[[[[1]]]]]]]]]})"}) {
    EXPECT_THAT(Post(root + "what-if", "admin", body), StartsWith("400 "))
        << body;
  }
}

TEST_F(EndpointTest, OneWhoDoesNotDecideSaysSo) {
  server_.slow_path = "/api/v1/nodes";
  Begin();
  EXPECT_THAT(Get("/apis/muster/v1/gangs", "admin"),
              HasSubstr("this replica does not decide"));
}

TEST_F(EndpointTest, TextsOfUsersAreBoundedAndAreJson) {
  Json pod = GpuPod("p", "a", std::string("q\"\n\\") + "\x01");
  server_.Serve("/api/v1/pods", {pod});
  Begin();
  Settle();
  for (const char* target :
       {"/apis/muster/v1/gangs?namespace=a",
        "/apis/muster/v1/explain?namespace=a&pod=p",
        "/apis/muster/v1/explain?namespace=a&group=%ff%22",
        "/apis/muster/v1/explain?namespace=%22%0a&pod=p"}) {
    const std::string answer = Get(target, "admin");
    const Json json = Json::parse(answer.substr(4), nullptr, false);
    EXPECT_TRUE(json.is_object()) << answer;
  }
  Metrics();  // Which are read strictly.
  const std::string name(8'000, 'x');
  EXPECT_LT(Get("/apis/muster/v1/explain?namespace=a&pod=" + name, "a").size(),
            1'500u);
}

// A slow scraper reads 1 byte a second, so to say; the loop goes on.
TEST_F(EndpointTest, ASlowScraperDoesNotHoldTheLoop) {
  Begin();
  Settle();
  std::vector<std::unique_ptr<serve::HttpClient>> slow;
  for (int i = 0; i < 10; ++i) {
    slow.push_back(std::make_unique<serve::HttpClient>(endpoint_->ports()[0]));
    for (int j = 0; j < 20; ++j) {
      slow.back()->Send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    }
  }
  const Millis before = now_;
  // Ten to a turn; what holds the loop holds it for longer than that.
  for (int i = 0; i < 3000 && now_ - before <= 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GT(now_ - before, 200);
  EXPECT_EQ(Get("/healthz"), "200 ok\n");
}

}  // namespace
}  // namespace muster::kubernetes
