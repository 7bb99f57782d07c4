#include "test/adapters/kubernetes_api/pod_oracle.h"

#include <gtest/gtest.h>

#include "test/adapters/kubernetes_api/random_pod.h"
#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

// Which fields come first is shuffled, so that these lists may be in any order.
Pod Sorted(Pod pod) {
  std::ranges::sort(pod.not_understood);
  std::ranges::sort(pod.host_ports);
  return pod;
}

TEST(PodOracleTest, TwoReadersAgreeOnRandomPods) {
  std::mt19937 random(20261125);
  Reader reader;
  for (int i = 0; i < 3000; ++i) {
    const nlohmann::json json = RandomPod(&random);
    const std::string text = Shuffled(json, &random);
    const auto pod = reader.Read<Pod>(text);
    ASSERT_TRUE(pod.ok()) << pod.status() << "\n" << json.dump(1);
    const Pod expected = Sorted(OraclePod(json));
    ASSERT_EQ(pod->requests, expected.requests) << json.dump(1);
    ASSERT_TRUE(Sorted(*pod) == expected) << json.dump(1);
  }
}

TEST(PodOracleTest, AListOfRandomPodsIsReadWhole) {
  std::mt19937 random(3);
  nlohmann::json list = {{"metadata", {{"resourceVersion", "5"}}},
                         {"items", nlohmann::json::array()}};
  std::vector<Pod> expected;
  for (int i = 0; i < 200; ++i) {
    list["items"].push_back(RandomPod(&random));
    expected.push_back(Sorted(OraclePod(list["items"].back())));
  }
  Reader reader;
  std::vector<Pod> pods;
  const auto meta = reader.ReadList<Pod>(
      Shuffled(list, &random), [&](Pod pod) { pods.push_back(Sorted(pod)); },
      [](const BadObject& bad) { ADD_FAILURE() << bad.why; });
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(meta->resource_version, "5");
  ASSERT_EQ(pods.size(), expected.size());
  for (size_t i = 0; i < pods.size(); ++i) {
    EXPECT_TRUE(pods[i] == expected[i]) << list["items"][i].dump(1);
  }
}

// Bytes are changed at random: there is an answer, and neighbours live on if
// the document still is one.
TEST(PodOracleTest, DamagedPodsAreAnswered) {
  std::mt19937 random(5);
  Reader reader;
  int read = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = RandomPod(&random).dump();
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
      text[random() % text.size()] = "{}[]\",:0aZ\\\xff\x01-e"[random() % 15];
    }
    const auto pod = reader.Read<Pod>(text);
    (pod.ok() ? read : refused)++;
    if (!pod.ok()) {
      EXPECT_EQ(pod.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_FALSE(pod.status().message().empty());
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace muster::kubernetes::api
