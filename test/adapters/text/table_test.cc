#include "adapters/text/table.h"

#include <string>

#include "gtest/gtest.h"

namespace muster::text {
namespace {

TEST(TableTest, ColumnsAreAsWideAsTheirLongestCell) {
  Table table({"A", "LONG", "C"});
  table.Add({"müller", "x", "y"});
  table.Add({"", "xxxxx", ""});
  EXPECT_EQ(table.Text(),
            "A       LONG   C\n"
            "müller  x      y\n"
            "        xxxxx\n");
}

TEST(PrintableTest, NothingMovesTheCursor) {
  EXPECT_EQ(Printable("plain text"), "plain text");
  EXPECT_EQ(Printable("a\033[2J\nb\tc\x7f"), "a [2J b c ");
  EXPECT_EQ(Printable("é\xc2\x9b"
                      "x🚀"),
            "é x🚀");
  EXPECT_EQ(Printable("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(Printable(std::string("\0", 1)), " ");
}

TEST(PrintableTest, LongTextsAreCutOff) {
  EXPECT_EQ(Printable("abcdef", 3), "abc");
  EXPECT_EQ(Printable("aé", 2), "a");
}

}  // namespace
}  // namespace muster::text
