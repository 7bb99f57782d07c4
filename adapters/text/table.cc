#include "adapters/text/table.h"

#include <algorithm>

#include "adapters/text/utf8.h"

namespace muster::text {
namespace {

// Characters, of valid UTF-8.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Of ASCII alone, and nothing in it to be replaced.
bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

std::string Printable(std::string_view text, size_t most) {
  if (text.size() <= most && IsPlain(text)) return std::string(text);
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

Table::Table(const std::vector<std::string>& head)
    : columns_(head.size()), widths_(head.size()) {
  Add(head);
}

void Table::AddCell(std::string_view text) {
  std::string printable;
  Cell cell{text.size(), text.size()};
  if (text.size() > kMostPrintable || !IsPlain(text)) {
    printable = Printable(text);
    text = printable;
    cell = {text.size(), WidthOf(text)};
  }
  size_t& width = widths_[cells_.size() % columns_];
  width = std::max(width, cell.width);
  bytes_ += text;
  cells_.push_back(cell);
}

void Table::Add(const std::vector<std::string>& row) {
  for (const std::string& cell : row) AddCell(cell);
}

void Table::Add(std::span<const std::string_view> row) {
  for (const std::string_view cell : row) AddCell(cell);
}

std::string Table::Text() const {
  constexpr size_t kGap = 2;
  std::string text;
  size_t longest = 0;
  for (const size_t width : widths_) longest += width + kGap;
  text.reserve(cells_.size() / columns_ * longest);
  const char* from = bytes_.data();
  for (size_t i = 0; i < cells_.size(); ++i) {
    const Cell& cell = cells_[i];
    text.append(from, cell.size);
    from += cell.size;
    if ((i + 1) % columns_ != 0) {
      text.append(widths_[i % columns_] - cell.width + kGap, ' ');
      continue;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace muster::text
