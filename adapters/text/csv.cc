#include "adapters/text/csv.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "adapters/text/quantity.h"

namespace muster::inprocess {
namespace {

// A small compressed file can hold very much.
constexpr size_t kMaxBytes = size_t{256} << 20;

struct CloseGz {
  void operator()(gzFile f) const { gzclose(f); }
};

absl::Status InvalidLine(const std::string& file, int line,
                         std::string_view what) {
  return absl::InvalidArgumentError(file + ":" + std::to_string(line) + ": " +
                                    std::string(what));
}

// zlib reads plain files as they are.
absl::StatusOr<std::string> ReadAll(const std::string& file) {
  const std::unique_ptr<gzFile_s, CloseGz> in(gzopen(file.c_str(), "rb"));
  if (in == nullptr) {
    return absl::InvalidArgumentError(file + ": cannot be read");
  }
  std::string all;
  char buffer[1 << 16];
  int got = 0;
  while ((got = gzread(in.get(), buffer, sizeof(buffer))) > 0) {
    all.append(buffer, static_cast<size_t>(got));
    if (all.size() > kMaxBytes) {
      return absl::InvalidArgumentError(file + ": holds more than " +
                                        std::to_string(kMaxBytes >> 20) +
                                        " MiB");
    }
  }
  int error = Z_OK;
  const char* message = gzerror(in.get(), &error);
  // A file that ends early is Z_BUF_ERROR.
  if (got < 0 || error != Z_OK) {
    return absl::InvalidArgumentError(file + ": is damaged (" + message + ")");
  }
  return all;
}

std::vector<std::string_view> Split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

absl::StatusOr<CsvTable> CsvTable::Load(const std::string& file) {
  absl::StatusOr<std::string> all = ReadAll(file);
  if (!all.ok()) return all.status();
  CsvTable table;
  table.file_ = file;
  std::string_view rest = *all;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = Split(line);
    if (table.columns_.empty()) {
      table.columns_.assign(fields.begin(), fields.end());
      continue;
    }
    if (fields.size() != table.columns_.size()) {
      return InvalidLine(file, number,
                         "has " + std::to_string(fields.size()) +
                             " fields, the first line " +
                             std::to_string(table.columns_.size()));
    }
    table.lines_.emplace_back(line);
    table.line_numbers_.push_back(number);
  }
  if (table.columns_.empty()) {
    return absl::InvalidArgumentError(file + ": is empty");
  }
  return table;
}

int CsvTable::Column(std::string_view name) const {
  const auto it = std::ranges::find(columns_, name);
  return it == columns_.end() ? -1 : static_cast<int>(it - columns_.begin());
}

absl::Status CsvTable::Wrong(size_t row, std::string_view column,
                             std::string_view what) const {
  return InvalidLine(file_, line_numbers_[row],
                     std::string(column) + ": " + std::string(what));
}

void CsvTable::Fail(size_t row, std::string_view column,
                    std::string_view what) {
  if (status_.ok()) status_ = Wrong(row, column, what);
}

std::string_view CsvTable::Text(size_t row, std::string_view column) {
  const int c = Column(column);
  if (c < 0) {
    if (status_.ok()) {
      status_ = InvalidLine(file_, 1,
                            "lacks the column '" + std::string(column) + "'");
    }
    return {};
  }
  return Split(lines_[row])[static_cast<size_t>(c)];
}

int64_t CsvTable::Integer(size_t row, std::string_view column, int64_t least,
                          int64_t most) {
  const std::string_view text = Text(row, column);
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    Fail(row, column, "'" + std::string(text) + "' is too large");
  } else if (error != std::errc() || end != text.data() + text.size()) {
    Fail(row, column, "'" + std::string(text) + "' is not an integer");
  } else if (value < least || value > most) {
    Fail(row, column,
         "'" + std::string(text) + "' is not between " + std::to_string(least) +
             " and " + std::to_string(most));
  } else {
    return value;
  }
  return least;
}

int64_t CsvTable::Scaled(size_t row, std::string_view column, int64_t scale) {
  const absl::StatusOr<int64_t> value = ParseQuantity(Text(row, column), scale);
  if (value.ok()) return *value;
  Fail(row, column, std::string(value.status().message()));
  return 0;
}

}  // namespace muster::inprocess
