// The FGD experiment on the published lists, with few seeds.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "adapters/experiments/fgd.h"
#include "adapters/experiments/fgd_report.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

constexpr uint32_t kSeeds = 2;

class FgdDataTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string nodes =
        SharedFile("data/openb/openb_node_list_gpu_node.csv.gz");
    const std::string pods = SharedFile("data/openb/openb_pod_list_" +
                                        std::string(GetParam()) + ".csv.gz");
    const std::string summary =
        SharedFile("data/openb/fgd_expected_summary.csv");
    if (nodes.empty() || pods.empty() || summary.empty()) {
      GTEST_SKIP() << "openb is not there: MUSTER_SHARED names its folder";
    }
    absl::StatusOr<FgdInput> input = LoadFgd(nodes, pods);
    ASSERT_TRUE(input.ok()) << input.status();
    input_ = *std::move(input);
    auto published = LoadPublished(summary, GetParam());
    ASSERT_TRUE(published.ok()) << published.status();
    ASSERT_EQ(published->size(), 6u);
    published_ = *std::move(published);
  }

  double At100(std::string_view name) {
    for (const FgdPolicy& p : FgdPolicies()) {
      if (p.name == name) {
        const auto result = RunFgd(input_, p, 42, kSeeds, [] {});
        if (result.ok()) return result->allocated[100];
        ADD_FAILURE() << result.status();
        return 0;
      }
    }
    ADD_FAILURE() << "no policy " << name;
    return 0;
  }

  FgdInput input_;
  std::map<std::string, double> published_;
};

TEST_P(FgdDataTest, ThePublishedFiguresComeOut) {
  EXPECT_NEAR(At100("FGD"), published_["FGD"], 0.3);
  EXPECT_NEAR(At100("BestFit"), published_["BestFit"], 0.3);
  EXPECT_NEAR(At100("DotProd"), published_["DotProd"], 0.5);
  EXPECT_NEAR(At100("GpuPacking"), published_["GpuPacking"], 1.0);
  EXPECT_NEAR(At100("GpuClustering"), published_["GpuClustering"], 1.0);
}

TEST_P(FgdDataTest, TheDefaultPolicyBeatsFgd) {
  EXPECT_GT(At100("Muster"), At100("FGD") + 0.05);
}

// Over two seeds only, hence a wider tolerance.
TEST_P(FgdDataTest, RandomPlacementIsRandom) {
  EXPECT_NEAR(At100("Random"), published_["Random"], 1.0);
}

INSTANTIATE_TEST_SUITE_P(Lists, FgdDataTest,
                         testing::Values("default", "gpushare40",
                                         "multigpu30"));

}  // namespace
}  // namespace muster::inprocess
