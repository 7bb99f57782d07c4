// What ctest_test.py runs: a test that passes, one that is skipped, and one
// that says so and fails. They are no tests of ctest.
#include <gtest/gtest.h>

#include <iostream>

namespace {

TEST(Marks, Passes) {}

TEST(Marks, IsSkipped) { GTEST_SKIP() << "for want of everything"; }

TEST(Marks, SaysThatItIsSkippedAndFails) {
  std::cout << "[  SKIPPED ] but no\n";
  FAIL() << "it fails";
}

}  // namespace
