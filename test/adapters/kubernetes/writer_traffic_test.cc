// Requests of the controller against what a real API server has said to them.
#include <map>
#include <string>
#include <vector>

#include "adapters/kubernetes/api/readers.h"
#include "adapters/kubernetes/client/request_queue.h"
#include "adapters/kubernetes/host/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "test/adapters/kubernetes_client/recorded_transport.h"
#include "test/adapters/kubernetes_client/traffic.h"

namespace muster::kubernetes {
namespace {

using client::Asked;
using client::Exchange;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// Makes the recording's requests one after another.
class WriterTrafficTest : public testing::Test {
 protected:
  void SetUp() override {
    auto exchanges = client::ReadTraffic(MUSTER_TRAFFIC_FOLDER "/writes.txt");
    ASSERT_TRUE(exchanges.ok()) << exchanges.status();
    exchanges_ = *std::move(exchanges);
    ASSERT_FALSE(exchanges_.empty());
    const auto list = reader_.ReadList<api::Pod>(
        exchanges_[0].answer,
        [&](const api::Pod& pod) {
          pods_[pod.meta.name] = {pod.meta.namespace_name, pod.meta.name,
                                  pod.meta.uid};
        },
        [](const api::BadObject& bad) { ADD_FAILURE() << bad.why; });
    ASSERT_TRUE(list.ok()) << list.status();
  }

  // Sends the request, which is the next of the recording, and hears what the
  // controller is to hear.
  ApiAnswer Ask(RequestBody body) {
    const Exchange& exchange = exchanges_.at(next_++);
    transport_.Play(client::ToRecording(exchange, 100));
    auto write = ToWrite({next_, std::move(body)}, {}, 0);
    EXPECT_TRUE(write.ok()) << write.status();
    if (!write.ok()) return {};
    EXPECT_EQ(Asked(write->http.method, write->http.path),
              Asked(exchange.method, exchange.path));
    EXPECT_EQ(ToJson(write->http.body), ToJson(exchange.body));
    ApiAnswer answer;
    size_t answers = 0;
    const absl::Status submitted =
        queue_.Submit(*std::move(write), [&](const client::Outcome& outcome) {
          ++answers;
          answer = ToAnswer(next_, outcome);
          body_ = outcome.body;
        });
    EXPECT_TRUE(submitted.ok()) << submitted;
    queue_.Advance(now_);
    transport_.Poll(0);
    queue_.Advance(now_);
    EXPECT_EQ(answers, 1u);
    return answer;
  }
  ApiAnswer Bind(const std::string& pod, const std::string& node) {
    return Ask(BindRequest{pods_.at(pod), node, /*task=*/0, /*decision=*/7});
  }
  ApiAnswer Evict(const std::string& pod) {
    return Ask(EvictRequest{pods_.at(pod)});
  }
  static Json ToJson(const std::string& text) {
    return text.empty() ? Json() : Json::parse(text);
  }

  std::vector<Exchange> exchanges_;
  api::Reader reader_;
  std::map<std::string, PodRef> pods_;
  client::RecordedTransport transport_;
  client::RequestQueue queue_{&transport_, {}};
  client::Millis now_ = 1'000'000;
  size_t next_ = 1;  // Of the recording.
  std::string body_;
};

TEST_F(WriterTrafficTest, BindingsAndEvictionsAndTheirAnswers) {
  EXPECT_EQ(Bind("bound", "node-0").outcome, ApiOutcome::kDone);
  EXPECT_EQ(Bind("guarded", "node-1").outcome, ApiOutcome::kDone);

  const ApiAnswer taken = Bind("bound", "node-1");
  EXPECT_EQ(taken.outcome, ApiOutcome::kConflict);
  EXPECT_THAT(taken.message, HasSubstr("already assigned to node \"node-0\""));
  EXPECT_EQ(Ask(ReadRequest{pods_.at("bound")}).outcome, ApiOutcome::kDone);
  const auto bound = reader_.Read<api::Pod>(body_);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(bound->node_name, "node-0");
  EXPECT_EQ(bound->meta.annotations.at(kDecisionAnnotation), "7");

  EXPECT_EQ(Bind("gone", "node-0").outcome, ApiOutcome::kNotFound);
  const ApiAnswer another = Bind("gone", "node-0");
  EXPECT_EQ(another.outcome, ApiOutcome::kConflict);
  EXPECT_THAT(another.message, HasSubstr("UID"));

  const ApiAnswer guarded = Evict("guarded");
  EXPECT_EQ(guarded.outcome, ApiOutcome::kTooManyRequests);
  EXPECT_THAT(guarded.message, HasSubstr("disruption budget"));
  EXPECT_EQ(Evict("guarded").outcome, ApiOutcome::kDone);
  EXPECT_EQ(Evict("guarded").outcome, ApiOutcome::kNotFound);
  EXPECT_EQ(next_, exchanges_.size());
}

}  // namespace
}  // namespace muster::kubernetes
