#include "adapters/kubernetes/client/curl_transport.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "test/adapters/kubernetes_client/https_server.h"

namespace muster::kubernetes::client {
namespace {

using Json = nlohmann::json;

constexpr char kBearerToken[] = "S3CRET-TOKEN";

class Recorder final : public Receiver {
 public:
  struct Answer {
    ResponseHead head{};
    std::string body{};
    int pieces = 0;
    std::optional<RequestEnd> end{};
  };

  void OnHead(RequestId id, const ResponseHead& head) override {
    answers[id].head = head;
  }
  void OnData(RequestId id, std::string_view data) override {
    answers[id].body += data;
    ++answers[id].pieces;
    if (cancel_at_data != nullptr) cancel_at_data->Cancel(id);
  }
  void OnEnd(RequestId id, const RequestEnd& end) override {
    EXPECT_FALSE(answers[id].end.has_value());
    // No error quotes what a request shows to the server.
    EXPECT_EQ(end.status.ToString().find(kBearerToken), std::string::npos);
    answers[id].end = end;
  }

  std::map<RequestId, Answer> answers{};
  Transport* cancel_at_data = nullptr;
};

class CurlTransportTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new HttpsServer; }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override {
    if (!server_->missing().empty()) {
      GTEST_SKIP() << "needs " << server_->missing();
    }
    access_.server = server_->url();
    access_.ca_pem = server_->Text("server.pem");
    access_.credentials =
        FixedCredentials({.token = kBearerToken, .generation = 1});
  }

  void Connect(CurlOptions options = {}) {
    auto transport = CurlTransport::Create(std::move(access_), options);
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
    recorder_.answers.clear();  // Its ids begin anew.
  }
  RequestId Start(const std::string& path) {
    return transport_->Start({.path = path}, &recorder_);
  }
  // Until the request ended, or for half a minute.
  const Recorder::Answer& Wait(RequestId id) {
    for (const Millis until = SteadyNow() + 30'000;
         !recorder_.answers[id].end && SteadyNow() < until;) {
      transport_->Poll(1'000);
    }
    EXPECT_TRUE(recorder_.answers[id].end.has_value());
    return recorder_.answers[id];
  }
  const Recorder::Answer& Ask(HttpRequest request) {
    return Wait(transport_->Start(std::move(request), &recorder_));
  }
  Json Echo(HttpRequest request) {
    const Recorder::Answer& answer = Ask(std::move(request));
    EXPECT_TRUE(answer.end && answer.end->status.ok()) << answer.end->status;
    const Json json = Json::parse(answer.body, nullptr, false);
    EXPECT_TRUE(json.is_object()) << answer.body;
    return json;
  }

  static HttpsServer* server_;
  ClusterAccess access_;
  Recorder recorder_;
  std::unique_ptr<CurlTransport> transport_;
};

HttpsServer* CurlTransportTest::server_ = nullptr;

TEST_F(CurlTransportTest, SendsWhatIsAskedAndReadsWhatIsAnswered) {
  Connect();
  const Json echo = Echo({.method = "PUT",
                          .path = "/echo?a=%2F",
                          .content_type = "application/json",
                          .body = "{\"x\":1}"});
  EXPECT_EQ(echo["method"], "PUT");
  EXPECT_EQ(echo["path"], "/echo?a=%2F");
  EXPECT_EQ(echo["body"], "{\"x\":1}");
  EXPECT_EQ(echo["type"], "application/json");
  EXPECT_EQ(echo["agent"], "muster-kube");
  EXPECT_EQ(Echo({.method = "DELETE", .path = "/echo"})["method"], "DELETE");
  EXPECT_EQ(Ask({.path = "/nowhere"}).head.status, 404);
}

TEST_F(CurlTransportTest, AConnectionServesOneRequestAfterTheOther) {
  Connect();
  const Json first = Echo({.path = "/echo"});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Echo({.method = "POST", .path = "/echo"})["connection"],
              first["connection"]);
  }
  EXPECT_EQ(transport_->counts().connections, 1u);
  EXPECT_EQ(transport_->counts().requests, 6u);
}

TEST_F(CurlTransportTest, RequestsAtATimeAreBounded) {
  Connect({.most_requests = 2});
  std::vector<RequestId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(Start("/echo"));
  for (const RequestId id : ids) EXPECT_EQ(Wait(id).head.status, 200);
  EXPECT_LE(transport_->counts().connections, 2u);
}

