#include "adapters/text/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace muster::inprocess {
namespace {

TEST(QuantityTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(*ParseQuantity("8", 1000), 8000);
  EXPECT_EQ(*ParseQuantity("500m", 1000), 500);
  EXPECT_EQ(*ParseQuantity("0.5", 1000), 500);
  EXPECT_EQ(*ParseQuantity("1.5k", 1), 1500);
  EXPECT_EQ(*ParseQuantity("16Gi", 1), int64_t{16} << 30);
  EXPECT_EQ(*ParseQuantity("0.5Ki", 1), 512);
  EXPECT_EQ(*ParseQuantity("2000m", 1), 2);
  EXPECT_EQ(*ParseQuantity("0", 1), 0);
  EXPECT_EQ(*ParseQuantity("7Ei", 1), int64_t{7} << 60);
  EXPECT_EQ(*ParseQuantity("2E", 1), 2'000'000'000'000'000'000);
  EXPECT_EQ(*ParseQuantity("1e3", 1), 1000);
  EXPECT_EQ(*ParseQuantity("5E-1", 1000), 500);
  EXPECT_EQ(*ParseQuantity("2500000u", 1000), 2500);
}

TEST(QuantityTest, RoundsNothing) {
  EXPECT_FALSE(ParseQuantity("500m", 1).ok());
  EXPECT_FALSE(ParseQuantity("0.0001", 1000).ok());
  EXPECT_FALSE(ParseQuantity("1.1Ki", 1).ok());
}

TEST(QuantityTest, RefusesWhatIsNoQuantity) {
  for (const char* text : {"", "x", "-1", "1x", "1 ", " 1", "1..2", "1e", "Gi",
                           "1GiB", "0x10", ".", "1K", "--1", "+1"}) {
    EXPECT_FALSE(ParseQuantity(text, 1).ok()) << "'" << text << "'";
  }
  EXPECT_NE(ParseQuantity("-1", 1).status().message().find("negative"),
            absl::string_view::npos);
}

TEST(QuantityTest, NoticesEveryOverflow) {
  EXPECT_EQ(*ParseQuantity("9223372036854775807", 1),
            std::numeric_limits<int64_t>::max());
  for (const char* text :
       {"9223372036854775808", "8Ei", "99999999999999999999999999999999999999",
        "9300000000000000000000000000m", "16000000000Gi"}) {
    const auto q = ParseQuantity(text, 1);
    ASSERT_FALSE(q.ok()) << text;
    EXPECT_NE(q.status().message().find("too large"), absl::string_view::npos);
  }
  EXPECT_FALSE(ParseQuantity("9223372036854775", 1'000'000).ok());
}

TEST(QuantityTest, RoundsAsTheApiServerDoes) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const struct {
    const char* text;
    int64_t milli;
  } cases[] = {{"0", 0},
               {"1", 1000},
               {"+1.5", 1500},
               {"-1.5", -1500},
               {".5", 500},
               {"1.", 1000},
               {"100m", 100},
               {"1u", 1},
               {"1000u", 1},
               {"1001u", 2},
               {"1n", 1},
               {"0n", 0},
               {"-1n", -1},
               {"999999n", 1},
               {"1000001n", 2},
               {"1.0001", 1001},
               {"0.00000000000000000000000000001", 1},
               {"0.00000000000000000000000000000", 0},
               {"1e3", 1'000'000},
               {"1E3", 1'000'000},
               {"1e+3", 1'000'000},
               {"1500e-3", 1500},
               {"1e-30", 1},
               {"1e-999999999999", 1},
               {"0e999999999999", 0},
               {"1k", 1'000'000},
               {"1Ki", 1'024'000},
               {"1.5Gi", (int64_t{3} << 29) * 1000},
               {"4Pi", (int64_t{4} << 50) * 1000},
               {"1E", kMax},
               {"1Ei", kMax},
               {"-1Ei", -kMax},
               {"1e999999999999", kMax},
               {"99999999999999999999999999999999999999999999", kMax},
               {"9223372036854775.807", kMax},
               {"9223372036854775.8071", kMax},
               {"9223372036854775.806", kMax - 1}};
  for (const auto& [text, milli] : cases) {
    const auto q = ParseQuantityRoundedUp(text, 1000);
    ASSERT_TRUE(q.ok()) << text << ": " << q.status();
    EXPECT_EQ(*q, milli) << text;
  }
}

TEST(QuantityTest, TheApiServersRoundingStillNeedsANumberAndASuffix) {
  for (const char* text :
       {"", "+", "-", "--1", "+-1", "1K", "1ki", "1mi", "1e", "1e+", "1e1.5",
        "1 Gi", "Gi", "1EiB", "1,5", "\xff", "1e3Gi", "E3"}) {
    EXPECT_FALSE(ParseQuantityRoundedUp(text, 1000).ok()) << "'" << text << "'";
  }
}

TEST(DurationTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(*ParseDuration("1208925.000000000000000000h"), 1208925 * kHour);
  EXPECT_EQ(*ParseDuration("100s"), 100 * kSecond);
  EXPECT_EQ(*ParseDuration("2h"), 2 * kHour);
  EXPECT_EQ(*ParseDuration("1h30m"), kHour + 1800 * kSecond);
  EXPECT_EQ(*ParseDuration("1.5h"), kHour + 1800 * kSecond);
  EXPECT_EQ(*ParseDuration("250ms"), kSecond / 4);
  EXPECT_EQ(*ParseDuration("7d"), 7 * 24 * kHour);
  EXPECT_EQ(*ParseDuration("3us"), 3000);
  EXPECT_EQ(*ParseDuration("0"), 0);
}

TEST(DurationTest, RefusesWhatIsNone) {
  for (const char* text : {"", "1", "-1s", "1w", "s", "1h-3m", "1h3", "0.1ns",
                           "300000d", "1 s", "9223372036854775807ns"}) {
    EXPECT_FALSE(ParseDuration(text).ok()) << "'" << text << "'";
  }
}

TEST(FormatTest, TellsNoMoreThanNeeded) {
  EXPECT_EQ(FormatSeconds(150 * kSecond), "150");
  EXPECT_EQ(FormatSeconds(kSecond / 4), "0.25");
  EXPECT_EQ(FormatSeconds(0), "0");
  EXPECT_EQ(FormatSpan(90 * kSecond), "1.5 min");
  EXPECT_EQ(FormatSpan(3 * kHour), "3 h");
  EXPECT_EQ(FormatSpan(60 * kHour), "2.5 d");
}

}  // namespace
}  // namespace muster::inprocess
