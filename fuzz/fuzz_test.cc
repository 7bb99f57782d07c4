// The fuzzers' targets without a fuzzer: the seeds, each also cut off and
// damaged a little, and every input that once went wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/targets.h"
#include "test/property/dice.h"

namespace muster::fuzz {
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
TEST_P(FuzzTest, WhatOnceWentWrongGoesWell) {
  const auto folder = std::filesystem::path(MUSTER_SOURCE_DIR) /
                      "fuzz/regressions" / GetParam().name;
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no fuzzer found anything in " << GetParam().name;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename());
    std::ifstream in(entry.path(), std::ios::binary);
    EXPECT_EQ(
        GetParam().run(std::string(std::istreambuf_iterator<char>(in), {})),
        "");
  }
}

}  // namespace
}  // namespace muster::fuzz