TEST_F(CurlTransportTest, AnUnknownAuthorityIsRefused) {
  access_.ca_pem = server_->Text("other.pem");
  Connect();
  const auto& answer = Ask({.path = "/echo"});
  EXPECT_TRUE(absl::IsUnauthenticated(answer.end->status))
      << answer.end->status;
  EXPECT_FALSE(answer.end->sent);
  EXPECT_EQ(answer.head.status, 0);
}

TEST_F(CurlTransportTest, AWrongHostNameIsRefusedAndTheRightOneIsNot) {
  access_.tls_server_name = "elsewhere.test";
  Connect();
  EXPECT_TRUE(absl::IsUnauthenticated(Ask({.path = "/echo"}).end->status));
  SetUp();
  access_.tls_server_name = "api.test";
  Connect();
  EXPECT_EQ(Echo({.path = "/echo"})["host"],
            "127.0.0.1:" + std::to_string(server_->port()));
}

TEST_F(CurlTransportTest, AServerWithoutTlsIsRefused) {
  access_.server = "http://127.0.0.1:1";
  EXPECT_TRUE(absl::IsInvalidArgument(
      CurlTransport::Create(std::move(access_)).status()));
}

TEST_F(CurlTransportTest, AClientCertificateIsShown) {
  access_.credentials =
      FixedCredentials({.certificate_pem = server_->Text("client.pem"),
                        .key_pem = server_->Text("client.key")});
  Connect();
  const std::string client = Echo({.path = "/echo"})["client"];
  EXPECT_NE(client.find("'client'"), std::string::npos) << client;
}

TEST_F(CurlTransportTest, A401IsAnsweredByARotatedToken) {
  server_->SetToken("first");
  access_.credentials = TokenFileCredentials(server_->PathOf("token"), {});
  Connect();
  EXPECT_EQ(Ask({.path = "/token"}).body, "welcome");
  server_->SetToken("second");
  std::vector<RequestId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(Start("/token"));
  for (const RequestId id : ids) EXPECT_EQ(Wait(id).body, "welcome");
  EXPECT_GE(transport_->counts().refused, 1u);
}

TEST_F(CurlTransportTest, A401WithoutAnotherTokenIsTold) {
  Connect();
  const auto& answer = Ask({.path = "/token"});
  EXPECT_EQ(answer.head.status, 401);
  EXPECT_EQ(answer.body, "who are you");
  EXPECT_TRUE(answer.end->status.ok());
}

TEST_F(CurlTransportTest, RetryAfterIsTold) {
  Connect();
  const auto& answer = Ask({.path = "/busy"});
  EXPECT_EQ(answer.head.status, 429);
  EXPECT_EQ(answer.head.retry_after, 7'000);
}

TEST_F(CurlTransportTest, AStreamComesPieceByPiece) {
  Connect();
  const auto& answer = Ask({.path = "/chunks", .streaming = true});
  EXPECT_EQ(answer.body, "onetwothree");
  EXPECT_GE(answer.pieces, 2);
  EXPECT_TRUE(answer.end->status.ok());
}

TEST_F(CurlTransportTest, ACutIsAnErrorBehindWhatCame) {
  Connect();
  const auto& answer = Ask({.path = "/cut", .streaming = true});
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.body, "half");
  EXPECT_TRUE(absl::IsUnavailable(answer.end->status));
  EXPECT_TRUE(answer.end->sent);
}

