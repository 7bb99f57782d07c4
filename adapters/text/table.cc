#include "adapters/text/table.h"

#include <algorithm>
#include <utility>

#include "adapters/text/utf8.h"

namespace muster::text {
namespace {

// Characters, of valid UTF-8.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string Printable(std::string_view text, size_t most) {
  const bool plain =
      text.size() <= most &&
      std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
  if (plain) return std::string(text);
  std::string printable = BoundedUtf8(text, most);
  for (size_t i = 0; i < printable.size(); ++i) {
    const auto byte = static_cast<unsigned char>(printable[i]);
    if (byte < 0x20 || byte == 0x7f) printable[i] = ' ';
    // U+0080 to U+009F are control characters, too.
    const bool control = byte == 0xC2 && i + 1 < printable.size() &&
                         static_cast<unsigned char>(printable[i + 1]) < 0xA0;
    if (control) printable.replace(i, 2, " ");
  }
  return printable;
}

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = Printable(cell);
  rows_.push_back(std::move(row));
}

std::string Table::Text() const {
  constexpr size_t kGap = 2;
  std::vector<size_t> widths(rows_[0].size());
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], WidthOf(row[i]));
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - WidthOf(row[i]) + kGap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace muster::text
