// The main of all tests: GoogleTest's, but a run in which nothing ran ends with
// 77, as ctest has it of a test that is skipped. What is printed decides
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);  // Of GoogleTest, too.
  constexpr int kSkipped = 77;
  const int result = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const bool none_ran =
      all.skipped_test_count() > 0 && all.successful_test_count() == 0;
  return result == 0 && none_ran ? kSkipped : result;
}
