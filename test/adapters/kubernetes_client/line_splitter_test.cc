#include "adapters/kubernetes/client/line_splitter.h"

#include <gtest/gtest.h>

#include <vector>

#include "test/property/dice.h"

namespace muster::kubernetes::client {
namespace {

using Lines = std::vector<std::string>;

Lines Take(LineSplitter* splitter) {
  Lines lines;
  std::string_view line;
  while (splitter->Next(&line)) lines.emplace_back(line);
  return lines;
}

TEST(LineSplitterTest, WholeLinesComeOutAndTheRestStays) {
  LineSplitter splitter(100);
  ASSERT_TRUE(splitter.Feed("one\ntw").ok());
  EXPECT_EQ(Take(&splitter), Lines{"one"});
  ASSERT_TRUE(splitter.Feed("o\r\n\n\nthree").ok());
  EXPECT_EQ(Take(&splitter), Lines{"two"});
  ASSERT_TRUE(splitter.Feed("\n").ok());
  EXPECT_EQ(Take(&splitter), Lines{"three"});
}

TEST(LineSplitterTest, ResetForgetsAnIncompleteLine) {
  LineSplitter splitter(100);
  ASSERT_TRUE(splitter.Feed("{\"half\"").ok());
  EXPECT_EQ(Take(&splitter), Lines{});
  splitter.Reset();
  ASSERT_TRUE(splitter.Feed("whole\n").ok());
  EXPECT_EQ(Take(&splitter), Lines{"whole"});
}

TEST(LineSplitterTest, ALineThatIsTooLongIsRefusedAndManyShortOnesAreNot) {
  LineSplitter splitter(8);
  EXPECT_TRUE(splitter.Feed("12345678").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(splitter.Feed("9")));
  splitter.Reset();
  EXPECT_TRUE(splitter.Feed("1234567\n1234567\n1234567\n1234").ok());
  EXPECT_EQ(Take(&splitter).size(), 3u);
  EXPECT_TRUE(splitter.Feed("5678").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(splitter.Feed("9")));
}

TEST(LineSplitterTest, AnyPiecesGiveTheSameLines) {
  Dice dice(7);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    Lines expected;
    for (uint32_t i = dice.Below(20); i > 0; --i) {
      std::string line(1 + dice.Below(200), static_cast<char>('a' + i));
      text += line + '\n';
      expected.push_back(std::move(line));
    }
    text += "unfinished";
    LineSplitter splitter(1000);
    Lines lines;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + dice.Below(dice.OneIn(3) ? 300 : 10);
      ASSERT_TRUE(splitter.Feed(text.substr(at, size)).ok());
      for (std::string& line : Take(&splitter)) lines.push_back(line);
      at += size;
    }
    EXPECT_EQ(lines, expected);
  }
}

}  // namespace
}  // namespace muster::kubernetes::client
