// The fuzzers' targets without a fuzzer: the seeds, each also cut off and
// damaged a little, and every input that once went wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "fuzz/targets.h"
#include "test/property/dice.h"

namespace muster::fuzz {

// Names of tests have no addresses.
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

class FuzzTest : public testing::TestWithParam<Target> {};

std::string NameOf(const testing::TestParamInfo<Target>& info) {
  return std::string(info.param.name);
}
INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, testing::ValuesIn(kTargets),
                         NameOf);

TEST_P(FuzzTest, TheSeedsAreRead) {
  const auto seeds = Seeds(GetParam().name);
  ASSERT_FALSE(seeds.empty());
  for (const Seed& seed : seeds) {
    EXPECT_EQ(GetParam().run(seed.bytes), "") << seed.name;
  }
}

TEST_P(FuzzTest, DamagedSeedsAreSurvived) {
  constexpr int kTries = 8;
  Dice dice(1);
  for (const Seed& seed : Seeds(GetParam().name)) {
    const auto size = static_cast<uint32_t>(seed.bytes.size());
    for (int i = 0; i < kTries; ++i) {
      std::string bytes = seed.bytes;
      if (i % 2 == 0) {
        bytes.resize(dice.Below(size));
      } else {
        bytes[dice.Below(size)] = static_cast<char>(dice.Below(256));
      }
      EXPECT_EQ(GetParam().run(bytes), "") << seed.name << ", try " << i;
    }
  }
}

// fuzz/regressions/TARGET holds inputs that a fuzzer found.
std::filesystem::path Regressions() {
  return std::filesystem::path(MUSTER_SOURCE_DIR) / "fuzz/regressions";
}

std::vector<Target> TargetsThatFailed() {
  std::vector<Target> targets;
  std::ranges::copy_if(kTargets, std::back_inserter(targets), [](auto& target) {
    return std::filesystem::exists(Regressions() / target.name);
  });
  return targets;
}

class RegressionTest : public testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(Targets, RegressionTest,
                         testing::ValuesIn(TargetsThatFailed()), NameOf);

TEST_P(RegressionTest, WhatOnceWentWrongGoesWell) {
  size_t inputs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(Regressions() / GetParam().name)) {
    SCOPED_TRACE(entry.path().filename());
    std::ifstream in(entry.path(), std::ios::binary);
    EXPECT_EQ(
        GetParam().run(std::string(std::istreambuf_iterator<char>(in), {})),
        "");
    ++inputs;
  }
  EXPECT_GT(inputs, 0u);
}

TEST(RegressionFolders, AreOfTargets) {
  size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Regressions())) {
    EXPECT_TRUE(std::ranges::any_of(kTargets, [&](const Target& target) {
      return entry.path().filename() == target.name;
    })) << entry.path();
    ++folders;
  }
  EXPECT_EQ(folders, TargetsThatFailed().size());
  EXPECT_GE(folders, 7u) << "one is lost";
}

}  // namespace
}  // namespace muster::fuzz
