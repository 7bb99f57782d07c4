// Tables for terminals.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::text {

inline constexpr size_t kMostPrintable = 256;  // Bytes, of a cell.

// A text of anybody's as it may go to a terminal: valid UTF-8, at most `most`
// bytes, a space in place of each control character, so that nothing in it
// moves the cursor. Pure; O(bytes).
std::string Printable(std::string_view text, size_t most = kMostPrintable);

// Columns as wide as their longest cell, two spaces between them. Cells are
// made printable. Not synchronised.
class Table {
 public:
  explicit Table(const std::vector<std::string>& head);

  // As many cells as the head has; nothing of the row is kept. O(bytes).
  void Add(const std::vector<std::string>& row);
  void Add(std::span<const std::string_view> row);
  // The head and the rows, each with a newline. O(bytes).
  std::string Text() const;

 private:
  struct Cell {
    size_t size = 0;   // Bytes.
    size_t width = 0;  // Characters.
  };

  void AddCell(std::string_view text);

  const size_t columns_;
  // One behind the other, row by row: tables can have many thousands.
  std::string bytes_{};
  std::vector<Cell> cells_{};
  std::vector<size_t> widths_;
};

}  // namespace muster::text