TEST_F(CurlTransportTest, ASilentServerIsGivenUp) {
  Connect({.longest_silence = 1'000});
  const Millis begin = SteadyNow();
  const auto& slow = Ask({.path = "/silent", .timeout = 300});
  EXPECT_TRUE(absl::IsDeadlineExceeded(slow.end->status)) << slow.end->status;
  EXPECT_TRUE(slow.end->sent);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Ask({.path = "/silent"}).end->status));
  EXPECT_LT(SteadyNow() - begin, 15'000);
}

TEST_F(CurlTransportTest, AResponseThatIsTooLongIsGivenUp) {
  Connect({.longest_response = 1000});
  EXPECT_TRUE(absl::IsResourceExhausted(Ask({.path = "/big"}).end->status));
  EXPECT_EQ(Ask({.path = "/big", .streaming = true}).body.size(), 1u << 20);
}

TEST_F(CurlTransportTest, NobodyListensMeansNothingWasSent) {
  access_.server = "https://127.0.0.1:1";
  Connect();
  const auto& answer = Ask({.path = "/echo"});
  EXPECT_TRUE(absl::IsUnavailable(answer.end->status));
  EXPECT_FALSE(answer.end->sent);
}

TEST_F(CurlTransportTest, WhatIsTooLateIsNotSent) {
  Connect();
  const auto hits = [this] {
    return Echo({.path = "/echo"})["hits"].value("/busy", 0);
  };
  const int before = hits();
  const auto& answer =
      Ask({.method = "POST", .path = "/busy", .send_before = SteadyNow()});
  EXPECT_TRUE(absl::IsDeadlineExceeded(answer.end->status));
  EXPECT_FALSE(answer.end->sent);
  EXPECT_EQ(hits(), before);
}

TEST_F(CurlTransportTest, ANonIdempotentRequestIsNeverWrittenTwice) {
  Connect();
  const auto hits = [this] {
    return Echo({.path = "/echo"})["hits"].value("/swallow", 0);
  };
  const int before = hits();  // And a connection that is kept.
  const auto& answer =
      Ask({.method = "POST", .path = "/swallow", .idempotent = false});
  EXPECT_TRUE(absl::IsUnavailable(answer.end->status));
  EXPECT_TRUE(answer.end->sent);
  EXPECT_EQ(hits(), before + 1);
  // libcurl does so by itself where it may.
  Ask({.method = "GET", .path = "/swallow"});
  EXPECT_GT(hits(), before + 2);
}

TEST_F(CurlTransportTest, WhatIsCancelledIsHeardNoMore) {
  Connect();
  const RequestId waiting = Start("/echo");
  transport_->Cancel(waiting);
  const RequestId stream =
      transport_->Start({.path = "/endless", .streaming = true}, &recorder_);
  recorder_.cancel_at_data = transport_.get();  // Inside libcurl's callback.
  for (int i = 0; i < 300 && recorder_.answers[stream].pieces == 0; ++i) {
    transport_->Poll(100);
  }
  recorder_.cancel_at_data = nullptr;
  EXPECT_EQ(recorder_.answers[stream].body, "begun");
  EXPECT_EQ(Wait(Start("/echo")).head.status, 200);
  EXPECT_FALSE(recorder_.answers[stream].end.has_value());
  EXPECT_FALSE(recorder_.answers.contains(waiting));
}

TEST_F(CurlTransportTest, WakeEndsAPollFromAnotherThread) {
  Connect();
  const Millis begin = SteadyNow();
  std::thread other([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    transport_->Wake();
  });
  transport_->Poll(20'000);
  other.join();
  EXPECT_LT(SteadyNow() - begin, 15'000);
  // One that comes before the Poll is not lost.
  transport_->Wake();
  const Millis again = SteadyNow();
  transport_->Poll(20'000);
  EXPECT_LT(SteadyNow() - again, 15'000);
}

TEST_F(CurlTransportTest, ATransportMayEndWithRequestsUnderWay) {
  Connect();
  const RequestId stream =
      transport_->Start({.path = "/endless", .streaming = true}, &recorder_);
  for (int i = 0; i < 300 && recorder_.answers[stream].pieces == 0; ++i) {
    transport_->Poll(100);
  }
  Start("/echo");
  transport_.reset();
  EXPECT_FALSE(recorder_.answers[stream].end.has_value());
}

TEST_F(CurlTransportTest, OverHttp2WatchesAndWritesShareOneConnection) {
  const HttpsServer server(/*http2=*/true);
  if (!server.missing().empty()) GTEST_SKIP() << "needs " << server.missing();
  access_.server = server.url();
  access_.ca_pem = server.Text("server.pem");
  Connect();
  const RequestId watch =
      transport_->Start({.path = "/endless", .streaming = true}, &recorder_);
  std::vector<RequestId> ids;
  for (int i = 0; i < 20; ++i) {
    ids.push_back(transport_->Start(
        {.method = "POST", .path = "/bind", .body = "{}", .idempotent = false},
        &recorder_));
  }
  for (const RequestId id : ids) {
    EXPECT_TRUE(Wait(id).end->status.ok()) << Wait(id).end->status;
  }
  const Json echo = Echo({.path = "/echo"});
  EXPECT_EQ(echo["version"], "2.0");
  EXPECT_EQ(echo["sessions"], 1);
  EXPECT_EQ(echo["hits"]["/bind"], 20);
  EXPECT_EQ(recorder_.answers[watch].body, "begun");

  // The connection ends under a write, which is not written again; the watch
  // ends, too, in whatever way.
  const auto& lost =
      Ask({.method = "POST", .path = "/swallow", .idempotent = false});
  EXPECT_FALSE(lost.end->status.ok());
  EXPECT_TRUE(lost.end->sent);
  Wait(watch);
  const Json after = Echo({.path = "/echo"});
  EXPECT_EQ(after["hits"]["/swallow"], 1);
  EXPECT_EQ(after["sessions"], 2);
}

}  // namespace
}  // namespace muster::kubernetes::client
