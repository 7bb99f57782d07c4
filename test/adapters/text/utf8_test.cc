#include "adapters/text/utf8.h"

#include "gtest/gtest.h"

namespace muster::text {
namespace {

TEST(TruncatedTest, ATextIsCutOffAtTheEndOfACharacter) {
  EXPECT_EQ(Truncated("abc", 3), "abc");
  EXPECT_EQ(Truncated("abcd", 3), "abc");
  EXPECT_EQ(Truncated("aé", 2), "a");
  EXPECT_EQ(Truncated("a🚀b", 4), "a");
  EXPECT_EQ(Truncated("a🚀b", 5), "a🚀");
  EXPECT_EQ(Truncated("🚀", 0), "");
  EXPECT_EQ(Truncated("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);
}

}  // namespace
}  // namespace muster::text
