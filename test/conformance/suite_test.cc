// The whole suite against what is recorded to pass: it can only go up.
// Scenarios are recorded by digests: their names are the suite's.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/hash.h"
#include "test/conformance/report.h"
#include "test/conformance/runner.h"
#include "test/conformance/scenario_reader.h"

namespace muster::conformance {
namespace {

constexpr char kRecord[] = "test/conformance/expected_passes.txt";
constexpr char kRecordVariable[] = "MUSTER_CONFORMANCE_RECORD";

std::string SuiteFolder() {
  const char* shared = std::getenv("MUSTER_SHARED");
  return std::string(shared == nullptr ? "../shared" : shared) + "/conformance";
}

// Sixteen hexadecimal digits.
std::string DigestOf(const std::string& id) {
  return absl::StrCat(absl::Hex(StableHasher()(id), absl::kZeroPad16));
}

// Digests of the scenarios that passed.
std::set<std::string> ReadRecord() {
  std::set<std::string> digests;
  std::ifstream in(kRecord);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) digests.insert(line);
  }
  return digests;
}

class Suite : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(SuiteFolder())) {
      GTEST_SKIP() << "no scenarios in " << SuiteFolder();
    }
    auto scenarios = ReadFolder(SuiteFolder());
    ASSERT_TRUE(scenarios.ok()) << scenarios.status().message();
    scenarios_ = *std::move(scenarios);
  }

  std::vector<CaseResult> RunAll(bool decides) const {
    std::vector<CaseResult> results;
    for (const Scenario& s : scenarios_)
      results.push_back(RunScenario(s, decides));
    return results;
  }

  std::vector<Scenario> scenarios_;
};

TEST_F(Suite, WhatIsRecordedToPassPasses) {
  const std::vector<CaseResult> results = RunAll(true);
  std::cout << ToTable(results, false) << "\n"
            << ToSummary(results, RunAll(false));
  const std::set<std::string> recorded = ReadRecord();
  std::set<std::string> passing;
  size_t fresh = 0;
  for (const CaseResult& r : results) {
    const bool passes = r.verdict == Verdict::kPass;
    const std::string digest = DigestOf(r.id);
    if (recorded.contains(digest)) {
      passing.insert(digest);
      EXPECT_TRUE(passes) << r.id << ": passed once, " << Name(r.verdict)
                          << " now: " << r.why;
    } else if (passes) {
      if (fresh++ == 0) std::cout << "\npasses that are not recorded yet:\n";
      std::cout << "  " << r.id << "\n";
      passing.insert(digest);
    }
  }
  // Else a scenario that is gone, or has another name, is looked at no more.
  EXPECT_EQ(passing.size(), recorded.size() + fresh)
      << "digests are recorded that no scenario has";
  if (passing == recorded) return;
  if (std::getenv(kRecordVariable) == nullptr) {
    std::cout << "record them: " << kRecordVariable
              << "=1 ./dev test conformance_suite_test\n";
    return;
  }
  std::ofstream out(kRecord);
  for (const std::string& digest : passing) out << digest << "\n";
  std::cout << "recorded in " << kRecord << "\n";
}

TEST_F(Suite, ASecondRunComesToTheSame) {
  const std::vector<CaseResult> one = RunAll(true);
  const std::vector<CaseResult> two = RunAll(true);
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].verdict, two[i].verdict) << one[i].id;
    EXPECT_EQ(one[i].why, two[i].why) << one[i].id;
  }
}

// What the runner was written for: at least half of what a scheduler that
// decides nothing fails, of those kinds and grades that know no policy.
TEST_F(Suite, HalfOfWhatTakesADecisionPasses) {
  const std::vector<CaseResult> ours = RunAll(true);
  const std::vector<CaseResult> none = RunAll(false);
  int of = 0, passing = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const bool counted =
        (ours[i].kind == "cycle" && ours[i].grade == "generic-exact") ||
        (ours[i].kind == "placement" && ours[i].grade != "policy");
    if (!counted || none[i].verdict == Verdict::kPass) continue;
    ++of;
    passing += ours[i].verdict == Verdict::kPass;
  }
  std::cout << passing << " of " << of << "\n";
  EXPECT_GE(2 * passing, of);
}

}  // namespace
}  // namespace muster::conformance
