#include "adapters/text/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

using testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

std::string Gzip(const std::string& text) {
  const TempFile file("raw.gz");
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return file.Read();
}

TEST(CsvTest, ReadsColumnsByName) {
  const TempFile file("a.csv", "name,cpu\r\nx,5\n\ny,7");
  auto table = CsvTable::Load(file.path());
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->rows(), 2U);
  EXPECT_EQ(table->Text(1, "name"), "y");
  EXPECT_EQ(table->Integer(1, "cpu", 0, 10), 7);
  EXPECT_TRUE(table->status().ok());
}

TEST(CsvTest, ReadsCompressedFilesLikePlainOnes) {
  const TempFile file("a.csv.gz", Gzip("name,cpu\nx,5\n"));
  auto table = CsvTable::Load(file.path());
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->Integer(0, "cpu", 0, 10), 5);
}

TEST(CsvTest, NoticesACompressedFileThatEndsEarly) {
  const std::string whole = Gzip("name,cpu\nx,5\ny,6\nz,7\n");
  const TempFile file("a.csv.gz", whole.substr(0, whole.size() - 9));
  auto table = CsvTable::Load(file.path());
  ASSERT_FALSE(table.ok());
  EXPECT_THAT(Message(table.status()), HasSubstr("damaged"));
}

TEST(CsvTest, RefusesASmallFileThatHoldsVeryMuch) {
  std::string all;
  const std::string part = Gzip(std::string(16 << 20, '\n'));
  for (int i = 0; i < 17; ++i) all += part;
  ASSERT_LT(all.size(), size_t{1} << 20);
  const TempFile file("bomb.csv.gz", all);
  EXPECT_EQ(Message(CsvTable::Load(file.path()).status()),
            file.path() + ": holds more than 256 MiB");
}

TEST(CsvTest, NamesFileLineAndColumnOfAMistake) {
  const TempFile file("a.csv",
                      "name,cpu\nx,5\ny,five\nz,99999999999999999999\n");
  auto table = CsvTable::Load(file.path());
  ASSERT_TRUE(table.ok());
  table->Integer(1, "cpu", 0, 10);
  EXPECT_EQ(Message(table->status()),
            file.path() + ":3: cpu: 'five' is not an integer");
  table->Integer(2, "cpu", 0, 10);
  EXPECT_THAT(Message(table->status()), HasSubstr(":3:")) << "the first stays";
}

TEST(CsvTest, RefusesALineWithTooFewFields) {
  const TempFile file("a.csv", "name,cpu\nx\n");
  EXPECT_EQ(Message(CsvTable::Load(file.path()).status()),
            file.path() + ":2: has 1 fields, the first line 2");
}

TEST(CsvTest, SaysWhichColumnIsMissing) {
  const TempFile file("a.csv", "name\nx\n");
  auto table = CsvTable::Load(file.path());
  ASSERT_TRUE(table.ok());
  table->Integer(0, "cpu", 0, 10);
  EXPECT_THAT(Message(table->status()), HasSubstr("lacks the column 'cpu'"));
}

TEST(CsvTest, SaysThatAFileCannotBeRead) {
  EXPECT_THAT(Message(CsvTable::Load("/proc/nowhere/at.all").status()),
              HasSubstr("/proc/nowhere/at.all: cannot be read"));
  const TempFile empty("a.csv", "");
  EXPECT_THAT(Message(CsvTable::Load(empty.path()).status()),
              HasSubstr("is empty"));
}

}  // namespace
}  // namespace muster::inprocess
