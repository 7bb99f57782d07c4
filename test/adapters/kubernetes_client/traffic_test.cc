// A reflector against what a real API server has said.
#include "test/adapters/kubernetes_client/traffic.h"

#include <cstdint>
#include <map>
#include <string>

#include "adapters/kubernetes/api/readers.h"
#include "adapters/kubernetes/client/reflector.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::kubernetes::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The pods that are there: names, and the nodes they are bound to.
class Copy final : public Sink {
 public:
  void OnListBegin() override { listed_.clear(); }
  absl::Status OnListPage(std::string_view body) override {
    return reader_
        .ReadList<api::Pod>(
            body, [&](const api::Pod& pod) { Put(pod, &listed_); },
            [&](const api::BadObject& one) { bad.push_back(one.name); })
        .status();
  }
  void OnListEnd() override {
    pods = listed_;
    lists.push_back(pods.size());
  }
  absl::Status OnEvent(EventType type, std::string_view object) override {
    const auto pod = reader_.Read<api::Pod>(object);
    if (!pod.ok()) return pod.status();
    EXPECT_EQ(pods.contains(pod->meta.name), type != EventType::kAdded);
    if (type == EventType::kDeleted) {
      pods.erase(pod->meta.name);
    } else {
      Put(*pod, &pods);
    }
    return absl::OkStatus();
  }

  std::map<std::string, std::string> pods{};
  std::vector<size_t> lists{};  // How many pods each has told.
  std::vector<std::string> bad{};

 private:
  static void Put(const api::Pod& pod,
                  std::map<std::string, std::string>* pods) {
    EXPECT_EQ(pod.scheduler_name, "muster");
    EXPECT_FALSE(pod.meta.uid.empty());
    (*pods)[pod.meta.name] = pod.node_name;
  }

  api::Reader reader_;
  std::map<std::string, std::string> listed_{};
};

class TrafficTest : public testing::TestWithParam<size_t> {
 protected:
  // Plays the recording until the reflector has asked all of its questions.
  void Play() {
    const auto exchanges = ReadTraffic(MUSTER_TRAFFIC_FOLDER "/pods.txt");
    ASSERT_TRUE(exchanges.ok()) << exchanges.status();
    for (const Exchange& exchange : *exchanges) {
      bookmarks_ += CountOf("\"type\":\"BOOKMARK\"", exchange.answer);
      transport_.Play(ToRecording(exchange, GetParam()));
    }
    Millis now = 1'000'000;
    const size_t all = exchanges->size();
    for (int turn = 0; turn < 100 && transport_.requests().size() < all;
         ++turn) {
      reflector_.Advance(now);
      transport_.Poll(0);
      now += 60'000;  // Longer than any back-off.
    }
    ASSERT_EQ(transport_.requests().size(), all);
    for (size_t i = 0; i < all; ++i) {
      EXPECT_EQ(
          Asked(transport_.requests()[i].method, transport_.requests()[i].path),
          Asked((*exchanges)[i].method, (*exchanges)[i].path));
    }
  }

  static uint64_t CountOf(const std::string& text, const std::string& in) {
    uint64_t count = 0;
    for (size_t at = in.find(text); at != std::string::npos;
         at = in.find(text, at + 1)) {
      ++count;
    }
    return count;
  }

  uint64_t bookmarks_ = 0;  // In the recording: the server sends one or two.
  RecordedTransport transport_;
  Copy copy_;
  Reflector reflector_{
      &transport_,
      {.path = "/api/v1/namespaces/default/pods", .page_limit = 2},
      &copy_};
};

TEST_P(TrafficTest, TheReflectorAsksAndUnderstandsAsItWasRecorded) {
  Play();
  EXPECT_THAT(copy_.bad, IsEmpty());
  // Pages; after the ERROR event and the 410 of a page the list as a whole.
  EXPECT_THAT(copy_.lists, ElementsAre(3u, 6u));
  EXPECT_THAT(copy_.pods,
              UnorderedElementsAre(std::pair("a", ""), std::pair("c", ""),
                                   std::pair("d", "node-0"), std::pair("e", ""),
                                   std::pair("f", ""), std::pair("g", ""),
                                   std::pair("h", "")));
  const ReflectorCounts& counts = reflector_.counts();
  EXPECT_EQ(counts.lists, 2u);
  EXPECT_EQ(counts.pages, 4u);
  EXPECT_EQ(counts.expired, 2u);
  EXPECT_GE(bookmarks_, 2u);
  EXPECT_EQ(counts.bookmarks, bookmarks_);
  EXPECT_EQ(counts.failures, 0u);
}

// Where an answer is cut into pieces says nothing.
INSTANTIATE_TEST_SUITE_P(Pieces, TrafficTest,
                         testing::Values(1, 7, 1'000, 1'000'000),
                         testing::PrintToStringParamName());

TEST(TrafficFileTest, HowLongAWatchLastsIsNotCompared) {
  EXPECT_EQ(Asked("GET", "/pods?watch=1&timeoutSeconds=6"),
            "GET /pods?watch=1");
  EXPECT_EQ(Asked("GET", "/pods?timeoutSeconds=6&limit=2"),
            "GET /pods?timeoutSeconds=6&limit=2");
  EXPECT_EQ(Asked("GET", "/pods?watch=1&timeoutSeconds=6&limit=2"),
            "GET /pods?watch=1&limit=2");
}

}  // namespace
}  // namespace muster::kubernetes::client
