#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lib/wire/format.h"

namespace muster::wire::internal {
namespace {

// The check value of CRC-32C, and examples of RFC 3720, B.4.
TEST(Crc32cTest, GivesThePublishedValues) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aa);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43);
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  EXPECT_EQ(Crc32c(ascending), 0x46dd794e);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Crc32cTest, GoesOnFromAnyPoint) {
  const std::string_view text = "the quick brown fox jumps over the lazy dog";
  for (size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(Crc32c(text.substr(i), Crc32c(text.substr(0, i))), Crc32c(text));
  }
}

}  // namespace
}  // namespace muster::wire::internal
