#include "adapters/local/slurm/format.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local::slurm {
namespace {

using ::testing::HasSubstr;

std::string LineOf(const std::string& format) {
  const auto parsed = Format::Parse(format, "ij");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return "";
  return parsed->Line(
      [](char letter) { return letter == 'i' ? "12" : "a\033name"; });
}

TEST(SlurmFormatTest, FieldsAreAsWideAsAskedAndTextsAreThemselves) {
  EXPECT_EQ(LineOf("%i|%j"), "12|a name\n");
  EXPECT_EQ(LineOf("%5i|%.5i|%.1i|"), "12   |   12|1|\n");
  EXPECT_EQ(LineOf("none"), "none\n");
  EXPECT_EQ(LineOf(""), "\n");
}

TEST(SlurmFormatTest, UnknownFieldsAreNamed) {
  for (const char* format : {"%x", "%", "%.9", "%i %99"}) {
    const auto parsed = Format::Parse(format, "ij");
    ASSERT_FALSE(parsed.ok()) << format;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("ij"));
  }
}

TEST(SlurmFormatTest, AWidthHasAnEnd) {
  EXPECT_EQ(LineOf("%99999999999i").size(), 4'097u);
}

TEST(SlurmFormatTest, AFormatTellsWhatItHas) {
  const auto parsed = Format::Parse("%.3i j", "ij");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->Has('i'));
  EXPECT_FALSE(parsed->Has('j'));
}

}  // namespace
}  // namespace muster::local::slurm
