// Tables of comma-separated values, plain or compressed with gzip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::inprocess {

// A whole file in memory: traces are small, simulations of them are long.
// The first line names the columns; fields have no quotes.
class CsvTable {
 public:
  // INVALID_ARGUMENT names file and line: unreadable or damaged files, lines
  // with another number of fields than the first one.
  static absl::StatusOr<CsvTable> Load(const std::string& file);

  size_t rows() const { return lines_.size(); }
  bool Has(std::string_view column) const { return Column(column) >= 0; }
  // A row, to be read column by column. The first mistake (no such column, not
  // a number, out of range) is kept by the table: look at status() at the end.
  std::string_view Text(size_t row, std::string_view column);
  int64_t Integer(size_t row, std::string_view column, int64_t least,
                  int64_t most);
  // A non-negative decimal, times `scale`: a whole number.
  int64_t Scaled(size_t row, std::string_view column, int64_t scale);
  const absl::Status& status() const { return status_; }
  absl::Status Wrong(size_t row, std::string_view column,
                     std::string_view what) const;

 private:
  int Column(std::string_view name) const;
  void Fail(size_t row, std::string_view column, std::string_view what);

  std::string file_;
  std::vector<std::string> columns_;
  std::vector<std::string> lines_;
  std::vector<int> line_numbers_;
  absl::Status status_ = absl::OkStatus();
};

}  // namespace muster::inprocess
